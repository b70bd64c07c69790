//! Initial trust: the value of an edge with few visits is drawn towards first-play urgency (place 1).

use serde::{Deserialize, Serialize};

use crate::rules::setting::{ParamsError, within};

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InitialTrust {
    /// Visits that first-play urgency counts as; 0 = plain PUCT.
    pub weight: f64,
    /// Visits of the edge from which its own mean counts alone.
    pub until: u32,
}

impl Default for InitialTrust {
    fn default() -> Self {
        InitialTrust { weight: 1.0, until: 1_000_000_000 }
    }
}

impl InitialTrust {
    /// Leaves the search as it is.
    pub fn is_neutral(&self) -> bool {
        self.weight == 0.0 || self.until <= 1
    }

    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("initial_trust.weight", self.weight, 0.0, 1000.0)
    }

    /// (w Q_fpu + N Q) / (w + N) while N < until; for an edge with N > 0 visits.
    #[inline]
    pub fn trusted(&self, q: f64, visits: u32, unvisited_q: f64) -> f64 {
        if visits >= self.until {
            return q;
        }
        let n = f64::from(visits);
        (self.weight * unvisited_q + n * q) / (self.weight + n)
    }
}
