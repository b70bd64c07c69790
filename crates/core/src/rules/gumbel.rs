//! Gumbel root (Danihelka et al. 2022): actions are sampled without replacement and halved sequentially; completed Q.
//!
//! This file has the settings and the equations; `search/gumbel_root.rs` has the root of a search that is halved.

use crate::rules::Rule;
use crate::rules::setting::{choices, settings};

choices! {
    /// How edges are selected below the root.
    pub enum BelowRoot {
        /// By PUCT and the rules that change it.
        Puct,
        /// So that visits come near the improved policy: the greatest pi'(a) - N(a) / (1 + sum_b N(b)).
        ImprovedPolicy,
    }
}

settings! {
    /// Gumbel root (Danihelka et al. 2022): actions sampled without replacement, halved sequentially; completed Q.
    Gumbel: Copy {
        /// m: actions that are considered at the root.
        considered: u32 = 16, 1.0 => 65_535.0;
        /// sigma(q) = (c_visit + max_b N(b)) c_scale q, q on the scale 0 to 1.
        c_visit: f64 = 50.0, 0.0 => 1e6;
        /// See `c_visit`.
        c_scale: f64 = 1.0, 0.0 => 1e3;
        /// Factor of the Gumbel noise; 0: none, the search is deterministic.
        noise: f64 = 1.0, 0.0 => 10.0;
        /// How edges are selected below the root: by PUCT, or so that visits come near the improved policy.
        below_root: BelowRoot = BelowRoot::Puct;
    }
}

/// What a node knows of its edges, each list in their order.
#[derive(Clone, Debug)]
pub struct Knowledge {
    /// Logits of the policy, up to a constant.
    pub logits: Vec<f64>,
    /// N(a): completed visits.
    pub visits: Vec<u32>,
    /// q(a) for the mover, -1..1; `None` where nothing is known of it.
    pub q: Vec<Option<f64>>,
    /// v: the network's value of the node for its mover, -1..1.
    pub value: f64,
}

impl Knowledge {
    /// Q that is completed where nothing is known, by v_mix (appendix D of the paper):
    /// v_mix = (v + sum_b N(b) / sum_{N(b) > 0} pi(b) sum_{N(a) > 0} pi(a) q(a)) / (1 + sum_b N(b)).
    pub fn completed_q(&self) -> Vec<f64> {
        let policy = softmax(self.logits.clone());
        let mut total = 0.0;
        let mut seen = 0.0;
        let mut weighted = 0.0;
        for (k, q) in self.q.iter().enumerate() {
            if let (Some(q), 1..) = (q, self.visits[k]) {
                total += f64::from(self.visits[k]);
                seen += policy[k];
                weighted += policy[k] * q;
            }
        }
        // v_mix: the visited actions count as often as they have visits, the network once.
        let mixed = if total > 0.0 { (self.value + total / seen * weighted) / (1.0 + total) } else { self.value };
        self.q.iter().map(|q| q.unwrap_or(mixed)).collect()
    }

    fn most_visits(&self) -> f64 {
        f64::from(self.visits.iter().copied().max().unwrap_or(0))
    }
}

impl Rule for Gumbel {
    fn changes_selection(&self) -> bool {
        true
    }
}

impl Gumbel {
    /// sigma(q) of a completed Q, which is -1..1 and is taken to 0..1 first.
    pub fn sigma(&self, most_visits: f64, completed: f64) -> f64 {
        (self.c_visit + most_visits) * self.c_scale * ((completed + 1.0) / 2.0)
    }

    /// sigma of every edge of a node.
    pub fn transformed(&self, node: &Knowledge) -> Vec<f64> {
        node.completed_q().into_iter().map(|q| self.sigma(node.most_visits(), q)).collect()
    }

    /// pi' = softmax(logits + sigma(completed Q)).
    pub fn improved_policy(&self, node: &Knowledge) -> Vec<f64> {
        let raised = node.logits.iter().zip(self.transformed(node)).map(|(logit, sigma)| logit + sigma);
        softmax(raised.collect())
    }
}

/// Visits that each of the `remaining` actions gets in a phase of sequential halving, when `considered` actions share `budget`
/// visits: max(1, floor(budget / (ceil(log2 considered) remaining))).
pub fn phase_visits(budget: u32, considered: u32, remaining: u32) -> u32 {
    // ceil(log2 m), in whole numbers.
    let phases = considered.next_power_of_two().trailing_zeros().max(1);
    (budget / (phases * remaining)).max(1)
}

/// Visits that each of the `remaining` actions gets in a phase of halving number `round` without a budget: twice as many in
/// each phase as in the one before, twice as many in each round.
pub fn endless_phase_visits(round: u32, considered: u32, remaining: u32) -> u32 {
    (considered / remaining) << round.min(15)
}

/// exp(x) over its sum.
pub fn softmax(mut weights: Vec<f64>) -> Vec<f64> {
    let greatest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Less the greatest, so that no power overflows: sigma may be large.
    weights.iter_mut().for_each(|weight| *weight = (*weight - greatest).exp());
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}
