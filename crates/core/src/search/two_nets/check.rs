//! The invariants of a tree with two statistics.

use crate::rules::second_net::{LargePriority, Net, SecondNet, ValueReading};
use crate::search::Search;
use crate::stats::{EdgeStats, Step, TERMINAL, Value};

/// A node with its own records, for its mover.
struct Reached {
    node: u32,
    small: EdgeStats,
    large: EdgeStats,
}

impl Search {
    /// The first broken invariant, in words.
    pub(in crate::search) fn check_two_nets(&self, rule: &SecondNet) -> Result<(), String> {
        let Some(root) = self.tree.root_node() else { return Ok(()) };
        let mut stack = vec![Reached { node: root, small: self.tree.root, large: self.tree.columns.root_large }];
        let mut reached = 0;
        while let Some(here) = stack.pop() {
            reached += 1;
            self.check_counts(&here)?;
            self.check_means(rule, &here)?;
            stack.extend(self.children(&here));
        }
        if reached != self.tree.num_nodes() {
            return Err(format!("{reached} of {} nodes are reachable from the root", self.tree.num_nodes()));
        }
        if rule.priority == LargePriority::Visits { self.check_frontier(root) } else { Ok(()) }
    }

    fn children(&self, here: &Reached) -> Vec<Reached> {
        let steps = (0..self.tree.stats(here.node).len() as u32).map(|edge| Step { node: here.node, edge });
        let evaluated = steps.filter(|step| self.tree.record(*step).node < TERMINAL);
        let child = |step: Step| {
            let stats = *self.tree.record(step);
            let flip = self.tree.node(stats.node).mover != self.tree.node(here.node).mover;
            let Value { wl, d } = stats.value(flip);
            let large = self.tree.large_stats(step).seen(flip);
            Reached { node: stats.node, small: EdgeStats { wl, d, ..stats }, large }
        };
        evaluated.map(child).collect()
    }

    /// N_S = 1 + sum of the edges' if the small net knows the node, 0 if not; the same of N_L; what is in flight goes on or waits here.
    fn check_counts(&self, here: &Reached) -> Result<(), String> {
        let (node, nets) = (here.node, self.tree.nets(here.node));
        let edges = 0..self.tree.stats(node).len() as u32;
        let large: Vec<EdgeStats> = edges.map(|edge| self.tree.large_stats(Step { node, edge })).collect();
        let small = self.tree.stats(node);
        for (net, name, own, own_in_flight, visits, in_flight) in [
            (
                Net::Small,
                "small",
                here.small.visits,
                here.small.in_flight,
                small.iter().map(|s| s.visits).sum::<u32>(),
                small.iter().map(|s| s.in_flight).sum::<u16>(),
            ),
            (
                Net::Large,
                "large",
                here.large.visits,
                here.large.in_flight,
                large.iter().map(|l| l.visits).sum(),
                large.iter().map(|l| l.in_flight).sum(),
            ),
        ] {
            let known = nets.known_to(net);
            let expected = if known { 1 + visits } else { 0 };
            if own != expected || (!known && visits > 0) {
                return Err(format!("node {node}: {own} {name} visits, edges {visits}, known to this net: {known}"));
            }
            if (known && own_in_flight != in_flight) || (!known && in_flight > 0) {
                return Err(format!("node {node}: {own_in_flight} {name} visits in flight, edges {in_flight}"));
            }
        }
        if !nets.small && !nets.large {
            return Err(format!("node {node}: known to no net"));
        }
        Ok(())
    }

    /// Both means are those of the values below; in reading B the small mean has the mixed value of a node that both nets know.
    fn check_means(&self, rule: &SecondNet, here: &Reached) -> Result<(), String> {
        let (node, nets) = (here.node, self.tree.nets(here.node));
        let edges = 0..self.tree.stats(node).len() as u32;
        let weight = |stats: EdgeStats| stats.wl * f64::from(stats.visits);
        let large_sum: f64 = edges.map(|edge| weight(self.tree.large_stats(Step { node, edge }))).sum();
        let small_sum: f64 = self.tree.stats(node).iter().map(|stats| stats.wl * f64::from(stats.visits)).sum();
        let both = nets.small && nets.large && rule.values == ValueReading::States;
        let small_own = if both { self.tree.network_value(node) } else { nets.value(Net::Small) };
        for (name, mean, visits, sum) in [
            ("small", here.small.wl, here.small.visits, small_sum + small_own.wl),
            ("large", here.large.wl, here.large.visits, large_sum + nets.value(Net::Large).wl),
        ] {
            if visits > 0 && (mean - sum / f64::from(visits)).abs() > 1e-5 {
                return Err(format!("node {node}: {name} mean {mean}, mean of its visits {}", sum / f64::from(visits)));
            }
        }
        Ok(())
    }

    /// The first of the frontier has the most small visits of all nodes that the large net does not know.
    fn check_frontier(&self, root: u32) -> Result<(), String> {
        if !self.tree.nets(root).large {
            return Ok(());
        }
        let waits = self.tree.columns.root_large.in_flight > 0;
        let mut frontier = self.rules.two_nets.frontier.clone();
        let first = frontier.pop(|step, visits| self.tree.may_take(step, visits));
        let first = first.map_or(0, |step| self.tree.record(step).visits);
        let mut greatest = 0;
        for node in 0..self.tree.num_nodes() as u32 {
            // While large turns wait, what is below their nodes may have more visits than the rest of the frontier.
            let edges = if waits && !self.tree.nets(node).large { 0..0 } else { 0..self.tree.stats(node).len() as u32 };
            let steps = edges.map(|edge| Step { node, edge });
            let free = steps.filter(|step| self.tree.may_take(*step, self.tree.record(*step).visits));
            greatest = greatest.max(free.map(|step| self.tree.record(step).visits).max().unwrap_or(0));
        }
        if first != greatest {
            return Err(format!("the frontier's first has {first} small visits, another node {greatest}"));
        }
        Ok(())
    }
}
