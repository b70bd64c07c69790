//! The model of the opponent in a search: leaves that wait for its priors, and draws from them.
//!
//! A leaf where the opponent moves is evaluated twice: by the own network, whose value it takes, then by the model, whose priors it
//! takes. In between it waits here: it is in flight, but in no batch.

use crate::math::rng::CounterRng;
use crate::rules::opponent_net::OpponentNet;
use crate::search::answers::priors;
use crate::search::cache::Cache;
use crate::search::{Leaf, Search};
use crate::stats::Edge;

impl Search {
    /// The model, where it acts on the position at the end of the present path.
    #[inline]
    pub(super) fn model_here(&self) -> Option<&OpponentNet> {
        let depth = self.path.len();
        let model = self.setup.params.opponent_net.as_ref().filter(|rule| depth > 0 && rule.reaches(depth))?;
        (self.scratch.state.to_move() != self.root_state.to_move()).then_some(model)
    }

    /// Number of leaves that wait for the model.
    pub fn waiting_for_model(&self) -> usize {
        self.rules.waiting_for_model.len()
    }

    /// Appends a leaf, whose value is known, to those that wait for the model.
    pub(super) fn wait_for_model(&mut self, mut leaf: Leaf) {
        leaf.asks_model = true;
        self.rules.waiting_for_model.push_back(leaf);
    }

    /// Takes at most `quota` leaves that the model must evaluate; those whose priors are known are expanded and backed up.
    pub fn gather_for_model(&mut self, quota: usize, known: &Cache, leaves: &mut Vec<Leaf>) {
        let end = leaves.len() + quota;
        while leaves.len() < end {
            let Some(mut leaf) = self.rules.waiting_for_model.pop_front() else { return };
            self.counters.cache_lookups += u64::from(!known.is_off());
            leaf.counted.lookups += u8::from(!known.is_off());
            match known.get(leaf.key) {
                Some(seen) => {
                    self.counters.cache_hits += 1;
                    leaf.edges.clear();
                    leaf.edges.extend_from_slice(&seen.edges);
                    self.end_wait(leaf);
                }
                None => {
                    self.counters.rows += 1;
                    // The model is the second net of the forest; its rows are counted as the large net's.
                    self.counters.large_rows += 1;
                    leaf.counted.rows += 1;
                    leaf.counted.large_rows += 1;
                    leaves.push(leaf);
                }
            }
        }
    }

    /// Turns the model's answer into the edges of a leaf. Fails, changing nothing, on answers that are not finite.
    pub fn read_model(&self, leaf: &mut Leaf, logits: &[f32]) -> Result<(), String> {
        let temperature = self.setup.params.opponent_net.map_or(1.0, |rule| rule.temperature);
        priors(leaf, logits, temperature, self.setup.params.arithmetic)
    }

    /// Expands and backs up a leaf that has the model's priors.
    pub(super) fn end_wait(&mut self, mut leaf: Leaf) {
        self.rows_in_flight -= 1;
        self.rules.two_nets.end(leaf.turn, false);
        leaf.asks_model = false;
        let edges = std::mem::take(&mut leaf.edges);
        let value = leaf.value;
        let position = self.position_key(leaf.state.as_ref());
        self.grow(&mut leaf, &edges, value, position);
        leaf.edges = edges;
        self.scratch.leaves.push(leaf);
        if let Some(key) = position {
            self.answer_followers(key);
        }
    }

    /// Takes back the visits that wait for the model and are in no batch.
    pub fn cancel_waiting(&mut self) {
        while let Some(leaf) = self.rules.waiting_for_model.pop_back() {
            self.cancel(leaf);
        }
    }
}

/// An edge drawn with the probability of its prior; `None` where all priors are 0.
pub(super) fn draw_by_prior(edges: &[Edge], draws: &mut CounterRng) -> Option<usize> {
    // Stored priors are rounded and need not sum to 1; a solver may have set some to 0.
    let whole: f64 = edges.iter().map(|edge| f64::from(edge.prior())).sum();
    let mut rest = draws.uniform() * whole;
    let passed = edges.iter().position(|edge| {
        rest -= f64::from(edge.prior());
        rest < 0.0
    });
    // Rounding may leave a rest after the last edge.
    passed.or_else(|| edges.iter().rposition(|edge| edge.prior() > 0.0))
}
