//! WebAssembly's vectors of 128 bits. They have no fused multiply-add, so their bits are those of `Portable<false>`; relaxed SIMD has one
//! where the processor has, with the bits of `Portable<true>`.

use core::arch::wasm32::*;

use super::{Lanes, Work};

/// Four floats; products of floats. `FUSED`: a b + c is rounded once, by relaxed SIMD; else the product is rounded before it is added.
#[derive(Clone, Copy)]
pub struct Simd128<const FUSED: bool>;

/// Does relaxed SIMD round a b + c once here? It may, as the processor has it: x86 with FMA and 64-bit ARM do.
#[cfg(target_feature = "relaxed-simd")]
pub fn fuses() -> bool {
    // Hidden from the compiler, which would compute the answer for its own machine.
    let just_above_one = core::hint::black_box(1.0 + f32::EPSILON);
    let square = f32x4_splat(just_above_one);
    let rounded = f32x4_splat(-(just_above_one * just_above_one));
    // (1 + e)^2 has e^2 more than its nearest float: one rounding keeps that, two lose it.
    f32x4_extract_lane::<0>(f32x4_relaxed_madd(square, square, rounded)) != 0.0
}

impl<const FUSED: bool> Lanes for Simd128<FUSED> {
    const WIDTH: usize = 4;
    const GROUP: usize = 1;
    const ACCUMULATORS: usize = 8;
    type Vector = v128;
    type Element = f32;
    type Operand = v128;

    unsafe fn run(work: impl Work) {
        work.work::<Self>()
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> v128 {
        v128_load(from.cast())
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, vector: v128) {
        v128_store(to.cast(), vector)
    }
    #[inline(always)]
    unsafe fn splat(number: f32) -> v128 {
        f32x4_splat(number)
    }
    #[inline(always)]
    unsafe fn add(a: v128, b: v128) -> v128 {
        f32x4_add(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: v128, b: v128) -> v128 {
        f32x4_sub(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: v128, b: v128, c: v128) -> v128 {
        #[cfg(target_feature = "relaxed-simd")]
        if FUSED {
            return f32x4_relaxed_madd(a, b, c);
        }
        f32x4_add(f32x4_mul(a, b), c)
    }
    #[inline(always)]
    unsafe fn max(a: v128, b: v128) -> v128 {
        // pmax(b, a) is b < a ? a : b; `f32x4_max` would give what is no number where either is.
        f32x4_pmax(b, a)
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut f32, vector: v128) {
        Self::store(to, vector)
    }
    #[inline(always)]
    unsafe fn load_element(from: *const f32) -> v128 {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const f32) -> v128 {
        v128_load32_splat(from.cast())
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const f32) -> v128 {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn multiply(sum: v128, a: v128, b: v128) -> v128 {
        Self::mul_add(a, b, sum)
    }
    #[inline(always)]
    fn element(number: f32) -> f32 {
        number
    }
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        #[cfg(target_feature = "relaxed-simd")]
        if FUSED {
            // WebAssembly fuses vectors alone: `f32::mul_add` would be a function of software.
            return f32x4_extract_lane::<0>(f32x4_relaxed_madd(f32x4_splat(a), f32x4_splat(b), f32x4_splat(c)));
        }
        a * b + c
    }
}
