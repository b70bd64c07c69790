//! Nodes that several edges lead to: their own statistics, their keys, and backup (graph search).

use crate::game::Player;
use crate::rules::graph::added;
use crate::stats::{EdgeStats, Step, TERMINAL, Value};
use crate::tree::Tree;
use crate::tree::column::Column;
use crate::tree::positions::Positions;

/// The visits of a node by all edges that lead to it, and their mean for its mover.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeStats {
    wl: f64,
    d: f32,
    visits: u32,
}

/// What graph search keeps in addition to a tree; nothing while the rule is off.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// By node: its own statistics. Those of the root are `Tree::root`.
    pub(crate) own: Column<NodeStats>,
    /// Nodes by `rules::graph::node_key`.
    pub(crate) nodes: Positions,
}

impl Graph {
    /// Storage for nodes with several edges, or none while the rule is off.
    pub fn new(on: bool) -> Self {
        Graph { own: Column::new(on), nodes: Positions::new(on) }
    }

    /// True when equal positions are one node.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.own.is_on()
    }
}

/// How the last step of a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The visit went on below the edge.
    Visit,
    /// The edge takes the value of its child, which gets no visit.
    CatchUp,
}

impl Tree {
    /// The statistics of a node of a graph, for its mover, as if one edge led to it.
    #[inline]
    pub fn own_stats(&self, node: u32) -> EdgeStats {
        // The root's record is where all trees have it, so that what reads a root need not ask whether it is a graph's.
        if node == self.root.node {
            return self.root;
        }
        let NodeStats { wl, d, visits } = self.columns.graph.own.get(node as usize);
        EdgeStats { wl, d, visits, node, ..EdgeStats::FRESH_ROOT }
    }

    /// Sets visits and mean of a node of a graph.
    pub(crate) fn set_own_stats(&mut self, node: u32, visits: u32, Value { wl, d }: Value) {
        if node == self.root.node {
            (self.root.visits, self.root.wl, self.root.d) = (visits, wl, d);
        } else {
            self.columns.graph.own.set(node as usize, NodeStats { wl, d, visits });
        }
    }

    /// Counts a visit of a node of a graph.
    fn add_own_visit(&mut self, node: u32, value: Value) {
        let mut own = self.own_stats(node);
        own.add_visit(value);
        self.set_own_stats(node, own.visits, own.value(false));
    }

    /// Backs a value, for player `mover`, up a path of a graph. Every edge takes the value of its child, and the node above
    /// gets what that adds to the sum over its edges. `corrects`: also where a result is proven (solver).
    pub fn backup_graph(&mut self, path: &[Step], mover: Player, value: Value, arrival: Arrival, corrects: bool) {
        let mut value = value;
        let mut owner = mover;
        let mut arrival = arrival;
        match path.last().map(|last| self.step_stats(*last).node) {
            None => self.root.add_visit(value),
            Some(leaf) if leaf < TERMINAL && self.own_stats(leaf).visits == 0 => self.add_own_visit(leaf, value),
            Some(_) => (),
        }
        // From the leaf up: an edge takes the mean of its node, which must have this visit already.
        for step in path.iter().rev() {
            let viewer = self.node(step.node).mover;
            if viewer != owner {
                (value, owner) = (value.flipped(), viewer);
            }
            value = self.visit_edge(*step, value, arrival, corrects);
            self.add_own_visit(step.node, value);
            arrival = Arrival::Visit;
        }
        self.root.in_flight -= 1;
    }

    /// Counts a visit of the edge that a step takes, which brought this value; returns what that adds to the sum of its node.
    fn visit_edge(&mut self, step: Step, value: Value, arrival: Arrival, corrects: bool) -> Value {
        let record = self.stats_index(step);
        let before = self.stats[record];
        let bounds = self.columns.bounds.get(record);
        let mut all_came_this_way = false;
        let now = if bounds.is_proven() {
            bounds.value()
        } else if before.node < TERMINAL {
            let own = self.own_stats(before.node);
            // Then the edge is the only one that leads to the node so far, and the plain mean is exact: a graph
            // without transpositions is a tree to the last bit.
            all_came_this_way = arrival == Arrival::Visit && own.visits == before.visits + 1;
            own.value(self.node(before.node).mover != self.node(step.node).mover)
        } else {
            value
        };
        let stats = &mut self.stats[record];
        stats.in_flight -= 1;
        (stats.visits, stats.wl, stats.d) = (before.visits + 1, now.wl, now.d);
        match () {
            () if all_came_this_way => value, // as in a tree, to the last bit
            () if bounds.is_proven() && !corrects => now,
            () => added(now, before.visits, before.value(false)),
        }
    }

    /// Notes where a new node is found.
    pub(crate) fn note_node(&mut self, node: u32, key: u64) {
        self.columns.graph.nodes.add(node, key);
    }
}
