//! AVX-512, AVX-512 with bfloat16, AVX2 with fused multiply-add.

use core::arch::x86_64::*;

use super::{Lanes, Work};

/// 16 floats; products of floats.
#[derive(Clone, Copy)]
pub struct Avx512;

/// 16 floats; products of bfloat16 pairs, summed in float32.
#[derive(Clone, Copy)]
pub struct Avx512Bf16;

/// 8 floats; products of floats.
#[derive(Clone, Copy)]
pub struct Avx2;

/// What both forms of AVX-512 share.
macro_rules! vectors_of_512_bits {
    () => {
        const WIDTH: usize = 16;
        const ACCUMULATORS: usize = 24;
        type Vector = __m512;

        #[inline(always)]
        unsafe fn prefetch(weights: *const Self::Element) {
            _mm_prefetch::<_MM_HINT_T1>(weights.cast());
        }

        #[inline(always)]
        unsafe fn load(from: *const f32) -> __m512 {
            _mm512_loadu_ps(from)
        }
        #[inline(always)]
        unsafe fn store(to: *mut f32, vector: __m512) {
            _mm512_storeu_ps(to, vector)
        }
        #[inline(always)]
        unsafe fn splat(number: f32) -> __m512 {
            _mm512_set1_ps(number)
        }
        #[inline(always)]
        unsafe fn add(a: __m512, b: __m512) -> __m512 {
            _mm512_add_ps(a, b)
        }
        #[inline(always)]
        unsafe fn sub(a: __m512, b: __m512) -> __m512 {
            _mm512_sub_ps(a, b)
        }
        #[inline(always)]
        unsafe fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
            _mm512_fmadd_ps(a, b, c)
        }
        #[inline(always)]
        unsafe fn max(a: __m512, b: __m512) -> __m512 {
            _mm512_max_ps(a, b)
        }
        #[inline(always)]
        fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }
    };
}

impl Lanes for Avx512 {
    vectors_of_512_bits!();
    const GROUP: usize = 1;
    type Element = f32;
    type Operand = __m512;

    unsafe fn run(work: impl Work) {
        // A function inside, because one of a trait cannot have features; `Instructions::available` asks for the same
        // ones.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma")]
        unsafe fn inner(work: impl Work) {
            work.work::<Avx512>()
        }
        inner(work)
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut f32, vector: __m512) {
        _mm512_storeu_ps(to, vector)
    }
    #[inline(always)]
    unsafe fn load_element(from: *const f32) -> __m512 {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const f32) -> __m512 {
        _mm512_set1_ps(*from)
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const f32) -> __m512 {
        _mm512_loadu_ps(from)
    }
    #[inline(always)]
    unsafe fn multiply(sum: __m512, a: __m512, b: __m512) -> __m512 {
        _mm512_fmadd_ps(a, b, sum)
    }
    #[inline(always)]
    fn element(number: f32) -> f32 {
        number
    }
}

impl Lanes for Avx512Bf16 {
    vectors_of_512_bits!();
    const GROUP: usize = 2;
    type Element = u16;
    type Operand = __m512bh;

    unsafe fn run(work: impl Work) {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma,avx512bf16")]
        unsafe fn inner(work: impl Work) {
            work.work::<Avx512Bf16>()
        }
        inner(work)
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut u16, vector: __m512) {
        // There is no intrinsic between vectors of bfloat16 and of integers, which alone are stored: the bits are the
        // same.
        let halves: __m256i = core::mem::transmute(_mm512_cvtneps_pbh(vector));
        _mm256_storeu_si256(to.cast(), halves)
    }
    #[inline(always)]
    unsafe fn load_element(from: *const u16) -> __m512 {
        let halves = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(halves))
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const u16) -> __m512bh {
        // A pair of channels is copied as one integer of 32 bits; channels need not begin at a multiple of it.
        core::mem::transmute(_mm512_set1_epi32(from.cast::<i32>().read_unaligned()))
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const u16) -> __m512bh {
        core::mem::transmute(_mm512_loadu_si512(from.cast()))
    }
    #[inline(always)]
    unsafe fn multiply(sum: __m512, a: __m512bh, b: __m512bh) -> __m512 {
        _mm512_dpbf16_ps(sum, a, b)
    }
    #[inline(always)]
    fn element(number: f32) -> u16 {
        // Weights are rounded here and not by the instruction, so that a machine without it packs the same ones.
        super::bfloat16(number)
    }
}

impl Lanes for Avx2 {
    const WIDTH: usize = 8;
    const GROUP: usize = 1;
    const ACCUMULATORS: usize = 12;
    type Vector = __m256;
    type Element = f32;
    type Operand = __m256;

    #[inline(always)]
    unsafe fn prefetch(weights: *const f32) {
        _mm_prefetch::<_MM_HINT_T1>(weights.cast());
    }

    unsafe fn run(work: impl Work) {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn inner(work: impl Work) {
            work.work::<Avx2>()
        }
        inner(work)
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        _mm256_loadu_ps(from)
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, vector: __m256) {
        _mm256_storeu_ps(to, vector)
    }
    #[inline(always)]
    unsafe fn splat(number: f32) -> __m256 {
        _mm256_set1_ps(number)
    }
    #[inline(always)]
    unsafe fn add(a: __m256, b: __m256) -> __m256 {
        _mm256_add_ps(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: __m256, b: __m256) -> __m256 {
        _mm256_sub_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: __m256, b: __m256, c: __m256) -> __m256 {
        _mm256_fmadd_ps(a, b, c)
    }
    #[inline(always)]
    unsafe fn max(a: __m256, b: __m256) -> __m256 {
        _mm256_max_ps(a, b)
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut f32, vector: __m256) {
        _mm256_storeu_ps(to, vector)
    }
    #[inline(always)]
    unsafe fn load_element(from: *const f32) -> __m256 {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const f32) -> __m256 {
        _mm256_set1_ps(*from)
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const f32) -> __m256 {
        _mm256_loadu_ps(from)
    }
    #[inline(always)]
    unsafe fn multiply(sum: __m256, a: __m256, b: __m256) -> __m256 {
        _mm256_fmadd_ps(a, b, sum)
    }
    #[inline(always)]
    fn element(number: f32) -> f32 {
        number
    }
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}
