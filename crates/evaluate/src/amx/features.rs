//! Rows of features as boards of bfloat16.

use super::grid::{Grid, ROW_CHANNELS};
use crate::Rows;
use crate::lanes::{Lanes, Work};

/// Writes one row into a board: [block of 32 planes][flat row][32]. The planes that the last block lacks stay zero.
pub struct ToFeatures<'a> {
    /// All rows.
    pub rows: Rows<'a>,
    /// Number of this one.
    pub row: usize,
    /// Planes of a row.
    pub planes: usize,
    /// The squares.
    pub grid: &'a Grid,
    /// The row's first square, at plane 0.
    pub to: *mut u16,
    /// Numbers from a block of 32 planes to the next.
    pub plane: usize,
}

/// The planes of a block on one square.
type Square = [f32; ROW_CHANNELS];

impl Work for ToFeatures<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        let first = self.row * self.planes;
        match self.rows {
            Rows::Planes(features) => {
                let squares = self.grid.squares();
                self.write_planes::<L>(&features[first * squares..][..self.planes * squares]);
            }
            Rows::Packed(masks, values) => {
                self.write_packed::<L>(&masks[first..][..self.planes], &values[first..][..self.planes]);
            }
        }
    }
}

impl ToFeatures<'_> {
    #[inline(always)]
    unsafe fn write_planes<L: Lanes>(&self, features: &[f32]) {
        let squares = self.grid.squares();
        for (block, planes) in features.chunks(ROW_CHANNELS * squares).enumerate() {
            // Square by square, all planes of a block at once: they are the 32 neighbouring numbers of a row, and are
            // written once, as bfloat16.
            for square in 0..squares {
                let mut numbers: Square = [0.0; ROW_CHANNELS];
                for (number, plane) in numbers.iter_mut().zip(planes.chunks_exact(squares)) {
                    *number = plane[square];
                }
                self.write::<L>(block, square, &numbers);
            }
        }
    }

    #[inline(always)]
    unsafe fn write_packed<L: Lanes>(&self, masks: &[u64], values: &[f32]) {
        let blocks = masks.chunks(ROW_CHANNELS).zip(values.chunks(ROW_CHANNELS));
        for (block, (masks, values)) in blocks.enumerate() {
            // Whole blocks, so that all planes of a square are written by a few instructions.
            let mut all_masks = [0_u64; ROW_CHANNELS];
            let mut all_values = [0.0_f32; ROW_CHANNELS];
            all_masks[..masks.len()].copy_from_slice(masks);
            all_values[..values.len()].copy_from_slice(values);
            for square in 0..self.grid.squares() {
                let mut numbers: Square = [0.0; ROW_CHANNELS];
                for (number, (mask, value)) in numbers.iter_mut().zip(all_masks.iter().zip(&all_values)) {
                    *number = if mask >> square & 1 == 1 { *value } else { 0.0 };
                }
                self.write::<L>(block, square, &numbers);
            }
        }
    }

    #[inline(always)]
    unsafe fn write<L: Lanes>(&self, block: usize, square: usize, numbers: &Square) {
        let line = square / self.grid.columns;
        let column = square % self.grid.columns;
        let flat = line * self.grid.pitch + column * self.grid.boards;
        // Only squares are written. The border was zeroed when the memory was made, and what lies beyond the last plane
        // with it.
        let to = self.to.add(block * self.plane + flat * ROW_CHANNELS);
        for channel in (0..ROW_CHANNELS).step_by(L::WIDTH) {
            L::store_element(to.add(channel).cast(), L::load(numbers.as_ptr().add(channel)));
        }
    }
}
