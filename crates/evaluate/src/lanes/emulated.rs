//! AVX-512 with bfloat16 in plain Rust, with the bits that Intel documents: for tests on processors that lack it.

use super::portable::{Eight, Portable};
use super::{Lanes, Work};

/// Eight floats; products of bfloat16 pairs, summed in float32.
#[derive(Clone, Copy)]
pub struct Halves;

/// Fused, as the instructions are.
type Floats = Portable<true>;

/// Zero of the same sign where a number is below the least normal one: the instructions of bfloat16 know no others.
#[inline(always)]
pub fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(x) } else { x }
}

/// VCVTNEPS2BF16 of one number.
#[inline(always)]
fn rounded(x: f32) -> u16 {
    const QUIET: u16 = 0x40;
    if x.is_nan() {
        // Cut off and not rounded: rounding could carry into the exponent. The bit keeps it no number where its last
        // digits alone said so.
        return (x.to_bits() >> 16) as u16 | QUIET;
    }
    // The weights' rounding does not flush; this instruction does before it rounds.
    super::bfloat16(flushed(x))
}

/// The two numbers of a pair.
#[inline(always)]
fn pair(bits: u32) -> [f32; 2] {
    [f32::from_bits(bits << 16), f32::from_bits(bits & 0xffff_0000)].map(flushed)
}

impl Lanes for Halves {
    const WIDTH: usize = 8;
    const GROUP: usize = 2;
    const ACCUMULATORS: usize = 4;
    type Vector = Eight;
    type Element = u16;
    type Operand = [u32; 8];

    /// The same plain Rust, compiled for AVX2 where the processor has it: its fused multiply-add is a function call elsewhere.
    unsafe fn run(work: impl Work) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma")]
            unsafe fn inner(work: impl Work) {
                work.work::<Halves>()
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return inner(work);
            }
        }
        work.work::<Self>()
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Eight {
        Floats::load(from)
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, vector: Eight) {
        Floats::store(to, vector)
    }
    #[inline(always)]
    unsafe fn splat(number: f32) -> Eight {
        Floats::splat(number)
    }
    #[inline(always)]
    unsafe fn add(a: Eight, b: Eight) -> Eight {
        Floats::add(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: Eight, b: Eight) -> Eight {
        Floats::sub(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: Eight, b: Eight, c: Eight) -> Eight {
        Floats::mul_add(a, b, c)
    }
    #[inline(always)]
    unsafe fn max(a: Eight, b: Eight) -> Eight {
        Floats::max(a, b)
    }
    #[inline(always)]
    unsafe fn store_element(to: *mut u16, vector: Eight) {
        to.cast::<[u16; 8]>().write_unaligned(vector.map(rounded))
    }
    #[inline(always)]
    unsafe fn load_element(from: *const u16) -> Eight {
        // Not flushed: this is no instruction of bfloat16 but a shift, which keeps small numbers.
        from.cast::<[u16; 8]>().read_unaligned().map(|bits| f32::from_bits(u32::from(bits) << 16))
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const u16) -> [u32; 8] {
        [from.cast::<u32>().read_unaligned(); 8]
    }
    #[inline(always)]
    unsafe fn load_weights(from: *const u16) -> [u32; 8] {
        from.cast::<[u32; 8]>().read_unaligned()
    }
    /// VDPBF16PS: the product of the second numbers is added first.
    #[inline(always)]
    unsafe fn multiply(sum: Eight, a: [u32; 8], b: [u32; 8]) -> Eight {
        core::array::from_fn(|lane| {
            let ([a_first, a_second], [b_first, b_second]) = (pair(a[lane]), pair(b[lane]));
            // Every step is flushed, what was summed before too: Intel's pseudocode has denormal numbers as zero on
            // both sides.
            let sum = flushed(a_second.mul_add(b_second, flushed(sum[lane])));
            flushed(a_first.mul_add(b_first, sum))
        })
    }
    #[inline(always)]
    fn element(number: f32) -> u16 {
        super::bfloat16(number)
    }
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_nearest_bfloat16_and_small_ones_to_zero() {
        let cases = [
            (1.0, 0x3f80),
            (f32::from_bits(0x3f80_8000), 0x3f80), // between two: to the even one
            (f32::from_bits(0x3f81_8000), 0x3f82),
            (f32::from_bits(0x3f80_8001), 0x3f81),
            (f32::MAX, 0x7f80), // infinity
            (f32::MIN_POSITIVE / 2.0, 0),
            (-f32::MIN_POSITIVE / 2.0, 0x8000),
        ];
        for (number, expected) in cases {
            assert_eq!(rounded(number), expected, "{number:e}");
        }
        assert!(f32::from_bits(u32::from(rounded(f32::NAN)) << 16).is_nan());
    }
}
