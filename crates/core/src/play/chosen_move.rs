//! The move to play after a search, and what is recorded of it.

use crate::game::Action;
use crate::play::choice::{RootMove, choose};
use crate::play::settings::Temperature;
use crate::search::Search;
use crate::stats::Value;

/// Sum of a policy target that is not made of visits; shares below half a unit are left out.
const TARGET_UNITS: f32 = 65_535.0;
/// Smaller priors count as this one.
const MIN_PRIOR: f32 = 1e-9;
/// The largest score in hundredths of a pawn.
const MAX_SCORE: f64 = 30_000.0;

/// A move that is played, with what its record keeps.
#[derive(Clone, Debug)]
pub struct ChosenMove {
    /// The move.
    pub action: Action,
    /// Policy target as counts, without zeros, by action.
    pub target: Vec<(Action, u32)>,
    /// Shares of win, draw and loss of the mover; NaN: unknown.
    pub root_wdl: [f32; 3],
    /// Value of the net for the mover; NaN: unknown.
    pub net_value: f32,
    /// KL(target || priors) in nats; NaN: unknown.
    pub surprise: f32,
    /// Visits of the root.
    pub visits: u32,
    /// Temperature at which it was drawn.
    pub temperature: f32,
    /// Whether a net learns from it.
    pub learn: bool,
    /// In pawns, for the mover; NaN: unknown.
    pub score: f32,
    /// Depth of the search in plies; 0: unknown.
    pub depth: u16,
    /// Seconds that it took.
    pub seconds: f32,
    /// Proven result of the position for the mover (solver): 1 loss, 2 draw, 3 win; 0: none.
    pub proven: u8,
}

impl ChosenMove {
    /// W - L of the root for the mover; NaN: unknown.
    pub fn value(&self) -> f64 {
        f64::from(self.root_wdl[0] - self.root_wdl[2])
    }
}

/// Chooses a move after a search, `ply` plies after the start of the game; `uniform`, in [0, 1), decides what is drawn. `learn` and
/// `seconds` are left to the caller.
pub fn chosen_move(search: &Search, settings: &Temperature, ply: usize, uniform: f64) -> Result<ChosenMove, String> {
    let none = || "a search has ended without a move: it may not search, or its memory is full".to_string();
    let best = search.best_action().ok_or_else(none)?;
    let mut moves: Vec<RootMove> = search
        .root_edges()
        .iter()
        .map(|edge| RootMove {
            action: edge.action,
            visits: edge.visits,
            q: if edge.visits > 0 { edge.q as f32 } else { f32::NAN },
            prior: edge.prior,
            proven: edge.bounds.result(),
        })
        .collect();
    // Edges stand in the order of their first visits; records are in the order of actions.
    moves.sort_unstable_by_key(|one| one.action);
    let temperature = settings.at(ply);
    let target = target(search, &moves);
    let wdl = |value: Option<Value>| value.map_or([f32::NAN; 3], |value| value.wdl());
    let root_wdl = wdl(search.root_value());
    let net_wdl = wdl(search.root_network_value());
    Ok(ChosenMove {
        action: choose(&moves, best, temperature, uniform, settings),
        surprise: surprise(&target, &moves),
        target,
        root_wdl,
        net_value: net_wdl[0] - net_wdl[2],
        visits: search.tree().root.visits,
        temperature: temperature as f32,
        learn: true,
        score: pawns(f64::from(root_wdl[0] - root_wdl[2])),
        depth: 0,
        seconds: f32::NAN,
        proven: search.root_bounds().result().map_or(0, |result| (result + 2) as u8),
    })
}

/// The policy target as counts: the visits, or the shares of a rule that changes them in units.
fn target(search: &Search, moves: &[RootMove]) -> Vec<(Action, u32)> {
    let mut target: Vec<(Action, u32)> = if search.teaches_visits() {
        moves.iter().map(|one| (one.action, one.visits)).collect()
    } else {
        let units = |share: f32| (share * TARGET_UNITS).round_ties_even() as u32;
        search.policy_target().into_iter().map(|(action, share)| (action, units(share))).collect()
    };
    target.retain(|(_, count)| *count > 0);
    target.sort_unstable();
    target
}

/// KL(target || prior), which is 0 where no action has a count.
fn surprise(target: &[(Action, u32)], moves: &[RootMove]) -> f32 {
    let total: f64 = target.iter().map(|(_, count)| f64::from(*count)).sum();
    let prior = |action: Action| {
        moves.binary_search_by_key(&action, |one| one.action).map_or(MIN_PRIOR, |k| moves[k].prior.max(MIN_PRIOR))
    };
    let term = |(action, count): &(Action, u32)| {
        let share = f64::from(*count) / total;
        share * (share / f64::from(prior(*action))).ln()
    };
    target.iter().map(term).sum::<f64>().max(0.0) as f32
}

/// W - L as pawns, by the formula that lc0 shows centipawns with; NaN for NaN.
fn pawns(wl: f64) -> f32 {
    let figure = 90.0 * (1.5637541897 * wl.clamp(-1.0, 1.0)).tan();
    (figure.clamp(-MAX_SCORE, MAX_SCORE).round_ties_even() / 100.0 + 0.0) as f32 // no -0
}
