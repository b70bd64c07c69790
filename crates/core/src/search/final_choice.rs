//! Place 6: which action of the root is played, and what the policy is taught.
//!
//! Actions are compared by their [`MoveRank`], whose fields stand in the order in which they decide. A rule of choice fills one of
//! them; without any rule it is the most visits, then the higher Q, then the higher prior.

use std::cmp::Ordering;

use crate::game::Action;
use crate::search::Search;
use crate::search::scores::NodeScores;

/// What actions of the root are compared by; the greatest is played, among equals the first in the order of edges.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct MoveRank {
    /// The search is not restricted to others.
    pub(super) allowed: bool,
    /// Proven results come before all that was estimated: > 0 better than any open action, < 0 worse, 0 open.
    pub(super) proof: i32,
    /// What a rule of choice makes of the action; 0 for all without one.
    score: f64,
    visits: u32,
    /// Q for the root's mover; -inf without visits.
    pub(super) q: f64,
    prior: f32,
}

impl MoveRank {
    /// The greater rank first. No field is ever NaN.
    pub fn descending(a: &MoveRank, b: &MoveRank) -> Ordering {
        b.partial_cmp(a).expect("numbers")
    }
}

impl Search {
    /// The action to play; `None` until the network has seen the root, and where there is no move.
    pub fn best_action(&self) -> Option<Action> {
        let best = self.ranked_edges().first().copied()?;
        Some(self.tree.edges(self.tree.root_node()?)[best].action)
    }

    /// Indices of the root's edges, the best first.
    pub(super) fn ranked_edges(&self) -> Vec<usize> {
        let ranks = self.ranks();
        let mut ranked: Vec<usize> = (0..ranks.len()).collect();
        ranked.sort_by(|a, b| MoveRank::descending(&ranks[*a], &ranks[*b]));
        ranked
    }

    /// MoveRank of each of the root's edges.
    fn ranks(&self) -> Vec<MoveRank> {
        let Some(root) = self.tree.root_node() else { return Vec::new() };
        let scores = self.root_scores(root);
        let choice = self.choice_scores(root, &scores);
        let rank = |k: usize| {
            let record = Some(scores.record(k)).filter(|record| record.visits > 0);
            MoveRank {
                allowed: self.root.allows(k),
                proof: self.proof_rank(k),
                score: choice.as_ref().map_or(0.0, |scores| scores[k]),
                visits: record.map_or(0, |record| record.visits),
                q: record.map_or(f64::NEG_INFINITY, |record| scores.mean(&record)),
                prior: self.reported_prior(root, k),
            }
        };
        let mut ranks: Vec<MoveRank> = (0..self.tree.edges(root).len()).map(rank).collect();
        self.prefer_draws(&mut ranks);
        ranks
    }

    /// A score of each of the root's edges by the rule of choice that is on.
    fn choice_scores(&self, root: u32, scores: &NodeScores) -> Option<Vec<f64>> {
        let params = &self.setup.params;
        if let Some(rules) = self.setup.outside.as_ref().filter(|rules| rules.places().choice) {
            return rules.final_scores(&self.root_rows(root)).ok();
        }
        let bounds = || params.lower_bound.as_ref().map(|rule| self.lower_bounds(rule, root, scores));
        params.gumbel.as_ref().map(|rule| self.halving_choice(rule, root)).or_else(bounds)
    }

    /// Whether the policy target is the visits, because no rule that changes it is on.
    pub fn teaches_visits(&self) -> bool {
        let params = &self.setup.params;
        params.gumbel.is_none()
            && params.solver.is_none()
            && params.forced_playouts.is_none()
            && params.posterior.is_none()
    }

    /// What a network is taught to answer here: shares of the root's actions, which sum to 1.
    ///
    /// The shares of the visits (the priors before the first), with forced playouts without those that were forced; with Gumbel the
    /// improved policy, with the posterior that. A proven win is the whole answer.
    pub fn policy_target(&self) -> Vec<(Action, f32)> {
        let Some(root) = self.tree.root_node() else { return Vec::new() };
        let edges = self.tree.edges(root);
        let stats = self.tree.stats(root);
        // The visits before the proof are spread over moves that no longer matter.
        if let Some(win) = self.best_action().filter(|_| self.root_bounds().result() == Some(1)) {
            return edges.iter().map(|edge| (edge.action, f32::from(u8::from(edge.action == win)))).collect();
        }
        if let Some(rule) = &self.setup.params.gumbel {
            return self.root_policy(root, |known| rule.improved_policy(known));
        }
        if let Some(rule) = &self.setup.params.posterior {
            return self.root_policy(root, |known| rule.policy(known));
        }
        let visits = |k: usize| stats.get(k).map_or(0.0, |record| f64::from(record.visits));
        let mut weights: Vec<f64> = match self.forcing() {
            Some(rule) => self.pruned_visits(rule, root).into_iter().map(f64::from).collect(),
            None => (0..edges.len()).map(visits).collect(),
        };
        // A search of one visit has only evaluated its root.
        if stats.iter().all(|record| record.visits == 0) {
            weights = (0..edges.len()).map(|k| f64::from(self.reported_prior(root, k))).collect();
        }
        let total: f64 = weights.iter().sum();
        edges.iter().zip(weights).map(|(edge, weight)| (edge.action, (weight / total) as f32)).collect()
    }
}
