//! Q moving average: later results count more in the mean of a node (place 4), and exploration may stop once a value suffices.

use serde::{Deserialize, Serialize};

use crate::rules::setting::{ParamsError, settings, within};

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

settings! {
    /// Settings of the rule.
    #[derive(Copy)]
    "q_average" QAverage + check_more {
        /// Which step size.
        mode: QAverageMode = QAverageMode::Linear;
        /// Exponent, 0.25..=1.5.
        gamma: f64 = 0.75, 0.25 => 1.5;
        /// Factor, 0.01..=2.
        beta: f64 = 0.49, 0.01 => 2.0;
        /// Least step, 0..=1.
        min_step: f64 = 0.01, 0.0 => 1.0;
        /// Visits after which `limited` steps like a mean.
        limit: u32 = 100;
        /// A node explores no more (c_puct = 0) once a visited edge's Q is above this.
        sufficient: Option<f64> = None;
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

    fn check_more(&self) -> Result<(), ParamsError> {
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
