//! The tile instructions in plain Rust, with the bits of the processor: for tests on any machine.
//!
//! TDPBF16PS computes a sum of 16 pairs of products. The products of the first numbers of all pairs and those of the second ones are
//! summed apart, each from zero, in order, by fused multiply-add; then the two are added, and the result to what was there. Factors and
//! results below the least normal number are zero, of their sign; all is rounded to nearest, ties to even. (Intel's manual, volume 2,
//! leaves the order of the sums open; this one is that of Sapphire Rapids, compared bit by bit in 3.6 million sums.)

use super::grid::{TILE_FLOATS, TILE_ROWS};
use super::products::{Convolved, DENSE_PANELS, Edge, Multiplied, ROW_BYTES, TILE_HALVES, Tiles};
use crate::lanes::Lanes;
use crate::lanes::Work;
use crate::lanes::emulated::{Halves, flushed};

/// Pairs of numbers of a row.
const PAIRS: usize = 16;

/// Outputs of a tile of weights.
const OUTPUTS: usize = 16;

/// Emulated tiles.
pub struct Emulated {
    rows: usize,
}

impl Tiles for Emulated {
    unsafe fn configured() -> Self {
        Emulated { rows: TILE_ROWS }
    }

    fn set_rows(&mut self, rows: usize) {
        self.rows = rows;
    }

    unsafe fn convolve(&self, job: Convolved) {
        for tile in 0..job.tiles {
            let sums = job.sums.add(TILE_FLOATS * tile);
            for row in 0..self.rows {
                // The sums begin with the bias, as those of the kernels do: added at the end it would be rounded
                // another time.
                core::ptr::copy_nonoverlapping(job.bias, sums.byte_add(row * job.step), OUTPUTS);
            }
            for block in 0..job.inputs {
                for tap in 0..job.taps {
                    if is_left_out(&job, tile, tap) {
                        continue;
                    }
                    // For a lone tap this is (0, 0).
                    let line = tap / 3;
                    let column = tap % 3;
                    let place = tile * job.spacing + block * job.plane + line * job.pitch + column * job.across;
                    Halves::run(TileProduct {
                        sums,
                        sums_step: job.step,
                        rows: job.squares.byte_add(place),
                        rows_step: job.step,
                        count: self.rows,
                        weights: job.weights.add((block * job.taps + tap) * TILE_HALVES),
                    });
                }
            }
        }
    }

    unsafe fn multiply(&self, job: Multiplied) {
        for panel in 0..DENSE_PANELS {
            let sums = job.sums.add(TILE_FLOATS * panel);
            core::ptr::write_bytes(sums, 0, TILE_FLOATS);
            for block in 0..job.inputs {
                Halves::run(TileProduct {
                    sums,
                    sums_step: ROW_BYTES,
                    rows: job.rows.add(block * TILE_HALVES),
                    rows_step: ROW_BYTES,
                    count: TILE_ROWS,
                    weights: job.weights.add((block * DENSE_PANELS + panel) * TILE_HALVES),
                });
            }
        }
    }
}

fn is_left_out(job: &Convolved, tile: usize, tap: usize) -> bool {
    match job.edge {
        Edge::Inside => false,
        Edge::Top => tile == 0 && tap < 3,
        Edge::Bottom => tile == 3 && tap >= 6,
    }
}

/// TDPBF16PS: adds to each sum of a tile the products of a row and an output.
pub struct TileProduct {
    /// The sums, 16 floats a row; `sums_step` bytes from one row to the next.
    pub sums: *mut f32,
    /// See `sums`.
    pub sums_step: usize,
    /// 32 numbers a row; `rows_step` bytes from one row to the next.
    pub rows: *const u16,
    /// See `rows`.
    pub rows_step: usize,
    /// Rows.
    pub count: usize,
    /// [pair of numbers][output][2].
    pub weights: *const u16,
}

impl Work for TileProduct {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        let weights = &*self.weights.cast::<[[[u16; 2]; OUTPUTS]; PAIRS]>();
        for row in 0..self.count {
            let numbers = &*self.rows.byte_add(row * self.rows_step).cast::<[[u16; 2]; PAIRS]>();
            let sums = &mut *self.sums.byte_add(row * self.sums_step).cast::<[f32; OUTPUTS]>();
            let mut firsts = [0.0_f32; OUTPUTS];
            let mut seconds = [0.0_f32; OUTPUTS];
            for (pair, weights) in numbers.iter().zip(weights) {
                let [first, second] = pair.map(factor);
                for output in 0..OUTPUTS {
                    let [first_weight, second_weight] = weights[output].map(factor);
                    firsts[output] = flushed(L::mul_add_one(first, first_weight, firsts[output]));
                    seconds[output] = flushed(L::mul_add_one(second, second_weight, seconds[output]));
                }
            }
            for output in 0..OUTPUTS {
                let both = flushed(firsts[output] + seconds[output]);
                sums[output] = flushed(flushed(sums[output]) + both);
            }
        }
    }
}

/// A factor as it is multiplied.
#[inline(always)]
fn factor(bits: u16) -> f32 {
    flushed(f32::from_bits(u32::from(bits) << 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TDPBF16PS as it is defined, in float64 where that is exact: a product of two bfloat16 numbers and a float, rounded once.
    fn defined(sum: f32, row: &[f32], column: &[f32]) -> f32 {
        let mut parts = [0.0_f32; 2];
        for (number, (a, b)) in row.iter().zip(column).enumerate() {
            let part = &mut parts[number % 2];
            *part = a.mul_add(*b, *part);
        }
        sum + (parts[0] + parts[1])
    }

    fn product(rows: &[[f32; 32]; 16], columns: &[[f32; 32]; 16], begin: f32) -> Vec<f32> {
        let rows: Vec<u16> = rows.iter().flatten().map(|x| (x.to_bits() >> 16) as u16).collect();
        let mut weights = vec![0; TILE_HALVES];
        for (output, column) in columns.iter().enumerate() {
            for (number, weight) in column.iter().enumerate() {
                weights[number / 2 * 32 + output * 2 + number % 2] = (weight.to_bits() >> 16) as u16;
            }
        }
        let mut sums = vec![begin; TILE_FLOATS];
        // SAFETY: all three are tiles.
        unsafe {
            Halves::run(TileProduct {
                sums: sums.as_mut_ptr(),
                sums_step: ROW_BYTES,
                rows: rows.as_ptr(),
                rows_step: ROW_BYTES,
                count: TILE_ROWS,
                weights: weights.as_ptr(),
            });
        }
        sums
    }

    /// bfloat16 numbers of very different sizes.
    fn numbers(seed: u32) -> [[f32; 32]; 16] {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let exponent = 110 + (state >> 27);
            f32::from_bits((state & 0x8000_0000) | exponent << 23 | (state >> 4 & 0x7f_0000))
        };
        core::array::from_fn(|_| core::array::from_fn(|_| next()))
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        for seed in 1..200 {
            let rows = numbers(seed);
            let columns = numbers(seed + 1000);
            let found = product(&rows, &columns, 0.125);
            for (place, sum) in found.iter().enumerate() {
                let expected = defined(0.125, &rows[place / 16], &columns[place % 16]);
                assert_eq!(sum.to_bits(), expected.to_bits(), "seed {seed}, sum {place}");
            }
        }
    }

    #[test]
    fn numbers_below_the_least_normal_one_are_zero() {
        let mut rows = [[0.0; 32]; 16];
        let mut columns = [[1.0; 32]; 16];
        rows[0][0] = f32::MIN_POSITIVE / 2.0;
        rows[1][3] = f32::MIN_POSITIVE;
        columns[4][3] = 0.5;
        let found = product(&rows, &columns, f32::MIN_POSITIVE / 4.0);
        assert_eq!(found[0], 0.0, "a factor, and the sum before");
        assert_eq!(found[16], f32::MIN_POSITIVE, "the least normal number");
        assert_eq!(found[16 + 4], 0.0, "a product");
    }
}
