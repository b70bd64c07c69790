//! What the turn of a net sees of a tree with two statistics.

use crate::rules::second_net::{Net, NodeNets, SecondNet};
use crate::stats::{Edge, EdgeStats, Prior, Step, Value};
use crate::tree::Tree;

impl Tree {
    /// The record of the edge that a step takes, to be read.
    #[inline]
    pub fn record(&self, step: Step) -> &EdgeStats {
        &self.stats[self.stats_index(step)]
    }

    /// Statistics of a larger net's turns through this step's edge.
    #[inline]
    pub fn large_stats(&self, step: Step, net: Net) -> EdgeStats {
        self.columns.large.get(net.place(), self.stats_index(step))
    }

    /// Statistics of a net's turns through this step's edge.
    pub(in crate::search) fn net_stats(&self, step: Step, net: Net) -> EdgeStats {
        if net == Net::Small { *self.record(step) } else { self.large_stats(step, net) }
    }

    /// Statistics of a net's turns at the root.
    #[inline]
    pub(in crate::search) fn root_stats(&self, net: Net) -> EdgeStats {
        if net == Net::Small { self.root } else { self.columns.root_large[net.place()] }
    }

    /// Number of the child at this step in the order of entry to a larger net's frontier; 0: it was never there.
    pub(super) fn entered(&self, step: Step, net: Net) -> u32 {
        self.columns.entered.get(net.place(), self.stats_index(step))
    }

    /// A larger net's statistics of the last step of a path, or of the root, to be changed by `change`.
    pub(in crate::search) fn change_large(
        &mut self,
        step: Option<Step>,
        net: Net,
        change: impl FnOnce(&mut EdgeStats),
    ) {
        match step {
            None => change(&mut self.columns.root_large[net.place()]),
            Some(step) => {
                let record = self.stats_index(step);
                let mut large = self.columns.large.get(net.place(), record);
                change(&mut large);
                self.columns.large.set(net.place(), record, large);
            }
        }
    }

    /// What a net says of a node that it knows, for the node's mover.
    pub(in crate::search) fn value_by(&self, node: u32, net: Net) -> Value {
        let [wl, d] = self.columns.net_values.get(net.index(), node as usize);
        Value { wl: f64::from(wl), d }
    }

    /// Which nets know a node.
    pub fn nets(&self, node: u32) -> NodeNets {
        self.columns.nets.get(node as usize)
    }

    /// A net's prior of edge k of a node.
    #[inline]
    pub(in crate::search) fn prior_by(&self, node: u32, k: usize, net: Net) -> f32 {
        if net == Net::Small {
            return self.edges(node)[k].prior();
        }
        Prior(self.columns.large_priors.get(net.place(), self.node(node).edges as usize + k)).get()
    }

    /// P of edge k of a node by all nets that know it.
    #[inline]
    pub fn mixed_prior(&self, rule: &SecondNet, node: u32, k: usize) -> f64 {
        rule.prior(self.nets(node).known, |net| self.prior_by(node, k, net))
    }

    /// Puts the edges without record in the order of P, equal ones by action.
    pub(in crate::search) fn sort_by_mixed_priors(&mut self, rule: &SecondNet, node: u32) {
        let prior = |(k, edge): (usize, &Edge)| (edge.action, self.mixed_prior(rule, node, k));
        // Before the sort, which moves the edges away from the places that `mixed_prior` reads.
        let priors: Vec<_> = self.edges(node).iter().enumerate().map(prior).collect();
        let of = |edge: &Edge| priors.iter().find(|(action, _)| *action == edge.action).expect("an edge of the node").1;
        self.sort_unvisited_by(node, |a, b| of(b).total_cmp(&of(a)).then(a.action.cmp(&b.action)));
    }
}

/// A record as the turn of a net sees it: the visits are its own, the value is that of all. Second: is there a value?
/// `large`: the record in the statistics of a larger net's turns.
#[inline]
pub fn mixed_stats(
    rule: &SecondNet,
    net: Net,
    small: &EdgeStats,
    large: impl Fn(Net) -> EdgeStats,
) -> (EdgeStats, bool) {
    let of = |net: Net| if net == Net::Small { *small } else { large(net) };
    let own = of(net);
    let value = rule.value(net, of);
    let (wl, d) = value.map_or((small.wl, small.d), |value| (value.wl, value.d));
    // Every net explores by its own visits, as if it had a tree of its own; what the nets share is the value (Lan et
    // al. 2019).
    (EdgeStats { wl, d, visits: own.visits, in_flight: own.in_flight, ..*small }, value.is_some())
}
