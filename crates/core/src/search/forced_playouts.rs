//! Forced playouts at a root, and the policy target without them (Wu 2019, section 3.2).

use crate::rules::forced_playouts::ForcedPlayouts;
use crate::search::Search;
use crate::search::scores::NodeScores;
use crate::stats::EdgeStats;

impl Search {
    /// The rule, unless the root is searched as in play.
    pub(super) fn forcing(&self) -> Option<ForcedPlayouts> {
        self.setup.params.forced_playouts.filter(|_| !self.root.is_quiet())
    }

    /// The first of the root's edges that has visits, but fewer than are forced; `None` without the rule.
    ///
    /// `own` is the root's record. Visits in flight count. Edges whose result is proven are not forced.
    #[inline(never)] // so that roots with noise alone do not pay for it
    pub(super) fn forced_edge(&self, root: u32, own: &EdgeStats) -> Option<usize> {
        let rule = self.forcing()?;
        let child_visits = own.visits.saturating_sub(1);
        let lacks = |k: usize, record: &EdgeStats| {
            let begun = f64::from(record.visits + u32::from(record.in_flight));
            // Only actions with at least one visit are forced (Wu 2019, section 3.2).
            record.visits > 0 && begun < rule.forced(self.root.prior(k, record.prior), child_visits)
        };
        let may = |k: usize| self.root.allows(k) && !(self.setup.solves() && self.edge_bounds(root, k).is_proven());
        let mut stats = self.tree.stats(root).iter().enumerate();
        stats.find(|(k, record)| lacks(*k, record) && may(*k)).map(|(k, _)| k)
    }

    /// Visits of the root's edges for the policy target.
    ///
    /// c* is the edge with the most visits, among equals with the higher Q, then the higher prior. Every other edge loses up to
    /// n_forced visits, as long as its score at the same Q stays below that of c*; what is left with one visit has none.
    pub(super) fn pruned_visits(&self, rule: ForcedPlayouts, root: u32) -> Vec<u32> {
        let scores = self.root_scores(root);
        let mut visits: Vec<u32> = (0..self.tree.edges(root).len()).map(|k| scores.record(k).visits).collect();
        let Some(most) = self.most_visited(&scores, &visits) else { return visits };
        let (best, child_visits) =
            (scores.score_at(most, visits[most]), self.mixed_root_stats().visits.saturating_sub(1));
        for (k, left) in visits.iter_mut().enumerate().filter(|(k, left)| *k != most && **left > 0) {
            let forced = rule.forced(self.root.prior(k, scores.record(k).prior), child_visits);
            let least = left.saturating_sub(forced as u32);
            // Visits are taken off one by one, because U grows when they go: the action loses those that PUCT
            // would not have made by itself.
            while *left > least && scores.score_at(k, *left - 1) < best {
                *left -= 1;
            }
            // A single visit says that the action was tried, not that it is good (Wu 2019, section 3.2).
            *left = if *left > 1 { *left } else { 0 };
        }
        visits
    }

    /// The edge with the most visits, then Q, then prior; `None` before any.
    fn most_visited(&self, scores: &NodeScores, visits: &[u32]) -> Option<usize> {
        let rank = |k: usize| {
            let record = scores.record(k);
            (visits[k], scores.mean(&record), self.root.prior(k, record.prior))
        };
        let visited = (0..visits.len()).rev().filter(|k| visits[*k] > 0);
        visited.max_by(|a, b| rank(*a).partial_cmp(&rank(*b)).expect("numbers"))
    }
}
