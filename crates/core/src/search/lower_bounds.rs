//! The root's edges by the lower confidence bounds of their Q (place 6).

use crate::rules::lower_bound::LowerBound;
use crate::search::Search;
use crate::search::scores::NodeScores;

impl Search {
    /// The lower bound of each of the root's edges that are candidates, -inf for the others.
    pub(super) fn lower_bounds(&self, rule: &LowerBound, root: u32, scores: &NodeScores) -> Vec<f64> {
        let edges = self.tree.edges(root).len();
        let visits = |k: usize| if self.root.allows(k) { scores.record(k).visits } else { 0 };
        let max_visits = (0..edges).map(visits).max().unwrap_or(0);
        let min_visits = rule.min_share * f64::from(max_visits);
        let first = self.tree.node(root).stats as usize;
        let bound = |k: usize| {
            if visits(k) == 0 || f64::from(visits(k)) < min_visits {
                return f64::NEG_INFINITY;
            }
            let deviations = self.tree.columns.deviations.get(first + k);
            // A certain value has no error, so its bound is the value itself.
            scores.settled(k).unwrap_or_else(|| rule.bound(scores.mean(&scores.record(k)), visits(k), deviations))
        };
        (0..edges).map(bound).collect()
    }
}
