//! Selection with the half-normal noise of the variance rule, where no other rule changes scores.
//!
//! Every edge has a random number of its own, but few of them can decide anything: an edge is passed over as soon as a bound of its
//! number shows that it cannot win. The edge that is chosen, and the numbers, are those of `NodeScores`, to the last bit.

use crate::math::rng::{DrawsAhead, NormalBounds};
use crate::rules::variance::{Variance, VarianceSource};
use crate::search::Search;
use crate::search::select::NodeView;
use crate::stats::{Edge, EdgeStats};

impl Search {
    /// Index of the edge with the greatest score; takes the draws of all edges, and notes the variance of that edge. The root has no
    /// priors and no restriction of its own.
    pub(super) fn best_by_noise(&mut self, rule: &Variance, node: u32, own: &EdgeStats) -> Option<usize> {
        // The buffer goes back at the end: a descent must not allocate at every node.
        let mut plain_scores = std::mem::take(&mut self.scratch.scores);
        let mut noisy = self.noisy_node(rule, node, own);
        let mut race = noisy.score_without_noise(&mut plain_scores);
        noisy.compare_recorded(&plain_scores, &mut race);
        noisy.compare_unrecorded(&mut race);
        let best = race.winner();
        let variance = best.map_or(noisy.fresh_variance, |k| noisy.variance(k));
        // The stream moves on by the numbers of all edges, also of those that were passed over: what is drawn
        // later does not depend on what could be skipped.
        let numbers = 2 * noisy.edges.len() as u64;
        self.rules.draws.counter += numbers;
        self.rules.variance = variance;
        self.scratch.scores = plain_scores;
        best
    }

    fn noisy_node<'a>(&'a self, rule: &'a Variance, node: u32, own: &EdgeStats) -> NoisyNode<'a> {
        let node_variance = self.rules.variance;
        let fresh_variance = match rule.source {
            VarianceSource::Wdl => node_variance,
            VarianceSource::Empirical => rule.of_samples(0, 0.0, node_variance),
        };
        NoisyNode {
            rule,
            view: NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty()),
            edges: self.tree.edges(node),
            stats: self.tree.stats(node),
            deviations: self.tree.columns.deviations.range(self.tree.visited(node)),
            draws: self.rules.draws.ahead(),
            bounds: NormalBounds::get(),
            node_variance,
            fresh_variance,
            has_plain_samples: rule.source == VarianceSource::Empirical && rule.prior_weight == 0.0,
            unvisited_q: 0.0,
        }
    }
}

/// A node whose edges are compared under noise.
struct NoisyNode<'a> {
    rule: &'a Variance,
    view: NodeView,
    edges: &'a [Edge],
    /// Records of the first edges.
    stats: &'a [EdgeStats],
    /// Sums of squared deviations of these edges.
    deviations: &'a [f64],
    draws: DrawsAhead,
    bounds: &'static NormalBounds,
    /// sigma^2 of the node.
    node_variance: f64,
    /// sigma^2 of an edge without visits.
    fresh_variance: f64,
    /// sigma^2 of an edge is its deviations / (visits - 1): empirical, without a prior.
    has_plain_samples: bool,
    /// First-play urgency.
    unvisited_q: f64,
}

/// The comparison of a node's edges.
struct Race {
    /// The best edge that was compared with its noise, and its score; `usize::MAX`: none was.
    best: usize,
    best_score: f64,
    /// A score that some edge reaches: the noise is never negative.
    floor: f64,
    /// Above what rounding can do to a score.
    slack: f64,
    /// The edge that leads without noise.
    favourite: Option<usize>,
    /// The favourite's noise is not known yet: it is not needed unless another edge can reach the floor.
    favourite_waits: bool,
}

impl Race {
    fn new(favourite: Option<usize>, floor: f64) -> Self {
        Race {
            best: usize::MAX,
            best_score: f64::NEG_INFINITY,
            floor,
            slack: 1e-13 * (1.0 + floor.abs()),
            favourite,
            favourite_waits: favourite.is_some(),
        }
    }

    /// Compares an edge that may win; the favourite goes first.
    fn enter(&mut self, k: usize, noisy: &NoisyNode) {
        if self.favourite_waits {
            self.favourite_waits = false;
            self.favourite.into_iter().for_each(|favourite| self.compare(favourite, noisy));
        }
        self.compare(k, noisy);
    }

    fn compare(&mut self, k: usize, noisy: &NoisyNode) {
        let Some(score) = noisy.score(k, self.floor) else { return };
        // Among equals the first edge wins.
        if score > self.best_score || (score == self.best_score && k < self.best) {
            self.best = k;
            self.best_score = score;
        }
        self.floor = self.floor.max(self.best_score);
    }

    fn winner(&self) -> Option<usize> {
        if self.favourite_waits {
            return self.favourite;
        }
        (self.best < usize::MAX).then_some(self.best)
    }
}

impl NoisyNode<'_> {
    /// Step 1: the scores of visited edges without noise, infinite for records without visits, which are compared in any case. Also
    /// computes first-play urgency, which needs the priors of all visited edges.
    fn score_without_noise(&mut self, plain_scores: &mut Vec<f64>) -> Race {
        let mut visited_prior = 0.0;
        let mut floor = f64::NEG_INFINITY;
        let mut favourite = None;
        plain_scores.clear();
        for (k, stats) in self.stats.iter().enumerate() {
            if stats.visits == 0 {
                plain_scores.push(f64::INFINITY);
                continue;
            }
            visited_prior += f64::from(stats.prior.get());
            let score = self.view.q(stats).clamp(-1.0, 1.0) + self.u(k);
            if score > floor {
                floor = score;
                favourite = Some(k);
            }
            plain_scores.push(score);
        }
        self.unvisited_q = self.view.unvisited_q(visited_prior);
        Race::new(favourite, floor)
    }

    /// Step 2: the edges with a record, except for the favourite.
    fn compare_recorded(&self, plain_scores: &[f64], race: &mut Race) {
        let favourite = race.favourite;
        for (k, plain_score) in plain_scores.iter().enumerate().filter(|(k, _)| Some(*k) != favourite) {
            let gap = race.floor - plain_score - race.slack;
            if gap > 0.0 && self.cannot_close(k, gap) {
                continue;
            }
            race.enter(k, self);
        }
    }

    /// Step 3: the edges without a record, in the order of their priors.
    fn compare_unrecorded(&self, race: &mut Race) {
        let sigma = self.fresh_variance.sqrt();
        for k in self.stats.len()..self.edges.len() {
            let u = self.u(k);
            let score = |radius: f64| (self.unvisited_q + self.rule.scale * radius * sigma).clamp(-1.0, 1.0) + u;
            if score(NormalBounds::GREATEST) < race.floor - race.slack {
                break; // nor can those after it, whose priors are no greater
            }
            if score(self.draws.radius(k as u64, self.bounds)) >= race.floor {
                race.enter(k, self);
            }
        }
    }

    /// Whether the noise of an edge with a record is too small to close this gap.
    fn cannot_close(&self, k: usize, gap: f64) -> bool {
        // The first test needs no random number at all; the second needs one word of the two that make z, since
        // |z| is at most its radius.
        self.is_below(k, NormalBounds::GREATEST, gap) || self.is_below(k, self.draws.radius(k as u64, self.bounds), gap)
    }

    /// scale * radius * sigma < gap, as squares: that saves a root, and a division where sigma^2 is a plain sample variance.
    #[inline]
    fn is_below(&self, k: usize, radius: f64, gap: f64) -> bool {
        let reach = self.rule.scale * radius;
        if self.has_plain_samples {
            let degrees = f64::from(self.stats[k].visits.saturating_sub(1));
            return reach * reach * self.deviations[k] < gap * gap * degrees;
        }
        reach * reach * self.variance(k) < gap * gap
    }

    /// The score of an edge with its noise; `None` where a bound of the noise shows that it is below `floor`.
    #[inline]
    fn score(&self, k: usize, floor: f64) -> Option<f64> {
        let q = match self.stats.get(k) {
            Some(stats) if stats.visits > 0 => self.view.q(stats),
            _ => self.unvisited_q,
        };
        let u = self.u(k);
        let sigma = self.variance(k).sqrt();
        let score = |z: f64| (q + self.rule.scale * z * sigma).clamp(-1.0, 1.0) + u;
        // The bound of |z| is tried first; the number itself costs a logarithm and a cosine.
        self.draws.abs_normal(k as u64, self.bounds, |bound| score(bound) >= floor).map(score)
    }

    #[inline]
    fn u(&self, k: usize) -> f64 {
        match self.stats.get(k) {
            Some(stats) => self.view.u(f64::from(stats.prior.get()), stats.visits + u32::from(stats.in_flight)),
            None => self.view.u(f64::from(self.edges[k].prior()), 0),
        }
    }

    /// sigma^2 of the position after an edge.
    #[inline]
    fn variance(&self, k: usize) -> f64 {
        match self.stats.get(k) {
            None => self.fresh_variance,
            Some(stats) if stats.is_end() => 0.0,
            Some(stats) if stats.visits == 0 => self.fresh_variance,
            Some(stats) if self.rule.source == VarianceSource::Wdl => Variance::of_shares(stats.wl, stats.d),
            Some(stats) => self.rule.of_samples(stats.visits, self.deviations[k], self.node_variance),
        }
    }
}
