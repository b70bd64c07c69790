//! Boards and positions of Connect Four as sets of bits, for the solver: bit = column * 7 + row, rows from the bottom.

use crate::games::connect4::{Board, COLUMNS, Position, ROWS};

/// Bits a column takes in a position: its squares, at most six, and one or more that stay empty, so that lines do not
/// wrap round.
pub(super) const HEIGHT: usize = ROWS + 1;
pub(super) const COLUMN: u64 = (1 << ROWS) - 1;
/// The lowest square of every column of the usual board.
pub(super) const BOTTOM: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35 | 1 << 42;
/// Up to this ply a position and its mirror image share an entry of the table; later the look-up costs more than it saves.
pub(super) const MIRROR_PLIES: u32 = 22;

/// The squares of a board as the search sees them.
#[derive(Clone, Copy)]
pub(super) struct Squares {
    pub(super) columns: usize,
    /// The lowest square of every column; all squares.
    pub(super) bottom: u64,
    pub(super) all: u64,
    pub(super) count: u32,
    /// Columns from the middle outwards: more lines run through the middle.
    pub(super) order: [usize; COLUMNS],
}

impl Squares {
    pub(super) fn of(board: Board) -> Self {
        let columns = board.columns();
        let bottom = BOTTOM & ((1 << (columns * HEIGHT)) - 1);
        let mut order = [0; COLUMNS];
        for (place, column) in order[..columns].iter_mut().enumerate() {
            // the middle, then left and right of it in turn; of two middles the right one first
            *column = if place % 2 == 1 { columns / 2 - place.div_ceil(2) } else { columns / 2 + place / 2 };
        }
        let all = bottom * ((1 << board.rows()) - 1);
        Squares { columns, bottom, all, count: board.squares() as u32, order }
    }
}

/// A position as the search sees it: bit = column * 7 + row, rows from the bottom.
#[derive(Clone, Copy)]
pub(super) struct Stones {
    pub(super) mover: u64,
    pub(super) both: u64,
    pub(super) ply: u32,
}

impl Stones {
    pub(super) fn of(position: &Position) -> Self {
        let rows = position.board().rows();
        let [mover, opponent] = position.own_and_other().map(|bits| from_rows(bits, rows));
        Stones { mover, both: mover | opponent, ply: (mover | opponent).count_ones() }
    }

    pub(super) fn opponent(&self) -> u64 {
        self.mover ^ self.both
    }

    /// The squares that a stone can fall to.
    pub(super) fn next(&self, board: &Squares) -> u64 {
        // Adding the lowest square of every column carries over its stones to the first free square.
        (self.both + board.bottom) & board.all
    }

    /// The empty squares that complete a line of the mover.
    pub(super) fn wins(&self, board: &Squares) -> u64 {
        completing(self.mover) & board.all & !self.both
    }

    /// The position after the mover's stone on `square`.
    pub(super) fn after(&self, square: u64) -> Self {
        Stones { mover: self.opponent(), both: self.both | square, ply: self.ply + 1 }
    }

    /// The squares to play on after which the opponent has no win at once.
    pub(super) fn moves_that_do_not_lose_at_once(&self, board: &Squares) -> u64 {
        let threats = completing(self.opponent()) & board.all & !self.both;
        let mut moves = self.next(board);
        let forced = moves & threats;
        if forced != 0 {
            // Two squares to block with one stone.
            if forced & (forced - 1) != 0 {
                return 0;
            }
            moves = forced;
        }
        // a stone right below a threat would let the opponent play there
        moves & !(threats >> 1)
    }

    /// Bounds that follow from the lines that are still possible.
    pub(super) fn bounds(&self, board: &Squares) -> (i8, i8) {
        let empty = board.all & !self.both;
        // A side that could not make a line with all empty squares cannot win any more.
        let lower = if has_line(self.opponent() | empty) { -1 } else { 0 };
        let upper = if has_line(self.mover | empty) { 1 } else { 0 };
        (lower, upper)
    }

    /// The moves, those that make the most threats first, then those nearest to the middle; and their number.
    pub(super) fn ordered(&self, moves: u64, board: &Squares) -> ([u64; COLUMNS], usize) {
        let mut squares = [0; COLUMNS];
        let mut threats = [0; COLUMNS];
        let mut count = 0;
        for &column in &board.order[..board.columns] {
            let square = moves & (COLUMN << (column * HEIGHT));
            if square == 0 {
                continue;
            }
            let made = (completing(self.mover | square) & board.all & !self.both).count_ones();
            let mut place = count;
            // An insertion sort: at most seven moves, and equal ones keep the order from the middle outwards.
            while place > 0 && threats[place - 1] < made {
                squares[place] = squares[place - 1];
                threats[place] = threats[place - 1];
                place -= 1;
            }
            (squares[place], threats[place]) = (square, made);
            count += 1;
        }
        (squares, count)
    }

    /// A number that no other position has (49 bits); the same for the mirror image in the first plies.
    pub(super) fn key(&self, board: &Squares) -> u64 {
        // the stones of the mover, and a one above the highest stone of every column
        let key = self.mover + self.both + board.bottom;
        if self.ply > MIRROR_PLIES { key } else { key.min(mirrored(key, board.columns)) }
    }
}

/// Columns in the opposite order.
pub(super) fn mirrored(key: u64, columns: usize) -> u64 {
    (0..columns).fold(0, |out, column| {
        let squares = key >> (column * HEIGHT) & ((1 << HEIGHT) - 1);
        out | squares << ((columns - 1 - column) * HEIGHT)
    })
}

/// Whether a set has four squares in a row.
pub(super) fn has_line(stones: u64) -> bool {
    [1, HEIGHT, HEIGHT - 1, HEIGHT + 1].iter().any(|&step| {
        let pairs = stones & stones >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

/// Squares that complete four in a row, among them taken ones and some outside the board.
pub(super) fn completing(stones: u64) -> u64 {
    // upwards only the square on top of three
    let mut squares = stones << 1 & stones << 2 & stones << 3;
    for step in [HEIGHT, HEIGHT - 1, HEIGHT + 1] {
        let pair_below = stones << step & stones << (2 * step);
        let pair_above = stones >> step & stones >> (2 * step);
        squares |= pair_below & (stones << (3 * step) | stones >> step);
        squares |= pair_above & (stones >> (3 * step) | stones << step);
    }
    squares
}

/// From bit = row * 7 + column, rows from the top, to bit = column * 7 + row, rows from the bottom.
pub(super) fn from_rows(mut squares: u64, rows: usize) -> u64 {
    let mut out = 0;
    while squares != 0 {
        let square = squares.trailing_zeros() as usize;
        out |= 1 << (square % COLUMNS * HEIGHT + (rows - 1 - square / COLUMNS));
        squares &= squares - 1;
    }
    out
}
