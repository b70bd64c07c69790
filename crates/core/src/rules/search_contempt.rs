//! Search-contempt (Joshi 2025): the opponent's visits are frozen after N_scl of them and sampled from then on.

use serde::{Deserialize, Serialize};

use crate::params::{ParamsError, within};

/// N_scl from which the rule is off.
pub const OFF: i64 = 1_000_000_000;

/// Settings of the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchContempt {
    /// N_scl: visits of its children at which an opponent node freezes; negative: the root player's own nodes freeze.
    pub n_scl: i64,
    /// Frozen weights are N_scl(s, a)^(1 / temperature).
    pub temperature: f64,
    /// Share of a frozen node's visits that are sampled, 0..=1; the others stay PUCT.
    pub sampling_ratio: f64,
    /// The ratio by visits of the node, "1000:0.5 8000:0.9"; before the first step `sampling_ratio`.
    pub ratio_schedule: String,
    /// Opponent nodes take no proof from replies outside their frozen support.
    pub proofs_respect_contempt: bool,
}

impl Default for SearchContempt {
    fn default() -> Self {
        SearchContempt {
            n_scl: OFF,
            temperature: 1.0,
            sampling_ratio: 1.0,
            ratio_schedule: String::new(),
            proofs_respect_contempt: false,
        }
    }
}

impl SearchContempt {
    /// Leaves the search as it is.
    pub fn is_neutral(&self) -> bool {
        self.n_scl.abs() >= OFF
    }

    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("search_contempt.n_scl", self.n_scl as f64, -1e9, 1e9)?;
        if self.n_scl == 0 {
            return Err(ParamsError("SearchParams.search_contempt.n_scl must not be 0".into()));
        }
        within("search_contempt.temperature", self.temperature, 1e-3, 100.0)?;
        within("search_contempt.sampling_ratio", self.sampling_ratio, 0.0, 1.0)
    }
}
