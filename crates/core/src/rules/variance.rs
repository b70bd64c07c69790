//! Empirical variance of the results of an edge: Welford's sums, and what selection makes of them (places 1, 3 and 5).

use crate::rules::Rule;
use crate::rules::setting::{choices, settings};

choices! {
    /// The use of the variance.
    pub enum VarianceMode {
        /// Q += scale |z| sigma, z ~ N(0, 1) drawn anew at every look.
        HalfNormal,
        /// Q += scale sigma.
        StdBonus,
        /// Q += scale sigma / sqrt(max(n, 1)).
        StderrBonus,
        /// Q += scale sqrt(ln C / n min(1, sigma^2 + 4 sqrt(2 ln C / n))), n = max(N, 1).
        Ucb1Tuned,
        /// c_puct *= 1 + scale (sigma of the node / sqrt(prior_mean) - 1).
        NodeScaledCpuct,
    }
}

choices! {
    /// Where sigma comes from.
    pub enum VarianceSource {
        /// The spread of the values that were backed up.
        Empirical,
        /// The mean's own shares of win, draw and loss: W + L - (W - L)^2.
        Wdl,
    }
}

settings! {
    /// Empirical variance of the results of an edge, as noise, bonus or scale of exploration.
    Variance: Copy {
        /// The use of the variance.
        mode: VarianceMode = VarianceMode::HalfNormal;
        /// Strength; 0: plain PUCT.
        scale: f64 = 0.01, -100.0 => 100.0;
        /// Variance that `prior_weight` visits are taken to have shown; of `node_scaled_cpuct` also the usual variance.
        prior_mean: f64 = 0.16, 1e-6 => 1.0;
        /// In visits; 0: none.
        prior_weight: f64 = 0.0, 0.0 => 1e6;
        /// The spread of the values backed up, or the mean's own shares: W + L - (W - L)^2.
        source: VarianceSource = VarianceSource::Empirical;
    }
}

/// What selection needs to know of the node whose edges are compared.
#[derive(Clone, Copy, Debug)]
pub struct NodeSpread {
    /// sigma^2 of the node itself.
    pub variance: f64,
    /// Visits of its children, at least 1.
    pub child_visits: f64,
    /// ln C of these visits, where the mode wants it.
    log_visits: f64,
}

impl Rule for Variance {
    fn is_neutral(&self) -> bool {
        self.scale == 0.0
    }

    fn changes_scores(&self) -> bool {
        true
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

impl Variance {
    /// sigma^2 of n values whose squared deviations sum to `deviations`; `default` where n <= 1 shows nothing.
    ///
    /// Without prior the sample variance M / (n - 1); with a prior (w m + n s) / (w + n), s = M / (n - 1).
    #[inline]
    pub fn of_samples(&self, visits: u32, deviations: f64, default: f64) -> f64 {
        let n = f64::from(visits);
        // One value has no spread.
        let seen = if visits > 1 { deviations / (n - 1.0) } else { default };
        if self.prior_weight == 0.0 {
            return seen;
        }
        let n = if visits > 1 { n } else { 0.0 };
        (self.prior_weight * self.prior_mean + n * seen) / (self.prior_weight + n)
    }

    /// sigma^2 of a mean with this win - loss and share of draws: W + L - (W - L)^2, at least 0.
    pub fn of_shares(wl: f64, d: f32) -> f64 {
        (1.0 - f64::from(d) - wl * wl).max(0.0)
    }

    /// What selection needs to know of a node with this variance and number of visits, its own evaluation included.
    pub fn spread(&self, variance: f64, visits: u32) -> NodeSpread {
        let child_visits = f64::from(visits.saturating_sub(1).max(1));
        let log_visits = if self.mode == VarianceMode::Ucb1Tuned { child_visits.ln() } else { 0.0 };
        NodeSpread { variance, child_visits, log_visits }
    }

    /// What is added to Q of an edge with `visits` visits; `draw` gives z ~ N(0, 1) and is asked in `half_normal` only.
    pub fn bonus(&self, node: &NodeSpread, visits: u32, variance: f64, draw: impl FnOnce() -> f64) -> f64 {
        let n = f64::from(visits.max(1));
        match self.mode {
            VarianceMode::HalfNormal => self.scale * draw().abs() * variance.sqrt(),
            VarianceMode::StdBonus => self.scale * variance.sqrt(),
            VarianceMode::StderrBonus => self.scale * (variance / n).sqrt(),
            VarianceMode::Ucb1Tuned => {
                let rate = node.log_visits / n;
                self.scale * (rate * (variance + 4.0 * (2.0 * rate).sqrt()).min(1.0)).sqrt()
            }
            VarianceMode::NodeScaledCpuct => 0.0,
        }
    }

    /// What multiplies c_puct of a node with this variance, at least 0.
    pub fn cpuct_factor(&self, variance: f64) -> f64 {
        match self.mode {
            VarianceMode::NodeScaledCpuct => (1.0 + self.scale * ((variance / self.prior_mean).sqrt() - 1.0)).max(0.0),
            _ => 1.0,
        }
    }
}
