//! Easy early visits: the denominator of U grows later (place 3).

use crate::rules::setting::{choices, settings};
use crate::rules::{Rule, RuleEdge};

choices! {
    /// Which form.
    pub enum EarlyVisitsMode {
        /// 1 + N + F - ease with visits, 1 without: continuous in `ease`.
        Continuous,
        /// max(N + F, ease), as in the fork.
        Legacy,
    }
}

settings! {
    /// Easy early visits: the denominator of U grows later.
    EarlyVisits: Copy {
        /// Continuous in `ease`, or the fork's form.
        mode: EarlyVisitsMode = EarlyVisitsMode::Continuous;
        /// 0: plain PUCT.
        ease: f64 = 1.0, 0.0 => 1.0;
    }
}

impl Rule for EarlyVisits {
    fn is_neutral(&self) -> bool {
        self.ease == 0.0
    }

    fn changes_scores(&self) -> bool {
        true
    }

    fn goes_with_two_nets(&self) -> bool {
        true
    }

    fn divisor(&self, _: f64, edge: &RuleEdge) -> f64 {
        self.denominator(f64::from(edge.begun))
    }

    // All edges without visits have the same divisor, so the greatest prior still wins.
    fn reorders(&self) -> bool {
        false
    }
}

impl EarlyVisits {
    /// What divides P in U, for an edge with this many visits, visits in flight included.
    #[inline]
    pub fn denominator(&self, begun: f64) -> f64 {
        match self.mode {
            EarlyVisitsMode::Continuous if begun == 0.0 => 1.0,
            EarlyVisitsMode::Continuous => begun + 1.0 - self.ease,
            EarlyVisitsMode::Legacy => begun.max(self.ease),
        }
    }
}
