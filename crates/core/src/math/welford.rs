//! Means and sums of squared deviations that grow, merge and shrink value by value.

/// The mean and the sum of squared deviations after one more value, when the mean moves by `step`.
///
/// Welford for the plain mean (step 1 / n): M += (v - Q) (v - Q'). For other steps the weighted population variance times n is kept:
/// M = n (1 - a) (M / (n - 1) + a (v - Q)^2), which is the same for a = 1 / n up to rounding.
#[inline]
pub fn deviations_after(deviations: f64, visits: u32, delta: f64, step: f64, is_mean: bool) -> f64 {
    if is_mean {
        return deviations + delta * (delta - step * delta);
    }
    let n = f64::from(visits);
    let before = if visits > 1 { deviations / (n - 1.0) } else { 0.0 };
    n * (1.0 - step) * (before + step * delta * delta)
}

/// Count, mean and squared deviations of two sets of values together (Chan et al. 1979).
pub fn merged(a: (f64, f64, f64), b: (f64, f64, f64)) -> (f64, f64, f64) {
    let n = a.0 + b.0;
    let gap = b.1 - a.1;
    (n, a.1 + gap * b.0 / n, a.2 + b.2 + gap * gap * a.0 * b.0 / n)
}

/// Count, mean and squared deviations without one of the values; deviations stay >= 0.
pub fn without((n, q, m): (f64, f64, f64), value: f64) -> (f64, f64, f64) {
    if n <= 1.0 {
        return (0.0, 0.0, 0.0);
    }
    let mean = q - (value - q) / (n - 1.0);
    (n - 1.0, mean, (m - (value - q) * (value - mean)).max(0.0))
}
