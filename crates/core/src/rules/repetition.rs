//! Repetition scoring: a position that occurs for the second time counts as the draw that it would come to (node state, place 5).

use crate::math::welford::merged;
use crate::rules::Rule;
use crate::rules::setting::{choices, settings};
use crate::stats::EdgeStats;

/// Plies below the root before a repeat can count: no position of chess comes back sooner.
const MIN_DEPTH: usize = 4;

choices! {
    /// Which second occurrences count.
    pub enum RepetitionMode {
        /// Those whose first occurrence lies at or below the root, at depth 4 or more; a value, never a proof (lc0).
        InlineValue,
        /// All of them, also repeats of the game's history; a proof for the solver, as in the fork (unsound).
        LegacyCertain,
    }
}

settings! {
    /// Repetition scoring: a second occurrence of a position counts as a draw.
    Repetition: Copy {
        /// Those below the root, as a value (lc0); or all of them, as a proof (the fork).
        mode: RepetitionMode = RepetitionMode::InlineValue;
    }
}

impl Rule for Repetition {
    fn goes_with_two_nets(&self) -> bool {
        true
    }

    fn against_graph(&self) -> Option<&'static str> {
        (self.mode == RepetitionMode::LegacyCertain).then_some(".mode legacy_certain")
    }
}

impl Repetition {
    /// Whether a position `depth` plies below the root counts whose earlier occurrence was `plies_since` plies before it.
    pub fn counts(&self, depth: usize, plies_since: u32) -> bool {
        match self.mode {
            RepetitionMode::InlineValue => depth >= MIN_DEPTH && plies_since as usize <= depth,
            RepetitionMode::LegacyCertain => true,
        }
    }
}

/// Visits that are taken back: their number, and mean and squared deviations of their values for some player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Removed {
    /// How many.
    pub visits: u32,
    wl: f64,
    deviations: f64,
    d: f64,
}

impl Removed {
    /// All visits of an edge after which nothing follows.
    pub fn of(end: &EdgeStats) -> Removed {
        Removed { visits: end.visits, wl: end.wl, deviations: 0.0, d: f64::from(end.d) }
    }

    /// The same as the other player sees it when `flip` is set.
    pub fn seen(self, flip: bool) -> Removed {
        Removed { wl: if flip { -self.wl } else { self.wl }, ..self }
    }

    /// Both sets together.
    pub fn and(self, other: Removed) -> Removed {
        if self.visits == 0 || other.visits == 0 {
            return if self.visits == 0 { other } else { self };
        }
        let k = f64::from(self.visits);
        let l = f64::from(other.visits);
        let (_, wl, deviations) = merged((k, self.wl, self.deviations), (l, other.wl, other.deviations));
        Removed { visits: self.visits + other.visits, wl, deviations, d: self.d + (other.d - self.d) * l / (k + l) }
    }

    /// A record and its squared deviations without these visits; only that of a forced node may have no more. The inverse of
    /// merging two sets:
    ///
    /// Q' = Q - k (q - Q) / (n - k) and M' = M - m - (q - Q')^2 k (n - k) / n, with k visits of mean q and deviations m taken out.
    pub fn taken_from(&self, stats: &mut EdgeStats, deviations: f64) -> f64 {
        if self.visits >= stats.visits {
            // A forced node has no visit of its own, so all may be gone; nothing divided by nothing is no mean.
            (stats.visits, stats.wl, stats.d) = (0, 0.0, 0.0);
            return 0.0;
        }
        let n = f64::from(stats.visits);
        let k = f64::from(self.visits);
        let d = f64::from(stats.d);
        // Taking visits out amplifies rounding by n / (n - k), so the results are kept in their ranges.
        stats.wl = (stats.wl - k * (self.wl - stats.wl) / (n - k)).clamp(-1.0, 1.0);
        stats.d = (d - k * (self.d - d) / (n - k)).clamp(0.0, 1.0) as f32;
        stats.visits -= self.visits;
        let gap = self.wl - stats.wl;
        (deviations - self.deviations - gap * gap * k * (n - k) / n).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::welford::without;
    use crate::stats::{Edge, repeated_after};

    #[test]
    fn which_repeats_count() {
        let inline = Repetition::default();
        assert!(inline.counts(5, 4) && inline.counts(4, 4));
        assert!(!inline.counts(3, 4) && !inline.counts(3, 2) && !inline.counts(5, 6));
        let legacy = Repetition { mode: RepetitionMode::LegacyCertain };
        assert!(legacy.counts(1, 40));
    }

    #[test]
    fn four_draws_of_ten_visits_taken_back() {
        let mut stats = EdgeStats { wl: 0.12, d: 0.4, visits: 10, ..EdgeStats::FRESH_ROOT };
        let draws = Removed { visits: 4, wl: 0.0, deviations: 0.0, d: 1.0 };
        draws.taken_from(&mut stats, 0.0);
        assert_eq!(stats.visits, 6);
        assert!((stats.wl - 0.20).abs() < 1e-12 && stats.d.abs() < 1e-6, "{stats:?}");
    }

    #[test]
    fn taking_back_at_once_is_taking_back_one_by_one() {
        let mut stats = EdgeStats { wl: 0.3, d: 0.4, visits: 10, ..EdgeStats::FRESH_ROOT };
        let draws = Removed { visits: 3, wl: 0.1, deviations: 0.0, d: 1.0 };
        let one_by_one = (0..3).fold((10.0, 0.3, 0.9), |set, _| without(set, 0.1));
        let deviations = draws.taken_from(&mut stats, 0.9);
        assert!((stats.wl - one_by_one.1).abs() < 1e-12 && (deviations - one_by_one.2).abs() < 1e-12);
    }

    #[test]
    fn sets_are_added_up() {
        let draws = Removed { visits: 2, wl: 0.0, deviations: 0.0, d: 1.0 };
        let wins = Removed { visits: 2, wl: 1.0, deviations: 0.0, d: 0.0 };
        assert_eq!(draws.and(wins), Removed { visits: 4, wl: 0.5, deviations: 1.0, d: 0.5 });
    }

    #[test]
    fn marks_hold_the_plies() {
        for plies in [1, 4, 100, 65_534] {
            let stats = EdgeStats { node: repeated_after(plies), ..EdgeStats::FRESH_ROOT };
            assert!(stats.is_end() && stats.repeated_plies() == Some(plies));
        }
        assert_eq!(EdgeStats::fresh(Edge::new(0, 0.5).stored_prior()).repeated_plies(), None);
    }
}
