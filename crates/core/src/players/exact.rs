//! Exact values of positions of any game by alpha-beta search with a bounded table.
//!
//! A value is what the best play of both sides comes to for the player to move: +1 a win, 0 a draw, -1 a loss, however long
//! it takes. Negamax with windows inside -1..1; a player may move twice in a row. The table keeps bounds and the best move of
//! a position by its key, its ply and its mover: what a game may ask of the past beyond that, it declares
//! (`Game::past_matters`), and is refused. Moves are tried in this order: those that win at once, the table's best, those
//! that leave the opponent the fewest moves, then those that cut off most often so far.
//!
//! Keys are hashes of 64 bits: a wrong value needs two positions of one place in the table with equal hashes.

use crate::game::{Action, Game, GameError, Outcome, Player, State};
use crate::games::connect4::Position;
use crate::math::rng::mix;
use crate::players::solve_connect4;

/// Sizes of the table, as powers of two of entries.
pub const TABLE_BITS: std::ops::RangeInclusive<u32> = 10..=28;

/// Bits of the table of a search that has its own, at most.
const LARGEST_OWN_TABLE: u32 = 22;

/// Moves that are kept at the front after a cut-off, a ply.
const KILLERS: usize = 2;

/// What solves the positions of one game; it keeps its table from one call to the next.
pub trait MoveSolver: Send {
    /// The value of each legal move for the mover, in ascending order of the actions, of a position of this game: +1 it wins,
    /// 0 draws, -1 loses. Empty where the game is over; `None` where it takes more than about `nodes` further positions.
    fn move_values(&mut self, state: &dyn State, nodes: u64) -> Option<Vec<i8>>;
    /// Positions searched so far.
    fn nodes(&self) -> u64;
}

/// A solver for a game with a table of 2^`table_bits` entries: Connect Four has its own, which is faster.
///
/// Fails where the value of a position rests on more of the past than its key and ply, and for another size of table.
pub fn solver_of(game: &dyn Game, table_bits: u32) -> Result<Box<dyn MoveSolver>, GameError> {
    if !TABLE_BITS.contains(&table_bits) {
        let least = TABLE_BITS.start();
        let most = TABLE_BITS.end();
        return Err(GameError(format!("table_bits must be {least} to {most}, got {table_bits}")));
    }
    // A table by position would mix up lines whose values differ.
    if let Some(what) = game.past_matters() {
        let spec = &game.info().spec;
        return Err(GameError(format!("{spec} cannot be solved by its positions: their values depend on {what}")));
    }
    let start = game.initial();
    Ok(match start.as_any().downcast_ref::<Position>() {
        Some(start) => Box::new(solve_connect4::Solver::new(start.board(), table_bits)),
        None => Box::new(Exact::new(start, table_bits)),
    })
}

/// The values of the legal moves of a position, as `MoveSolver::move_values`, by a search with a table of its own, so that what it
/// finds does not depend on earlier searches. `None` also in games without `State::empty_squares`, and where these are too many.
pub fn values_of(state: &dyn State, nodes: u32) -> Option<Vec<i8>> {
    let limit = u64::from(nodes);
    let table_bits = table_bits_for(nodes);
    if let Some(position) = state.as_any().downcast_ref::<Position>() {
        return solve_connect4::Solver::new(position.board(), table_bits).move_values_within(position, limit);
    }
    if !is_within_reach(state.empty_squares()?, nodes) {
        return None;
    }
    Exact::new(state.clone_box(), table_bits).move_values(state, limit)
}

/// Whether it is worth while to begin a search of at most `nodes` positions with this many empty squares: the best order of moves
/// alone would take about the square root of the number of orders in which they can be filled.
fn is_within_reach(empty: usize, nodes: u32) -> bool {
    let orders: f64 = (1..=empty).map(|count| count as f64).product();
    orders.sqrt() <= f64::from(nodes)
}

/// Bits of a table that has a place for each position of a search, within bounds.
fn table_bits_for(nodes: u32) -> u32 {
    nodes.max(1).ilog2().clamp(*TABLE_BITS.start(), LARGEST_OWN_TABLE)
}

impl MoveSolver for solve_connect4::Solver {
    fn move_values(&mut self, state: &dyn State, nodes: u64) -> Option<Vec<i8>> {
        let position = state.as_any().downcast_ref::<Position>().expect("a position of Connect Four");
        self.move_values_within(position, nodes)
    }

    fn nodes(&self) -> u64 {
        self.nodes()
    }
}

/// An entry of the table: bounds of a value, and the move to try first.
#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    best: Action,
    lower: i8,
    upper: i8,
    /// Logarithm of the positions below, + 1; 0: free.
    effort: u8,
}

/// A move of a position being searched, with what it is ordered by.
#[derive(Clone, Copy)]
struct Candidate {
    action: Action,
    order: i64,
}

/// A ply of the line being searched: its position, its moves.
// Kept from one line to the next, so that no position of the search allocates.
struct Level {
    state: Box<dyn State>,
    actions: Vec<Action>,
    moves: Vec<Candidate>,
    killers: [Option<Action>; KILLERS],
}

/// The solver for any game.
pub struct Exact {
    /// Pairs of entries: the one of more effort, the latest one.
    table: Vec<[Entry; 2]>,
    levels: Vec<Level>,
    /// Cut-offs by player and action.
    history: [Vec<u32>; 2],
    nodes: u64,
    limit: u64,
    gave_up: bool,
}

impl Exact {
    /// A solver of the game of this position.
    pub fn new(start: Box<dyn State>, table_bits: u32) -> Self {
        let level = Level { state: start, actions: Vec::new(), moves: Vec::new(), killers: [None; KILLERS] };
        Exact {
            table: vec![[Entry::default(); 2]; 1 << (table_bits - 1)],
            levels: vec![level],
            history: [Vec::new(), Vec::new()],
            nodes: 0,
            limit: u64::MAX,
            gave_up: false,
        }
    }

    /// Puts the position after a move of the line's ply on the next one.
    fn play(&mut self, depth: usize, action: Action) {
        if self.levels.len() == depth + 1 {
            let state = self.levels[depth].state.clone_box();
            self.levels.push(Level { state, actions: Vec::new(), moves: Vec::new(), killers: [None; KILLERS] });
        }
        let (before, after) = self.levels.split_at_mut(depth + 1);
        after[0].state.copy_from(before[depth].state.as_ref());
        after[0].state.play(action);
    }

    /// The value of a move for its mover, if it lies between `alpha` and `beta`; otherwise a bound.
    fn value_of(&mut self, depth: usize, action: Action, alpha: i8, beta: i8) -> i8 {
        let mover = self.levels[depth].state.to_move();
        self.play(depth, action);
        let child = &self.levels[depth + 1].state;
        match child.outcome() {
            Some(outcome) => result(outcome, mover),
            // Not every game alternates: where the same player moves again, nothing is negated.
            None if child.to_move() == mover => self.search(depth + 1, alpha, beta),
            None => -self.search(depth + 1, -beta, -alpha),
        }
    }

    /// The value of the unfinished position of a ply for its mover, if it lies between `alpha` and `beta`; otherwise a bound.
    ///
    /// Once the search has given up all values are meaningless, and none is kept.
    fn search(&mut self, depth: usize, mut alpha: i8, mut beta: i8) -> i8 {
        if self.nodes >= self.limit {
            self.gave_up = true;
            return beta;
        }
        self.nodes += 1;
        let begun = self.nodes;
        let key = key_of(self.levels[depth].state.as_ref());
        let known = self.entry(key);
        let (mut lower, mut upper) = known.map_or((-1, 1), |entry| (entry.lower, entry.upper));
        // Bounds from other windows narrow this one.
        (alpha, beta) = (alpha.max(lower), beta.min(upper));
        if alpha >= beta {
            return alpha;
        }
        let (value, best) = self.best(depth, known.map(|entry| entry.best), alpha, beta);
        if self.gave_up {
            return value;
        }
        // A value inside the window is exact; one at an end is a bound on that side only.
        if value > alpha {
            lower = value;
        }
        if value < beta {
            upper = value;
        }
        // Entries that took more work are worth more, and a logarithm fits into a byte.
        let effort = 65 - (self.nodes - begun).leading_zeros() as u8;
        self.keep(Entry { key, best, lower, upper, effort });
        value
    }

    /// The best value among the moves, most promising first, and its move.
    fn best(&mut self, depth: usize, first: Option<Action>, mut alpha: i8, beta: i8) -> (i8, Action) {
        if let Some(winning) = self.order(depth, first) {
            return (1, winning);
        }
        let player = self.levels[depth].state.to_move() as usize;
        // A lost position keeps a move as well: the table's best only says what to try first.
        let mut best = (-1, self.levels[depth].moves.first().map_or(0, |one| one.action));
        for place in 0..self.levels[depth].moves.len() {
            let action = self.levels[depth].moves[place].action;
            let value = self.value_of(depth, action, alpha, beta);
            if value > best.0 {
                best = (value, action);
            }
            alpha = alpha.max(value);
            if alpha >= beta && !self.gave_up {
                self.count_cut_off(player, action);
                let killers = &mut self.levels[depth].killers;
                if killers[0] != Some(action) {
                    *killers = [Some(action), killers[0]];
                }
            }
            if alpha >= beta || self.gave_up {
                break;
            }
        }
        best
    }

    /// Writes the moves of a ply in the order in which they are tried; a move that wins at once instead, if there is one.
    fn order(&mut self, depth: usize, first: Option<Action>) -> Option<Action> {
        let mover = self.levels[depth].state.to_move();
        let mut actions = std::mem::take(&mut self.levels[depth].actions);
        self.levels[depth].state.legal_actions(&mut actions);
        let mut moves = std::mem::take(&mut self.levels[depth].moves);
        moves.clear();
        let mut winning = None;
        for &action in &actions {
            self.play(depth, action);
            let child = &self.levels[depth + 1].state;
            let replies = match child.outcome() {
                Some(outcome) if result(outcome, mover) == 1 => {
                    winning = Some(action);
                    break;
                }
                Some(_) => 0,
                None => child.num_legal() as i64,
            };
            let killer = self.levels[depth].killers.contains(&Some(action));
            let cut_offs = self.history[mover as usize].get(usize::from(action)).copied().unwrap_or(0);
            // The table's move, then few replies, then killers, then the history of cut-offs: each part has bits
            // above all that follow.
            let order = if first == Some(action) {
                i64::MAX
            } else {
                (i64::from(killer) << 32) + i64::from(cut_offs) - (replies << 34)
            };
            moves.push(Candidate { action, order });
        }
        moves.sort_by_key(|one| std::cmp::Reverse(one.order));
        (self.levels[depth].actions, self.levels[depth].moves) = (actions, moves);
        winning
    }

    fn count_cut_off(&mut self, player: usize, action: Action) {
        let counts = &mut self.history[player];
        let place = usize::from(action);
        if place >= counts.len() {
            counts.resize(place + 1, 0);
        }
        counts[place] += 1;
    }

    /// What the table has of a key.
    fn entry(&self, key: u64) -> Option<Entry> {
        self.table[self.slot(key)].iter().find(|entry| entry.effort > 0 && entry.key == key).copied()
    }

    fn slot(&self, key: u64) -> usize {
        key as usize & (self.table.len() - 1)
    }

    /// Keeps an entry: in the place of the same position, of one of less effort, or of the latest one.
    fn keep(&mut self, entry: Entry) {
        let slot = self.slot(entry.key);
        let pair = &mut self.table[slot];
        // Two entries a slot: one is kept by effort and one is always replaced, so that neither old deep
        // entries nor new shallow ones fill the table.
        if pair[0].key == entry.key || entry.effort >= pair[0].effort {
            if pair[0].key != entry.key {
                pair[1] = pair[0];
            }
            pair[0] = entry;
        } else {
            pair[1] = entry;
        }
    }
}

impl MoveSolver for Exact {
    fn move_values(&mut self, state: &dyn State, nodes: u64) -> Option<Vec<i8>> {
        self.limit = self.nodes.saturating_add(nodes);
        self.gave_up = false;
        self.levels[0].state.copy_from(state);
        let mut actions = Vec::new();
        if state.outcome().is_none() {
            state.legal_actions(&mut actions);
        }
        let values = actions.into_iter().map(|action| self.value_of(0, action, -1, 1)).collect();
        (!self.gave_up).then_some(values)
    }

    fn nodes(&self) -> u64 {
        self.nodes
    }
}

/// What a result is for a player: +1 won, 0 drawn, -1 lost.
pub(super) fn result(outcome: Outcome, player: Player) -> i8 {
    match outcome {
        Outcome::Draw => 0,
        Outcome::Win(winner) => {
            if winner == player {
                1
            } else {
                -1
            }
        }
    }
}

/// What the value of a position rests on; with the ply, no line of play comes back to a key of its own.
fn key_of(state: &dyn State) -> u64 {
    mix(state.key() ^ mix(((state.ply() as u64) << 1) | state.to_move() as u64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::games::make_game;

    /// Value for the mover by plain negamax over keys with their plies.
    fn plain(state: &dyn State, known: &mut HashMap<(u64, usize), i8>) -> i8 {
        if let Some(&value) = known.get(&(state.key(), state.ply())) {
            return value;
        }
        let value = plain_values(state, known).into_iter().max().unwrap();
        known.insert((state.key(), state.ply()), value);
        value
    }

    fn plain_values(state: &dyn State, known: &mut HashMap<(u64, usize), i8>) -> Vec<i8> {
        let mut actions = Vec::new();
        let mover = state.to_move();
        state.legal_actions(&mut actions);
        let value = |action: &Action| {
            let mut child = state.clone_box();
            child.play(*action);
            match child.outcome() {
                Some(outcome) => result(outcome, mover),
                None => plain(child.as_ref(), known) * if child.to_move() == mover { 1 } else { -1 },
            }
        };
        actions.iter().map(value).collect()
    }

    /// Follows random games of a game from a ply on; every position has the values of plain negamax, in tables of any size.
    fn agrees(spec: &str, from: usize, games: u64) {
        let game = make_game(spec).unwrap();
        let mut known = HashMap::new();
        let mut solvers: Vec<Exact> = [10, 18].map(|bits| Exact::new(game.initial(), bits)).into();
        for number in 0..games {
            let mut random = crate::math::rng::Stream::new(number);
            let mut state = game.initial();
            let mut actions = Vec::new();
            while state.outcome().is_none() {
                if state.ply() >= from {
                    let values = plain_values(state.as_ref(), &mut known);
                    for solver in &mut solvers {
                        assert_eq!(
                            solver.move_values(state.as_ref(), u64::MAX),
                            Some(values.clone()),
                            "{spec} {}",
                            state.notation()
                        );
                    }
                }
                state.legal_actions(&mut actions);
                state.play(actions[random.below(actions.len())]);
            }
            assert_eq!(solvers[0].move_values(state.as_ref(), u64::MAX), Some(Vec::new()));
        }
    }

    #[test]
    fn values_are_those_of_plain_negamax() {
        for (spec, from, games) in [
            ("tictactoe", 0, 200),
            ("connect4(columns=4,rows=4)", 2, 20),
            ("connect4", 30, 20),
            ("nogo(size=4)", 5, 10),
            ("nogo(size=5)", 13, 10),
            ("hex(size=3)", 0, 20),
            ("othello(size=4)", 0, 20),
            ("othello(size=6)", 24, 10),
        ] {
            agrees(spec, from, games);
        }
    }

    #[test]
    fn both_solvers_of_connect_four_agree() {
        let game = make_game("connect4(columns=5,rows=4)").unwrap();
        let mut special = solver_of(game.as_ref(), 16).unwrap();
        let mut general = Exact::new(game.initial(), 16);
        let values = general.move_values(game.initial().as_ref(), u64::MAX);
        assert_eq!(special.move_values(game.initial().as_ref(), u64::MAX), values);
        assert!(special.nodes() < general.nodes());
        assert_eq!(Exact::new(game.initial(), 16).move_values(game.initial().as_ref(), 1000), None);
    }

    #[test]
    fn positions_with_few_empty_squares_are_within_reach() {
        assert!(is_within_reach(0, 1) && is_within_reach(13, 100_000) && !is_within_reach(14, 100_000));
        let state = make_game("othello").unwrap().initial();
        assert_eq!(values_of(state.as_ref(), 1_000_000), None, "60 squares are empty");
    }

    #[test]
    fn states_of_games_whose_past_matters_name_no_empty_squares() {
        let specs = ["chess", "connect4", "go", "gomoku", "hex", "minichess", "nogo", "othello", "tictactoe"];
        for game in specs.map(|spec| make_game(spec).unwrap()) {
            let rests_on_position = game.past_matters().is_none();
            assert_eq!(game.initial().empty_squares().is_some(), rests_on_position, "{}", game.info().spec);
        }
    }

    #[test]
    fn values_of_a_state_are_those_of_the_solvers() {
        for (spec, plies) in [("connect4", 30), ("hex(size=4)", 6), ("tictactoe", 2), ("othello(size=4)", 3)] {
            let game = make_game(spec).unwrap();
            let mut solver = solver_of(game.as_ref(), 16).unwrap();
            for seed in 0..20 {
                let mut state = game.initial();
                let mut actions = Vec::new();
                let mut random = crate::math::rng::Stream::new(seed);
                while state.ply() < plies && state.outcome().is_none() {
                    let action = state.random_action(&mut random, &mut actions);
                    state.play(action);
                }
                if state.outcome().is_none() {
                    assert_eq!(
                        values_of(state.as_ref(), 1_000_000),
                        solver.move_values(state.as_ref(), u64::MAX),
                        "{spec}, {seed}"
                    );
                }
            }
        }
        for spec in ["chess", "minichess", "go(size=3)"] {
            assert_eq!(values_of(make_game(spec).unwrap().initial().as_ref(), u32::MAX), None, "{spec}");
        }
    }

    #[test]
    fn games_whose_past_matters_are_refused() {
        for (spec, word) in [("chess", "repetitions"), ("minichess", "repetitions"), ("go(size=5)", "superko")] {
            let refused = solver_of(make_game(spec).unwrap().as_ref(), 16).err().unwrap().0;
            assert!(refused.starts_with(spec) && refused.contains(word) && !refused.contains('\n'), "{refused}");
        }
        let refused = solver_of(make_game("tictactoe").unwrap().as_ref(), 3).err().unwrap().0;
        assert_eq!(refused, "table_bits must be 10 to 28, got 3");
    }
}
