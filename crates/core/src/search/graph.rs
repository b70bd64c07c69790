//! Graph search: how a descent meets a node that other moves have led to, and repeats as results in a graph.

use crate::game::{Player, State};
use crate::rules::graph;
use crate::rules::repetition::Repetition;
use crate::search::{Leaf, Search, Visit};
use crate::stats::{EdgeStats, Step, TERMINAL, Value};
use crate::tree::Tree;
use crate::tree::graph::Arrival;

/// What the node of this position is found by.
pub(super) fn node_key(state: &dyn State) -> u64 {
    graph::node_key(state.position_key(), state.ply())
}

impl Search {
    /// Where the scratch position is not the end of the game: the visit ends here if the position has a node, or waits for the network.
    pub(super) fn meet_node(&mut self) -> Option<Visit> {
        let last = *self.path.last()?;
        let key = node_key(self.scratch.state.as_ref());
        match self.tree.columns.graph.nodes.find(key) {
            // The node exists by another line: linking the edge to it is all, and no row goes to the network.
            Some(node) => {
                self.tree.step_stats(last).node = node;
                Some(self.catch_up(node))
            }
            // Two rows in flight for one position would make two nodes of it.
            None => self.rules.pending_nodes.contains(&key).then_some(Visit::Collision),
        }
    }

    /// The position of a leaf waits for the network.
    pub(super) fn begin_waiting(&mut self, leaf: &mut Leaf) {
        leaf.node_key = node_key(leaf.state.as_ref());
        self.rules.pending_nodes.insert(leaf.node_key);
    }

    /// A leaf is no longer in flight.
    pub(super) fn stop_waiting(&mut self, leaf: &Leaf) {
        self.rules.pending_nodes.remove(&leaf.node_key);
    }

    /// The last edge of the path has fewer visits than its child: it takes the node's value, and what is proven of it.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, node: u32) -> Visit {
        if self.setup.solves() && self.tree.spread_node(&self.path, node) {
            self.refresh_root_bounds();
        }
        // As `finish_visit`: backup takes a visit in flight off every step.
        self.tree.mark(&self.path, self.turn, 1);
        let mover = self.tree.node(node).mover;
        let own = self.tree.own_stats(node);
        self.back_up_graph(mover, own.value(false), Arrival::CatchUp);
        self.counters.transpositions += 1;
        self.counters.count_visit(self.path.len());
        Visit::Done
    }

    pub(super) fn back_up_graph(&mut self, mover: Player, value: Value, arrival: Arrival) {
        let corrects = self.setup.params.solver.is_some_and(|rule| rule.retro_fix);
        self.tree.backup_graph(&self.path, mover, value, arrival, corrects);
    }
}

impl Tree {
    /// Makes repeats that no longer count edges without visits, in a graph that was just re-rooted, where no node comes before a node
    /// above it. Visits and mean of every node above are those of its edges again, of which none has more visits than its child.
    pub(super) fn reopen_graph(&mut self, rule: &Repetition) {
        let depths = self.depths();
        let mut changed = vec![false; self.num_nodes()];
        // From the end, where children are done before any node that looks at them.
        for node in (0..self.num_nodes() as u32).rev() {
            for record in self.visited(node) {
                let stats = self.stats[record];
                changed[node as usize] |= match stats.repeated_plies() {
                    Some(plies) => !rule.counts(depths[node as usize] + 1, plies) && self.forget_visits(record),
                    None => stats.node < TERMINAL && changed[stats.node as usize] && self.follow_node(node, record),
                };
            }
            if changed[node as usize] {
                let visits = 1 + self.stats(node).iter().map(|stats| stats.visits).sum::<u32>();
                self.set_own_stats(node, visits, self.plain_mean(node, visits));
            }
        }
    }

    fn forget_visits(&mut self, record: usize) -> bool {
        self.stats[record] = EdgeStats::fresh(self.stats[record].prior);
        self.columns.clear_stats(record);
        true
    }

    /// Gives an edge the value of its child, and no more visits than that has. An exact value does not rest on repeats.
    fn follow_node(&mut self, node: u32, record: usize) -> bool {
        if self.columns.bounds.get(record).is_proven() {
            return false;
        }
        let stats = self.stats[record];
        let own = self.own_stats(stats.node);
        let Value { wl, d } = own.value(self.node(stats.node).mover != self.node(node).mover);
        self.stats[record] = EdgeStats { wl, d, visits: stats.visits.min(own.visits), ..stats };
        true
    }
}

impl Tree {
    /// The first broken invariant of a graph, in words: nodes count the visits of their edges, edges that lead to a node have no more
    /// visits than it, and its value where they have as many, and every line to a node has the same length, so that none meets it twice.
    pub(super) fn check_graph(&self, plain_means: bool) -> Result<(), String> {
        let Some(root) = self.root_node() else { return Ok(()) };
        let mut depths = vec![None; self.num_nodes()];
        depths[root as usize] = Some(0);
        let mut nodes = vec![root];
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            let mut own = self.own_stats(node);
            own.in_flight = self.stats(node).iter().map(|stats| stats.in_flight).sum(); // edges alone count them
            self.check_node(node, &own, plain_means)?;
            let depth = depths[node as usize].map(|depth: usize| depth + 1);
            for (edge, stats) in self.stats(node).iter().enumerate().filter(|(_, stats)| stats.node < TERMINAL) {
                let child = self.own_stats(stats.node);
                let flip = self.node(stats.node).mover != self.node(node).mover;
                let is_proven = self.bounds_at(Step { node, edge: edge as u32 }).is_proven();
                let lags = stats.visits < child.visits;
                let same = stats.visits == child.visits && stats.value(false) == child.value(flip);
                if !(is_proven || lags || same) {
                    return Err(format!("node {node}, edge {edge}: {stats:?}, but its child {child:?}"));
                }
                match depths[stats.node as usize] {
                    None => nodes.push(stats.node),
                    Some(_) if depths[stats.node as usize] == depth => (),
                    Some(other) => return Err(format!("node {}: lines of {other} and {depth:?} plies", stats.node)),
                }
                depths[stats.node as usize] = depth;
            }
        }
        match nodes.len() == self.num_nodes() {
            true => Ok(()),
            false => Err(format!("{} of {} nodes are reachable from the root", nodes.len(), self.num_nodes())),
        }
    }
}
