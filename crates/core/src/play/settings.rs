//! What decides a game, apart from its seed and the evaluators. The settings are those of Python's models, which check their ranges.

use std::sync::Arc;

use serde::Deserialize;

use crate::evaluator::Evaluator;
use crate::forest::ForestError;
use crate::params::SearchParams;
use crate::rules::second_net::Net;
use crate::rules::setting::settings;
use crate::search::outside::OutsideRules;

settings! {
    /// Randomness of the moves played: p ~ N^(1/T). Meanings as lc0's Temp... options (reference/choice.py).
    Temperature {
        /// T at the beginning; 0: the best move.
        initial: f64 = 0.0, 0.0 => 100.0;
        /// Moves over which it falls to 0; 0: it does not.
        decay_moves: u64 = 0, 0.0 => 10_000.0;
        /// Moves before it begins to fall.
        decay_delay_moves: u64 = 0, 0.0 => 10_000.0;
        /// Move from which on it is `endgame`; 0: none.
        cutoff_move: u64 = 0, 0.0 => 10_000.0;
        /// T of the endgame, which it never falls below.
        endgame: f64 = 0.0, 0.0 => 100.0;
        /// Added to the visits of every action.
        visit_offset: f64 = 0.0, -1e5 => 1e5;
        /// Actions whose value is lower than the best one's by more, in percentage points, are not drawn.
        value_cutoff: f64 = 100.0, 0.0 => 100.0;
    }
}

/// A share of the moves is searched in full, the others are fast (Wu 2019, section 3.1).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayoutCap {
    /// Chance that a move is searched with all visits.
    pub full_share: f64,
    /// Visits of the other moves.
    pub fast_visits: u32,
}

/// Rule of resignation (Silver et al. 2017).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resignation {
    /// Greatest root value that is hopeless.
    pub threshold: f64,
    /// Number of hopeless searches of a player in a row.
    pub moves: u32,
    /// Plies before which no player resigns.
    pub earliest_ply: usize,
    /// Share of games played on regardless.
    pub play_through: f64,
}

/// How a player that searches chooses its moves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveSettings {
    /// Visits of the root, its own evaluation included, at which a move is chosen.
    pub visits: u32,
    /// How it is drawn.
    pub temperature: Temperature,
    /// Which moves are searched with fewer visits.
    pub playout_cap: Option<PlayoutCap>,
    /// A net learns from the moves.
    pub learns: bool,
}

/// A player that searches. `large`: the second net, where the settings have one.
pub struct SearchPlayer {
    /// Settings of its searches.
    pub search: SearchParams,
    /// How it chooses moves.
    pub moves: MoveSettings,
    /// Index of its evaluator.
    pub small: usize,
    /// Index of its second evaluator.
    pub large: Option<usize>,
    /// Indices of the evaluators after it, where more than two nets search.
    pub more: Vec<usize>,
    /// Search rules from outside the core, which one thread alone can use.
    pub rules: Option<Arc<dyn OutsideRules>>,
}

impl SearchPlayer {
    /// Index of the evaluator of one of its nets. Fails where the settings have a net that the player was not given.
    pub fn evaluator(&self, net: Net) -> Result<usize, ForestError> {
        let given = match net {
            Net::Small => Some(self.small),
            Net::Large => self.large,
            further => self.more.get(further.index() - 2).copied(),
        };
        given.ok_or_else(|| ForestError(missing_net(net)))
    }
}

/// What is said of a net that the settings have and nobody gave.
fn missing_net(net: Net) -> String {
    if net == Net::Large {
        return "the search settings have second_net, which needs a large net; none was given".into();
    }
    format!("second_net.more has {} nets at least; given for them: {}", net.index() - 1, net.index() - 2)
}

/// Rules that hold for all games, in addition to those of the game itself.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRules {
    /// A game unfinished after this number of plies, its start included, is a draw.
    pub max_plies: Option<usize>,
    /// A game unfinished after this number of moves since its start is over, as a draw.
    pub max_moves: Option<usize>,
    /// When players resign.
    pub resignation: Option<Resignation>,
    /// A player on both sides has a tree for each.
    pub tree_per_side: bool,
}

/// The players, and what they share.
pub struct Lineup {
    /// The players that search; `None`: a player without a forest, which the caller is asked for.
    pub players: Vec<Option<SearchPlayer>>,
    /// The evaluators of their searches.
    pub evaluators: Vec<Arc<dyn Evaluator>>,
    /// Rules of all games.
    pub rules: GameRules,
}

/// How games are shared out: this does not decide them, as far as evaluators are exact.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Games at a time.
    pub parallel: usize,
    /// Greatest number of rows in a batch.
    pub batch_size: usize,
    /// Threads, each with its part of the games.
    pub workers: usize,
    /// Key of draws that no game has a seed for.
    pub seed: u64,
}
