//! The numbers of an edge: prior, visits, values, and the step of a path that takes it.

use crate::game::Action;
use crate::math::welford::deviations_after;

/// `EdgeStats::node`: no node yet (never evaluated, or its evaluation is in flight).
pub const UNEVALUATED: u32 = u32::MAX;
/// `EdgeStats::node`: the game is over there. Smaller numbers are nodes; those between this one and `KNOWN` are repeats.
// Whatever is no node is above all nodes, so that a descent tells them apart by one comparison; trees end far below
// (`tree::MOST`).
pub const TERMINAL: u32 = u32::MAX - (1 << 16);
/// `EdgeStats::node`: the game goes on there, but its result is known: by an oracle, a win by threats or an exact search.
pub const KNOWN: u32 = UNEVALUATED - 1;

/// `EdgeStats::node`: a repeat counts as a result there; the position occurred this many plies before (65,534: or more).
pub fn repeated_after(plies: u32) -> u32 {
    TERMINAL + plies.clamp(1, KNOWN - TERMINAL - 1)
}

/// A prior, 0..=1, in 16 bits: what is kept of a float32 are exponents 2^-31 to 1 and 11 bits of mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prior(pub(crate) u16);

impl Prior {
    const SHIFT: u32 = 12;
    const OFFSET: u32 = 3 << 28;

    /// Rounds a prior; those under 2^-31 become 2^-31.
    pub fn new(prior: f32) -> Self {
        debug_assert!((0.0..=1.0).contains(&prior), "{prior}");
        // Half of the last kept bit is added, so that cutting the others off rounds to nearest.
        // As lc0 stores priors, so that searches of both can be compared edge by edge.
        let rounded = prior.to_bits() + (1 << (Self::SHIFT - 1));
        Prior((rounded.saturating_sub(Self::OFFSET) >> Self::SHIFT) as u16)
    }

    /// The prior P.
    #[inline]
    pub fn get(self) -> f32 {
        f32::from_bits((u32::from(self.0) << Self::SHIFT) | Self::OFFSET)
    }
}

/// An action and its prior.
// Four bytes, without visits or a node: most edges are never taken, and there are dozens a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The action.
    pub action: Action,
    pub(crate) prior: Prior,
}

impl Edge {
    /// An edge with this prior, 0..=1, rounded as [`Prior`] says.
    pub fn new(action: Action, prior: f32) -> Self {
        Edge { action, prior: Prior::new(prior) }
    }

    /// The prior P.
    #[inline]
    pub fn prior(self) -> f32 {
        self.prior.get()
    }

    /// The order of a new node's edges: the greatest prior first, equal ones by action.
    pub fn by_prior(&self, other: &Edge) -> std::cmp::Ordering {
        other.prior().total_cmp(&self.prior()).then(self.action.cmp(&other.action))
    }

    /// The stored prior.
    #[inline]
    pub fn stored_prior(self) -> Prior {
        self.prior
    }
}

/// What the search knows of an edge that was chosen at least once. Values are for the mover of the edge's node.
// 24 bytes, which a test watches: selection is a loop over them, no faster than they come from memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeStats {
    /// Mean of (win - loss) over the visits.
    pub wl: f64,
    /// Mean share of draws.
    pub d: f32,
    /// N: completed visits.
    pub visits: u32,
    /// Node that the edge leads to, or one of the marks of this file.
    pub node: u32,
    /// Visits that wait for the network.
    pub in_flight: u16,
    /// The edge's prior, here once more so that selection reads one array.
    pub prior: Prior,
}

impl EdgeStats {
    /// The statistics of an edge with this prior that was just chosen for the first time.
    pub const fn fresh(prior: Prior) -> EdgeStats {
        EdgeStats { wl: 0.0, d: 0.0, visits: 0, node: UNEVALUATED, in_flight: 0, prior }
    }

    /// The statistics of a root before its evaluation; a root has no prior.
    pub const FRESH_ROOT: EdgeStats = EdgeStats::fresh(Prior(0));

    /// One more visit with this value: the step size of the mean is 1 / (N + 1).
    #[inline]
    pub fn add_visit(&mut self, value: Value) {
        self.move_mean(value, 1.0 / f64::from(self.visits + 1));
    }

    /// One more visit, by a step size instead of 1 / N where one is given; returns the squared deviations after it.
    pub(crate) fn add_with_deviations(
        &mut self,
        deviations: f64,
        value: Value,
        step_size: Option<&mut impl FnMut(u32) -> f64>,
    ) -> f64 {
        let visits = self.visits + 1;
        let is_mean = step_size.is_none();
        let step = step_size.map_or(1.0 / f64::from(visits), |step_size| step_size(visits));
        let after = deviations_after(deviations, visits, value.wl - self.wl, step, is_mean);
        self.move_mean(value, step);
        after
    }

    /// One more visit with this value, which moves the mean by `step`.
    #[inline]
    pub fn move_mean(&mut self, value: Value, step: f64) {
        self.visits += 1;
        // The running mean instead of a sum over visits: it cannot grow without bound, and step sizes other
        // than 1 / N fit in.
        self.wl += (value.wl - self.wl) * step;
        self.d += (value.d - self.d) * step as f32;
    }

    /// Whether visits end here, all with the same value: the end of a game, a known result, or a repeat that counts as one.
    #[inline]
    pub fn is_end(&self) -> bool {
        (TERMINAL..UNEVALUATED).contains(&self.node)
    }

    /// Plies since the earlier occurrence, where a repeat counts as a result.
    pub fn repeated_plies(&self) -> Option<u32> {
        (TERMINAL + 1..KNOWN).contains(&self.node).then(|| self.node - TERMINAL)
    }

    /// The same as the other player sees it when `flip` is set.
    #[inline]
    pub fn seen(self, flip: bool) -> EdgeStats {
        EdgeStats { wl: if flip { -self.wl } else { self.wl }, ..self }
    }

    /// The value as the other player sees it when `flip` is set.
    #[inline]
    pub fn value(&self, flip: bool) -> Value {
        Value { wl: if flip { -self.wl } else { self.wl }, d: self.d }
    }
}

impl Default for EdgeStats {
    fn default() -> Self {
        EdgeStats::FRESH_ROOT
    }
}

/// A value for one player: win - loss and the share of draws.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Value {
    /// Win - loss, -1..=1.
    pub wl: f64,
    /// Share of draws, 0..=1.
    pub d: f32,
}

impl Value {
    /// The same value for the other player.
    #[inline]
    pub fn flipped(self) -> Value {
        Value { wl: -self.wl, d: self.d }
    }

    /// Win, draw, loss.
    pub fn wdl(self) -> [f32; 3] {
        let decided = 1.0 - f64::from(self.d);
        [((decided + self.wl) / 2.0) as f32, self.d, ((decided - self.wl) / 2.0) as f32]
    }
}

/// One step of a path: a node and the edge taken there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node.
    pub node: u32,
    /// Index of the edge.
    pub edge: u32,
}
