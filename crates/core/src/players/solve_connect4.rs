//! Exact values of Connect Four positions by alpha-beta search with a table of bounds.
//!
//! The search only asks who wins, not how fast, so a value is -1, 0 or +1 for the player to move. Three things make it
//! quick: moves that lose at once are never searched, moves that make many threats are searched first, and a side for
//! which no four in a row is left cannot win any more.

use crate::games::connect4::{Board, COLUMNS, Position, ROWS};
use crate::games::grid::mix;

/// Bits a column takes in a position: its squares, at most six, and one or more that stay empty, so that lines do not
/// wrap round.
const HEIGHT: usize = ROWS + 1;
const COLUMN: u64 = (1 << ROWS) - 1;
/// The lowest square of every column of the usual board.
const BOTTOM: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35 | 1 << 42;
/// Up to this ply a position and its mirror image share an entry of the table; later the look-up costs more than it saves.
const MIRROR_PLIES: u32 = 22;

/// The squares of a board as the search sees them.
#[derive(Clone, Copy)]
struct Squares {
    columns: usize,
    /// The lowest square of every column; all squares.
    bottom: u64,
    all: u64,
    count: u32,
    /// Columns from the middle outwards: more lines run through the middle.
    order: [usize; COLUMNS],
}

impl Squares {
    fn of(board: Board) -> Self {
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

/// Solves positions of one board; keeps its table from one call to the next.
pub struct Solver {
    board: Board,
    squares: Squares,
    /// Entries: the position's key (49 bits), upper bound + 1 (2 bits), lower bound + 1 (2 bits); 0 is free.
    table: Vec<u64>,
    nodes: u64,
    /// Number of positions at which the search gives up, and whether it has.
    limit: u64,
    gave_up: bool,
}

impl Solver {
    /// A solver for a board with a table of 2^`table_bits` entries of 8 bytes.
    pub fn new(board: Board, table_bits: u32) -> Self {
        let squares = Squares::of(board);
        Solver { board, squares, table: vec![0; 1 << table_bits], nodes: 0, limit: u64::MAX, gave_up: false }
    }

    /// The board whose positions it solves.
    pub fn board(&self) -> Board {
        self.board
    }

    /// Positions searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The value of each legal move of a position of this board, in ascending order of the columns: +1 the mover wins by
    /// it, 0 draw, -1 loses.
    pub fn move_values(&mut self, position: &Position) -> Vec<i8> {
        self.move_values_within(position, u64::MAX).expect("the search ends")
    }

    /// The same; `None` where that takes more than about `nodes` further positions.
    pub fn move_values_within(&mut self, position: &Position, nodes: u64) -> Option<Vec<i8>> {
        self.limit = self.nodes.saturating_add(nodes);
        self.gave_up = false;
        let values = self.all_move_values(position);
        (!self.gave_up).then_some(values)
    }

    fn all_move_values(&mut self, position: &Position) -> Vec<i8> {
        let stones = Stones::of(position);
        if has_line(stones.opponent()) {
            return Vec::new();
        }
        let next = stones.next(&self.squares);
        let moves =
            (0..self.squares.columns).map(|column| next & (COLUMN << (column * HEIGHT))).filter(|&square| square != 0);
        moves.map(|square| self.move_value(&stones, square)).collect()
    }

    /// The value, for the mover, of putting a stone on `square`.
    fn move_value(&mut self, stones: &Stones, square: u64) -> i8 {
        let board = &self.squares;
        if stones.wins(board) & square != 0 {
            return 1;
        }
        let child = stones.after(square);
        if child.wins(board) & child.next(board) != 0 { -1 } else { -self.search(&child, -1, 1) }
    }

    /// The value of a position whose mover cannot win at once, if it lies between `alpha` and `beta`; otherwise a bound.
    ///
    /// Once the search has given up all values are meaningless, and none is kept.
    fn search(&mut self, stones: &Stones, mut alpha: i8, mut beta: i8) -> i8 {
        if self.nodes >= self.limit {
            self.gave_up = true;
            return beta;
        }
        self.nodes += 1;
        let moves = stones.moves_that_do_not_lose_at_once(&self.squares);
        if moves == 0 {
            return if stones.ply == self.squares.count { 0 } else { -1 };
        }
        if stones.ply + 2 >= self.squares.count {
            return 0;
        }
        let (key, slot) = self.slot(stones);
        let (mut lower, mut upper) = self.bounds(slot, key).unwrap_or_else(|| stones.bounds(&self.squares));
        alpha = alpha.max(lower);
        beta = beta.min(upper);
        if alpha >= beta {
            return alpha;
        }
        let value = self.best(stones, moves, alpha, beta);
        if self.gave_up {
            return value;
        }
        if value > alpha {
            lower = value;
        }
        if value < beta {
            upper = value;
        }
        self.table[slot] = key << 4 | ((upper + 1) as u64) << 2 | (lower + 1) as u64;
        value
    }

    /// The best value among the moves, most promising first.
    fn best(&mut self, stones: &Stones, moves: u64, mut alpha: i8, beta: i8) -> i8 {
        let (squares, count) = stones.ordered(moves, &self.squares);
        let mut best = -1;
        for &square in &squares[..count] {
            best = best.max(-self.search(&stones.after(square), -beta, -alpha));
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// Key of a position and its place in the table.
    fn slot(&self, stones: &Stones) -> (u64, usize) {
        let key = stones.key(&self.squares);
        (key, mix(key) as usize & (self.table.len() - 1))
    }

    /// Lower and upper bound of the value, if the table knows the position.
    fn bounds(&self, slot: usize, key: u64) -> Option<(i8, i8)> {
        let entry = self.table[slot];
        (entry >> 4 == key).then_some(((entry & 3) as i8 - 1, (entry >> 2 & 3) as i8 - 1))
    }
}

/// A position as the search sees it: bit = column * 7 + row, rows from the bottom.
#[derive(Clone, Copy)]
struct Stones {
    mover: u64,
    both: u64,
    ply: u32,
}

impl Stones {
    fn of(position: &Position) -> Self {
        let rows = position.board().rows();
        let [mover, opponent] = position.planes().map(|bits| from_rows(bits, rows));
        Stones { mover, both: mover | opponent, ply: (mover | opponent).count_ones() }
    }

    fn opponent(&self) -> u64 {
        self.mover ^ self.both
    }

    /// The squares that a stone can fall to.
    fn next(&self, board: &Squares) -> u64 {
        (self.both + board.bottom) & board.all
    }

    /// The empty squares that complete a line of the mover.
    fn wins(&self, board: &Squares) -> u64 {
        completing(self.mover) & board.all & !self.both
    }

    /// The position after the mover's stone on `square`.
    fn after(&self, square: u64) -> Self {
        Stones { mover: self.opponent(), both: self.both | square, ply: self.ply + 1 }
    }

    /// The squares to play on after which the opponent has no win at once.
    fn moves_that_do_not_lose_at_once(&self, board: &Squares) -> u64 {
        let threats = completing(self.opponent()) & board.all & !self.both;
        let mut moves = self.next(board);
        let forced = moves & threats;
        if forced != 0 {
            if forced & (forced - 1) != 0 {
                return 0;
            }
            moves = forced;
        }
        // a stone right below a threat would let the opponent play there
        moves & !(threats >> 1)
    }

    /// Bounds that follow from the lines that are still possible.
    fn bounds(&self, board: &Squares) -> (i8, i8) {
        let empty = board.all & !self.both;
        let lower = if has_line(self.opponent() | empty) { -1 } else { 0 };
        let upper = if has_line(self.mover | empty) { 1 } else { 0 };
        (lower, upper)
    }

    /// The moves, those that make the most threats first, then those nearest to the middle; and their number.
    fn ordered(&self, moves: u64, board: &Squares) -> ([u64; COLUMNS], usize) {
        let (mut squares, mut threats, mut count) = ([0; COLUMNS], [0; COLUMNS], 0);
        for &column in &board.order[..board.columns] {
            let square = moves & (COLUMN << (column * HEIGHT));
            if square == 0 {
                continue;
            }
            let made = (completing(self.mover | square) & board.all & !self.both).count_ones();
            let mut place = count;
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
    fn key(&self, board: &Squares) -> u64 {
        // the stones of the mover, and a one above the highest stone of every column
        let key = self.mover + self.both + board.bottom;
        if self.ply > MIRROR_PLIES { key } else { key.min(mirrored(key, board.columns)) }
    }
}

/// Columns in the opposite order.
fn mirrored(key: u64, columns: usize) -> u64 {
    (0..columns).fold(0, |out, column| {
        let squares = key >> (column * HEIGHT) & ((1 << HEIGHT) - 1);
        out | squares << ((columns - 1 - column) * HEIGHT)
    })
}

/// Whether a set has four squares in a row.
fn has_line(stones: u64) -> bool {
    [1, HEIGHT, HEIGHT - 1, HEIGHT + 1].iter().any(|&step| {
        let pairs = stones & stones >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

/// Squares that complete four in a row, among them taken ones and some outside the board.
fn completing(stones: u64) -> u64 {
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
fn from_rows(mut squares: u64, rows: usize) -> u64 {
    let mut out = 0;
    while squares != 0 {
        let square = squares.trailing_zeros() as usize;
        out |= 1 << (square % COLUMNS * HEIGHT + (rows - 1 - square / COLUMNS));
        squares &= squares - 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::game::{Outcome, State};

    fn position(columns: &[u16]) -> Position {
        let mut position = Position::new(Board::default());
        for &column in columns {
            position.play(column);
        }
        position
    }

    fn legal(position: &Position) -> Vec<u16> {
        let mut actions = Vec::new();
        position.legal_actions(&mut actions);
        actions
    }

    /// Value for the mover by plain negamax without any of the tricks.
    fn naive(position: &Position) -> i8 {
        match position.outcome() {
            Some(Outcome::Draw) => 0,
            Some(Outcome::Win(_)) => -1,
            None => naive_values(position).into_iter().max().unwrap(),
        }
    }

    fn naive_values(position: &Position) -> Vec<i8> {
        let after = |action| {
            let mut child = *position;
            child.play(action);
            -naive(&child)
        };
        legal(position).into_iter().map(after).collect()
    }

    /// Value for the mover by plain negamax with a table of the positions that were met.
    fn remembered(position: &Position, known: &mut HashMap<[u64; 2], i8>) -> i8 {
        match position.outcome() {
            Some(Outcome::Draw) => return 0,
            Some(Outcome::Win(_)) => return -1,
            None => {}
        }
        if let Some(&value) = known.get(&position.planes()) {
            return value;
        }
        let after = |action| {
            let mut child = *position;
            child.play(action);
            -remembered(&child, known)
        };
        let value = legal(position).into_iter().map(after).max().unwrap();
        known.insert(position.planes(), value);
        value
    }

    fn after_choices(board: Board, choices: &[u16]) -> Position {
        let mut position = Position::new(board);
        for choice in choices {
            let actions = legal(&position);
            if actions.is_empty() {
                break;
            }
            position.play(actions[usize::from(*choice) % actions.len()]);
        }
        position
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn late_positions_have_the_values_of_plain_negamax(
            columns in 4..=7usize, rows in 4..=6usize, choices in prop::collection::vec(any::<u16>(), 33),
        ) {
            let board = Board::new(columns, rows).unwrap();
            let plies = board.squares().saturating_sub(9);
            let position = after_choices(board, &choices[..plies]);
            if position.outcome().is_some() {
                prop_assert!(Solver::new(board, 10).move_values(&position).is_empty());
            } else {
                prop_assert_eq!(Solver::new(board, 12).move_values(&position), naive_values(&position));
            }
        }
    }

    #[test]
    fn every_position_of_a_tiny_board_has_the_value_of_plain_negamax() {
        let board = Board::new(4, 4).unwrap();
        let (mut known, mut solver) = (HashMap::new(), Solver::new(board, 16));
        assert_eq!(remembered(&Position::new(board), &mut known), 0);
        let mut level = vec![Position::new(board)];
        for _ in 0..7 {
            let mut next = HashMap::new();
            for position in &level {
                let values = solver.move_values(position);
                for (action, value) in legal(position).into_iter().zip(values) {
                    let mut child = *position;
                    child.play(action);
                    assert_eq!(value, -remembered(&child, &mut known), "{}", child.notation());
                    if child.outcome().is_none() {
                        next.insert(child.planes(), child);
                    }
                }
            }
            level = next.into_values().collect();
        }
        assert!(level.len() > 1000);
    }

    /// J. Tromp, "John's Connect Four Playground": the values of all boards up to 8 by 8.
    #[test]
    fn small_boards_have_their_published_values() {
        for (columns, rows, value) in
            [(4, 4, 0), (4, 5, 0), (4, 6, 0), (5, 4, 0), (5, 5, 0), (5, 6, 0), (6, 4, -1), (6, 5, 0), (7, 4, 0)]
        {
            let board = Board::new(columns, rows).unwrap();
            let values = Solver::new(board, 20).move_values(&Position::new(board));
            assert_eq!(values.into_iter().max(), Some(value), "{columns} columns, {rows} rows");
        }
    }

    #[test]
    fn two_open_ends_win_and_a_blocked_row_does_not() {
        // d1 d2 e1 e2: the first player makes an open three with c1 or f1, and has three in a row with no time lost
        let values = Solver::new(Board::default(), 18).move_values(&position(&[3, 3, 4, 4]));
        assert_eq!((values[2], values[5]), (1, 1));
        assert_eq!(Solver::new(Board::default(), 18).move_values_within(&position(&[3, 3, 4, 4]), 10), None);
        // three in a row of the second player with one open end must be blocked
        let values = Solver::new(Board::default(), 18).move_values(&position(&[6, 0, 6, 1, 5, 2]));
        assert_eq!(values.iter().filter(|&&value| value > -1).count(), 1);
        assert!(values[3] > -1);
    }
}
