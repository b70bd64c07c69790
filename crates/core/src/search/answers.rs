//! The network's answers as the tree takes them: a value, and priors.

use crate::game::{Action, Outcome, Player, State};
use crate::math::arithmetic::Arithmetic;
use crate::search::cache::Cache;
use crate::search::{Leaf, LeafSources, Search};
use crate::stats::{Edge, Value};

impl Search {
    /// Turns the network's answer into edges and value, kept in the leaf. Fails, changing nothing, on answers that are not finite.
    pub fn read_answer(&self, leaf: &mut Leaf, logits: &[f32], wdl: &[f32]) -> Result<(), String> {
        leaf.value = wdl_value(wdl)?;
        priors(leaf, logits, self.setup.params.policy_temperature, self.setup.params.arithmetic)
    }

    /// Searches `visits` more visits with answers computed at once by `evaluate(state, actions, logits) -> value`: for benchmarks and rollouts.
    pub fn run(
        &mut self,
        visits: u64,
        mut evaluate: impl FnMut(&dyn State, &[Action], &mut [f32]) -> [f32; 3],
        num_actions: usize,
    ) {
        let cache = Cache::new(0);
        let sources = LeafSources { cache: &cache, model: &cache, oracle: None };
        let mut logits = vec![0.0; num_actions];
        let mut leaves = Vec::new();
        let end = self.counters.visits + visits;
        while self.counters.visits < end && !self.is_finished() {
            // One leaf at a time: every visit knows all answers before it.
            self.gather(1, self.next_net().unwrap_or_default(), sources, &mut leaves);
            let Some(mut leaf) = leaves.pop() else { continue };
            let wdl = evaluate(leaf.state.as_ref(), &leaf.actions, &mut logits);
            self.read_answer(&mut leaf, &logits, &wdl).expect("a local evaluator gives numbers");
            self.apply(leaf, |_, _, _| ());
        }
    }
}

/// The value for the mover of win, draw and loss; fails unless they are shares that sum to 1.
pub fn wdl_value(wdl: &[f32]) -> Result<Value, String> {
    let sum: f32 = wdl.iter().sum();
    // The bounds leave room for the rounding of float16 nets.
    let shares = wdl.iter().all(|share| (-1e-3..=1.001).contains(share));
    if !shares || (sum - 1.0).abs() > 1e-2 {
        return Err(format!("win, draw, loss must be shares that sum to 1, got {wdl:?}"));
    }
    // Means are kept in double precision: at millions of visits a step of 1 / N is lost in single
    // precision.
    Ok(Value { wl: (f64::from(wdl[0]) - f64::from(wdl[2])).clamp(-1.0, 1.0), d: wdl[1].clamp(0.0, 1.0) })
}

/// Priors P(a) = softmax(logits / temperature) over the legal actions, as edges sorted by prior (equal priors by action).
pub fn priors(leaf: &mut Leaf, logits: &[f32], temperature: f64, arithmetic: Arithmetic) -> Result<(), String> {
    let Leaf { actions, weights, edges, .. } = leaf;
    weights.clear();
    weights.extend(actions.iter().map(|action| f64::from(logits[usize::from(*action)])));
    // The greatest logit is taken off first, so that exp cannot overflow.
    let greatest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest.is_finite() && weights.iter().all(|weight| *weight == greatest) {
        weights.fill(1.0); // e^0 of all, as without a net
    } else {
        weights.iter_mut().for_each(|weight| *weight = arithmetic.exp((*weight - greatest) / temperature));
    }
    let sum: f64 = weights.iter().sum();
    if !sum.is_finite() {
        let not_finite = |action: &&Action| !logits[usize::from(**action)].is_finite();
        let bad = actions.iter().find(not_finite).copied().unwrap_or_default();
        return Err(format!("policy logits must be finite, got {} for action {bad}", logits[usize::from(bad)]));
    }
    edges.clear();
    edges.extend(actions.iter().zip(weights).map(|(action, weight)| Edge::new(*action, (*weight / sum) as f32)));
    // Selection relies on this order: of edges without record it looks at the first alone.
    edges.sort_by(Edge::by_prior);
    Ok(())
}

/// The winner and their value; a draw is the same for both.
pub(super) fn outcome_value(outcome: Outcome) -> (Player, Value) {
    match outcome {
        Outcome::Win(player) => (player, Value { wl: 1.0, d: 0.0 }),
        Outcome::Draw => (Player::First, Value { wl: 0.0, d: 1.0 }),
    }
}
