//! Q moving average: later results count more in the mean of a node (place 4), and exploration may stop once a value suffices.

use serde::{Deserialize, Serialize};

use crate::rules::setting::{ParamsError, within};

/// Which step size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QAverageMode {
    /// 1 / (n + 1): the plain mean.
    Mean,
    /// 1 / (n^gamma + 1).
    Power,
    /// 1 / (beta n + 1).
    Linear,
    /// 1 / ((beta n)^gamma + 1).
    Combined,
    /// max(1 / (n + 1), min_step).
    Floor,
    /// 1 / (beta min(n, limit) + max(n - limit, 0) + 1).
    Limited,
}

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QAverage {
    /// Which step size.
    pub mode: QAverageMode,
    /// Exponent, 0.25..=1.5.
    pub gamma: f64,
    /// Factor, 0.01..=2.
    pub beta: f64,
    /// Least step, 0..=1.
    pub min_step: f64,
    /// Visits after which `limited` steps like a mean.
    pub limit: u32,
    /// A node explores no more (c_puct = 0) once a visited edge's Q is above this.
    pub sufficient: Option<f64>,
}

impl Default for QAverage {
    fn default() -> Self {
        QAverage { mode: QAverageMode::Linear, gamma: 0.75, beta: 0.49, min_step: 0.01, limit: 100, sufficient: None }
    }
}

impl QAverage {
    /// Leaves the search as it is.
    pub fn is_neutral(&self) -> bool {
        let is_mean = match self.mode {
            QAverageMode::Mean => true,
            QAverageMode::Power => self.gamma == 1.0,
            QAverageMode::Linear | QAverageMode::Limited => self.beta == 1.0,
            QAverageMode::Combined => self.gamma == 1.0 && self.beta == 1.0,
            QAverageMode::Floor => self.min_step == 0.0,
        };
        is_mean && self.sufficient.is_none()
    }

    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("q_average.gamma", self.gamma, 0.25, 1.5)?;
        within("q_average.beta", self.beta, 0.01, 2.0)?;
        within("q_average.min_step", self.min_step, 0.0, 1.0)?;
        within("q_average.sufficient", self.sufficient.unwrap_or(0.0), -1.0, 1.0)
    }

    /// How far visit number `visits` (n + 1) moves the mean.
    #[inline]
    pub fn step_size(&self, visits: u32) -> f64 {
        let n = f64::from(visits - 1);
        let limit = f64::from(self.limit);
        match self.mode {
            QAverageMode::Mean => 1.0 / f64::from(visits),
            QAverageMode::Power => 1.0 / (n.powf(self.gamma) + 1.0),
            QAverageMode::Linear => 1.0 / (self.beta * n + 1.0),
            QAverageMode::Combined => 1.0 / ((self.beta * n).powf(self.gamma) + 1.0),
            QAverageMode::Floor => (1.0 / f64::from(visits)).max(self.min_step),
            QAverageMode::Limited => 1.0 / (self.beta * n.min(limit) + (n - limit).max(0.0) + 1.0),
        }
    }
}
