//! Exact values of Connect Four positions by alpha-beta search with a table of bounds.
//!
//! The search only asks who wins, not how fast, so a value is -1, 0 or +1 for the player to move. Three things make it
//! quick: moves that lose at once are never searched, moves that make many threats are searched first, and a side for
//! which no four in a row is left cannot win any more.

use crate::games::connect4::{Board, Position};
use crate::games::grid::mix;
use crate::players::connect4_bits::{COLUMN, HEIGHT, Squares, Stones, has_line};

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
        // `search` wants positions whose mover cannot win at once.
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
        // The mover cannot win at once and neither can the opponent, so with two squares left nobody can.
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
        // Keys of neighbouring positions differ in few bits; mixed, they spread over the table.
        (key, mix(key) as usize & (self.table.len() - 1))
    }

    /// Lower and upper bound of the value, if the table knows the position.
    fn bounds(&self, slot: usize, key: u64) -> Option<(i8, i8)> {
        let entry = self.table[slot];
        (entry >> 4 == key).then_some(((entry & 3) as i8 - 1, (entry >> 2 & 3) as i8 - 1))
    }
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
        if let Some(&value) = known.get(&position.own_and_other()) {
            return value;
        }
        let after = |action| {
            let mut child = *position;
            child.play(action);
            -remembered(&child, known)
        };
        let value = legal(position).into_iter().map(after).max().unwrap();
        known.insert(position.own_and_other(), value);
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
        let mut known = HashMap::new();
        let mut solver = Solver::new(board, 16);
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
                        next.insert(child.own_and_other(), child);
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
