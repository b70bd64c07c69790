//! Tree search by random games with all-moves-as-first values (RAVE), without a network: for games of at most 256 actions,
//! best for those whose moves are points that are taken once.
//!
//! A move is also rated by the games in which it was played later. Its statistics: visits N with the mean result q; and R, r the
//! number and mean result of the simulations that passed its parent and in which the same player was the first to take its
//! point at any time later. Every move begins with R = 20, r = 1/2: a fixed sample, there is no schedule by which R fades.
//! The selected child has the greatest
//!
//! ```text
//! (R r + N q + 0.25 sqrt(N ln n)) / (N + R),   n: visits of the parent
//! ```
//!
//! (docs/reference/players.md). Results are 1 for a win, 1/2 for a draw, 0 for a loss.

use super::nogo_games::NoGoGames;
pub use super::random_games::MAX_ACTIONS;
use super::random_games::{RandomGames, StateGames, Taken};
use super::{check, halves};
use crate::game::{Action, GameError, GameInfo, Outcome, Player, State};
use crate::games::nogo::Position;
use crate::math::rng::Stream;

/// The sample that the all-moves-as-first value of a move begins with: R, and R r in halves.
const PRIOR_COUNT: u32 = 20;
const PRIOR_HALVES: u32 = 20;
/// Weight of the exploration term.
const EXPLORATION: f64 = 0.25;
/// Scores no further than this from the best are tied with it.
const TIE: f64 = 1e-4;

/// Most nodes of a tree (24 bytes each: 1.6 GB); once they are used up leaves stay leaves.
const MAX_NODES: usize = 1 << 26;

/// What a search found of one legal move: simulations that began with it, and what its player got in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveStatistics {
    /// The move.
    pub action: Action,
    /// N.
    pub visits: u32,
    /// N q in halves: 2 a win, 1 a draw.
    pub halves: u32,
    /// R, the sample it began with included.
    pub amaf_visits: u32,
    /// R r in halves, likewise.
    pub amaf_halves: u32,
}

/// Searches a position of a game with this many simulations; one entry a legal move, ascending. The first simulation stays at
/// the root.
///
/// The same position, number and seed give the same answer. Fails for games of more than 256 actions, for a number of
/// simulations out of range, and where the game is over.
pub fn search(
    state: &dyn State,
    info: &GameInfo,
    simulations: u32,
    seed: u64,
) -> Result<Vec<MoveStatistics>, GameError> {
    check(state, simulations)?;
    if info.num_actions > MAX_ACTIONS {
        let spec = &info.spec;
        let count = info.num_actions;
        return Err(GameError(format!(
            "rave plays games of at most {MAX_ACTIONS} actions, {spec} has {count}; mcts:N plays every game"
        )));
    }
    let position = state.as_any();
    if let Some(position) = position.downcast_ref::<Position<1>>() {
        return Ok(Search::new(NoGoGames::new(position), seed).run(simulations));
    }
    if let Some(position) = position.downcast_ref::<Position<2>>() {
        return Ok(Search::new(NoGoGames::new(position), seed).run(simulations));
    }
    if let Some(position) = position.downcast_ref::<Position<3>>() {
        return Ok(Search::new(NoGoGames::new(position), seed).run(simulations));
    }
    Ok(Search::new(StateGames::new(state, info.num_actions), seed).run(simulations))
}

/// A move in the tree. The children of a node are neighbours in the arena.
#[derive(Clone, Copy)]
struct Node {
    visits: u32,
    halves: u32,
    amaf_visits: u32,
    amaf_halves: u32,
    first_child: u32,
    children: u16,
    action: u8,
    is_expanded: bool,
}

impl Node {
    /// A move that was not tried yet.
    fn new(action: u8) -> Self {
        Node {
            visits: 0,
            halves: 0,
            amaf_visits: PRIOR_COUNT,
            amaf_halves: PRIOR_HALVES,
            first_child: 0,
            children: 0,
            action,
            is_expanded: false,
        }
    }

    fn child_range(&self) -> std::ops::Range<usize> {
        let first = self.first_child as usize;
        first..first + usize::from(self.children)
    }
}

struct Search<G> {
    games: G,
    nodes: Vec<Node>,
    random: Stream,
    /// The nodes of the simulation from the root down, each with the player to move there.
    path: Vec<(u32, Player)>,
    taken: Taken,
    scores: Vec<f64>,
}

impl<G: RandomGames> Search<G> {
    fn new(games: G, seed: u64) -> Self {
        Search {
            games,
            nodes: vec![Node::new(0)],
            random: Stream::new(seed),
            path: Vec::new(),
            taken: Taken::new(),
            scores: Vec::new(),
        }
    }

    fn run(mut self, simulations: u32) -> Vec<MoveStatistics> {
        for _ in 0..simulations {
            self.simulate();
        }
        // a single simulation leaves the root a leaf
        self.games.restart();
        self.expand(0);
        self.nodes[self.nodes[0].child_range()].iter().map(statistics).collect()
    }

    /// One simulation: down the tree, a random game, and the result on the way back.
    fn simulate(&mut self) {
        self.games.restart();
        self.path.clear();
        self.taken.clear(self.games.actions());
        let outcome = self.descend();
        self.back_up(outcome);
    }

    /// Follows the best children to a leaf and plays a random game from there; the result.
    fn descend(&mut self) -> Outcome {
        let mut node = 0;
        loop {
            self.path.push((node as u32, self.games.to_move()));
            // A node gets its children at its second visit, which keeps trees of many single visits small.
            if self.nodes[node].visits == 0 || !self.expand(node) {
                return self.games.finish(&mut self.random, &mut self.taken);
            }
            if self.nodes[node].children == 0 {
                return self.games.outcome();
            }
            node = self.select(node);
            self.games.play(self.nodes[node].action);
        }
    }

    /// Gives a node its children, all legal moves, if it has not got them yet; false where the arena is full.
    fn expand(&mut self, node: usize) -> bool {
        if self.nodes[node].is_expanded {
            return true;
        }
        let first = self.nodes.len();
        if first + self.games.actions() > MAX_NODES {
            return false;
        }
        self.games.for_each_legal(|action| self.nodes.push(Node::new(action)));
        let children = (self.nodes.len() - first) as u16;
        let node = &mut self.nodes[node];
        (node.first_child, node.children, node.is_expanded) = (first as u32, children, true);
        true
    }

    /// The child with the best score; among those tied with it a random one.
    fn select(&mut self, node: usize) -> usize {
        let parent = self.nodes[node];
        let log = f64::from(parent.visits).ln();
        let range = parent.child_range();
        let mut best = f64::NEG_INFINITY;
        self.scores.clear();
        for child in &self.nodes[range.clone()] {
            let score = score(child, log);
            best = best.max(score);
            self.scores.push(score);
        }
        let is_tied = |score: &f64| *score >= best - TIE;
        let tied = self.scores.iter().filter(|score| is_tied(score)).count();
        // The stream is asked only where there is a choice, so that equal searches stay equal.
        let choice = if tied == 1 { 0 } else { self.random.below(tied) };
        let mut ties = self.scores.iter().enumerate().filter(|(_, score)| is_tied(score));
        range.start + ties.nth(choice).expect("the best child is among the tied").0
    }

    /// Counts the simulation in the nodes of the path, and at each of them in the children whose actions its mover was the first
    /// to play from there on.
    fn back_up(&mut self, outcome: Outcome) {
        for depth in (0..self.path.len()).rev() {
            let (node, mover) = self.path[depth];
            if let Some(&(child, _)) = self.path.get(depth + 1) {
                // From the leaf up, so that an earlier move replaces a later one on its point, and the children are
                // rated by what came after them.
                self.taken.set(self.nodes[child as usize].action, mover);
            }
            // the root's own result is of no use
            let chooser = if depth == 0 { mover } else { self.path[depth - 1].1 };
            let node = &mut self.nodes[node as usize];
            node.visits += 1;
            node.halves += halves(outcome, chooser);
            let range = node.child_range();
            let halves = halves(outcome, mover);
            for child in &mut self.nodes[range] {
                let counted = u32::from(self.taken.is_by(child.action, mover));
                // Added without a branch: whether a point was taken by this player is next to random.
                child.amaf_visits += counted;
                child.amaf_halves += counted * halves;
            }
        }
    }
}

/// What a child is selected by; `log`: the logarithm of its parent's visits.
#[inline]
fn score(child: &Node, log: f64) -> f64 {
    let visits = f64::from(child.visits);
    let amaf_visits = f64::from(child.amaf_visits);
    let won = 0.5 * (f64::from(child.amaf_halves) + f64::from(child.halves));
    (won + EXPLORATION * (visits * log).sqrt()) / (visits + amaf_visits)
}

fn statistics(node: &Node) -> MoveStatistics {
    MoveStatistics {
        action: node.action.into(),
        visits: node.visits,
        halves: node.halves,
        amaf_visits: node.amaf_visits,
        amaf_halves: node.amaf_halves,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;

    /// The search after these moves.
    fn found(spec: &str, moves: &str, simulations: u32, seed: u64) -> Result<Vec<MoveStatistics>, GameError> {
        let game = make_game(spec)?;
        let mut state = game.initial();
        for text in moves.split_whitespace() {
            state.play(state.action_from_text(text)?);
        }
        search(state.as_ref(), game.info(), simulations, seed)
    }

    /// The name of the most visited move.
    fn choice(spec: &str, moves: &str, simulations: u32) -> String {
        let found = found(spec, moves, simulations, 1).unwrap();
        let action = found.iter().max_by_key(|found| found.visits).unwrap().action;
        let mut state = make_game(spec).unwrap().initial();
        moves.split_whitespace().for_each(|text| state.play(state.action_from_text(text).unwrap()));
        state.action_to_text(action, None).unwrap()
    }

    #[test]
    fn simulations_add_up_and_depend_on_the_seed() {
        for spec in [
            "go(size=5)",
            "hex(size=5,swap=true)",
            "gomoku(size=7)",
            "nogo(size=5)",
            "othello",
            "connect4",
            "tictactoe",
        ] {
            for simulations in [1, 2, 400] {
                let moves = found(spec, "", simulations, 3).unwrap();
                assert_eq!(moves.iter().map(|found| found.visits).sum::<u32>(), simulations - 1, "{spec}");
                for found in &moves {
                    let counted = found.amaf_visits - PRIOR_COUNT;
                    assert!((found.visits..simulations.max(1)).contains(&counted), "{spec}: {found:?}");
                    assert!(found.halves <= 2 * found.visits && found.amaf_halves - PRIOR_HALVES <= 2 * counted);
                    assert!(found.halves <= found.amaf_halves - PRIOR_HALVES, "{spec}: {found:?}");
                }
                assert_eq!(Ok(&moves), found(spec, "", simulations, 3).as_ref());
                assert!(simulations < 400 || Ok(moves) != found(spec, "", simulations, 4), "{spec}");
            }
        }
    }

    #[test]
    fn wins_at_once_and_stops_wins() {
        assert_eq!(choice("gomoku(size=7)", "C3 A1 C4 A3 C5 A5 C2 C1", 500), "C6");
        assert_eq!(choice("gomoku(size=7)", "A1 C3 A3 C4 A5 C5 C1 C2", 2000), "C6");
        assert_eq!(choice("hex(size=4)", "b1 a1 b2 a2 b3 a3", 300), "b4");
        assert_eq!(choice("connect4", "4 1 4 1 4 2", 2000), "4");
        assert_eq!(choice("tictactoe", "a1 b2 c1", 300), "b1");
    }

    #[test]
    fn takes_a_capture_in_go() {
        // both have four stones in atari: Black takes White's with E1, and with any other move loses its own
        let moves = "A2 A3 B2 B3 C2 C3 D2 D3 A5 E3 B5 A1 C5 B1 D5 C1 E5 D1";
        assert_eq!(choice("go(size=5,komi=0)", moves, 2000), "E1");
    }

    #[test]
    fn draws_count_half() {
        // one point is left, and it makes no line
        let moves = found("tictactoe", "a1 b2 c3 b3 b1 c1 a3 a2", 50, 1).unwrap();
        assert_eq!(moves.len(), 1);
        assert_eq!((moves[0].visits, moves[0].halves), (49, 49));
        assert_eq!(moves[0].amaf_halves, moves[0].amaf_visits);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let problem = found("minichess", "", 10, 0).unwrap_err().to_string();
        assert_eq!(problem, "rave plays games of at most 256 actions, minichess has 455; mcts:N plays every game");
        assert!(found("tictactoe", "a1 a2 b1 b2 c1", 10, 0).unwrap_err().to_string().contains("over"));
        assert!(found("go(size=5)", "", 0, 0).unwrap_err().to_string().contains("simulations must be"));
    }
}
