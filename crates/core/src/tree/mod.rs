//! The arena of nodes and edges of one tree, backup and re-rooting.
//!
//! A node is a position that the network has seen. Its edges are 4 bytes each and sorted by prior; an edge that was
//! chosen at least once also has [`EdgeStats`]. Such edges come first: the first `visited` edges of a node, in the order of
//! their first visit, so the statistics of edge `k` are `stats[k]`, and the first edge without statistics has the highest
//! prior of these. Terminal positions have no node: the statistics of their edge are enough.

mod ahead;
pub mod balance;
pub mod column;
pub mod columns;
pub mod frozen;
pub mod graph;
pub mod positions;

use std::ops::Range;

use hauteur_machine::Arena;

use crate::game::Player;
use crate::stats::{Edge, EdgeStats, Step, TERMINAL, Value};
use crate::tree::columns::RuleColumns;

/// Visits, nodes, edges or statistics at which a tree stops growing: far enough from 2^32 for all that may be in flight.
const MOST: u32 = 1 << 31;

/// An evaluated position.
// 16 bytes, which a test watches: a line of the cache has four.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(crate) edges: u32,
    pub(crate) stats: u32,
    num_edges: u16,
    visited: u16,
    /// 1 + log2 of the capacity for statistics; 0 = there is none yet.
    block: u8,
    /// The player to move.
    pub mover: Player,
    /// The network was not asked: the only move was played on the spot (solver). Such a node has no visit of its own.
    pub forced: bool,
}

/// One search tree. `root` holds the root's own visits and value (for the root's mover), as if an edge led to it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The root's own statistics.
    pub root: EdgeStats,
    // Large arenas grow by moving pages, not by copying: a `Vec` that doubles would need three times its memory
    // for a moment.
    pub(crate) nodes: Arena<Node>,
    /// The network's win - loss and share of draws of each node, for its mover; apart because selection does not read them.
    pub(crate) network: Arena<[f32; 2]>,
    pub(crate) edges: Arena<Edge>,
    pub(crate) stats: Arena<EdgeStats>,
    /// Released blocks of statistics, by log2 of their size.
    // A list a power of two: a node has fewer than 2^16 edges, whose number has 16 bits.
    released: [Vec<u32>; 17],
    /// Visits, nodes, edges or statistics at which the tree stops growing.
    most: u32,
    /// There are this many nodes, edges or statistics; kept where they grow, since it is asked for at every visit.
    sizes_full: bool,
    /// What rules keep in addition.
    pub(crate) columns: RuleColumns,
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            root: EdgeStats::FRESH_ROOT,
            nodes: Arena::new(),
            network: Arena::new(),
            edges: Arena::new(),
            stats: Arena::new(),
            released: Default::default(),
            most: MOST,
            sizes_full: false,
            columns: RuleColumns::default(),
        }
    }
}

impl Tree {
    /// An empty tree with these columns.
    pub fn with_columns(columns: RuleColumns) -> Self {
        Tree { columns, ..Tree::default() }
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
        let raw = &self.columns.raw_network;
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

    /// Statistics of the first edges of a node.
    #[inline]
    pub fn stats(&self, node: u32) -> &[EdgeStats] {
        let node = self.node(node);
        &self.stats[node.stats as usize..][..usize::from(node.visited)]
    }

    /// The statistics of the visited edges of a node, as indices.
    #[inline]
    pub fn visited(&self, node: u32) -> Range<usize> {
        let Node { stats, visited, .. } = *self.node(node);
        stats as usize..stats as usize + usize::from(visited)
    }

    /// The statistics of the edge that a step takes, to be changed.
    #[inline]
    pub fn step_stats(&mut self, step: Step) -> &mut EdgeStats {
        let first = self.node(step.node).stats;
        &mut self.stats[(first + step.edge) as usize]
    }

    /// Gives edge `edge` of a node statistics if it has none; returns the edge's index, which changes when it had none.
    #[inline(always)] // the descent calls it at every node, nearly always for an edge that has them
    pub fn choose_edge(&mut self, node: u32, edge: u32) -> u32 {
        if edge < u32::from(self.node(node).visited) { edge } else { self.begin_edge(node, edge) }
    }

    // Apart, so that the loop of a descent stays small.
    #[inline(never)]
    fn begin_edge(&mut self, node: u32, edge: u32) -> u32 {
        let (first_edge, visited) = {
            let node = self.node(node);
            (node.edges as usize, u32::from(node.visited))
        };
        let moved = first_edge + visited as usize..first_edge + edge as usize + 1;
        // A rotation and not a swap: the edges that stay without record keep their order by prior.
        self.edges[moved.clone()].rotate_right(1);
        if self.columns.keeps_edges() && moved.len() > 1 {
            self.columns.rotate_edges(moved);
            self.columns.balance.rotate(node, visited as usize..edge as usize + 1);
        }
        self.push_stats(node);
        visited
    }

    fn push_stats(&mut self, node: u32) {
        let Node { edges, stats, visited, block, .. } = self.nodes[node as usize];
        let fresh = EdgeStats::fresh(self.edges[edges as usize + usize::from(visited)].prior);
        // Most nodes are visited once or twice, so records are not reserved for all edges: a block doubles
        // when it is full, and the old one is kept for another node.
        if u32::from(visited) < capacity(block) {
            self.begin_stats((stats + u32::from(visited)) as usize, visited, fresh);
            self.nodes[node as usize].visited += 1;
            return;
        }
        let to = self.take_block(block + 1);
        let old = stats as usize..(stats + u32::from(visited)) as usize;
        // Records of a node must lie in one piece, since selection is a loop over a slice.
        self.stats.copy_within(old.clone(), to as usize);
        if self.columns.keeps_stats() {
            self.columns.move_stats(old, to as usize);
        }
        self.begin_stats((to + u32::from(visited)) as usize, visited, fresh);
        if block > 0 {
            self.released[usize::from(block) - 1].push(stats);
        }
        let node = &mut self.nodes[node as usize];
        (node.stats, node.block, node.visited) = (to, block + 1, visited + 1);
    }

    #[inline]
    fn begin_stats(&mut self, index: usize, place: u16, fresh: EdgeStats) {
        self.stats[index] = fresh;
        if self.columns.keeps_stats() {
            self.columns.begin_stats(index, place);
        }
    }

    fn take_block(&mut self, block: u8) -> u32 {
        if let Some(first) = self.released[usize::from(block) - 1].pop() {
            return first;
        }
        let first = self.stats.len() as u32;
        self.stats.grow_to(self.stats.len() + capacity(block) as usize, EdgeStats::FRESH_ROOT);
        if self.columns.keeps_stats() {
            self.columns.resize_stats(self.stats.len());
        }
        // Noted and not refused: visits that have begun are ended, and the limit leaves room for them.
        self.sizes_full |= self.stats.len() >= self.most as usize;
        first
    }

    /// Makes the node of an evaluated position: its edges sorted by prior, its network value. Returns its index.
    pub fn add_node(&mut self, mover: Player, edges: &[Edge], value: Value) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            edges: self.edges.len() as u32,
            stats: 0,
            num_edges: edges.len() as u16,
            visited: 0,
            block: 0,
            mover,
            forced: false,
        });
        self.network.push([value.wl as f32, value.d]);
        self.edges.extend_from_slice(edges);
        self.sizes_full |= self.nodes.len().max(self.edges.len()) >= self.most as usize;
        if self.columns.keeps_nodes() {
            self.columns.resize_nodes(self.nodes.len());
        }
        if self.columns.keeps_edges() {
            self.columns.resize_edges(self.edges.len());
        }
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
            // Compared and not alternated: in some games a player moves twice in a row.
            let flip = self.node(step.node).mover != mover;
            let stats = self.step_stats(*step);
            stats.in_flight -= 1;
            stats.add_visit(if flip { value.flipped() } else { value });
        }
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        self.root.in_flight -= 1;
        self.root.add_visit(if root_mover != mover { value.flipped() } else { value });
    }

    /// `backup` with a step size in the place of 1 / N, and with squared deviations where they are kept.
    pub fn backup_by_rules(
        &mut self,
        path: &[Step],
        mover: Player,
        value: Value,
        mut step_size: Option<impl FnMut(u32) -> f64>,
    ) {
        for step in path.iter().rev() {
            let flip = self.node(step.node).mover != mover;
            let index = self.stats_index(*step);
            let deviations = self.columns.deviations.get(index);
            let stats = &mut self.stats[index];
            stats.in_flight -= 1;
            let seen = if flip { value.flipped() } else { value };
            let deviations = stats.add_with_deviations(deviations, seen, step_size.as_mut());
            self.columns.deviations.set(index, deviations);
        }
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        let seen = if root_mover != mover { value.flipped() } else { value };
        self.root.in_flight -= 1;
        self.columns.root_deviations =
            self.root.add_with_deviations(self.columns.root_deviations, seen, step_size.as_mut());
    }

    /// Index of the statistics of the edge of a step.
    #[inline]
    pub fn stats_index(&self, step: Step) -> usize {
        (self.node(step.node).stats + step.edge) as usize
    }

    /// Makes the child at edge `edge` of the root the new root and keeps its subtree only.
    /// A position that was never evaluated gives an empty tree.
    pub fn re_root(&mut self, edge: u32) {
        let child = self.root_node().and_then(|root| Some((root, *self.stats(root).get(edge as usize)?)));
        let larger = 0..self.columns.root_large.len();
        let known = |(root, stats): &(u32, EdgeStats)| {
            let index = self.stats_index(Step { node: *root, edge });
            let by_larger = larger.clone().any(|net| self.columns.large.get(net, index).visits > 0);
            stats.node < TERMINAL && (stats.visits > 0 || by_larger)
        };
        let Some((old_root, stats)) = child.filter(known) else {
            *self = Tree::with_columns(RuleColumns::new(self.columns.enabled));
            return;
        };
        // The record belongs to the mover above; a root keeps its own for its own mover.
        let flip = self.node(stats.node).mover != self.node(old_root).mover;
        // A copy of what stays, not a tree with holes: its nodes lie together again, and the memory of all others goes
        // back at once.
        let mut fresh = Tree::with_columns(RuleColumns::new(self.columns.enabled));
        let is_graph = self.columns.graph.is_on();
        // In a tree the edge has all visits of its child; in a graph other edges have some too.
        let stats = if is_graph { self.own_stats(stats.node) } else { stats.seen(flip) };
        let node = self.copy_subtree(stats.node, &mut fresh);
        if let Some(player) = self.columns.frozen.root_player() {
            fresh.columns.frozen.set_root_player(player);
        }
        // A root is searched by PUCT even where it was frozen as an inner node: its player is now the one who
        // chooses.
        fresh.columns.frozen.thaw(fresh.visited(node));
        fresh.root = EdgeStats { node, ..stats };
        let index = self.stats_index(Step { node: old_root, edge });
        fresh.columns.root_deviations = self.columns.deviations.get(index);
        fresh.columns.root_kept = self.columns.kept.range(index..index + 1).to_vec();
        fresh.columns.root_outside = self.columns.outside.range(index..index + 1).to_vec();
        // The record of a proven edge has the exact value. The search of a root needs the mean of its edges
        // again.
        if self.columns.bounds.get(index).is_proven() && !is_graph {
            fresh.reopen_root();
        }
        fresh.columns.root_large = larger.map(|net| self.columns.large.get(net, index).seen(flip)).collect();
        *self = fresh;
    }

    /// Makes a root of a node that was proven while it was an inner one: its visits and value are those of its edges again.
    pub(crate) fn reopen_root(&mut self) {
        let Some(root) = self.root_node() else { return };
        let own = u32::from(!self.node(root).forced);
        let network = self.network_value(root);
        let mut visits = own;
        let mut wl = network.wl * f64::from(own);
        let mut d = f64::from(network.d) * f64::from(own);
        for stats in self.stats(root) {
            visits += stats.visits;
            wl += stats.wl * f64::from(stats.visits);
            d += f64::from(stats.d) * f64::from(stats.visits);
        }
        let mean = f64::from(visits.max(1));
        (self.root.visits, self.root.wl, self.root.d) = (visits, wl / mean, (d / mean) as f32);
    }

    /// Copies a subtree into another tree, breadth first, and every node of a graph once; returns the index of its top there.
    fn copy_subtree(&self, top: u32, into: &mut Tree) -> u32 {
        // Breadth first brings nodes of one depth together, which descents meet at the same time, and every
        // node before its children: passes from the leaves up are loops from the end.
        let mut queue = std::collections::VecDeque::from([top]);
        let mut next_index = 1;
        let mut places = vec![0; if self.columns.graph.is_on() { self.nodes.len() } else { 0 }];
        while let Some(old) = queue.pop_front() {
            let node = self.node(old);
            let new = into.add_node(node.mover, self.edges(old), self.network_value(old));
            into.nodes[new as usize].forced = node.forced;
            into.columns.copy_node(new, &self.columns, old);
            let edges = node.edges as usize..node.edges as usize + usize::from(node.num_edges);
            into.columns.balance.copy_node(new, &self.columns.balance, old, edges.len());
            into.columns.copy_edges(into.node(new).edges as usize, &self.columns, edges);
            for (edge, stats) in self.stats(old).iter().enumerate() {
                into.push_stats(new);
                let mut stats = *stats;
                if stats.node < TERMINAL {
                    // Place 0 is the top itself, which nothing below leads to, so 0 can say that a node was not
                    // copied yet.
                    let known = places.get(stats.node as usize).copied().unwrap_or(0);
                    if known == 0 {
                        queue.push_back(stats.node);
                        places.get_mut(stats.node as usize).into_iter().for_each(|place| *place = next_index);
                        next_index += 1;
                    }
                    stats.node = if known > 0 { known } else { next_index - 1 };
                }
                let index = into.stats_index(Step { node: new, edge: edge as u32 });
                into.stats[index] = stats;
                into.columns.copy_stats(index, &self.columns, node.stats as usize + edge);
            }
        }
        0
    }

    /// True when a counter of 32 bits has come near its end: the tree may not grow any more.
    #[inline]
    pub fn is_full(&self) -> bool {
        // With one net there is no other root record to look at.
        self.sizes_full
            || self.root.visits >= self.most
            || self.columns.root_large.iter().any(|large| large.visits >= self.most)
    }

    /// Takes the tree as full at this many visits, nodes, edges or statistics, for tests.
    #[cfg(test)]
    pub(crate) fn set_most(&mut self, most: u32) {
        self.most = most;
    }

    /// Number of evaluated positions.
    pub fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of edges of all nodes.
    pub fn num_edges(&self) -> usize {
        self.edges.len()
    }

    /// Bytes that nodes, edges and statistics take (what is in use; vectors may have reserved up to twice as much).
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.network[..])
            + size_of_val(&self.edges[..])
            + size_of_val(&self.stats[..])
            + self.columns.bytes()
    }
}

/// Statistics that fit into a block of this size, as nodes keep it.
#[inline]
fn capacity(block: u8) -> u32 {
    (1 << block) >> 1
}

#[cfg(test)]
mod tests;
