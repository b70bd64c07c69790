//! What tests ask of a tree: its digest and its invariants.

use crate::rules::second_net::Net;
use crate::rules::solver::Solver;
use crate::rules::solver::bounds::Bounds;
use crate::search::Search;
use crate::stats::{EdgeStats, Step, TERMINAL, Value};
use crate::tree::{Node, Tree};

impl Search {
    /// The first broken invariant of the tree, in words.
    pub fn check_invariants(&self) -> Result<(), String> {
        if self.setup.graph() {
            let corrects = self.setup.params.solver.is_none_or(|rule| rule.retro_fix);
            return self.tree.check_graph(corrects);
        }
        if let Some(rule) = &self.setup.params.second_net {
            return self.check_two_nets(rule);
        }
        let plain_solver = |rule: Solver| rule.retro_fix && !rule.clamp_to_bounds;
        let plain = !self.setup.averages() && self.setup.params.solver.is_none_or(plain_solver);
        self.tree.check_invariants(plain)
    }
}

impl Tree {
    /// A hash of structure, visits and values: equal trees have equal digests.
    pub fn digest(&self) -> u64 {
        let mut hash = stats_digest(0, &self.root);
        for index in 0..self.nodes.len() as u32 {
            let [wl, d] = self.network[index as usize];
            hash = crate::math::rng::mix(hash ^ u64::from(wl.to_bits()) ^ (u64::from(d.to_bits()) << 32));
            for edge in self.edges(index) {
                hash = crate::math::rng::mix(hash ^ u64::from(edge.action) ^ (u64::from(edge.prior.0) << 16));
            }
            // A record without visits holds nothing that was searched; its edge was hashed above.
            let touched = self.stats(index).iter().filter(|stats| stats.visits > 0 || stats.in_flight > 0);
            hash = touched.fold(hash, stats_digest);
            hash = self.large_digest(hash, index);
            if self.columns.graph.is_on() {
                hash = stats_digest(hash, &self.own_stats(index));
            }
        }
        hash
    }

    /// With the larger nets' statistics of a node's edges, where there are any.
    fn large_digest(&self, hash: u64, node: u32) -> u64 {
        let larger = (0..self.columns.root_large.len()).map(|place| Net::new(place + 1));
        let steps = || (0..self.stats(node).len() as u32).map(|edge| Step { node, edge });
        larger.flat_map(|net| steps().map(move |step| self.large_stats(step, net))).fold(hash, |hash, large| {
            let hash = crate::math::rng::mix(hash ^ u64::from(large.visits) ^ (u64::from(large.in_flight) << 32));
            crate::math::rng::mix(hash ^ large.wl.to_bits() ^ u64::from(large.d.to_bits()).rotate_left(32))
        })
    }

    /// The first broken invariant, in words. `plain_means`: every value is the plain mean of the values below it.
    pub fn check_invariants(&self, plain_means: bool) -> Result<(), String> {
        let Some(root) = self.root_node() else { return Ok(()) };
        let mut stack = vec![(root, self.root, Bounds::OPEN)];
        let mut reached = 0;
        while let Some((index, own, bounds)) = stack.pop() {
            reached += 1;
            if bounds.is_proven() {
                self.check_proven(index, &own, bounds)?;
            } else {
                self.check_node(index, &own, plain_means)?;
            }
            let Node { mover, stats: first, .. } = *self.node(index);
            let inner = self.stats(index).iter().enumerate().filter(|(_, stats)| stats.node < TERMINAL);
            for (k, stats) in inner {
                let Value { wl, d } = stats.value(self.node(stats.node).mover != mover);
                let bounds = self.columns.bounds.get(first as usize + k);
                self.check_bounds(stats.node, bounds, self.node(stats.node).mover != mover)?;
                stack.push((stats.node, EdgeStats { wl, d, ..*stats }, bounds));
            }
        }
        if reached != self.nodes.len() {
            return Err(format!("{} of {} nodes are reachable from the root", reached, self.nodes.len()));
        }
        Ok(())
    }

    pub(super) fn check_node(&self, index: u32, own: &EdgeStats, plain_means: bool) -> Result<(), String> {
        let stats = self.stats(index);
        let own_visits = u32::from(!self.node(index).forced);
        let visits = own_visits + stats.iter().map(|s| s.visits).sum::<u32>();
        if own.visits != visits {
            return Err(format!("node {index}: {} visits, but own and edge visits are {visits}", own.visits));
        }
        let in_flight: u32 = stats.iter().map(|s| u32::from(s.in_flight)).sum();
        if u32::from(own.in_flight) != in_flight {
            return Err(format!("node {index}: {} in flight, its edges {in_flight}", own.in_flight));
        }
        let priors: f64 = self.edges(index).iter().map(|e| f64::from(e.prior())).sum();
        // Stored priors have 11 bits, and none is 0.
        if (priors - 1.0).abs() > 2e-3 {
            return Err(format!("node {index}: priors sum to {priors}"));
        }
        let sum: f64 = stats.iter().map(|s| s.wl * f64::from(s.visits)).sum();
        let own_value = self.network_value(index).wl * f64::from(own_visits);
        let mean = (sum + own_value) / f64::from(own.visits.max(1));
        // The node keeps the network's value in single precision; the mean took it as it came.
        if (plain_means && (own.wl - mean).abs() > 1e-6) || own.wl.abs() > 1.0 + 1e-9 {
            return Err(format!("node {index}: value {}, mean of its visits {mean}", own.wl));
        }
        Ok(())
    }
}

impl Tree {
    /// The record of a proven node: exact, with one visit or more beyond those of its edges.
    fn check_proven(&self, index: u32, own: &EdgeStats, bounds: Bounds) -> Result<(), String> {
        let visits: u32 = self.stats(index).iter().map(|stats| stats.visits).sum();
        if own.visits < visits {
            return Err(format!("node {index} is proven: {} visits, but its edges have {visits}", own.visits));
        }
        if own.visits > 0 && own.wl.abs() != bounds.value().wl.abs() {
            return Err(format!("node {index} is proven {bounds:?}, but its value is {}", own.wl));
        }
        Ok(())
    }

    /// The bounds of the edge that leads to a node are no wider than what the node's edges prove.
    fn check_bounds(&self, index: u32, bounds: Bounds, flip: bool) -> Result<(), String> {
        let proven = self.node_bounds(index, |_| true).seen_from_parent(flip);
        match bounds.tightened(proven) {
            Some(_) => Err(format!("node {index} has {bounds:?}, but its edges prove {proven:?}")),
            None => Ok(()),
        }
    }
}

fn stats_digest(hash: u64, stats: &EdgeStats) -> u64 {
    let counts = u64::from(stats.visits) ^ (u64::from(stats.in_flight) << 32);
    let hash = crate::math::rng::mix(hash ^ counts);
    let hash = crate::math::rng::mix(hash ^ stats.wl.to_bits());
    crate::math::rng::mix(hash ^ u64::from(stats.d.to_bits()) ^ (u64::from(stats.node) << 32))
}
