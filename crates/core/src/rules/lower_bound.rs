//! Final choice by the lower confidence bound of Q instead of the most visits (place 6).
//!
//! The idea is that of Leela Zero (2019): among the moves with enough visits the one is played whose value is, with some
//! confidence, at least the greatest.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::rules::Rule;
use crate::rules::setting::settings;

/// Degrees of freedom up to which the distribution of t is summed exactly; beyond them quantiles are expanded around the normal's.
const EXACT_FREEDOM: u32 = 200;
/// Halvings of an interval; more than a float64 can tell apart.
const BISECTIONS: u32 = 64;
/// Where the normal distribution is taken to have ended.
const FAR: f64 = 10.0;

settings! {
    /// Final choice by the lower confidence bound of Q instead of the most visits.
    LowerBound: Copy {
        /// One-sided; 0.5 compares the means themselves.
        confidence: f64 = 0.95, 0.5 => 0.999_999;
        /// Candidates have at least this share of the most visited move's visits.
        min_share: f64 = 0.1, 1e-6 => 1.0;
    }
}

impl Rule for LowerBound {
    fn is_neutral(&self) -> bool {
        self.confidence == 0.5 && self.min_share == 1.0
    }

    fn changes_backup(&self) -> bool {
        true
    }

    fn against_graph(&self) -> Option<&'static str> {
        Some("")
    }
}

impl LowerBound {
    /// Q - t sqrt(M / (n - 1)) / sqrt(n), with t of n - 1 degrees of freedom; -inf where one value shows no spread.
    pub fn bound(&self, q: f64, visits: u32, deviations: f64) -> f64 {
        if self.confidence == 0.5 {
            return q;
        }
        if visits < 2 {
            return f64::NEG_INFINITY;
        }
        let freedom = visits - 1;
        let variance = deviations / f64::from(freedom);
        q - t_quantile(self.confidence, freedom) * variance.sqrt() / f64::from(visits).sqrt()
    }
}

/// t with P(T <= t) = `confidence` (0.5..1) for Student's distribution of `freedom` >= 1 degrees.
///
/// Up to 200 degrees by bisection of the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4; beyond them by the expansion
/// 26.7.5 around the normal quantile, which is right to 1e-7 there.
pub fn t_quantile(confidence: f64, freedom: u32) -> f64 {
    let inner = 2.0 * confidence - 1.0;
    if freedom > EXACT_FREEDOM {
        return expanded_quantile(normal_quantile(inner), f64::from(freedom));
    }
    // The angle and not t itself, which has no upper end to begin from.
    let angle = bisect(FRAC_PI_2, |angle| central_share(angle, freedom) < inner);
    angle.tan() * f64::from(freedom).sqrt()
}

/// P(|T| <= t) where t = tan(angle) sqrt(freedom).
fn central_share(angle: f64, freedom: u32) -> f64 {
    let sine = angle.sin();
    let cosine = angle.cos();
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if is_odd { 3 } else { 2 };
    while power <= freedom {
        sum += term;
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
        power += 2;
    }
    if is_odd { 2.0 / PI * (angle + sine * sum) } else { sine * sum }
}

/// z with P(|Z| <= z) = `inner` for the normal distribution, by bisection of its series (26.2.11).
fn normal_quantile(inner: f64) -> f64 {
    bisect(FAR, |z| 2.0 * normal_half(z) < inner)
}

/// P(0 <= Z <= z) = phi(z) (z + z^3 / 3 + z^5 / (3 5) + ...).
fn normal_half(z: f64) -> f64 {
    let mut term = z;
    let mut sum = 0.0;
    let mut factor = 1.0;
    // Until terms are lost in the sum.
    while sum + term != sum {
        sum += term;
        factor += 2.0;
        term *= z * z / factor;
    }
    sum * (-z * z / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The quantile of t by powers of 1 / freedom (26.7.5).
fn expanded_quantile(z: f64, freedom: f64) -> f64 {
    let s = z * z;
    let first = z * (s + 1.0) / 4.0;
    let second = z * ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    let third = z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    let fourth = z * ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92160.0;
    z + (first + (second + (third + fourth / freedom) / freedom) / freedom) / freedom
}

/// The least x in 0..=`most` for which `is_below` does not hold; it holds up to some x and not after.
fn bisect(most: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let mut low = 0.0;
    let mut high = most;
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_tables() {
        let table = [
            (0.975, 1, 12.706_204_736),
            (0.975, 2, 4.302_652_73),
            (0.95, 9, 1.833_112_933),
            (0.95, 10, 1.812_461_123),
            (0.9999, 199, 3.789_478_994),
            (0.995, 1000, 2.580_754_698),
        ];
        for (confidence, freedom, t) in table {
            let found = t_quantile(confidence, freedom);
            assert!((found - t).abs() < 1e-6 * t, "{confidence}, {freedom}: {found}");
        }
    }
}
