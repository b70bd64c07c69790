//! WebAssembly's vectors of 128 bits, which have no fused multiply-add: the bits are those of `Portable<false>`.

use core::arch::wasm32::*;

use super::{Lanes, Work};

/// Four floats; products of floats, rounded before they are added.
#[derive(Clone, Copy)]
pub struct Simd128;

impl Lanes for Simd128 {
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
        f32x4_add(f32x4_mul(a, b), c)
    }
    #[inline(always)]
    unsafe fn max(a: v128, b: v128) -> v128 {
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
        a * b + c
    }
}
