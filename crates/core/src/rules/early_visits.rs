//! Easy early visits: the denominator of U grows later (place 3).

use serde::{Deserialize, Serialize};

use crate::rules::setting::settings;

/// Which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlyVisitsMode {
    /// 1 + N + F - ease with visits, 1 without: continuous in `ease`.
    Continuous,
    /// max(N + F, ease), as in the fork.
    Legacy,
}

settings! {
    /// Settings of the rule.
    #[derive(Copy)]
    "early_visits" EarlyVisits {
        /// Which form.
        mode: EarlyVisitsMode = EarlyVisitsMode::Continuous;
        /// 0..=1; 0 = plain PUCT.
        ease: f64 = 1.0, 0.0 => 1.0;
    }
}

impl EarlyVisits {
    /// Leaves the search as it is.
    pub fn is_neutral(&self) -> bool {
        self.ease == 0.0
    }

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
