//! The move that is played after a search: the best, or one that is drawn by a temperature, with lc0's meanings.

use crate::game::Action;
use crate::play::settings::Temperature;

/// Smaller temperatures count as this one, since 1/T must be finite.
const MIN_TEMPERATURE: f64 = 1e-300;

/// What is known of a move of the root.
#[derive(Clone, Copy, Debug)]
pub struct RootMove {
    /// The move.
    pub action: Action,
    /// Completed visits.
    pub visits: u32,
    /// Q for the mover; NaN before the first visit.
    pub q: f32,
    /// Prior of the net.
    pub prior: f32,
    /// Proven result for the mover.
    pub proven: Option<i8>,
}

impl RootMove {
    fn value(&self) -> f32 {
        if self.q.is_nan() { f32::NEG_INFINITY } else { self.q }
    }

    /// Whether it may be played: the net gives it a chance, or it has visits.
    fn is_open(&self) -> bool {
        self.prior > 0.0 || self.visits > 0
    }
}

impl Temperature {
    /// The temperature this many plies into the game. With the full-move index m = ply / 2: from `cutoff_move` on `endgame`; else it
    /// falls from m = delay on to 0 at m = delay + decay, never below `endgame`.
    pub fn at(&self, ply: usize) -> f64 {
        let move_index = ply as u64 / 2;
        if self.cutoff_move > 0 && move_index + 1 >= self.cutoff_move {
            return self.endgame;
        }
        if self.decay_moves == 0 {
            return self.initial;
        }
        let left = (self.decay_delay_moves + self.decay_moves).saturating_sub(move_index);
        let falling = self.initial * left as f64 / self.decay_moves as f64;
        // Until the delay is over more is left than the whole: hence the first bound.
        self.initial.min(falling).max(self.endgame)
    }
}

/// The move to play. `moves`: all of the root, by action; `best`: of the search; `uniform`: in [0, 1), decides the draw. A move that
/// is proven to win is played as the search says, and proven losses are not drawn while there is another.
pub fn choose(moves: &[RootMove], best: Action, temperature: f64, uniform: f64, settings: &Temperature) -> Action {
    // A proven win is played by the search's choice, which prefers the shortest.
    if temperature <= 0.0 || moves.iter().any(|one| one.proven == Some(1)) {
        return best;
    }
    let mut open: Vec<RootMove> = moves.iter().copied().filter(RootMove::is_open).collect();
    if open.iter().any(|one| one.proven != Some(-1)) {
        open.retain(|one| one.proven != Some(-1));
    }
    let weights = weights(&open, settings);
    // Relative to the greatest, so that a small temperature raises no number above 1 to a huge power.
    let top = weights.iter().copied().fold(0.0, f64::max);
    let exponent = 1.0 / temperature.max(MIN_TEMPERATURE);
    let mut sum = 0.0;
    let cumulative: Vec<f64> = weights
        .iter()
        .map(|weight| {
            sum += (weight / top).powf(exponent);
            sum
        })
        .collect();
    let drawn = cumulative.iter().position(|reached| *reached > uniform * sum);
    // Rounding may leave the sum just below the draw.
    let last = || weights.iter().rposition(|weight| *weight > 0.0);
    drawn.or_else(last).map_or(best, |k| open[k].action)
}

/// What the chances are powers of: (n + offset) of the moves with Q >= Q_best - cutoff / 50, where best is the most visited one.
/// Before any visit the priors. Where nothing is left, the most visited move alone.
fn weights(open: &[RootMove], settings: &Temperature) -> Vec<f64> {
    if open.iter().all(|one| one.visits == 0) {
        return open.iter().map(|one| f64::from(one.prior)).collect();
    }
    let most = most_visited(open);
    let least = most.map(|k| open[k].q - (settings.value_cutoff / 50.0) as f32);
    let within = |one: &RootMove| settings.value_cutoff >= 100.0 || least.is_some_and(|least| one.value() >= least);
    let weight = |one: &RootMove| {
        let weight = (f64::from(one.visits) + settings.visit_offset).max(0.0);
        if within(one) { weight } else { 0.0 }
    };
    let weights: Vec<f64> = open.iter().map(weight).collect();
    if weights.iter().any(|weight| *weight > 0.0) {
        return weights;
    }
    // A negative offset or the cutoff may have left nothing.
    (0..open.len()).map(|k| f64::from(u8::from(Some(k) == most))).collect()
}

/// The most visited move; of equals the higher Q, then prior, then the lower action.
fn most_visited(moves: &[RootMove]) -> Option<usize> {
    let rank = |k: &usize| (moves[*k].visits, moves[*k].value(), moves[*k].prior);
    (0..moves.len()).rev().max_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("numbers"))
}
