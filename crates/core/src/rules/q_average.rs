//! Q moving average: later results count more in the mean of a node (place 4), and exploration may stop once a value suffices.

use crate::rules::Rule;
use crate::rules::setting::{choices, settings};

choices! {
    /// Which step size.
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
}

settings! {
    /// Q moving average: later results count more in the mean of a node.
    QAverage: Copy {
        /// The step size, see `reference.q_average.step_size`.
        mode: QAverageMode = QAverageMode::Linear;
        /// Exponent of `power` and `combined`.
        gamma: f64 = 0.75, 0.25 => 1.5;
        /// Factor of `linear`, `combined` and `limited`.
        beta: f64 = 0.49, 0.01 => 2.0;
        /// Least step of `floor`.
        min_step: f64 = 0.01, 0.0 => 1.0;
        /// Visits after which `limited` steps like a mean.
        limit: u32 = 100, 0.0 => 4e9;
        /// A node explores no more (c_puct = 0) once a visited edge's Q is above this.
        sufficient: Option<f64> = None, -1.0 => 1.0;
    }
}

impl Rule for QAverage {
    fn is_neutral(&self) -> bool {
        // Settings that come to 1 / (n + 1) leave the search to the plain backup, which is faster and has its bits.
        let is_mean = match self.mode {
            QAverageMode::Mean => true,
            QAverageMode::Power => self.gamma == 1.0,
            QAverageMode::Linear | QAverageMode::Limited => self.beta == 1.0,
            QAverageMode::Combined => self.gamma == 1.0 && self.beta == 1.0,
            QAverageMode::Floor => self.min_step == 0.0,
        };
        is_mean && self.sufficient.is_none()
    }

    fn changes_scores(&self) -> bool {
        self.sufficient.is_some()
    }

    fn changes_backup(&self) -> bool {
        true
    }

    fn against_graph(&self) -> Option<&'static str> {
        Some("")
    }

    fn is_asked(&self) -> bool {
        false
    }
}

impl QAverage {
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
