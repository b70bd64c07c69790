//! Positions of a game with the exact values of their moves, by which players are judged.
//!
//! They come from games, half of them uniformly random, half of a short tree search that plays every fourth move at random,
//! spread evenly over the plies. No two are images of each other under the game's symmetries, and they are quiet: no two
//! moves end the game with a winner, since any search sees such wins and they hardly tell players apart. A game with few
//! quiet positions gives all kinds. What takes too long to solve is left out and counted; plies of which less than half can
//! be solved are left out with all that come before them. The same settings give the same positions.

use std::collections::HashSet;

use super::exact::MoveSolver;
use super::mcts;
use crate::game::{Action, Game, Outcome, State, Symmetry};
use crate::math::rng::{Stream, mix};

/// Simulations a move of the games that are searched; in games that are not written in Rust, and much slower.
const SIMULATIONS: [u32; 2] = [32, 4];
/// Every move of those games is random with one chance in this number.
const RANDOM_MOVES: usize = 4;
/// Games that are played for each position that is asked for.
const GAMES: usize = 4;
/// Positions that are taken from a game at most.
const A_GAME: usize = 2;
/// Positions of a ply by which it is decided whether it can be solved.
const PROBES: usize = 8;
/// Fewest quiet positions with which the others are left out.
const FEWEST: usize = 500;

/// What positions are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of positions, spread evenly over the plies.
    pub count: usize,
    /// Of the games that they are taken from.
    pub seed: u64,
    /// Positions searched for one of them at most, and for all together.
    pub nodes: u64,
    /// The same for all together.
    pub total: u64,
}

/// A position with the value of each legal move, ascending: +1 the mover wins by it, 0 draws, -1 loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The moves that lead to it.
    pub actions: Vec<Action>,
    /// The values.
    pub values: Vec<i8>,
}

/// Positions in the order of their plies, and what was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The positions.
    pub positions: Vec<Solved>,
    /// By ply from 0: positions that took too long.
    pub unsolved: Vec<usize>,
    /// Whether no two moves end one of them.
    pub quiet: bool,
}

/// Solved positions of a game; fewer than are asked for where its games have no more, or `total` is spent.
///
/// watch: gets the progress of the work.
pub fn find(game: &dyn Game, solver: &mut dyn MoveSolver, request: &Request, watch: &dyn Fn(Progress)) -> Found {
    let wanted = GAMES * request.count;
    let mut games: Vec<Vec<Action>> = Vec::with_capacity(wanted);
    for number in 0..wanted {
        games.push(play(game, request.seed, number as u64));
        watch(Progress::Played { games: number + 1, of: wanted });
    }
    let quiet = Sampler::new(game, &games, solver, request, true, watch).found();
    if quiet.positions.len() >= FEWEST.min(request.count) {
        return quiet;
    }
    Sampler::new(game, &games, solver, request, false, watch).found()
}

/// How far a search for solved positions is.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// Games played, in whose positions the others are looked for.
    Played {
        /// Those that have ended.
        games: usize,
        /// Those that are played.
        of: usize,
    },
    /// Plies tried from the end of the games, until one takes too long to solve.
    Tried {
        /// Those that are done.
        plies: usize,
        /// Plies of the longest game.
        of: usize,
    },
    /// Positions solved.
    Solved {
        /// Those that are done.
        positions: usize,
        /// Those that were asked for.
        of: usize,
    },
}

/// The moves of the game of this number.
fn play(game: &dyn Game, seed: u64, number: u64) -> Vec<Action> {
    // A stream a game: a game is the same however many are played.
    let mut random = Stream::new(mix(mix(seed) ^ number));
    let simulations = SIMULATIONS[usize::from(game.foreign().is_some())];
    let mut state = game.initial();
    let mut played = Vec::new();
    let mut actions = Vec::new();
    while state.outcome().is_none() {
        state.legal_actions(&mut actions);
        let mut action = actions[random.below(actions.len())];
        if number % 2 == 1 && random.below(RANDOM_MOVES) > 0 {
            let tried = mcts::search(state.as_ref(), simulations, random.next_word()).expect("the game goes on");
            // Reversed, because the last of equals is taken: it is the first move then.
            action = tried.iter().rev().max_by_key(|one| one.visits).map_or(action, |one| one.action);
        }
        state.play(action);
        played.push(action);
    }
    played
}

/// The positions of one ply, and the number of the game whose position is looked at next.
#[derive(Default)]
struct Ply {
    solved: Vec<Solved>,
    unsolved: usize,
    next: usize,
}

struct Sampler<'a> {
    game: &'a dyn Game,
    symmetries: Vec<Symmetry>,
    games: &'a [Vec<Action>],
    /// Positions taken from each game.
    taken: Vec<usize>,
    solver: &'a mut dyn MoveSolver,
    request: &'a Request,
    quiet: bool,
    last_node: u64,
    plies: Vec<Ply>,
    known: HashSet<u64>,
    watch: &'a dyn Fn(Progress),
    /// How far it is, which is told for every position that is looked at: in a slow game each may take a second.
    stage: Progress,
}

impl<'a> Sampler<'a> {
    fn new(
        game: &'a dyn Game,
        games: &'a [Vec<Action>],
        solver: &'a mut dyn MoveSolver,
        request: &'a Request,
        quiet: bool,
        watch: &'a dyn Fn(Progress),
    ) -> Self {
        Sampler {
            game,
            symmetries: game.symmetries(),
            games,
            taken: vec![0; games.len()],
            last_node: solver.nodes().saturating_add(request.total),
            solver,
            request,
            quiet,
            plies: (0..games.iter().map(Vec::len).max().unwrap_or(0)).map(|_| Ply::default()).collect(),
            known: HashSet::new(),
            watch,
            stage: Progress::Tried { plies: 0, of: 0 },
        }
    }

    fn found(mut self) -> Found {
        let first = self.first_ply();
        // the plies in turn, so that each has as many as it can; rare late ones choose first
        let mut open: Vec<usize> = (first..self.plies.len()).rev().collect();
        let mut count: usize = open.iter().map(|&ply| self.plies[ply].solved.len()).sum();
        while !open.is_empty() && count < self.request.count {
            open.retain(|&ply| {
                self.stage = Progress::Solved { positions: count, of: self.request.count };
                let before = self.plies[ply].solved.len();
                let goes_on = count < self.request.count && self.add(ply);
                count += self.plies[ply].solved.len() - before;
                goes_on
            });
        }
        let unsolved = self.plies.iter().map(|ply| ply.unsolved).collect();
        let positions =
            self.plies.into_iter().skip(first).flat_map(|ply| ply.solved).take(self.request.count).collect();
        Found { positions, unsolved, quiet: self.quiet }
    }

    /// The first ply that can be solved, with all after it, found from the end of the game.
    fn first_ply(&mut self) -> usize {
        let all = self.plies.len();
        for ply in (0..all).rev() {
            self.stage = Progress::Tried { plies: all - 1 - ply, of: all };
            // From the end: later positions are easier to solve, so the first ply that is too hard bounds all
            // before it.
            while self.plies[ply].solved.len() + self.plies[ply].unsolved < PROBES && self.add(ply) {}
            if self.plies[ply].unsolved > self.plies[ply].solved.len() || self.is_spent() {
                return ply + 1;
            }
        }
        0
    }

    fn is_spent(&self) -> bool {
        self.solver.nodes() >= self.last_node
    }

    /// Solves one more position of a ply, or finds that it takes too long; false where there is none, or all is spent.
    fn add(&mut self, ply: usize) -> bool {
        while self.plies[ply].next < self.games.len() && !self.is_spent() {
            let number = self.plies[ply].next;
            self.plies[ply].next += 1;
            let actions = &self.games[number];
            if actions.len() <= ply || self.taken[number] >= A_GAME {
                continue;
            }
            let mut state = self.game.initial();
            actions[..ply].iter().for_each(|&action| state.play(action));
            (self.watch)(self.stage);
            if self.quiet && ends_in_two(state.as_ref()) || !self.known.insert(self.common_key(state.as_ref())) {
                continue;
            }
            self.taken[number] += 1;
            let actions = actions[..ply].to_vec();
            match self.solver.move_values(state.as_ref(), self.request.nodes) {
                Some(values) => self.plies[ply].solved.push(Solved { actions, values }),
                None => self.plies[ply].unsolved += 1,
            }
            return true;
        }
        false
    }

    /// A hash of the features that all images of a position share.
    fn common_key(&self, state: &dyn State) -> u64 {
        // Features are what a player sees: positions with equal ones would be the same question twice.
        let mut row = vec![0.0; state.row_len()];
        state.encode(&mut row);
        let [planes, rows, columns] = self.game.info().feature_shape;
        let seen = |symmetry: &Symmetry| {
            let squares =
                |plane: usize| symmetry.squares.iter().map(move |&square| plane * rows * columns + square as usize);
            (0..planes)
                .flat_map(squares)
                .fold(state.to_move() as u64, |hash, place| mix(hash ^ u64::from(row[place].to_bits())))
        };
        self.symmetries.iter().map(seen).min().unwrap_or_else(|| state.key())
    }
}

/// Whether some play of at most two plies ends the game with a winner.
fn ends_in_two(state: &dyn State) -> bool {
    let decided = |state: &dyn State| matches!(state.outcome(), Some(Outcome::Win(_)));
    let mut actions = Vec::new();
    let mut replies = Vec::new();
    state.legal_actions(&mut actions);
    let mut child = state.clone_box();
    let mut grandchild = state.clone_box();
    actions.iter().any(|&action| {
        child.copy_from(state);
        child.play(action);
        if child.outcome().is_some() {
            return decided(child.as_ref());
        }
        child.legal_actions(&mut replies);
        replies.iter().any(|&reply| {
            grandchild.copy_from(child.as_ref());
            grandchild.play(reply);
            decided(grandchild.as_ref())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;
    use crate::players::exact::solver_of;

    fn found(spec: &str, count: usize, nodes: u64) -> Found {
        let game = make_game(spec).unwrap();
        let mut solver = solver_of(game.as_ref(), 16).unwrap();
        find(game.as_ref(), solver.as_mut(), &Request { count, seed: 1, nodes, total: 100 * nodes }, &|_| ())
    }

    #[test]
    fn positions_are_different_solved_and_spread_over_the_plies() {
        let game = make_game("connect4").unwrap();
        let sample = found("connect4", 120, 20_000);
        assert_eq!(sample, found("connect4", 120, 20_000));
        assert_eq!((sample.positions.len(), sample.quiet), (120, true));
        assert!(sample.unsolved.iter().sum::<usize>() > 0);
        let plies: Vec<usize> = sample.positions.iter().map(|one| one.actions.len()).collect();
        assert!(plies.is_sorted() && plies[0] > 8 && plies[0] < 24 && plies[119] > 24);
        for solved in sample.positions {
            let mut state = game.initial();
            solved.actions.iter().for_each(|&action| state.play(action));
            assert!(!ends_in_two(state.as_ref()));
            let values = solver_of(game.as_ref(), 12).unwrap().move_values(state.as_ref(), u64::MAX);
            assert_eq!(values, Some(solved.values));
        }
    }

    /// Tic-tac-toe has 765 boards but for symmetry, 138 of them ended (the literature's numbers).
    #[test]
    fn a_small_game_gives_all_its_positions_once() {
        let sample = found("tictactoe", 5000, 100_000);
        assert!(!sample.quiet && sample.unsolved.iter().all(|&count| count == 0));
        assert!((600..=627).contains(&sample.positions.len()), "{}", sample.positions.len());
    }
}
