//! A game in progress: position, trees, and what was played.

use std::time::Instant;

use crate::evaluator::Origin;
use crate::game::{Action, Outcome, Player, State};
use crate::math::streams::{Purpose, Stream, derived_seed};
use crate::play::chosen_move::ChosenMove;
use crate::play::record::{Columns, PLY_LIMIT, RESIGNATION, Record};
use crate::play::settings::GameRules;
use crate::play::watch::Watch;

/// A game to be played.
pub struct Plan {
    /// What the caller calls it; no other running game has the same.
    pub number: u64,
    /// Index of the player who moves first, and of the other one.
    pub sides: [usize; 2],
    /// Where the searches begin.
    pub state: Box<dyn State>,
    /// How that position was reached, for evaluators that read positions.
    pub origin: Option<Origin>,
    /// Plies that belong to the game already.
    pub plies: usize,
    /// Of its random draws.
    pub seed: u64,
}

/// How the player to move has lost instead of moving.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The end reason of the game.
    pub reason: String,
    /// What happened, one line; empty where the reason says it all.
    pub detail: String,
    /// It gave the game up.
    pub resigned: bool,
}

/// A game in progress. Tree 0 is that of the first side, tree 1 that of the second; a player on both sides has tree 0 for both,
/// unless each side is to have its own.
pub struct Running {
    /// How it began.
    pub plan: Plan,
    /// The position.
    pub state: Box<dyn State>,
    /// The trees, once they were needed.
    pub trees: [Option<usize>; 2],
    /// Moves that each tree has not been advanced by.
    pub unplayed: [Vec<Action>; 2],
    /// What was played.
    pub columns: Columns,
    /// When the player to move began to think.
    pub begun: Instant,
    /// The search in progress has all visits (playout cap).
    pub full: bool,
    draws: Stream,
    own_trees: bool,
    watch: Option<Watch>,
    lost: Option<Lost>,
    notes: Vec<(usize, String)>,
}

impl Running {
    /// The game at its beginning.
    pub fn new(plan: Plan, rules: &GameRules) -> Self {
        Running {
            state: plan.state.clone_box(),
            trees: [None; 2],
            unplayed: Default::default(),
            columns: Columns::default(),
            begun: Instant::now(),
            full: true,
            // Streams are named by seed and purpose, so that the moves of a game do not change when, say,
            // resignation draws a number more.
            draws: Stream::new(plan.seed, Purpose::Moves, 0),
            // One player on both sides goes on in one tree at every ply; two players know nothing of each other's.
            own_trees: rules.tree_per_side || plan.sides[0] != plan.sides[1],
            watch: rules.resignation.map(|rule| Watch::new(rule, plan.seed)),
            lost: None,
            notes: Vec::new(),
            plan,
        }
    }

    /// The side that is to move.
    pub fn side(&self) -> usize {
        self.state.to_move() as usize
    }

    /// Index of the player who is to move.
    pub fn mover(&self) -> usize {
        self.plan.sides[self.side()]
    }

    /// Number of the tree that the player to move searches.
    pub fn tree_number(&self) -> usize {
        if self.own_trees { self.side() } else { 0 }
    }

    /// Seed of the tree that the player to move searches.
    pub fn tree_seed(&self) -> u64 {
        derived_seed(self.plan.seed, Purpose::Tree, self.tree_number() as u64)
    }

    /// Seed for a player without a forest that is asked for this move.
    pub fn answer_seed(&self) -> u64 {
        // By the ply and not by a count: what is drawn does not depend on how often the player was asked before.
        derived_seed(self.plan.seed, Purpose::Answer, self.state.ply() as u64)
    }

    /// Plies of the game, its start included.
    pub fn plies(&self) -> usize {
        self.plan.plies + self.columns.actions.len()
    }

    /// Whether the move at this ply is one of the share that is searched in full.
    pub fn draws_full(&self, share: f64) -> bool {
        // A stream a ply: whether this move is full does not depend on what was drawn for those before.
        Stream::new(self.plan.seed, Purpose::PlayoutCap, self.plies() as u64).uniform() < share
    }

    /// The next number in [0, 1) that decides a move.
    pub fn draw(&mut self) -> f64 {
        self.draws.uniform()
    }

    /// Plays and records a move of the player to move.
    pub fn play(&mut self, chosen: &ChosenMove) {
        let side = self.side();
        if let Some(watch) = &mut self.watch {
            watch.see(side, chosen.value(), self.plan.plies + self.columns.actions.len());
        }
        self.columns.push(side, chosen);
        self.state.play(chosen.action);
        self.full = true;
        // A tree sees moves when its player searches next; a tree that does not exist yet will begin from the
        // position itself.
        for (tree, unplayed) in self.trees.iter().zip(&mut self.unplayed) {
            if tree.is_some() {
                unplayed.push(chosen.action);
            }
        }
    }

    /// Keeps a note on the last move.
    pub fn note(&mut self, text: String) {
        self.notes.push((self.columns.actions.len().saturating_sub(1), text));
    }

    /// The player to move has lost instead of moving.
    pub fn lose(&mut self, lost: Lost) {
        self.lost = Some(lost);
    }

    /// Whether the game has ended: by its rules, a resignation, a failure or the limit of plies.
    pub fn is_over(&self, rules: &GameRules) -> bool {
        let resigned = || self.watch.as_ref().is_some_and(|watch| watch.resigns().is_some());
        let reached = |limit: Option<usize>, count: usize| limit.is_some_and(|most| count >= most);
        let at_limit =
            || reached(rules.max_plies, self.plies()) || reached(rules.max_moves, self.columns.actions.len());
        self.lost.is_some() || self.state.outcome().is_some() || resigned() || at_limit()
    }

    /// The record of the game, which is over.
    pub fn record(mut self) -> Record {
        let (outcome, end_reason, resigned) = self.result();
        if let Some(lost) = self.lost.take().filter(|lost| !lost.detail.is_empty()) {
            self.notes.push((self.columns.actions.len(), lost.detail));
        }
        Record { number: self.plan.number, columns: self.columns, outcome, end_reason, resigned, notes: self.notes }
    }

    fn result(&self) -> (i8, String, Option<usize>) {
        let won_against = |side: usize| if side == 0 { -1 } else { 1 };
        if let Some(lost) = &self.lost {
            let side = self.side();
            return (won_against(side), lost.reason.clone(), Some(side).filter(|_| lost.resigned));
        }
        let (side, resigns) = self.watch.as_ref().map_or((None, None), |watch| (watch.side, watch.resigns()));
        match (self.state.outcome(), resigns) {
            // The result by the rules counts before a resignation: the last move may have ended the game.
            (Some(outcome), _) => {
                let result = match outcome {
                    Outcome::Win(Player::First) => 1,
                    Outcome::Win(Player::Second) => -1,
                    Outcome::Draw => 0,
                };
                let played_out = if resigns.is_some() { None } else { side };
                (result, self.state.end_reason().unwrap_or_default().into(), played_out)
            }
            (None, Some(side)) => (won_against(side), RESIGNATION.into(), Some(side)),
            (None, None) => (0, PLY_LIMIT.into(), side),
        }
    }
}
