//! Selection with the variance rule where it needs no noise and no other rule has a say in scores: the loop of plain PUCT with a bonus.
//!
//! The scores are those of `NodeScores`, to the last bit. All edges without visits have the same value, so of those without record only
//! the first can win.

use crate::params::SearchParams;
use crate::rules::variance::{Variance, VarianceMode, VarianceSource};
use crate::search::Search;
use crate::search::select::NodeView;
use crate::search::setup::Setup;
use crate::stats::{EdgeStats, Prior};

/// The rule, if selection may go this way.
pub fn spread_alone(setup: &Setup) -> Option<Variance> {
    let params = &setup.params;
    let without = SearchParams { variance: None, ..params.clone() };
    let others = setup.two_nets || setup.solves || without.change_scores();
    params.variance.filter(|rule| rule.mode != VarianceMode::HalfNormal && !others)
}

impl Search {
    /// Index of the edge with the greatest score; notes the variance behind that edge. The root has no priors and no restriction of its
    /// own.
    pub(super) fn best_by_spread(&mut self, rule: &Variance, node: u32, own: &EdgeStats) -> Option<usize> {
        let mut view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        view.scale_exploration(rule.cpuct_factor(self.variance));
        let spread = rule.spread(self.variance, own.visits);
        let (edges, all) = (self.tree.edges(node), self.tree.stats(node));
        let deviations = self.tree.columns.deviations.range(self.tree.visited(node));
        let empirical = rule.source == VarianceSource::Empirical;
        let fresh = if empirical { rule.of_samples(0, 0.0, self.variance) } else { self.variance };
        let variance = |k: usize| match &all[k] {
            stats if stats.is_end() => 0.0,
            stats if stats.visits == 0 => fresh,
            stats if empirical => rule.of_samples(stats.visits, deviations[k], self.variance),
            stats => Variance::of_shares(stats.wl, stats.d),
        };
        let raises = rule.mode != VarianceMode::NodeScaledCpuct;
        let raised =
            |q: f64, visits: u32, variance: f64| (q + rule.bonus(&spread, visits, variance, || 0.0)).clamp(-1.0, 1.0);
        let (mut best, mut best_score, mut visited_prior, mut waiting) = (usize::MAX, f64::NEG_INFINITY, 0.0, false);
        for (k, stats) in all.iter().enumerate() {
            if stats.visits == 0 {
                waiting = true;
                continue;
            }
            let prior = f64::from(stats.prior.get());
            visited_prior += prior;
            let q = if raises { raised(view.q(stats), stats.visits, variance(k)) } else { view.q(stats) };
            let score = q + view.u(prior, stats.visits, stats.in_flight);
            let better = score > best_score;
            best = if better { k } else { best };
            best_score = if better { score } else { best_score };
        }
        let unvisited_q = view.unvisited_q(visited_prior);
        let unvisited_q = if raises { raised(unvisited_q, 0, fresh) } else { unvisited_q };
        let mut consider = |k: usize, stored: Prior, in_flight: u16| {
            let score = unvisited_q + view.u(f64::from(stored.get()), 0, in_flight);
            if score > best_score || (score == best_score && k < best) {
                (best, best_score) = (k, score);
            }
        };
        if waiting {
            let unvisited = all.iter().enumerate().filter(|(_, stats)| stats.visits == 0);
            unvisited.for_each(|(k, stats)| consider(k, stats.prior, stats.in_flight));
        }
        if let Some(edge) = edges.get(all.len()) {
            consider(all.len(), edge.stored_prior(), 0);
        }
        let behind = if best < all.len() { variance(best) } else { fresh };
        self.variance = behind;
        (best < usize::MAX).then_some(best)
    }
}
