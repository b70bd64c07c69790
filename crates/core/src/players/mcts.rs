//! Monte Carlo tree search by random games, for every game: UCT with the selection rule UCB1.
//!
//! Every simulation adds one node. Selection takes an unvisited child at random while there is one, then the child with
//! the greatest
//!
//! ```text
//! q + sqrt(2) sqrt(ln n / N),   q: mean result of its player, 1 won, 1/2 drawn, 0 lost; N, n: visits of child and parent
//! ```
//!
//! UCB1 as Auer, Cesa-Bianchi and Fischer (2002) gave it for rewards from 0 to 1, in trees as by Kocsis and Szepesvári
//! (2006).

use std::f64::consts::SQRT_2;

use super::{check, halves, play_to_the_end};
use crate::game::{Action, GameError, Outcome, Player, State};
use crate::math::rng::Stream;

/// Weight of the exploration term.
const EXPLORATION: f64 = SQRT_2;

/// Maximum of nodes of a tree (20 bytes each: 1.3 GB); once they are used up leaves stay leaves.
const MAX_NODES: usize = 1 << 26;

/// Statistics of one legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveStatistics {
    /// The move.
    pub action: Action,
    /// Simulations that began with it.
    pub visits: u32,
    /// What its player got in them, in halves: 2 a win, 1 a draw.
    pub halves: u32,
}

/// Searches a position with this many simulations; one entry a legal move, ascending.
///
/// The same position, number and seed give the same answer. Fails for a number of simulations out of range, and where
/// the game is over.
pub fn search(state: &dyn State, simulations: u32, seed: u64) -> Result<Vec<MoveStatistics>, GameError> {
    check(state, simulations)?;
    let mut search = Search::new(state, seed);
    for _ in 0..simulations {
        search.simulate();
    }
    let children = search.nodes[0].child_range();
    Ok(search.nodes[children].iter().map(statistics).collect())
}

/// A move in the tree. The children of a node are neighbours in the arena.
#[derive(Clone, Copy)]
struct Node {
    visits: u32,
    halves: u32,
    first_child: u32,
    children: u16,
    action: Action,
    is_expanded: bool,
}

impl Node {
    /// A move that was not tried yet.
    fn new(action: Action) -> Self {
        Node { visits: 0, halves: 0, first_child: 0, children: 0, action, is_expanded: false }
    }

    fn child_range(&self) -> std::ops::Range<usize> {
        let first = self.first_child as usize;
        first..first + usize::from(self.children)
    }
}

struct Search<'a> {
    root: &'a dyn State,
    nodes: Vec<Node>,
    random: Stream,
    /// The position of the simulation, and its nodes below the root with the players who moved there.
    state: Box<dyn State>,
    path: Vec<(usize, Player)>,
    actions: Vec<Action>,
}

impl<'a> Search<'a> {
    fn new(root: &'a dyn State, seed: u64) -> Self {
        let mut search = Search {
            root,
            nodes: vec![Node::new(0)],
            random: Stream::new(seed),
            state: root.clone_box(),
            path: Vec::new(),
            actions: Vec::new(),
        };
        // The root at once: a search of one simulation has an answer for every move too.
        search.expand(0);
        search
    }

    /// One simulation: down the tree, a random game, and the result on the way back.
    fn simulate(&mut self) {
        self.state.copy_from(self.root);
        self.path.clear();
        let outcome = self.descend();
        self.nodes[0].visits += 1;
        for &(node, mover) in &self.path {
            let node = &mut self.nodes[node];
            node.visits += 1;
            node.halves += halves(outcome, mover);
        }
    }

    /// Follows the best children to a new one and plays a random game from there; the result.
    fn descend(&mut self) -> Outcome {
        let mut node = 0;
        loop {
            if let Some(outcome) = self.state.outcome() {
                return outcome;
            }
            if !self.nodes[node].is_expanded && !self.expand(node) {
                return self.play_to_the_end();
            }
            let mover = self.state.to_move();
            node = self.select(node);
            self.path.push((node, mover));
            self.state.play(self.nodes[node].action);
            if self.nodes[node].visits == 0 {
                return self.play_to_the_end();
            }
        }
    }

    /// Gives a node its children, all legal moves; false where the arena is full.
    fn expand(&mut self, node: usize) -> bool {
        self.state.legal_actions(&mut self.actions);
        let first = self.nodes.len();
        if first + self.actions.len() > MAX_NODES {
            return false;
        }
        self.nodes.extend(self.actions.iter().map(|&action| Node::new(action)));
        let node = &mut self.nodes[node];
        (node.first_child, node.children, node.is_expanded) = (first as u32, self.actions.len() as u16, true);
        true
    }

    /// A random one of the unvisited children; once there is none, the one with the best score, the first of those tied.
    fn select(&mut self, node: usize) -> usize {
        let parent = self.nodes[node];
        let children = &self.nodes[parent.child_range()];
        let unvisited = || children.iter().enumerate().filter(|(_, child)| child.visits == 0);
        // UCB1 is undefined for an arm without a sample, so every child is tried once, in random order.
        let count = unvisited().count();
        let place = if count > 0 {
            unvisited().nth(self.random.below(count)).expect("there are this many").0
        } else {
            best(children, f64::from(parent.visits).ln())
        };
        parent.first_child as usize + place
    }

    fn play_to_the_end(&mut self) -> Outcome {
        play_to_the_end(self.state.as_mut(), &mut self.random, &mut self.actions, |_, _| ())
    }
}

/// Place of the child with the best score; `log`: the logarithm of the parent's visits.
fn best(children: &[Node], log: f64) -> usize {
    let mut found = (0, f64::NEG_INFINITY);
    for (place, child) in children.iter().enumerate() {
        let visits = f64::from(child.visits);
        let score = f64::from(child.halves) / (2.0 * visits) + EXPLORATION * (log / visits).sqrt();
        if score > found.1 {
            found = (place, score);
        }
    }
    found.0
}

fn statistics(node: &Node) -> MoveStatistics {
    MoveStatistics { action: node.action, visits: node.visits, halves: node.halves }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;

    fn after(game: &str, actions: &[Action]) -> Box<dyn State> {
        let mut state = make_game(game).unwrap().initial();
        actions.iter().for_each(|&action| state.play(action));
        state
    }

    fn most_visited(state: &dyn State, simulations: u32, seed: u64) -> Action {
        let moves = search(state, simulations, seed).unwrap();
        moves.iter().rev().max_by_key(|found| found.visits).unwrap().action
    }

    #[test]
    fn every_simulation_counts_once() {
        for game in ["tictactoe", "connect4", "chess", "nogo(size=5)"] {
            for simulations in [1, 5, 300] {
                let state = after(game, &[]);
                let moves = search(state.as_ref(), simulations, 3).unwrap();
                assert_eq!(moves.iter().map(|found| found.visits).sum::<u32>(), simulations, "{game}");
                assert!(moves.iter().all(|found| found.halves <= 2 * found.visits));
                assert_eq!(moves, search(state.as_ref(), simulations, 3).unwrap());
                assert!(simulations == 1 || moves != search(state.as_ref(), simulations, 4).unwrap());
            }
        }
    }

    #[test]
    fn all_moves_are_tried_before_one_is_tried_again() {
        let moves = search(after("connect4", &[]).as_ref(), 7, 1).unwrap();
        assert!(moves.iter().all(|found| found.visits == 1));
    }

    #[test]
    fn wins_at_once_and_stops_wins() {
        // tic-tac-toe, X: 0 1, O: 3 4; then X to move wins with 2, and after X 8 O wins with 5
        assert_eq!(most_visited(after("tictactoe", &[0, 3, 1, 4]).as_ref(), 500, 1), 2);
        assert_eq!(most_visited(after("tictactoe", &[0, 3, 1, 4, 8]).as_ref(), 500, 1), 5);
        // X: 0 4, O: 1; O must stop 8
        assert_eq!(most_visited(after("tictactoe", &[0, 1, 4]).as_ref(), 2000, 1), 8);
    }

    #[test]
    fn a_game_that_is_over_and_a_wrong_number_are_refused() {
        assert!(search(after("tictactoe", &[0, 3, 1, 4, 2]).as_ref(), 5, 0).is_err());
        assert!(search(after("tictactoe", &[]).as_ref(), 0, 0).is_err());
    }
}
