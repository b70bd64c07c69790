//! The memory that a pass computes in.

use super::grid::{Grid, PART_TILES, ROW_CHANNELS, TILE_FLOATS};
use super::pack::PANEL;
use super::products::TILE_HALVES;
use hauteur_machine::Buffer;

/// Flat rows beyond their own from a block of channels to the next, so that the same square of all blocks does not share a place in the
/// cache.
const STAGGER: usize = 16;

/// Boards of bfloat16: [block of 32 channels][flat row][32]. Borders are zero and stay so.
pub struct Boards {
    /// All numbers.
    pub numbers: Buffer<u16>,
    /// Numbers from a block of 32 channels to the next.
    pub plane: usize,
}

impl Boards {
    /// Empty boards of so many groups and blocks of 32 channels.
    pub fn new(grid: &Grid, groups: usize, blocks: usize) -> Self {
        // 64 rows are 4 KiB, after which places in the first cache repeat. Whole multiples of that first, so that no
        // size of board undoes the stagger.
        let plane = (grid.flat_rows(groups).next_multiple_of(64) + STAGGER) * ROW_CHANNELS;
        Boards { numbers: Buffer::zeros(blocks * plane), plane }
    }

    /// Flat row 0, channel 0.
    pub fn first(&mut self) -> *mut u16 {
        self.numbers.as_mut_ptr()
    }

    /// Flat row 0 of a panel of 16 channels.
    pub fn panel(&mut self, panel: usize) -> *mut u16 {
        let place = Self::place(self.plane, panel);
        self.numbers.as_mut_slice()[place..].as_mut_ptr()
    }

    /// Where a panel of 16 channels begins.
    pub fn place(plane: usize, panel: usize) -> usize {
        // Sums have 16 channels, half of what a row of a tile of squares has: two panels share a block.
        panel / 2 * plane + panel % 2 * PANEL
    }
}

/// The memory of a pass; a thread takes it and brings it back.
pub struct Buffers {
    /// Features.
    pub features: Boards,
    /// The boards of the tower, between the blocks.
    pub x: Boards,
    /// The same, inside a block.
    pub y: Boards,
    /// Planes of the policy that a convolution reads: no other layer, with another width, may write here.
    pub policy: Boards,
    /// Tiles of sums, [group][panel][tile].
    pub sums: Buffer<f32>,
    /// Sums over squares, [board][channel].
    pub totals: Buffer<f32>,
    /// Scales and what is added, of the boards of a group: [board][2][channel].
    pub gates: Buffer<f32>,
    /// Squares of one board.
    pub floats: Buffer<f32>,
    /// Numbers of excitation and pooling.
    pub few: Vec<f32>,
    /// Rows of numbers for the value's dense layer: [block of 32][row][32].
    pub value_rows: Buffer<u16>,
    /// The same for the policy's.
    pub policy_rows: Buffer<u16>,
    /// What dense layers give, 16 rows.
    pub numbers: Buffer<f32>,
    /// What the value's last layer gives.
    pub outputs: Buffer<f32>,
}

impl Buffers {
    /// Zeros.
    pub fn floats(count: usize) -> Buffer<f32> {
        Buffer::zeros(count)
    }

    /// Tiles of sums of so many groups and panels, and at least of one part.
    pub fn sums(grid: &Grid, groups: usize, panels: usize) -> Buffer<f32> {
        // At least one part, because layers that keep no sums, and dense ones, compute in the same memory.
        Buffer::zeros((groups * panels * grid.tiles.len()).max(PART_TILES) * TILE_FLOATS)
    }

    /// 16 rows of so many blocks of 32 numbers.
    pub fn rows(blocks: usize) -> Buffer<u16> {
        Buffer::zeros(blocks * TILE_HALVES)
    }
}
