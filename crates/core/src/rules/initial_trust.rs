//! Initial trust: the value of an edge with few visits is drawn towards first-play urgency (place 1).

use crate::rules::setting::settings;

settings! {
    /// Settings of the rule.
    #[derive(Copy)]
    "initial_trust" InitialTrust {
        /// Visits that first-play urgency counts as; 0 = plain PUCT.
        weight: f64 = 1.0, 0.0 => 1000.0;
        /// Visits of the edge from which its own mean counts alone.
        until: u32 = 1_000_000_000;
    }
}

impl InitialTrust {
    /// Leaves the search as it is.
    pub fn is_neutral(&self) -> bool {
        self.weight == 0.0 || self.until <= 1
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
