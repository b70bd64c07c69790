//! Final choice by the lower confidence bound of Q instead of the most visits (place 6).

use serde::{Deserialize, Serialize};

use crate::params::{ParamsError, within};

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LowerBound {
    /// One-sided confidence, 0.5..1; 0.5 compares the means themselves.
    pub confidence: f64,
    /// Only moves with at least this share of the most visited move's visits are candidates; above 0..=1.
    pub min_share: f64,
}

impl Default for LowerBound {
    fn default() -> Self {
        LowerBound { confidence: 0.95, min_share: 0.1 }
    }
}

impl LowerBound {
    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("lower_bound.confidence", self.confidence, 0.5, 0.999_999)?;
        within("lower_bound.min_share", self.min_share, 1e-6, 1.0)
    }
}
