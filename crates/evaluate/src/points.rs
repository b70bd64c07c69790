//! Winograd's transforms of one line of a tile: F(4, 3), four outputs by six products, and F(3, 3), three by five.
//!
//! A line of d squares and a kernel g of three weights give y = A^T [(G g) (B^T d)]; a tile has one such transform downwards and one
//! across. Rows of the matrices belong to points at which polynomials are evaluated (Lavin and Gray 2016, "Fast Algorithms for
//! Convolutional Neural Networks"): with the points 0, p, q, ... and infinity a row of G has the powers of its point over the product of
//! its differences from the others, a row of B^T the coefficients of (x - p)(x - q)... over all the others.

use crate::lanes::Lanes;

/// Points of a line at most, those of F(4, 3).
pub const MOST_POINTS: usize = 6;

/// Outputs of a tile's line at most.
pub const MOST_OUTPUTS: usize = 4;

/// Outputs of a tile's line for a board's line of so many squares: 4, or 3 where this takes fewer points for the whole line.
// 9 squares are three tiles either way, with 15 points in the place of 18: over both dimensions two thirds of the products.
pub fn tile_outputs(squares: usize) -> usize {
    let points = |outputs: usize| squares.div_ceil(outputs) * (outputs + 2);
    if points(3) < points(4) { 3 } else { 4 }
}

/// The points of F(4, 3) for elements of fewer bits: 0, infinity, and these with both signs. The usual 1 and 2 make the numbers of
/// a tile so unequal that rounding to bfloat16 costs 2.2 times as much (numerical search, inputs after max(0, x)). Their product is 1,
/// which saves multiplications.
const NEAR: f64 = 2.0 / 3.0;
/// See `NEAR`.
const FAR: f64 = 1.5;

/// Matrix G of the kernel's transform of a line with so many outputs; rows beyond its points are zero. `balanced`: for elements of
/// fewer bits.
pub fn kernel_matrix(outputs: usize, balanced: bool) -> [[f64; 3]; MOST_POINTS] {
    if outputs == 3 {
        // Points 0, 1/2, -1, 2 and infinity, for all elements: in bfloat16 they have .6, in float32 .6 of the error of the usual 0, 1, -1
        // and 2 (numerical search, inputs after max(0, x)), and a multiplication by their coefficients hardly ever rounds.
        return [
            [1.0, 0.0, 0.0],
            [-8.0 / 9.0, -4.0 / 9.0, -2.0 / 9.0],
            [-2.0 / 9.0, 2.0 / 9.0, -2.0 / 9.0],
            [1.0 / 9.0, 2.0 / 9.0, 4.0 / 9.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0],
        ];
    }
    if balanced {
        let line = |point: f64, other: f64| {
            let scale = 2.0 * point * point * (point * point - other * other);
            [1.0 / scale, point / scale, point * point / scale]
        };
        return [
            // The product of the differences of 0 from the others is NEAR^2 FAR^2 = 1.
            [1.0, 0.0, 0.0],
            line(NEAR, FAR),
            line(-NEAR, FAR),
            line(FAR, NEAR),
            line(-FAR, NEAR),
            [0.0, 0.0, 1.0],
        ];
    }
    let sixth = 1.0 / 6.0;
    let twelfth = 1.0 / 12.0;
    let part = 1.0 / 24.0;
    [
        // Points 0, 1, -1, 2, -2 and infinity, as Lavin and Gray have them. They serve float32: it has digits to spare,
        // and a multiplication by 2, 4 or 8 rounds nothing.
        [0.25, 0.0, 0.0],
        [-sixth, -sixth, -sixth],
        [-sixth, sixth, -sixth],
        [part, twelfth, sixth],
        [part, -twelfth, sixth],
        [0.0, 0.0, 1.0],
    ]
}

/// G g G^T of a kernel's nine weights, in float64: [row of G downwards][row of G across].
///
/// The sums of a row grow side by side, so that they are computed in vectors; each has its terms in the order of the weights.
pub fn kernel_transform(
    down: &[[f64; 3]; MOST_POINTS],
    across: &[[f64; 3]; MOST_POINTS],
    weights: &[f32],
) -> [[f64; MOST_POINTS]; MOST_POINTS] {
    let columns: [[f64; MOST_POINTS]; 3] = std::array::from_fn(|x| across.map(|row| row[x]));
    let mut transform = [[0.0; MOST_POINTS]; MOST_POINTS];
    for (row, sums) in down.iter().zip(&mut transform) {
        for y in 0..3 {
            for x in 0..3 {
                // float64 until the transform is whole: a weight is rounded once, when it is stored, and not at each of
                // 18 terms.
                let weight = row[y] * f64::from(weights[y * 3 + x]);
                for (sum, factor) in sums.iter_mut().zip(&columns[x]) {
                    *sum += weight * factor;
                }
            }
        }
    }
    transform
}

/// B^T d for one line of a tile with so many points.
#[inline(always)]
pub unsafe fn input_points<L: Lanes, const POINTS: usize>(d: [L::Vector; POINTS]) -> [L::Vector; POINTS] {
    let mut o = d;
    if POINTS == 5 {
        let minus_half = L::splat(-0.5);
        let half = L::splat(0.5);
        let minus_part = L::splat(-1.5);
        o[0] = L::mul_add(minus_part, L::add(d[1], d[2]), L::add(d[0], d[3]));
        o[1] = L::mul_add(L::splat(-2.0), d[1], L::sub(d[3], d[2]));
        o[2] = L::mul_add(L::splat(-2.5), d[2], L::add(d[1], d[3]));
        o[3] = L::mul_add(half, d[2], L::mul_add(minus_half, d[1], d[3]));
        o[4] = L::mul_add(minus_part, L::add(d[2], d[3]), L::add(d[1], d[4]));
        return o;
    }
    if L::GROUP > 1 {
        let zero = L::splat(0.0);
        let near = L::splat(NEAR as f32);
        let far = L::splat(-FAR as f32);
        let sum = L::splat(-(NEAR * NEAR + FAR * FAR) as f32);
        let a = L::mul_add(L::splat(-(FAR * FAR) as f32), d[2], d[4]);
        // Added to zero because lanes have no plain product; it rounds once, as one would.
        let b = L::mul_add(near, d[3], L::mul_add(far, d[1], zero));
        let c = L::mul_add(L::splat(-(NEAR * NEAR) as f32), d[2], d[4]);
        let e = L::mul_add(L::splat(FAR as f32), d[3], L::mul_add(L::splat(-NEAR as f32), d[1], zero));
        // The factor of d[0] is the product of the four points but 0, which is 1.
        o[0] = L::add(L::mul_add(sum, d[2], d[4]), d[0]);
        o[1] = L::add(a, b);
        o[2] = L::sub(a, b);
        o[3] = L::add(c, e);
        o[4] = L::sub(c, e);
        o[5] = L::add(L::mul_add(sum, d[3], d[5]), d[1]);
        return o;
    }
    let minus_four = L::splat(-4.0);
    let minus_five = L::splat(-5.0);
    let four = L::splat(4.0);
    let a = L::mul_add(minus_four, d[2], d[4]);
    let b = L::mul_add(minus_four, d[1], d[3]);
    let c = L::sub(d[4], d[2]);
    let e = L::sub(d[3], d[1]);
    let e = L::add(e, e);
    // Points with both signs share their even and their odd part: p and -p take one addition and one subtraction
    // more.
    o[0] = L::mul_add(four, d[0], L::mul_add(minus_five, d[2], d[4]));
    o[1] = L::add(a, b);
    o[2] = L::sub(a, b);
    o[3] = L::add(c, e);
    o[4] = L::sub(c, e);
    o[5] = L::mul_add(four, d[1], L::mul_add(minus_five, d[3], d[5]));
    o
}

/// A^T m for one line of a tile with so many points; of five points the fourth output is zero.
#[inline(always)]
pub unsafe fn output_points<L: Lanes, const POINTS: usize>(m: [L::Vector; POINTS]) -> [L::Vector; MOST_OUTPUTS] {
    let zero = L::splat(0.0);
    if POINTS == 5 {
        let half = L::splat(0.5);
        let quarter = L::splat(0.25);
        let two = L::splat(2.0);
        let four = L::splat(4.0);
        return [
            L::add(L::add(m[0], m[1]), L::add(m[2], m[3])),
            L::mul_add(two, m[3], L::sub(L::mul_add(half, m[1], zero), m[2])),
            L::mul_add(four, m[3], L::add(L::mul_add(quarter, m[1], m[2]), m[4])),
            zero,
        ];
    }
    // The same in the other direction: sums and differences of a pair of signs serve all four outputs.
    let p = L::add(m[1], m[2]);
    let q = L::sub(m[1], m[2]);
    let r = L::add(m[3], m[4]);
    let s = L::sub(m[3], m[4]);
    let first = L::add(L::add(m[0], p), r);
    if L::GROUP > 1 {
        let near = |power| L::splat(NEAR.powi(power) as f32);
        let far = |power| L::splat(FAR.powi(power) as f32);
        return [
            first,
            L::mul_add(near(1), q, L::mul_add(far(1), s, zero)),
            L::mul_add(near(2), p, L::mul_add(far(2), r, zero)),
            L::add(L::mul_add(near(3), q, L::mul_add(far(3), s, zero)), m[5]),
        ];
    }
    [
        first,
        L::mul_add(L::splat(2.0), s, q),
        L::mul_add(L::splat(4.0), r, p),
        L::add(L::mul_add(L::splat(8.0), s, q), m[5]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::emulated::Halves;
    use crate::lanes::portable::Portable;

    const SQUARES: [f32; MOST_POINTS] = [3.0, -1.0, 4.0, 1.0, -5.0, 9.0];
    const WEIGHTS: [f64; 3] = [2.0, -7.0, 1.0];

    /// The greatest difference of a line's outputs from their definition.
    fn error<L: Lanes, const POINTS: usize>() -> f32 {
        let outputs = POINTS - 2;
        let matrix = kernel_matrix(outputs, L::GROUP > 1);
        let mut products = [0.0; POINTS];
        let mut found = [0.0; MOST_OUTPUTS];
        let mut lanes = [0.0; 16];
        // SAFETY: plain Rust, and a vector has at most 16 floats.
        unsafe {
            let points = input_points::<L, POINTS>(std::array::from_fn(|square| L::splat(SQUARES[square])));
            for (point, product) in products.iter_mut().enumerate() {
                let weight: f64 = (0..3).map(|x| matrix[point][x] * WEIGHTS[x]).sum();
                L::store(lanes.as_mut_ptr(), points[point]);
                *product = weight as f32 * lanes[0];
            }
            for (output, vector) in
                output_points::<L, POINTS>(products.map(|product| L::splat(product))).iter().enumerate()
            {
                L::store(lanes.as_mut_ptr(), *vector);
                found[output] = lanes[0];
            }
        }
        let wanted = |output: usize| (0..3).map(|x| SQUARES[output + x] * WEIGHTS[x] as f32).sum::<f32>();
        (0..outputs).map(|output| (found[output] - wanted(output)).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn a_line_is_convolved_as_defined() {
        assert!(error::<Portable<true>, 5>() < 1e-4);
        assert!(error::<Portable<true>, 6>() < 1e-4);
        assert!(error::<Halves, 5>() < 1e-4);
        assert!(error::<Halves, 6>() < 1e-4);
    }

    #[test]
    fn a_tile_has_the_outputs_that_take_the_fewest_points() {
        let sides = [(3, 3), (4, 4), (5, 3), (6, 3), (7, 4), (8, 4), (9, 3), (11, 4), (13, 4), (15, 4), (19, 4)];
        for (squares, outputs) in sides {
            assert_eq!(tile_outputs(squares), outputs, "{squares} squares");
        }
    }
}
