//! Selection: which edge of a node the next visit takes. All branching on rules happens before the loop over edges.

use crate::game::Player;
use crate::params::{Fpu, FpuKind};
use crate::search::setup::Setup;
use crate::stats::{Edge, EdgeStats, Prior};
use crate::tree::Tree;

/// What selection needs of a node, computed once before the loop over its edges.
///
/// PUCT (Silver et al. 2017; c_puct(N) as in AlphaZero and lc0), with N = visits of the node, own evaluation included:
/// `score(a) = Q(a) + c_puct(N) P(a) sqrt(max(N - 1, 1)) / (1 + n(a) + in_flight(a))`.
#[derive(Clone, Copy, Debug)]
pub struct NodeView {
    /// c_puct(N) sqrt(max(N - 1, 1)).
    exploration: f64,
    /// Value of a draw for the mover.
    draw_score: f64,
    /// Q of the node for its mover.
    parent_q: f64,
    /// What first-play urgency is reduced from.
    fpu_base: f64,
    fpu: Fpu,
}

impl NodeView {
    /// The view of a node whose own record, for its mover, is `own`.
    #[inline(always)] // by force: there is more than one caller, and a call at every node costs
    pub fn new(setup: &Setup, tree: &Tree, node: u32, own: &EdgeStats, at_root: bool) -> Self {
        let params = &setup.params;
        let (exploration, fpu) = if at_root {
            (setup.root_exploration.as_ref().unwrap_or(&setup.exploration), params.root_fpu.unwrap_or(params.fpu))
        } else {
            (&setup.exploration, params.fpu)
        };
        // The setting is for the first player, as contempt belongs to a player and not to a side to move.
        let draw_score = match tree.node(node).mover {
            Player::First => params.draw_score,
            Player::Second => -params.draw_score,
        };
        let parent_q = own.wl + draw_score * f64::from(own.d);
        let exploration = exploration.at(own.visits);
        // lc0 reduces from the mean of the parent, not from its own evaluation; `parent_value` is the other
        // reading.
        let mut view = NodeView { exploration, draw_score, parent_q, fpu_base: parent_q, fpu };
        if fpu.kind == FpuKind::ParentValue {
            view.fpu_base = view.network_q(tree, node);
        }
        view
    }

    /// Q of the network's own value of a node.
    pub fn network_q(&self, tree: &Tree, node: u32) -> f64 {
        let value = tree.network_value(node);
        value.wl + self.draw_score * f64::from(value.d)
    }

    /// Q of the node for its mover.
    pub fn parent_q(&self) -> f64 {
        self.parent_q
    }

    /// Value of a draw for the mover.
    pub fn draw_score(&self) -> f64 {
        self.draw_score
    }

    /// c_puct(N) sqrt(max(N - 1, 1)).
    pub fn exploration(&self) -> f64 {
        self.exploration
    }

    /// Multiplies c_puct.
    pub fn scale_exploration(&mut self, factor: f64) {
        self.exploration *= factor;
    }

    /// Q of an edge for the mover: win - loss, and draws at their score. Only for edges with visits.
    #[inline(always)]
    pub fn q(&self, stats: &EdgeStats) -> f64 {
        stats.wl + self.draw_score * f64::from(stats.d)
    }

    /// U of an edge with this prior and visits, those in flight included.
    #[inline]
    pub fn u(&self, prior: f64, begun: u32) -> f64 {
        self.exploration * prior / f64::from(1 + begun)
    }

    /// Q of an edge without visits, when the edges with visits have priors that sum to `visited_prior`.
    #[inline(always)]
    pub fn unvisited_q(&self, visited_prior: f64) -> f64 {
        match self.fpu.kind {
            FpuKind::Absolute => self.fpu.value,
            FpuKind::Reduction | FpuKind::ParentValue => self.fpu_base - self.fpu.value * visited_prior.sqrt(),
        }
    }
}

/// What rules change of the terms of PUCT in one node, looked up before the loop over its edges, which is compiled for each kind of terms.
/// The scores are those of `NodeScores`, to the last bit.
pub trait Terms {
    /// The prior that the node has for an edge by its index and stored prior.
    #[inline(always)]
    fn prior(&self, _k: usize, stored: Prior) -> f64 {
        f64::from(stored.get())
    }

    /// The edge may be taken.
    #[inline(always)]
    fn allows(&self, _k: usize) -> bool {
        true
    }

    /// `value` wants the Q of edges without visits.
    #[inline(always)]
    fn wants_unvisited_q(&self) -> bool {
        false
    }

    /// Q of an edge with visits, whose mean is `q`.
    #[inline(always)]
    fn value(&self, _k: usize, _stats: &EdgeStats, q: f64, _unvisited_q: f64) -> f64 {
        q
    }

    /// Q of an edge without visits.
    #[inline(always)]
    fn unvisited_value(&self, _k: usize, unvisited_q: f64) -> f64 {
        unvisited_q
    }

    /// U of an edge with this prior and visits, those in flight included.
    #[inline(always)]
    fn bonus(&self, view: &NodeView, _k: usize, prior: f64, begun: u32) -> f64 {
        view.u(prior, begun)
    }

    /// Of the edges without record, which are sorted by prior, not only the first can win.
    #[inline(always)]
    fn looks_at_all(&self) -> bool {
        false
    }
}

/// Plain PUCT.
pub struct Plain;

impl Terms for Plain {}

/// PUCT with other priors, over the edges that may be taken: a root has noise and restrictions.
pub struct Limited<P, A> {
    /// The prior to use for an edge by its index and stored prior.
    pub prior: P,
    /// Whether an edge may be taken.
    pub allows: A,
}

impl<P: Fn(usize, Prior) -> f64, A: Fn(usize) -> bool> Terms for Limited<P, A> {
    #[inline(always)]
    fn prior(&self, k: usize, stored: Prior) -> f64 {
        (self.prior)(k, stored)
    }

    #[inline(always)]
    fn allows(&self, k: usize) -> bool {
        (self.allows)(k)
    }
}

/// Index of the edge with the greatest score; among equals the first in order. `None` if no edge is allowed.
#[inline(always)] // by force, as above
pub fn best_edge(view: &NodeView, edges: &[Edge], stats: &[EdgeStats], terms: &impl Terms) -> Option<usize> {
    // An index without `Option`, and two selects instead of a branch: the compiler makes conditional moves
    // of them. Which edge wins is next to random for a predictor, and a wrong guess costs more than both
    // moves.
    let mut best = usize::MAX;
    let mut best_score = f64::NEG_INFINITY;
    // First-play urgency needs the priors of all visited edges, so edges without visits are scored after
    // the loop that sums them.
    let mut visited_prior = 0.0;
    let mut waiting = false;
    let mut unvisited_q = 0.0;
    // Initial trust mixes the Q of unvisited edges into that of visited ones, so it is needed before the
    // loop.
    if terms.wants_unvisited_q() {
        let visited = stats.iter().enumerate().filter(|(_, record)| record.visits > 0);
        unvisited_q = view.unvisited_q(visited.map(|(k, record)| terms.prior(k, record.prior)).sum());
    }
    for (k, record) in stats.iter().enumerate() {
        if record.visits == 0 {
            // A record without visits: its first visit is in flight, or a rule made the record.
            waiting = true;
            continue;
        }
        let p = terms.prior(k, record.prior);
        visited_prior += p;
        let q = terms.value(k, record, view.q(record), unvisited_q);
        let score = q + terms.bonus(view, k, p, record.visits + u32::from(record.in_flight));
        let better = score > best_score && terms.allows(k);
        best = if better { k } else { best };
        best_score = if better { score } else { best_score };
    }
    if !terms.wants_unvisited_q() {
        unvisited_q = view.unvisited_q(visited_prior);
    }
    let mut consider = |k: usize, stored: Prior, begun: u32| {
        let score = terms.unvisited_value(k, unvisited_q) + terms.bonus(view, k, terms.prior(k, stored), begun);
        // Among equals the first edge wins, as if all had been scored in one loop.
        if terms.allows(k) && (score > best_score || (score == best_score && k < best)) {
            (best, best_score) = (k, score);
        }
    };
    if waiting {
        let unvisited = stats.iter().enumerate().filter(|(_, record)| record.visits == 0);
        unvisited.for_each(|(k, record)| consider(k, record.prior, u32::from(record.in_flight)));
    }
    // Edges without record are sorted by prior and share Q and n, so the first of them has the highest U:
    // of 30 moves mostly a few are looked at.
    let last = if terms.looks_at_all() { edges.len() } else { edges.len().min(stats.len() + 1) };
    edges[stats.len()..last].iter().zip(stats.len()..).for_each(|(edge, k)| consider(k, edge.stored_prior(), 0));
    (best < usize::MAX).then_some(best)
}
