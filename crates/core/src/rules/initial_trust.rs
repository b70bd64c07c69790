//! Initial trust: the value of an edge with few visits is drawn towards first-play urgency (place 1).

use crate::rules::setting::settings;
use crate::rules::{Rule, RuleEdge, RuleNode};

settings! {
    /// Initial trust: the value of an edge with few visits is drawn towards first-play urgency.
    InitialTrust: Copy {
        /// Visits that first-play urgency counts as; 0: plain PUCT.
        weight: f64 = 1.0, 0.0 => 1000.0;
        /// Visits of the edge from which its own mean counts alone.
        until: u32 = 1_000_000_000, 0.0 => 4e9;
    }
}

impl Rule for InitialTrust {
    fn is_neutral(&self) -> bool {
        self.weight == 0.0 || self.until <= 1
    }

    fn changes_scores(&self) -> bool {
        true
    }

    fn goes_with_two_nets(&self) -> bool {
        true
    }

    fn value(&self, q: f64, edge: &RuleEdge, _: &RuleNode) -> f64 {
        // The end of a game is certain after one visit: there is nothing to trust less.
        if edge.visits > 0 && !edge.ended { self.trusted(q, edge.visits, edge.unvisited_q) } else { q }
    }

    // Edges without visits keep first-play urgency, all the same one.
    fn reorders(&self) -> bool {
        false
    }
}

impl InitialTrust {
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
