//! What the turn of a net sees of a tree with two statistics.

use crate::rules::second_net::{Net, NodeNets, SecondNet};
use crate::stats::{Edge, EdgeStats, Step};
use crate::tree::Tree;

impl Tree {
    /// The record of the edge that a step takes, to be read.
    #[inline]
    pub fn record(&self, step: Step) -> &EdgeStats {
        &self.stats[self.stats_index(step)]
    }

    /// Statistics of the large net's turns through this step's edge.
    pub fn large_stats(&self, step: Step) -> EdgeStats {
        self.columns.large.get(self.stats_index(step))
    }

    /// Number of the child at this step in the order of entry to the frontier; 0: it was never there.
    pub(super) fn entered(&self, step: Step) -> u32 {
        self.columns.entered.get(self.stats_index(step))
    }

    /// The large net's statistics of the last step of a path, or of the root, to be changed by `change`.
    pub(in crate::search) fn change_large(&mut self, step: Option<Step>, change: impl FnOnce(&mut EdgeStats)) {
        match step {
            None => change(&mut self.columns.root_large),
            Some(step) => {
                let record = self.stats_index(step);
                let mut large = self.columns.large.get(record);
                change(&mut large);
                self.columns.large.set(record, large);
            }
        }
    }

    /// Which nets know a node.
    pub fn nets(&self, node: u32) -> NodeNets {
        self.columns.nets.get(node as usize)
    }

    /// The large net's prior of edge k of a node.
    pub(in crate::search) fn large_prior(&self, node: u32, k: usize) -> f32 {
        crate::stats::Prior(self.columns.large_priors.get(self.node(node).edges as usize + k)).get()
    }

    /// P of edge k of a node by both nets.
    pub fn mixed_prior(&self, rule: &SecondNet, node: u32, k: usize) -> f64 {
        rule.prior(self.nets(node), self.edges(node)[k].prior(), self.large_prior(node, k))
    }

    /// Puts the edges without record in the order of P, equal ones by action.
    pub(in crate::search) fn sort_by_mixed_priors(&mut self, rule: &SecondNet, node: u32) {
        let prior = |(k, edge): (usize, &Edge)| (edge.action, self.mixed_prior(rule, node, k));
        let priors: Vec<_> = self.edges(node).iter().enumerate().map(prior).collect();
        let of = |edge: &Edge| priors.iter().find(|(action, _)| *action == edge.action).expect("an edge of the node").1;
        self.sort_unvisited_by(node, |a, b| of(b).total_cmp(&of(a)).then(a.action.cmp(&b.action)));
    }
}

/// A record as the turn of a net sees it: the visits are its own, the value is that of both. Second: is there a value?
pub fn mixed_stats(rule: &SecondNet, net: Net, small: &EdgeStats, large: &EdgeStats) -> (EdgeStats, bool) {
    let (visits, in_flight) = match net {
        Net::Small => (small.visits, small.in_flight),
        Net::Large => (large.visits, large.in_flight),
    };
    let value = rule.value(net, small, large);
    let (wl, d) = value.map_or((small.wl, small.d), |value| (value.wl, value.d));
    (EdgeStats { wl, d, visits, in_flight, ..*small }, value.is_some())
}
