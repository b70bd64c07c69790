//! exp and what is made of it, by operations that every processor rounds alike: a library's exp would make results depend on the system.

use crate::lanes::Lanes;

/// e^x, to about one unit in the last place; x is cut off at -87 and 88, where the result stays a normal number.
///
/// Range reduction by ln 2 in two parts, and the polynomial of degree 6 of Moshier's Cephes library (expf).
#[inline(always)]
pub fn exp<L: Lanes>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to a whole number
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Comparisons send what is no number to -87: callers look for it themselves.
    let x = if x > -87.0 { x } else { -87.0 };
    let x = if x < 88.0 { x } else { 88.0 };
    // A sum and a difference, not `round_ties_even`: SSE2 has no instruction for that, and would call a function for
    // each number.
    let n = L::mul_add_one(x, core::f32::consts::LOG2_E, ROUND) - ROUND;
    // LN2_HIGH has so few digits that n LN2_HIGH is exact: without a fused multiply-add too, nothing is lost where x
    // and it cancel.
    let r = L::mul_add_one(n, -LN2_HIGH, x);
    let r = L::mul_add_one(n, -LN2_LOW, r);
    let p = L::mul_add_one(1.987_569_1e-4, r, 1.398_2e-3);
    let p = L::mul_add_one(p, r, 8.333_452e-3);
    let p = L::mul_add_one(p, r, 4.166_579_6e-2);
    let p = L::mul_add_one(p, r, 1.666_666_6e-1);
    let p = L::mul_add_one(p, r, 0.5);
    let p = L::mul_add_one(p, r * r, r) + 1.0;
    // 2^n, written as its exponent: the cut-offs keep n between -126 and 127, where there is one.
    p * f32::from_bits(((n as i32 + 127) << 23) as u32)
}

/// 1 / (1 + e^-x); of what is no number none.
#[inline(always)]
pub fn sigmoid<L: Lanes>(x: f32) -> f32 {
    let share = 1.0 / (1.0 + exp::<L>(-x));
    // Chosen and not returned early: scales of all channels are computed in vectors.
    if x.is_nan() { x } else { share }
}

/// The hyperbolic tangent, as 1 - 2 / (e^2x + 1); of what is no number none.
#[inline(always)]
pub fn tanh<L: Lanes>(x: f32) -> f32 {
    // `exp` would give a number.
    if x.is_nan() {
        return x;
    }
    1.0 - 2.0 / (exp::<L>(2.0 * x) + 1.0)
}

/// x tanh(ln(1 + e^x)) (Misra 2019), as x n / (n + 2) with n = e^x (e^x + 2). From 20 on this is x.
#[inline(always)]
pub fn mish<L: Lanes>(x: f32) -> f32 {
    // n / (n + 2) is 1 in float32 there; further on e^2x would be infinite, and the quotient no number.
    let e = exp::<L>(if x < 20.0 { x } else { 20.0 });
    let n = L::mul_add_one(e, e, e + e);
    x * (n / (n + 2.0))
}

/// Turns logits into shares that sum to one; no numbers where a logit is not finite.
#[inline(always)]
pub fn softmax<L: Lanes>(logits: [f32; 3]) -> [f32; 3] {
    // Else an infinite logit would give shares that look like an answer.
    if !logits.iter().all(|logit| logit.is_finite()) {
        return [f32::NAN; 3];
    }
    // The greatest share is e^0: no logit is so large that its share overflows.
    let top = logits[0].max(logits[1]).max(logits[2]);
    let shares = logits.map(|logit| exp::<L>(logit - top));
    let sum = shares[0] + shares[1] + shares[2];
    shares.map(|share| share / sum)
}

/// Win, draw and loss of the numbers that a value head gives: three logits, or one number whose tanh is the value.
///
/// # Safety
/// `numbers` holds them.
#[inline(always)]
pub unsafe fn shares<L: Lanes>(numbers: *const f32, is_scalar: bool) -> [f32; 3] {
    if is_scalar {
        // A head of one number knows no draws: it gives the one distribution without them that has this value.
        let half = tanh::<L>(*numbers) * 0.5;
        return [0.5 + half, 0.0, 0.5 - half];
    }
    softmax::<L>([*numbers, *numbers.add(1), *numbers.add(2)])
}
