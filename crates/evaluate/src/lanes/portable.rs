//! Plain Rust, for every processor: fused as the instruction sets with a fused multiply-add are, or not, as WebAssembly is.

use super::{Lanes, Work};

/// Eight floats, without any instruction that a processor may lack. `FUSED`: a b + c is rounded once.
#[derive(Clone, Copy)]
pub struct Portable<const FUSED: bool>;

/// A vector.
pub type Eight = [f32; 8];

#[inline(always)]
fn each(a: Eight, b: Eight, f: impl Fn(f32, f32) -> f32) -> Eight {
    core::array::from_fn(|lane| f(a[lane], b[lane]))
}

impl<const FUSED: bool> Lanes for Portable<FUSED> {
    const WIDTH: usize = 8;
    const GROUP: usize = 1;
    // Every vector is two registers of SSE2, the least that x86-64 has, of which there are 16.
    const ACCUMULATORS: usize = 4;
    type Vector = Eight;
    type Element = f32;
    type Operand = Eight;

    unsafe fn run(work: impl Work) {
        work.work::<Self>()
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Eight {
        from.cast::<Eight>().read_unaligned()
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, vector: Eight) {
        to.cast::<Eight>().write_unaligned(vector)
    }
    #[inline(always)]
    unsafe fn splat(number: f32) -> Eight {
        [number; 8]
    }
    #[inline(always)]
    unsafe fn add(a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn sub(a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: Eight, b: Eight, c: Eight) -> Eight {
        core::array::from_fn(|lane| Self::mul_add_one(a[lane], b[lane], c[lane]))
    }
    #[inline(always)]
    unsafe fn max(a: Eight, b: Eight) -> Eight {
        // As x86 defines its maximum, which the others follow.
        each(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut f32, vector: Eight) {
        Self::store(to, vector)
    }
    #[inline(always)]
    unsafe fn load_element(from: *const f32) -> Eight {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const f32) -> Eight {
        [*from; 8]
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const f32) -> Eight {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn multiply(sum: Eight, a: Eight, b: Eight) -> Eight {
        Self::mul_add(a, b, sum)
    }
    #[inline(always)]
    fn element(number: f32) -> f32 {
        number
    }
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        if FUSED { a.mul_add(b, c) } else { a * b + c }
    }
}
