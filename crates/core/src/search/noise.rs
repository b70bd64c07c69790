//! Selection with the half-normal noise of the variance rule, where no other rule has a say in scores.
//!
//! Every edge has a random number of its own, of which few can decide anything: an edge is passed over as soon as a bound of its number
//! shows that it cannot be the best. The edge that is chosen, and the numbers, are those of `NodeScores`, to the last bit.

use crate::math::rng::NormalBounds;
use crate::rules::variance::{Variance, VarianceSource};
use crate::search::Search;
use crate::search::select::NodeView;
use crate::stats::EdgeStats;

impl Search {
    /// Index of the edge with the greatest score; takes the draws of all edges, and notes the variance behind that edge. The root has no
    /// priors and no restriction of its own.
    pub(super) fn best_by_noise(&mut self, rule: &Variance, node: u32, own: &EdgeStats) -> Option<usize> {
        let view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        let (edges, all) = (self.tree.edges(node), self.tree.stats(node));
        let deviations = self.tree.columns.deviations.range(self.tree.visited(node));
        let (bounds, draws) = (NormalBounds::get(), &self.rules.draws);
        let fresh = rule.of_samples(0, 0.0, self.rules.variance);
        let fresh = if rule.source == VarianceSource::Wdl { self.rules.variance } else { fresh };
        // Without a prior sigma^2 is M / (n - 1), and the comparison below can multiply by n - 1 instead of
        // dividing.
        let sums = rule.source == VarianceSource::Empirical && rule.prior_weight == 0.0;
        let variance = |k: usize| match &all[k] {
            stats if stats.is_end() => 0.0,
            stats if stats.visits == 0 => fresh,
            stats if rule.source == VarianceSource::Wdl => Variance::of_shares(stats.wl, stats.d),
            stats => rule.of_samples(stats.visits, deviations[k], self.rules.variance),
        };
        // The scores without noise, which is never negative: `floor` is what some edge has at least.
        let (mut visited_prior, mut floor, mut top) = (0.0, f64::NEG_INFINITY, None);
        // The vector goes back at the end: a descent must not allocate at every node.
        let mut least = std::mem::take(&mut self.scratch.scores);
        least.clear();
        for (k, stats) in all.iter().enumerate() {
            if stats.visits == 0 {
                least.push(f64::INFINITY); // of no use as a bound, and always looked at
                continue;
            }
            let prior = f64::from(stats.prior.get());
            visited_prior += prior;
            let score = view.q(stats).clamp(-1.0, 1.0) + view.u(prior, stats.visits + u32::from(stats.in_flight));
            if score > floor {
                (floor, top) = (score, Some(k));
            }
            least.push(score);
        }
        let unvisited_q = view.unvisited_q(visited_prior);
        let (mut best, mut best_score) = (usize::MAX, f64::NEG_INFINITY);
        // The bound of |z| is tried first; the number itself costs a logarithm and a cosine.
        let looked = |k: usize, (q, u, sigma): (f64, f64, f64), floor: f64| {
            let score = |z: f64| (q + rule.scale * z * sigma).clamp(-1.0, 1.0) + u;
            draws.abs_normal_ahead(k as u64, bounds, |bound| score(bound) >= floor).map(score)
        };
        let terms = |k: usize| {
            let stats = &all[k];
            let q = if stats.visits > 0 { view.q(stats) } else { unvisited_q };
            (q, view.u(f64::from(stats.prior.get()), stats.visits + u32::from(stats.in_flight)), variance(k).sqrt())
        };
        let mut take = |k: usize, score: Option<f64>, floor: f64| {
            if let Some(score) = score.filter(|score| *score > best_score || (*score == best_score && k < best)) {
                (best, best_score) = (k, score);
            }
            floor.max(best_score)
        };
        let reach = rule.scale * NormalBounds::GREATEST;
        // Above what rounding can do to a sum of this size.
        let slack = 1e-13 * (1.0 + floor.abs());
        // The first of all needs no number as long as no other edge can reach it.
        let first = top;
        for (k, stats) in all.iter().enumerate().filter(|(k, _)| Some(*k) != first) {
            let gap = floor - least[k] - slack;
            // Squares are compared, which saves a root an edge. The first test needs no random number at all; the
            // second needs one word of the two that make z, since |z| is at most its radius.
            if gap > 0.0 {
                // scale |z| sigma < gap, without root and division where that is possible; first for the greatest |z|.
                let is_short = |radius: f64| match sums {
                    true => radius * radius * deviations[k] < gap * gap * f64::from(stats.visits.saturating_sub(1)),
                    false => radius * radius * variance(k) < gap * gap,
                };
                if is_short(reach) || is_short(rule.scale * draws.radius_ahead(k as u64, bounds)) {
                    continue;
                }
            }
            if let Some(top) = top.take() {
                floor = take(top, looked(top, terms(top), floor), floor);
            }
            floor = take(k, looked(k, terms(k), floor), floor);
        }
        let sigma = fresh.sqrt();
        for (edge, k) in edges[all.len()..].iter().zip(all.len()..) {
            let u = view.u(f64::from(edge.prior()), 0);
            if (unvisited_q + reach * sigma).clamp(-1.0, 1.0) + u < floor - slack {
                break; // so do all behind it, whose priors are no greater
            }
            let radius = rule.scale * draws.radius_ahead(k as u64, bounds);
            if (unvisited_q + radius * sigma).clamp(-1.0, 1.0) + u >= floor {
                if let Some(top) = top.take() {
                    floor = take(top, looked(top, terms(top), floor), floor);
                }
                floor = take(k, looked(k, (unvisited_q, u, sigma), floor), floor);
            }
        }
        let best = top.unwrap_or(best);
        let behind = if best < all.len() { variance(best) } else { fresh };
        // The stream moves on by the numbers of all edges, also of those that were passed over: what is drawn
        // later does not depend on what could be skipped.
        self.rules.draws.counter += 2 * edges.len() as u64;
        self.rules.variance = behind;
        self.scratch.scores = least;
        (best < usize::MAX).then_some(best)
    }
}
