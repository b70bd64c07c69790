//! The arena of nodes and edges of one tree, backup, re-rooting and the invariants.
//!
//! A node is a position that the network has seen. Its edges are 4 bytes each and sorted by prior; an edge that was
//! chosen at least once also has an [`EdgeStats`] record. Edges with a record stand in front: the first `visited` edges of a node,
//! in the order of their first visit, so the record of edge `k` is `stats[k]`, and the first edge without one has the highest prior of all that have none.
//! Terminal positions have no node: the record on their edge says all.

use crate::game::{Action, Player};
use crate::rules::q_average::QAverage;
use crate::rules::variance::deviations_after;
use crate::side::Side;

/// `EdgeStats::node`: no node yet (never evaluated, or its evaluation is in flight).
pub const UNEVALUATED: u32 = u32::MAX;
/// `EdgeStats::node`: the game is over there. Smaller numbers are nodes; those between this one and `UNEVALUATED` are repeats.
pub const TERMINAL: u32 = u32::MAX - (1 << 16);

/// `EdgeStats::node`: a repeat counts as a result there; the position occurred so many plies before (65,534 stand for any more).
pub fn repeated_after(plies: u32) -> u32 {
    TERMINAL + plies.clamp(1, UNEVALUATED - TERMINAL - 1)
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

    /// The prior as it is stored.
    #[inline]
    pub fn stored_prior(self) -> Prior {
        self.prior
    }
}

/// What the search knows of an edge that was chosen at least once. Values are for the mover of the edge's node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeStats {
    /// Mean of (win - loss) over the visits.
    pub wl: f64,
    /// Mean share of draws.
    pub d: f32,
    /// N: completed visits.
    pub visits: u32,
    /// Node that the edge leads to, `UNEVALUATED` or `TERMINAL`.
    pub node: u32,
    /// Visits that wait for the network.
    pub in_flight: u16,
    /// The edge's prior, here once more so that selection reads one array.
    pub prior: Prior,
}

impl EdgeStats {
    /// The record of an edge with this prior that was just chosen for the first time.
    pub const fn fresh(prior: Prior) -> EdgeStats {
        EdgeStats { wl: 0.0, d: 0.0, visits: 0, node: UNEVALUATED, in_flight: 0, prior }
    }

    /// The record of a root before its evaluation; a root has no prior.
    pub const FRESH_ROOT: EdgeStats = EdgeStats::fresh(Prior(0));

    /// One more visit with this value: the step size of the mean is 1 / (N + 1).
    #[inline]
    pub fn add_visit(&mut self, value: Value) {
        self.move_mean(value, 1.0 / f64::from(self.visits + 1));
    }

    /// One more visit with this value, which moves the mean by `step`.
    #[inline]
    pub fn move_mean(&mut self, value: Value, step: f64) {
        self.visits += 1;
        self.wl += (value.wl - self.wl) * step;
        self.d += (value.d - self.d) * step as f32;
    }

    /// No visit goes on from here, and every one has the same value: the end of a game, or a repeat that counts as one.
    #[inline]
    pub fn is_end(&self) -> bool {
        (TERMINAL..UNEVALUATED).contains(&self.node)
    }

    /// Plies since the earlier occurrence, where a repeat counts as a result.
    pub fn repeated_plies(&self) -> Option<u32> {
        (TERMINAL + 1..UNEVALUATED).contains(&self.node).then(|| self.node - TERMINAL)
    }

    /// The value as the other player sees it when `flip` is set.
    #[inline]
    pub fn value(&self, flip: bool) -> Value {
        Value { wl: if flip { -self.wl } else { self.wl }, d: self.d }
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

/// An evaluated position.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(crate) edges: u32,
    pub(crate) stats: u32,
    num_edges: u16,
    visited: u16,
    stats_capacity: u16,
    /// Who is to move.
    pub mover: Player,
    /// The network was not asked: the only move was played on the spot (solver). Such a node has no visit of its own.
    pub forced: bool,
}

/// One step of a path: a node and which of its edges was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node.
    pub node: u32,
    /// Index of the edge.
    pub edge: u32,
}

/// One search tree. `root` holds the root's own visits and value (for the root's mover), as if an edge led to it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The root's own record.
    pub root: EdgeStats,
    pub(crate) nodes: Vec<Node>,
    /// The network's win - loss and share of draws of each node, for its mover; apart because selection does not read them.
    pub(crate) network: Vec<[f32; 2]>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) stats: Vec<EdgeStats>,
    /// Released blocks of records, by log2 of their size.
    released: [Vec<u32>; 17],
    /// What rules keep beside all that.
    pub(crate) side: Side,
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            root: EdgeStats::FRESH_ROOT,
            nodes: Vec::new(),
            network: Vec::new(),
            edges: Vec::new(),
            stats: Vec::new(),
            released: Default::default(),
            side: Side::default(),
        }
    }
}

impl Tree {
    /// An empty tree with these columns.
    pub fn with_side(side: Side) -> Self {
        Tree { side, ..Tree::default() }
    }

    /// The node with this index.
    #[inline]
    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The network's value of a node as the search takes it, for its mover.
    pub fn network_value(&self, node: u32) -> Value {
        let [wl, d] = self.network[node as usize];
        Value { wl: f64::from(wl), d }
    }

    /// The network's own value of a node, for its mover.
    pub fn raw_network_value(&self, node: u32) -> Value {
        let raw = &self.side.raw_network;
        if raw.is_on() { raw.get(node as usize) } else { self.network_value(node) }
    }

    /// The root's node, once the network has seen it.
    #[inline]
    pub fn root_node(&self) -> Option<u32> {
        (self.root.node < TERMINAL).then_some(self.root.node)
    }

    /// All edges of a node.
    #[inline]
    pub fn edges(&self, node: u32) -> &[Edge] {
        let node = self.node(node);
        &self.edges[node.edges as usize..][..usize::from(node.num_edges)]
    }

    /// Records of the first edges of a node.
    #[inline]
    pub fn stats(&self, node: u32) -> &[EdgeStats] {
        let node = self.node(node);
        &self.stats[node.stats as usize..][..usize::from(node.visited)]
    }

    /// The record of the edge that a step takes.
    #[inline]
    pub fn step_stats(&mut self, step: Step) -> &mut EdgeStats {
        let first = self.node(step.node).stats;
        &mut self.stats[(first + step.edge) as usize]
    }

    /// Gives edge `edge` of a node a record if it has none; returns the edge's index, which changes when it had none.
    #[inline]
    pub fn choose_edge(&mut self, node: u32, edge: u32) -> u32 {
        let (first_edge, visited) = {
            let node = self.node(node);
            (node.edges as usize, u32::from(node.visited))
        };
        if edge < visited {
            return edge;
        }
        let moved = first_edge + visited as usize..first_edge + edge as usize + 1;
        self.edges[moved.clone()].rotate_right(1);
        self.side.rotate_edges(moved);
        self.push_stats(node);
        visited
    }

    fn push_stats(&mut self, node: u32) {
        let Node { edges, stats, visited, stats_capacity, .. } = self.nodes[node as usize];
        let fresh = EdgeStats::fresh(self.edges[edges as usize + usize::from(visited)].prior);
        if visited < stats_capacity {
            let record = (stats + u32::from(visited)) as usize;
            self.stats[record] = fresh;
            self.side.clear_record(record);
            self.side.frozen.add_record(record, visited);
            self.nodes[node as usize].visited += 1;
            return;
        }
        let capacity = (stats_capacity * 2).max(1);
        let block = self.take_block(capacity);
        let (old, record) =
            (stats as usize..(stats + u32::from(visited)) as usize, (block + u32::from(visited)) as usize);
        self.stats.copy_within(old.clone(), block as usize);
        self.side.move_records(old, block as usize);
        self.stats[record] = fresh;
        self.side.clear_record(record);
        self.side.frozen.add_record(record, visited);
        if stats_capacity > 0 {
            self.released[stats_capacity.trailing_zeros() as usize].push(stats);
        }
        let node = &mut self.nodes[node as usize];
        (node.stats, node.stats_capacity, node.visited) = (block, capacity, visited + 1);
    }

    fn take_block(&mut self, capacity: u16) -> u32 {
        if let Some(block) = self.released[capacity.trailing_zeros() as usize].pop() {
            return block;
        }
        let block = self.stats.len() as u32;
        self.stats.resize(self.stats.len() + usize::from(capacity), EdgeStats::FRESH_ROOT);
        self.side.resize_records(self.stats.len());
        block
    }

    /// Makes the node of an evaluated position: its edges sorted by prior, its network value. Returns its index.
    pub fn add_node(&mut self, mover: Player, edges: &[Edge], value: Value) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            edges: self.edges.len() as u32,
            stats: 0,
            num_edges: edges.len() as u16,
            visited: 0,
            stats_capacity: 0,
            mover,
            forced: false,
        });
        self.network.push([value.wl as f32, value.d]);
        self.edges.extend_from_slice(edges);
        self.side.resize_nodes(self.nodes.len());
        self.side.resize_edges(self.edges.len());
        index
    }

    /// Counts a visit in flight along a path, or takes it back.
    #[inline]
    pub fn change_in_flight(&mut self, path: &[Step], change: i16) {
        self.root.in_flight = self.root.in_flight.wrapping_add_signed(change);
        for step in path {
            let stats = self.step_stats(*step);
            stats.in_flight = stats.in_flight.wrapping_add_signed(change);
        }
    }

    /// Backs a value, for player `mover`, up a path from its end to the root; the visit is no longer in flight.
    #[inline]
    pub fn backup(&mut self, path: &[Step], mover: Player, value: Value) {
        for step in path.iter().rev() {
            let flip = self.node(step.node).mover != mover;
            let stats = self.step_stats(*step);
            stats.in_flight -= 1;
            stats.add_visit(if flip { value.flipped() } else { value });
        }
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        self.root.in_flight -= 1;
        self.root.add_visit(if root_mover != mover { value.flipped() } else { value });
    }

    /// `backup` with the step size of a rule, and with squared deviations where they are kept.
    pub fn backup_by_rules(&mut self, path: &[Step], mover: Player, value: Value, rule: Option<&QAverage>) {
        for step in path.iter().rev() {
            let flip = self.node(step.node).mover != mover;
            let record = self.record_index(*step);
            let deviations = self.side.deviations.get(record);
            let stats = &mut self.stats[record];
            stats.in_flight -= 1;
            let deviations = add_by_rules(stats, deviations, if flip { value.flipped() } else { value }, rule);
            self.side.deviations.set(record, deviations);
        }
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        let seen = if root_mover != mover { value.flipped() } else { value };
        self.root.in_flight -= 1;
        self.side.root_deviations = add_by_rules(&mut self.root, self.side.root_deviations, seen, rule);
    }

    /// Index of the record of the edge that a step takes.
    #[inline]
    pub fn record_index(&self, step: Step) -> usize {
        (self.node(step.node).stats + step.edge) as usize
    }

    /// Makes the position behind edge `edge` of the root the new root and keeps its subtree only.
    /// A position that was never evaluated gives an empty tree.
    pub fn re_root(&mut self, edge: u32) {
        let behind = self.root_node().and_then(|root| Some((root, *self.stats(root).get(edge as usize)?)));
        let known = |(root, stats): &(u32, EdgeStats)| {
            let large = self.side.large.get(self.record_index(Step { node: *root, edge }));
            stats.node < TERMINAL && (stats.visits > 0 || large.visits > 0)
        };
        let Some((old_root, stats)) = behind.filter(known) else {
            *self = Tree::with_side(self.side.emptied());
            return;
        };
        let flip = self.node(stats.node).mover != self.node(old_root).mover;
        let mut fresh = Tree::with_side(self.side.emptied());
        let Value { wl, d } = stats.value(flip);
        let node = self.copy_subtree(stats.node, &mut fresh);
        fresh.inherit_frozen(&self.side.frozen);
        fresh.root = EdgeStats { wl, d, node, ..stats };
        let record = self.record_index(Step { node: old_root, edge });
        fresh.side.root_deviations = self.side.deviations.get(record);
        if self.side.bounds.get(record).is_proven() {
            fresh.reopen_root();
        }
        fresh.side.root_large = self.side.large.get(record).seen(flip);
        *self = fresh;
    }

    /// Copies a subtree into another tree, breadth first; returns the index of its top there.
    fn copy_subtree(&self, top: u32, into: &mut Tree) -> u32 {
        let mut queue = std::collections::VecDeque::from([top]);
        let mut next_index = 1;
        while let Some(old) = queue.pop_front() {
            let node = self.node(old);
            let new = into.add_node(node.mover, self.edges(old), self.network_value(old));
            into.nodes[new as usize].forced = node.forced;
            into.side.copy_node(new, &self.side, old);
            let edges = node.edges as usize..node.edges as usize + usize::from(node.num_edges);
            into.side.copy_edges(into.node(new).edges as usize, &self.side, edges);
            for (edge, stats) in self.stats(old).iter().enumerate() {
                into.push_stats(new);
                let mut stats = *stats;
                if stats.node < TERMINAL {
                    queue.push_back(stats.node);
                    stats.node = next_index;
                    next_index += 1;
                }
                let record = into.record_index(Step { node: new, edge: edge as u32 });
                into.stats[record] = stats;
                into.side.copy_record(record, &self.side, node.stats as usize + edge);
            }
        }
        0
    }

    /// Number of evaluated positions.
    pub fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of edges of all nodes.
    pub fn num_edges(&self) -> usize {
        self.edges.len()
    }

    /// Bytes that nodes, edges and records take (what is in use; vectors may have reserved up to twice as much).
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.network[..])
            + size_of_val(&self.edges[..])
            + size_of_val(&self.stats[..])
            + self.side.bytes()
    }
}

/// One more visit by the rules; returns the squared deviations after it.
pub(crate) fn add_by_rules(stats: &mut EdgeStats, deviations: f64, value: Value, rule: Option<&QAverage>) -> f64 {
    let visits = stats.visits + 1;
    let step = rule.map_or(1.0 / f64::from(visits), |rule| rule.step_size(visits));
    let after = deviations_after(deviations, visits, value.wl - stats.wl, step, rule.is_none());
    stats.move_mean(value, step);
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_keep_eleven_bits() {
        for prior in [1.0_f32, 0.5, 0.3, 1e-3, 1e-6, 0.999_9] {
            let kept = Edge::new(0, prior).prior();
            assert!((kept - prior).abs() <= prior / 4096.0, "{prior} became {kept}");
        }
        assert!(Edge::new(0, 0.0).prior() < 1e-9);
        assert_eq!(Edge::new(0, 1.0).prior(), 1.0);
        assert_eq!(size_of::<Edge>(), 4);
        assert_eq!(size_of::<EdgeStats>(), 24);
        assert_eq!(size_of::<Node>(), 16);
    }

    #[test]
    fn chosen_edges_move_to_the_front_and_blocks_are_used_again() {
        let mut tree = Tree::default();
        let edges: Vec<Edge> = (0..5).map(|a| Edge::new(a, 0.2)).collect();
        let node = tree.add_node(Player::First, &edges, Value { wl: 0.0, d: 0.0 });
        assert_eq!(tree.choose_edge(node, 3), 0);
        assert_eq!(tree.choose_edge(node, 1), 1);
        let order: Vec<Action> = tree.edges(node).iter().map(|e| e.action).collect();
        assert_eq!(order, [3, 0, 1, 2, 4]);
        assert_eq!(tree.choose_edge(node, 0), 0);
        tree.choose_edge(node, 2);
        assert_eq!(tree.stats(node).len(), 3);
        assert_eq!(tree.released.iter().map(Vec::len).sum::<usize>(), 2);
    }
}
