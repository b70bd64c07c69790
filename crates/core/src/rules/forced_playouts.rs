//! Forced playouts with policy target pruning (Wu 2019, "Accelerating Self-Play Learning in Go", section 3.2).
//!
//! A move of the root that noise brought in gets enough visits to show what it is worth, and the policy target is rid of
//! those that PUCT would not have made. At the root alone, in the place of its selection, and in the policy target.

use crate::rules::Rule;
use crate::rules::setting::settings;

settings! {
    /// Forced playouts with policy target pruning (Wu 2019): for self-play, at the root alone.
    ForcedPlayouts: Copy {
        /// A visited move gets at least (k P sum N)^(1/2) visits; 0: plain PUCT.
        k: f64 = 2.0, 0.0 => 100.0;
    }
}

impl Rule for ForcedPlayouts {
    fn is_neutral(&self) -> bool {
        self.k == 0.0
    }
}

impl ForcedPlayouts {
    /// n_forced(c) = (k P(c) sum_c' N(c'))^(1/2).
    #[inline]
    pub fn forced(&self, prior: f64, child_visits: u32) -> f64 {
        (self.k * prior * f64::from(child_visits)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forced_visits_by_hand() {
        let rule = ForcedPlayouts::default();
        assert_eq!(rule.forced(0.5, 100), 10.0);
        assert_eq!(rule.forced(0.02, 100), 2.0);
        assert_eq!(rule.forced(0.02, 0), 0.0);
    }
}
