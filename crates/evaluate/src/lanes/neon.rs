//! NEON of 64-bit ARM, which always has a fused multiply-add.

use core::arch::aarch64::*;

use super::{Lanes, Work};

/// Four floats; products of floats.
#[derive(Clone, Copy)]
pub struct Neon;

impl Lanes for Neon {
    const WIDTH: usize = 4;
    const GROUP: usize = 1;
    const ACCUMULATORS: usize = 24;
    type Vector = float32x4_t;
    type Element = f32;
    type Operand = float32x4_t;

    unsafe fn run(work: impl Work) {
        // Every 64-bit ARM processor has NEON: nothing to enable.
        work.work::<Self>()
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> float32x4_t {
        vld1q_f32(from)
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, vector: float32x4_t) {
        vst1q_f32(to, vector)
    }
    #[inline(always)]
    unsafe fn splat(number: f32) -> float32x4_t {
        vdupq_n_f32(number)
    }
    #[inline(always)]
    unsafe fn add(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vaddq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vsubq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        // The first argument is what is added.
        vfmaq_f32(c, a, b)
    }
    #[inline(always)]
    unsafe fn max(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        // Not `vmaxq_f32`: it gives what is no number where either is, and 0 for 0 and -0, unlike the other instruction
        // sets.
        vbslq_f32(vcgtq_f32(a, b), a, b)
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut f32, vector: float32x4_t) {
        vst1q_f32(to, vector)
    }
    #[inline(always)]
    unsafe fn load_element(from: *const f32) -> float32x4_t {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const f32) -> float32x4_t {
        vld1q_dup_f32(from)
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const f32) -> float32x4_t {
        vld1q_f32(from)
    }
    #[inline(always)]
    unsafe fn multiply(sum: float32x4_t, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vfmaq_f32(sum, a, b)
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
