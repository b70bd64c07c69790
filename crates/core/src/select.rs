//! Selection: which edge of a node the next visit takes. All branching on rules happens before the loop over edges.

use crate::game::Player;
use crate::params::{Cpuct, Fpu, FpuKind, SearchParams};
use crate::tree::{Edge, EdgeStats};

/// What selection needs of a node, computed once before the loop over its edges.
///
/// PUCT (Silver et al. 2017; c_puct(N) as in AlphaZero and lc0), with N = visits of the node, own evaluation included:
/// `score(a) = Q(a) + c_puct(N) P(a) sqrt(max(N - 1, 1)) / (1 + n(a) + in_flight(a))`.
#[derive(Clone, Copy, Debug)]
pub struct NodeView {
    /// c_puct(N) sqrt(max(N - 1, 1)).
    pub exploration: f64,
    /// Value of a draw for the mover.
    pub draw_score: f64,
    /// Q of the node for its mover.
    pub parent_q: f64,
    /// First-play urgency here.
    pub fpu: Fpu,
}

impl NodeView {
    /// The view of a node whose own record, for its mover, is `own`.
    #[inline]
    pub fn new(params: &SearchParams, own: &EdgeStats, mover: Player, at_root: bool) -> Self {
        let cpuct: &Cpuct = match &params.root_cpuct {
            Some(cpuct) if at_root => cpuct,
            _ => &params.cpuct,
        };
        let fpu = match params.root_fpu {
            Some(fpu) if at_root => fpu,
            _ => params.fpu,
        };
        let draw_score = draw_score(params, mover);
        let visits = f64::from(own.visits);
        NodeView {
            exploration: cpuct.at(visits) * (visits - 1.0).max(1.0).sqrt(),
            draw_score,
            parent_q: own.wl + draw_score * f64::from(own.d),
            fpu,
        }
    }

    /// Q of an edge for the mover: win - loss, and draws at their score. Only for edges with visits.
    #[inline]
    pub fn q(&self, stats: &EdgeStats) -> f64 {
        stats.wl + self.draw_score * f64::from(stats.d)
    }

    /// U of an edge.
    #[inline]
    pub fn u(&self, prior: f64, stats: &EdgeStats) -> f64 {
        self.exploration * prior / f64::from(1 + stats.visits + stats.in_flight)
    }

    /// Q of an edge without visits, when the edges with visits have priors that sum to `visited_prior`.
    #[inline]
    pub fn unvisited_q(&self, visited_prior: f64) -> f64 {
        match self.fpu.kind {
            FpuKind::Absolute => self.fpu.value,
            FpuKind::Reduction if self.fpu.value == 0.0 => self.parent_q,
            FpuKind::Reduction => self.parent_q - self.fpu.value * visited_prior.sqrt(),
        }
    }
}

/// Value of a draw for this player: the parameter is for the first player.
#[inline]
pub fn draw_score(params: &SearchParams, mover: Player) -> f64 {
    match mover {
        Player::First => params.draw_score,
        Player::Second => -params.draw_score,
    }
}

/// Index of the edge with the greatest score; among equals the first in order. `None` if no edge is allowed.
///
/// `prior` and `allowed` answer for an edge by its index (the root has noise and restrictions). Edges without record are sorted by
/// prior, so only the first of them can win.
#[inline]
pub fn best_edge(
    view: &NodeView,
    edges: &[Edge],
    stats: &[EdgeStats],
    prior: impl Fn(usize) -> f64,
    allowed: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut best = None;
    let mut best_score = f64::NEG_INFINITY;
    let mut visited_prior = 0.0;
    let mut waiting = false;
    for (k, record) in stats.iter().enumerate() {
        if record.visits == 0 {
            waiting = true;
            continue;
        }
        let p = prior(k);
        visited_prior += p;
        let score = view.q(record) + view.u(p, record);
        if score > best_score && allowed(k) {
            (best, best_score) = (Some(k), score);
        }
    }
    let unvisited_q = view.unvisited_q(visited_prior);
    let mut consider = |k: usize, record: &EdgeStats| {
        let score = unvisited_q + view.u(prior(k), record);
        let wins = score > best_score || (score == best_score && best.is_some_and(|b| k < b));
        if wins && allowed(k) {
            (best, best_score) = (Some(k), score);
        }
    };
    if waiting {
        stats.iter().enumerate().filter(|(_, record)| record.visits == 0).for_each(|(k, record)| consider(k, record));
    }
    if stats.len() < edges.len() {
        consider(stats.len(), &EdgeStats::FRESH);
    }
    best
}
