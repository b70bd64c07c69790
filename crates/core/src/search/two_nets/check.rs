//! The invariants of a tree with statistics of several nets.

use crate::rules::second_net::{LargePriority, Net, SecondNet, ValueReading};
use crate::search::Search;
use crate::stats::{EdgeStats, Step, TERMINAL};

/// A node with its own records by net, for its mover.
struct Reached {
    node: u32,
    stats: Vec<EdgeStats>,
}

impl Search {
    /// The first broken invariant, in words.
    pub(in crate::search) fn check_two_nets(&self, rule: &SecondNet) -> Result<(), String> {
        let Some(root) = self.tree.root_node() else { return Ok(()) };
        let mut stack = vec![Reached { node: root, stats: rule.nets().map(|net| self.tree.root_stats(net)).collect() }];
        let mut reached = 0;
        while let Some(here) = stack.pop() {
            reached += 1;
            for net in rule.nets() {
                self.check_counts(&here, net)?;
                self.check_means(rule, &here, net)?;
            }
            if self.tree.nets(here.node).known.is_empty() {
                return Err(format!("node {}: known to no net", here.node));
            }
            stack.extend(self.children(rule, &here));
        }
        if reached != self.tree.num_nodes() {
            return Err(format!("{reached} of {} nodes are reachable from the root", self.tree.num_nodes()));
        }
        let mut by_visits = rule.larger().filter(|net| rule.priority_of(*net) == LargePriority::Visits);
        by_visits.try_for_each(|net| self.check_frontier(root, net))
    }

    fn children(&self, rule: &SecondNet, here: &Reached) -> Vec<Reached> {
        let evaluated = self.steps(here.node).filter(|step| self.tree.record(*step).node < TERMINAL);
        let child = |step: Step| {
            let node = self.tree.record(step).node;
            let flip = self.tree.node(node).mover != self.tree.node(here.node).mover;
            let stats = rule.nets().map(|net| self.tree.net_stats(step, net).seen(flip)).collect();
            Reached { node, stats }
        };
        evaluated.map(child).collect()
    }

    /// The steps from a node along edges with records.
    fn steps(&self, node: u32) -> impl Iterator<Item = Step> + use<> {
        (0..self.tree.stats(node).len() as u32).map(move |edge| Step { node, edge })
    }

    /// N_i = 1 + sum of the edges' if net i knows the node, 0 if not; what is in flight goes on or waits here.
    fn check_counts(&self, here: &Reached, net: Net) -> Result<(), String> {
        let node = here.node;
        let number = net.index();
        let own = here.stats[net.index()];
        let edges: Vec<EdgeStats> = self.steps(node).map(|step| self.tree.net_stats(step, net)).collect();
        let visits: u32 = edges.iter().map(|stats| stats.visits).sum();
        let in_flight: u16 = edges.iter().map(|stats| stats.in_flight).sum();
        let known = self.tree.nets(node).known_to(net);
        let expected = if known { 1 + visits } else { 0 };
        if own.visits != expected || (!known && visits > 0) {
            let own = own.visits;
            return Err(format!("node {node}: {own} visits of net {number}, edges {visits}, known to it: {known}"));
        }
        if (known && own.in_flight != in_flight) || (!known && in_flight > 0) {
            let own = own.in_flight;
            return Err(format!("node {node}: {own} visits of net {number} in flight, edges {in_flight}"));
        }
        Ok(())
    }

    /// A mean is that of the values below; in reading B the small mean has the mixed value of a node that several nets know.
    fn check_means(&self, rule: &SecondNet, here: &Reached, net: Net) -> Result<(), String> {
        let node = here.node;
        let own = here.stats[net.index()];
        let known = self.tree.nets(here.node).known;
        let weight = |stats: EdgeStats| stats.wl * f64::from(stats.visits);
        let sum: f64 = self.steps(node).map(|step| weight(self.tree.net_stats(step, net))).sum();
        let mixes = net == Net::Small && known.len() > 1 && rule.values == ValueReading::States;
        let value = if mixes { self.tree.network_value(node) } else { self.tree.value_by(node, net) };
        let mean = (sum + value.wl) / f64::from(own.visits.max(1));
        if own.visits > 0 && (own.wl - mean).abs() > 1e-5 {
            return Err(format!("node {node}: mean {} of net {}, mean of its visits {mean}", own.wl, net.index()));
        }
        Ok(())
    }

    /// The first of a larger net's frontier has the most small visits of all nodes that the net does not know.
    fn check_frontier(&self, root: u32, net: Net) -> Result<(), String> {
        if !self.tree.nets(root).known_to(net) {
            return Ok(());
        }
        let waits = self.tree.root_stats(net).in_flight > 0;
        let mut frontier = self.rules.two_nets.frontier(net).clone();
        let first = frontier.pop(|step, visits| self.tree.may_take(net, step, visits));
        let first = first.map_or(0, |step| self.tree.record(step).visits);
        let mut greatest = 0;
        for node in 0..self.tree.num_nodes() as u32 {
            // While turns of the net wait, what is below their nodes may have more visits than the rest of the
            // frontier.
            if waits && !self.tree.nets(node).known_to(net) {
                continue;
            }
            let free = self.steps(node).filter(|step| self.tree.may_take(net, *step, self.tree.record(*step).visits));
            greatest = greatest.max(free.map(|step| self.tree.record(step).visits).max().unwrap_or(0));
        }
        if first != greatest {
            let number = net.index();
            return Err(format!(
                "the first of net {number}'s frontier has {first} small visits, another node {greatest}"
            ));
        }
        Ok(())
    }
}
