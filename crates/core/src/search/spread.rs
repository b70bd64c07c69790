//! Selection with the variance rule where it needs no noise and no other rule has a say in scores: the loop of plain PUCT with a bonus.
//!
//! The scores are those of `NodeScores`, to the last bit. All edges without visits have the same value, so of those without record only
//! the first can win.

use crate::rules::variance::{NodeSpread, Variance, VarianceMode, VarianceSource};
use crate::search::Search;
use crate::search::select::{NodeView, Terms, best_edge};
use crate::stats::EdgeStats;

/// The bonus of a node's edges.
struct SpreadTerms<'a, V> {
    rule: &'a Variance,
    spread: NodeSpread,
    /// sigma^2 of an edge with record.
    variance: &'a V,
    /// sigma^2 of an edge without visits.
    fresh: f64,
}

impl<V> SpreadTerms<'_, V> {
    fn raised(&self, q: f64, visits: u32, variance: f64) -> f64 {
        if self.rule.mode == VarianceMode::NodeScaledCpuct {
            return q;
        }
        // No mode that comes here draws a number; the bounds are those of `NodeScores`.
        (q + self.rule.bonus(&self.spread, visits, variance, || 0.0)).clamp(-1.0, 1.0)
    }
}

impl<V: Fn(usize) -> f64> Terms for SpreadTerms<'_, V> {
    #[inline(always)]
    fn value(&self, k: usize, stats: &EdgeStats, q: f64, _: f64) -> f64 {
        if self.rule.mode == VarianceMode::NodeScaledCpuct {
            q
        } else {
            self.raised(q, stats.visits, (self.variance)(k))
        }
    }

    #[inline(always)]
    fn unvisited_value(&self, _: usize, unvisited_q: f64) -> f64 {
        self.raised(unvisited_q, 0, self.fresh)
    }
}

impl Search {
    /// Index of the edge with the greatest score; notes the variance of its child. The root has no priors and no restriction of its
    /// own.
    pub(super) fn best_by_spread(&mut self, rule: &Variance, node: u32, own: &EdgeStats) -> Option<usize> {
        let mut view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        view.scale_exploration(rule.cpuct_factor(self.rules.variance));
        let spread = rule.spread(self.rules.variance, own.visits);
        let edges = self.tree.edges(node);
        let all = self.tree.stats(node);
        let deviations = self.tree.columns.deviations.range(self.tree.visited(node));
        let empirical = rule.source == VarianceSource::Empirical;
        let fresh = if empirical { rule.of_samples(0, 0.0, self.rules.variance) } else { self.rules.variance };
        let variance = |k: usize| match &all[k] {
            stats if stats.is_end() => 0.0,
            stats if stats.visits == 0 => fresh,
            stats if empirical => rule.of_samples(stats.visits, deviations[k], self.rules.variance),
            stats => Variance::of_shares(stats.wl, stats.d),
        };
        let terms = SpreadTerms { rule, spread, variance: &variance, fresh };
        let best = best_edge(&view, edges, all, &terms).unwrap_or(usize::MAX);
        let variance_below = if best < all.len() { variance(best) } else { fresh };
        self.rules.variance = variance_below;
        (best < usize::MAX).then_some(best)
    }
}
