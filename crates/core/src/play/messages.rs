//! The messages between the threads that play games and their caller.

use std::time::Duration;

use crate::game::Action;
use crate::play::record::Record;
use crate::play::running::{Lost, Plan};
use crate::step::StepFacts;

/// An order to a worker.
pub enum Order {
    /// Play this game.
    Play(Box<Plan>),
    /// There are no more games at present: it need not wait for one.
    NoMore,
    /// The answer of the player to move in the game with this number.
    Answered(u64, Answer),
    /// Stop the games.
    Stop,
}

/// A player without a forest is to move.
pub struct Question {
    /// Number of the game.
    pub number: u64,
    /// Index of the player.
    pub player: usize,
    /// The moves since the position where its plan begins.
    pub actions: Vec<Action>,
    /// Seed of all random draws for this move.
    pub seed: u64,
}

/// The answer of a player without a forest.
pub enum Answer {
    /// A move. `score`: NaN: unknown; `depth`: 0: unknown; `seconds`: `None`: as long as the reply took; `note`: of this move.
    Move {
        /// The move.
        action: Action,
        /// In pawns, for the mover.
        score: f32,
        /// Plies looked ahead.
        depth: u16,
        /// Time that the player took.
        seconds: Option<f32>,
        /// A note for the user.
        note: String,
    },
    /// The player has lost.
    Lost(Lost),
}

/// An event in the games.
pub enum Event {
    /// A player without a forest is to move.
    Asked(Question),
    /// A game is over.
    Ended {
        /// Index of the worker that played it.
        worker: usize,
        /// The game.
        record: Box<Record>,
    },
    /// All games have stopped: what went wrong, in one line.
    Failed(String),
}

/// Totals until now.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Games that are over.
    pub games: u64,
    /// Their moves.
    pub moves: u64,
    /// Visits of all trees.
    pub visits: u64,
    /// Leaves whose evaluation was in a cache.
    pub cache_hits: u64,
    /// Leaves looked up in caches.
    pub cache_lookups: u64,
    /// Bytes of the trees of running games.
    pub tree_bytes: u64,
    /// By evaluator.
    pub networks: Vec<StepFacts>,
    /// Time spent waiting for players without a forest while no game could continue.
    pub waited: Duration,
}

impl Facts {
    /// Nothing done yet with this many evaluators.
    pub fn new(evaluators: usize) -> Self {
        Facts { networks: vec![StepFacts::default(); evaluators], ..Facts::default() }
    }

    /// Adds the totals of another worker.
    pub fn add(&mut self, other: &Facts) {
        self.games += other.games;
        self.moves += other.moves;
        self.visits += other.visits;
        self.cache_hits += other.cache_hits;
        self.cache_lookups += other.cache_lookups;
        self.tree_bytes += other.tree_bytes;
        self.waited += other.waited;
        self.networks.iter_mut().zip(&other.networks).for_each(|(sum, one)| sum.add(one));
    }
}
