//! Exact values of Connect Four positions by alpha-beta search with a table of bounds.
//!
//! The search only asks who wins, not how fast, so a value is -1, 0 or +1 for the player to move. Three things make it
//! quick: moves that lose at once are never searched, moves that make many threats are searched first, and a side for
//! which no four in a row is left cannot win any more.

use crate::games::connect4::{COLUMNS, Position, ROWS};
use crate::games::grid::mix;

/// Bits a column takes in a position: its six squares and one that stays empty, so that lines do not wrap round.
const HEIGHT: usize = ROWS + 1;
const SQUARES: u32 = (ROWS * COLUMNS) as u32;
const COLUMN: u64 = (1 << ROWS) - 1;
/// The lowest square of every column; all squares.
const BOTTOM: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35 | 1 << 42;
const BOARD: u64 = BOTTOM * COLUMN;
/// Columns from the middle outwards: more lines run through the middle.
const ORDER: [usize; COLUMNS] = [3, 2, 4, 1, 5, 0, 6];
/// Up to this ply a position and its mirror image share an entry of the table; later the look-up costs more than it saves.
const MIRROR_PLIES: u32 = 22;

/// Solves positions; keeps its table from one call to the next.
pub struct Solver {
    /// Entries: the position's key (49 bits), upper bound + 1 (2 bits), lower bound + 1 (2 bits); 0 is free.
    table: Vec<u64>,
    nodes: u64,
    /// Number of positions at which the search gives up, and whether it has.
    limit: u64,
    gave_up: bool,
}

impl Solver {
    /// A solver with a table of 2^`table_bits` entries of 8 bytes.
    pub fn new(table_bits: u32) -> Self {
        Solver { table: vec![0; 1 << table_bits], nodes: 0, limit: u64::MAX, gave_up: false }
    }

    /// Positions searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The value of each legal move, in ascending order of the columns: +1 the mover wins by it, 0 draw, -1 loses.
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
        let moves =
            (0..COLUMNS).map(|column| stones.next() & (COLUMN << (column * HEIGHT))).filter(|&square| square != 0);
        moves.map(|square| self.move_value(&stones, square)).collect()
    }

    /// The value, for the mover, of putting a stone on `square`.
    fn move_value(&mut self, stones: &Stones, square: u64) -> i8 {
        if stones.wins() & square != 0 {
            return 1;
        }
        let child = stones.after(square);
        if child.wins() & child.next() != 0 { -1 } else { -self.search(&child, -1, 1) }
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
        let moves = stones.moves_that_do_not_lose_at_once();
        if moves == 0 {
            return if stones.ply == SQUARES { 0 } else { -1 };
        }
        if stones.ply + 2 >= SQUARES {
            return 0;
        }
        let (key, slot) = self.slot(stones);
        let (mut lower, mut upper) = self.bounds(slot, key).unwrap_or_else(|| stones.bounds());
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
        let (squares, count) = stones.ordered(moves);
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
        let key = stones.key();
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
        let [mover, opponent] = position.planes().map(from_rows);
        Stones { mover, both: mover | opponent, ply: (mover | opponent).count_ones() }
    }

    fn opponent(&self) -> u64 {
        self.mover ^ self.both
    }

    /// The squares that a stone can fall to.
    fn next(&self) -> u64 {
        (self.both + BOTTOM) & BOARD
    }

    /// The empty squares that complete a line of the mover.
    fn wins(&self) -> u64 {
        completing(self.mover) & BOARD & !self.both
    }

    /// The position after the mover's stone on `square`.
    fn after(&self, square: u64) -> Self {
        Stones { mover: self.opponent(), both: self.both | square, ply: self.ply + 1 }
    }

    /// The squares to play on after which the opponent has no win at once.
    fn moves_that_do_not_lose_at_once(&self) -> u64 {
        let threats = completing(self.opponent()) & BOARD & !self.both;
        let mut moves = self.next();
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
    fn bounds(&self) -> (i8, i8) {
        let empty = BOARD & !self.both;
        let lower = if has_line(self.opponent() | empty) { -1 } else { 0 };
        let upper = if has_line(self.mover | empty) { 1 } else { 0 };
        (lower, upper)
    }

    /// The moves, those that make the most threats first, then those nearest to the middle; and their number.
    fn ordered(&self, moves: u64) -> ([u64; COLUMNS], usize) {
        let (mut squares, mut threats, mut count) = ([0; COLUMNS], [0; COLUMNS], 0);
        for column in ORDER {
            let square = moves & (COLUMN << (column * HEIGHT));
            if square == 0 {
                continue;
            }
            let made = (completing(self.mover | square) & BOARD & !self.both).count_ones();
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
    fn key(&self) -> u64 {
        // the stones of the mover, and a one above the highest stone of every column
        let key = self.mover + self.both + BOTTOM;
        if self.ply > MIRROR_PLIES { key } else { key.min(mirrored(key)) }
    }
}

/// Columns in the opposite order.
fn mirrored(key: u64) -> u64 {
    (0..COLUMNS).fold(0, |out, column| {
        let squares = key >> (column * HEIGHT) & ((1 << HEIGHT) - 1);
        out | squares << ((COLUMNS - 1 - column) * HEIGHT)
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
fn from_rows(mut squares: u64) -> u64 {
    let mut out = 0;
    while squares != 0 {
        let square = squares.trailing_zeros() as usize;
        out |= 1 << (square % COLUMNS * HEIGHT + (ROWS - 1 - square / COLUMNS));
        squares &= squares - 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::game::{Outcome, State};

    fn position(columns: &[u16]) -> Position {
        let mut position = Position::default();
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn late_positions_have_the_values_of_plain_negamax(choices in prop::collection::vec(any::<u16>(), 33)) {
            let mut position = Position::default();
            for choice in choices {
                let actions = legal(&position);
                if actions.is_empty() {
                    break;
                }
                position.play(actions[usize::from(choice) % actions.len()]);
            }
            if position.outcome().is_some() {
                prop_assert!(Solver::new(10).move_values(&position).is_empty());
            } else {
                prop_assert_eq!(Solver::new(12).move_values(&position), naive_values(&position));
            }
        }
    }

    #[test]
    fn two_open_ends_win_and_a_blocked_row_does_not() {
        // d1 d2 e1 e2: the first player makes an open three with c1 or f1, and has three in a row with no time lost
        let values = Solver::new(18).move_values(&position(&[3, 3, 4, 4]));
        assert_eq!((values[2], values[5]), (1, 1));
        assert_eq!(Solver::new(18).move_values_within(&position(&[3, 3, 4, 4]), 10), None);
        // three in a row of the second player with one open end must be blocked
        let values = Solver::new(18).move_values(&position(&[6, 0, 6, 1, 5, 2]));
        assert_eq!(values.iter().filter(|&&value| value > -1).count(), 1);
        assert!(values[3] > -1);
    }
}
