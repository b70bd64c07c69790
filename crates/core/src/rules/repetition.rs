//! Repetition scoring: a second occurrence of a position counts as a draw.

use serde::{Deserialize, Serialize};

/// Which second occurrences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionMode {
    /// Those whose first occurrence lies at or below the root, at depth 4 or more; a value, never a proof (lc0).
    InlineValue,
    /// All of them, also repeats of the game's history; a proof for the solver, as in the fork (unsound).
    LegacyCertain,
}

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Repetition {
    /// Which second occurrences count.
    pub mode: RepetitionMode,
}

impl Default for Repetition {
    fn default() -> Self {
        Repetition { mode: RepetitionMode::InlineValue }
    }
}
