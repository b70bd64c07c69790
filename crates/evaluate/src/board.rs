//! The board as the layers see it: squares with their channels side by side, a border of zeros around, cut into tiles.

/// Squares of a tile's side.
pub const SIDE: usize = 4;

/// Sizes of a board cut into tiles.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// Rows of squares.
    pub rows: usize,
    /// Columns of squares.
    pub columns: usize,
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
        let (tiles_down, tiles_across) = (rows.div_ceil(SIDE), columns.div_ceil(SIDE));
        // Whole tiles and a border: the transform reads 6x6 squares of every tile and never asks where the board ends.
        let (padded_rows, padded_columns) = (tiles_down * SIDE + 2, tiles_across * SIDE + 2);
        Board { rows, columns, tiles_down, tiles_across, padded_columns, padded_rows }
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

    /// Number of a square among those with the border.
    #[inline(always)]
    pub fn padded(&self, row: usize, column: usize) -> usize {
        (row + 1) * self.padded_columns + column + 1
    }
}
