//! The board as the layers see it: squares with their channels side by side, a border of zeros around, cut into tiles.

use crate::points::tile_outputs;

/// Sizes of a board cut into tiles.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// Rows of squares.
    pub rows: usize,
    /// Columns of squares.
    pub columns: usize,
    /// Rows of a tile's outputs, 3 or 4.
    pub tile_rows: usize,
    /// Columns of a tile's outputs, 3 or 4.
    pub tile_columns: usize,
    /// Tiles from top to bottom.
    pub tiles_down: usize,
    /// Tiles from left to right.
    pub tiles_across: usize,
    /// Columns of squares with the border and what tiles have beyond the board.
    pub padded_columns: usize,
    padded_rows: usize,
}

impl Board {
    /// A board of these sizes.
    pub fn new(rows: usize, columns: usize) -> Self {
        let tile_rows = tile_outputs(rows);
        let tile_columns = tile_outputs(columns);
        let tiles_down = rows.div_ceil(tile_rows);
        let tiles_across = columns.div_ceil(tile_columns);
        // Whole tiles and a border: the transform reads all squares that a tile's outputs see and never asks where the
        // board ends.
        let padded_rows = tiles_down * tile_rows + 2;
        let padded_columns = tiles_across * tile_columns + 2;
        Board { rows, columns, tile_rows, tile_columns, tiles_down, tiles_across, padded_columns, padded_rows }
    }

    /// Squares of the board.
    #[inline(always)]
    pub fn squares(&self) -> usize {
        self.rows * self.columns
    }

    /// Squares with the border.
    #[inline(always)]
    pub fn padded_squares(&self) -> usize {
        self.padded_rows * self.padded_columns
    }

    /// Tiles of the board.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        self.tiles_down * self.tiles_across
    }

    /// Points of a tile's transform across.
    #[inline(always)]
    pub fn points_across(&self) -> usize {
        self.tile_columns + 2
    }

    /// Points of a tile's transform.
    #[inline(always)]
    pub fn points(&self) -> usize {
        (self.tile_rows + 2) * self.points_across()
    }

    /// Number of a square among those with the border.
    #[inline(always)]
    pub fn padded(&self, row: usize, column: usize) -> usize {
        (row + 1) * self.padded_columns + column + 1
    }
}
