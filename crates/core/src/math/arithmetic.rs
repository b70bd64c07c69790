//! Exponential and logarithm, exact or with the approximations that lc0 computes with.

use serde::{Deserialize, Serialize};

/// How exp and ln are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// To the last bit.
    #[default]
    Exact,
    /// By lc0's polynomials in float32: gives the very priors and c_puct of lc0, for comparing searches with it.
    Lc0,
}

impl Arithmetic {
    /// exp(x) for x <= 80; lc0's is off by up to 0.4 %.
    #[inline]
    pub fn exp(self, x: f64) -> f64 {
        match self {
            Arithmetic::Exact => x.exp(),
            Arithmetic::Lc0 => f64::from(lc0_exp(x as f32)),
        }
    }

    /// 1 / (1 + exp(-x)); lc0's is 0 or 1 beyond +-20.
    pub fn logistic(self, x: f64) -> f64 {
        match self {
            Arithmetic::Exact => 1.0 / (1.0 + (-x).exp()),
            Arithmetic::Lc0 if x.abs() > 20.0 => f64::from(x > 0.0),
            Arithmetic::Lc0 => f64::from(1.0 / (1.0 + lc0_exp(-x as f32))),
        }
    }

    /// ln(x) for x > 0; lc0's is off by up to 0.006.
    #[inline]
    pub fn ln(self, x: f64) -> f64 {
        match self {
            Arithmetic::Exact => x.ln(),
            Arithmetic::Lc0 => f64::from(lc0_ln(x as f32)),
        }
    }
}

/// exp(x) = 2^(k + f) with k whole and 0 <= f < 1, and 2^f ~ 1 + f (0.6602339 + 0.33976606 f); 0 below 2^-126.
fn lc0_exp(x: f32) -> f32 {
    let power = std::f32::consts::LOG2_E * x;
    if power < -126.0 {
        return 0.0;
    }
    let k = power.floor();
    let f = power - k;
    let mantissa = 1.0 + f * (0.660_233_9 + 0.339_766_06 * f);
    // A float whose exponent field is k + 127 and whose mantissa is empty is 2^k.
    mantissa * f32::from_bits(((k as i32 + 127) as u32) << 23)
}

/// ln(x) = ln 2 (log2(1 + f) + k) with k whole and 0 <= f < 1, and log2(1 + f) ~ f (1.3465552 - 0.34655523 f).
///
/// lc0 subtracts 127 before it adds the stored exponent, so the result goes in steps of 2^-17 ln 2.
fn lc0_ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let f = f32::from_bits((bits & 0x007f_ffff) | (127 << 23)) - 1.0;
    std::f32::consts::LN_2 * (f * (1.346_555_2 - 0.346_555_23 * f) - 127.0 + (bits >> 23) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lc0_is_as_far_off_as_it_says() {
        for step in 0..8000 {
            let x = f64::from(step) / 100.0;
            let exp = Arithmetic::Lc0.exp(-x);
            let ln = Arithmetic::Lc0.ln(1.0 + x);
            assert!((exp / (-x).exp() - 1.0).abs() < 4e-3, "exp(-{x}): {exp}");
            assert!((ln - (1.0 + x).ln()).abs() < 6e-3, "ln(1 + {x}): {ln}");
        }
        assert_eq!((Arithmetic::Lc0.exp(0.0), Arithmetic::Lc0.ln(1.0)), (1.0, 0.0));
        assert_eq!(Arithmetic::Lc0.exp(-1000.0), 0.0);
        let steps = Arithmetic::Lc0.ln(1.0025) / (2f64.powi(-17) * std::f64::consts::LN_2);
        assert!((steps - steps.round()).abs() < 1e-4, "{steps} steps");
    }
}
