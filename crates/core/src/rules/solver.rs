//! Solver (certainty propagation, MCTS-Solver): proven bounds of results travel up the tree.

use serde::{Deserialize, Serialize};

use crate::params::{ParamsError, within};

/// What selection does with proven children below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostChildMode {
    /// Plain PUCT with the exact value: visits of losing moves are a warning that travels up (Winands).
    Visit,
    /// A child that is proven lost for the mover gets Q - 50.
    Avoid,
    /// U times 0.5 for proven wins and losses, 0.0001 for draws.
    Damp,
    /// U / (1 + exp(-1.7 (d - 4))) for every proven child.
    DampByDepth,
}

/// When a proven draw is played in the place of the most visited move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawPreference {
    /// When the most visited move has Q < 0.
    QBased,
    /// Never.
    Never,
    /// Always, unless a win is proven.
    Always,
}

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Plies that are looked ahead at expansion, 0 or 1.
    pub lookahead: u8,
    /// What selection does with proven children below the root.
    pub lost_child_mode: LostChildMode,
    /// Values that are backed up are clamped to the bounds of the nodes they pass.
    pub clamp_to_bounds: bool,
    /// When a node is proven, its ancestors' means are corrected as if all its visits had returned the proven value.
    pub retro_fix: bool,
    /// A proven root edge is not chosen while another one is not proven.
    pub root_excludes_proven: bool,
    /// When a proven draw is played.
    pub draw_preference: DrawPreference,
    /// Nodes with a single legal move are expanded on the spot, without the network.
    pub auto_extend: bool,
}

impl Default for Solver {
    fn default() -> Self {
        Solver {
            lookahead: 0,
            lost_child_mode: LostChildMode::Visit,
            clamp_to_bounds: true,
            retro_fix: true,
            root_excludes_proven: true,
            draw_preference: DrawPreference::QBased,
            auto_extend: true,
        }
    }
}

impl Solver {
    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("solver.lookahead", f64::from(self.lookahead), 0.0, 1.0)
    }
}
