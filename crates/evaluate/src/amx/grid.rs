//! The board as tiles see it: 16 squares are the rows of a tile, and a step of the kernel is a constant number of rows.
//!
//! Square (line, column) of board b is flat row `line * pitch + column * boards + b`, where `pitch = (columns + 1) * boards`: one column
//! of zeros ends a line and begins the next one. Two boards of 8 columns stand interleaved, so that a tile is one line of both and has no
//! row to spare; on other boards a tile is 16 flat rows, of which those of the border are computed and left out.

/// Rows of a tile.
pub const TILE_ROWS: usize = 16;

/// Floats of a tile of sums.
pub const TILE_FLOATS: usize = 256;

/// Channels of a flat row.
pub const ROW_CHANNELS: usize = 32;

/// Tiles that are computed together, at most.
// Each needs a register of sums. The other four of the eight are weights and, in turns, squares: a load goes on beside
// products. More tiles a part would share the load of the weights further, but there are no more registers.
pub const PART_TILES: usize = 4;

/// 16 flat rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The first flat row.
    pub start: usize,
    /// The rows that are squares, a bit each.
    pub squares: u16,
}

/// Tiles that are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of the first tile.
    pub first: usize,
    /// Tiles, at most `PART_TILES`.
    pub count: usize,
}

/// A group of boards, cut into tiles.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Rows of squares.
    pub rows: usize,
    /// Columns of squares.
    pub columns: usize,
    /// Boards of a group: 2 of 8 columns, else 1.
    pub boards: usize,
    /// Flat rows from a line to the next.
    pub pitch: usize,
    /// Flat rows before the first square.
    pub lead: usize,
    /// Flat rows from a group to the next.
    pub stride: usize,
    /// Flat rows from a tile to the next.
    pub spacing: usize,
    /// The tiles of a group.
    pub tiles: Vec<Tile>,
    /// The same, as they are computed.
    pub parts: Vec<Part>,
    /// `16 * tile + row` of a square of a board: [square][board].
    pub slots: Vec<usize>,
}

impl Grid {
    /// Cuts boards of these sizes.
    pub fn new(rows: usize, columns: usize) -> Self {
        // One board of 8 columns alone, in tiles of 16 flat rows, would compute its borders too: a prototype made two
        // thirds of the rows a second.
        let boards = if columns * 2 == TILE_ROWS { 2 } else { 1 };
        let width = columns * boards;
        let pitch = width + boards;
        let end = (rows - 1) * pitch + width;
        // Where a line fills a tile, tiles skip the border between lines; else they run on through it.
        let spacing = if width == TILE_ROWS { pitch } else { TILE_ROWS };
        let mut tiles = Vec::new();
        let mut slots = vec![0; rows * width];
        for start in (0..end).step_by(spacing) {
            let mut squares = 0;
            for row in 0..TILE_ROWS {
                let line = (start + row) / pitch;
                let place = (start + row) % pitch;
                if start + row < end && place < width {
                    squares |= 1 << row;
                    slots[line * width + place] = tiles.len() * TILE_ROWS + row;
                }
            }
            tiles.push(Tile { start, squares });
        }
        // The first tap of the first square lies a line and a column before it.
        let lead = pitch + boards;
        // A line of zeros between two groups serves both; it is no shorter than the 15 rows that the last tile of a
        // narrow board may run beyond its squares.
        let stride = end + lead.max(TILE_ROWS);
        let parts = even_parts(tiles.len());
        Grid { rows, columns, boards, pitch, lead, stride, spacing, tiles, parts, slots }
    }

    /// Squares of a board.
    pub fn squares(&self) -> usize {
        self.rows * self.columns
    }

    /// Groups that hold so many boards.
    pub fn groups(&self, boards: usize) -> usize {
        boards.div_ceil(self.boards)
    }

    /// Flat rows of a buffer for so many groups: the last tile reads a line and a column further than its squares.
    pub fn flat_rows(&self, groups: usize) -> usize {
        2 * self.lead + groups * self.stride + 2 * TILE_ROWS
    }

    /// Does each tile hold one line? The products with what lies above the first line or below the last one are then known to be zero.
    pub fn has_tiles_of_lines(&self) -> bool {
        self.spacing == self.pitch
    }
}

/// Cuts tiles into as few parts as there can be, as equal as possible: 3 and 3, not 4 and 2.
fn even_parts(tiles: usize) -> Vec<Part> {
    let count = tiles.div_ceil(PART_TILES);
    // Parts as equal as can be: loads of weights and the ends of a kernel are then shared by as many products as
    // possible.
    let begin = |part: usize| part * tiles / count;
    (0..count).map(|part| Part { first: begin(part), count: begin(part + 1) - begin(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_has_one_row_of_one_tile() {
        for (rows, columns) in [(1, 1), (1, 13), (13, 1), (3, 3), (2, 16), (7, 8), (8, 8), (6, 7), (9, 9), (19, 19)] {
            let grid = Grid::new(rows, columns);
            let marked: u32 = grid.tiles.iter().map(|tile| tile.squares.count_ones()).sum();
            assert_eq!(marked as usize, rows * columns * grid.boards, "{rows}x{columns}");
            let mut slots = grid.slots.clone();
            slots.sort_unstable();
            slots.dedup();
            assert_eq!(slots.len(), rows * columns * grid.boards, "{rows}x{columns}");
            for slot in slots {
                assert_eq!(grid.tiles[slot / TILE_ROWS].squares >> (slot % TILE_ROWS) & 1, 1, "{rows}x{columns}");
            }
        }
    }

    #[test]
    fn chess_boards_fill_their_tiles_and_others_nearly() {
        let chess = Grid::new(8, 8);
        assert_eq!((chess.boards, chess.tiles.len()), (2, 8));
        assert!(chess.tiles.iter().all(|tile| tile.squares == u16::MAX));
        assert_eq!([Grid::new(6, 7), Grid::new(9, 9), Grid::new(19, 19)].map(|grid| grid.tiles.len()), [3, 6, 24]);
    }

    #[test]
    fn parts_are_even_and_hold_all_tiles() {
        for tiles in 1..40 {
            let parts = even_parts(tiles);
            assert!(parts.iter().all(|part| (1..=PART_TILES).contains(&part.count)));
            assert_eq!(parts.iter().map(|part| part.count).sum::<usize>(), tiles);
            let most = parts.iter().map(|part| part.count).max();
            let least = parts.iter().map(|part| part.count).min();
            assert!(most.unwrap() - least.unwrap() <= 1);
        }
    }
}
