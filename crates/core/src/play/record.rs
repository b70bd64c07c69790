//! The record of a game: its moves as columns, and its result.

use crate::game::Action;
use crate::play::chosen_move::ChosenMove;

/// End reason of a game that a player gave up.
pub const RESIGNATION: &str = "resignation";
/// End reason of a game that was stopped, and counted as a draw, at a limit of plies.
pub const PLY_LIMIT: &str = "ply limit";

/// The moves of a game as columns.
// Not as a list of moves: they become columns of a Parquet file.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The moves played.
    pub actions: Vec<Action>,
    /// Side of the mover.
    pub movers: Vec<u8>,
    /// Edges of all policy targets, one move after another.
    pub policy_actions: Vec<Action>,
    /// Their counts.
    pub policy_counts: Vec<u32>,
    /// Edges of each move.
    pub policy_lengths: Vec<u16>,
    /// Win, draw, loss of the root, three a move.
    pub root_wdl: Vec<f32>,
    /// Value of the net.
    pub net_value: Vec<f32>,
    /// Policy surprise.
    pub surprise: Vec<f32>,
    /// Visits of the root.
    pub visits: Vec<u32>,
    /// Temperature of the choice.
    pub temperatures: Vec<f32>,
    /// 1: learned from.
    pub learn: Vec<u8>,
    /// Scores in pawns.
    pub scores: Vec<f32>,
    /// Depths in plies.
    pub depths: Vec<u16>,
    /// Seconds of each move.
    pub seconds: Vec<f32>,
    /// What was proven of each position.
    pub proven: Vec<u8>,
}

impl Columns {
    /// Adds a move.
    pub fn push(&mut self, mover: usize, chosen: &ChosenMove) {
        self.actions.push(chosen.action);
        self.movers.push(mover as u8);
        self.policy_actions.extend(chosen.target.iter().map(|(action, _)| action));
        self.policy_counts.extend(chosen.target.iter().map(|(_, count)| count));
        self.policy_lengths.push(chosen.target.len() as u16);
        self.root_wdl.extend(chosen.root_wdl);
        self.net_value.push(chosen.net_value);
        self.surprise.push(chosen.surprise);
        self.visits.push(chosen.visits);
        self.temperatures.push(chosen.temperature);
        self.learn.push(u8::from(chosen.learn));
        self.scores.push(chosen.score);
        self.depths.push(chosen.depth);
        self.seconds.push(chosen.seconds);
        self.proven.push(chosen.proven);
    }
}

/// A game that is over.
#[derive(Clone, Debug)]
pub struct Record {
    /// The number that its plan gave it.
    pub number: u64,
    /// Its moves.
    pub columns: Columns,
    /// +1 the first player won, 0 draw, -1 the second one won.
    pub outcome: i8,
    /// Why it is over.
    pub end_reason: String,
    /// The side that resigned, or would have, if it was played out.
    pub resigned: Option<usize>,
    /// Notes on moves, by their index.
    pub notes: Vec<(usize, String)>,
}
