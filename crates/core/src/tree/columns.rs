//! What rules keep in addition to the statistics, edges and nodes of a tree. A column exists only while its rule is on, so plain PUCT
//! pays for none of them.

use std::ops::Range;

use crate::rules::second_net::NodeNets;
use crate::rules::solver::bounds::Bounds;
use crate::stats::{EdgeStats, Value};
use crate::tree::balance::Balance;
use crate::tree::column::{Column, Floats, PerNet, SideColumn};
use crate::tree::frozen::Frozen;
use crate::tree::graph::Graph;
use crate::tree::positions::Positions;

/// Which columns a tree keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnSet {
    /// Squared deviations by edge (variance, lower bound).
    pub deviations: bool,
    /// The network's own values by node (WDL contempt).
    pub raw_network: bool,
    /// Factors of edges (tree balance).
    pub balance: bool,
    /// Frozen weights by edge (search-contempt).
    pub frozen: bool,
    /// Proven bounds by edge (solver).
    pub bounds: bool,
    /// A frozen node takes no proof from edges outside of its support (solver with search-contempt).
    pub proofs_in_support: bool,
    /// Statistics by node, and nodes by their position and ply (graph search).
    pub graph: bool,
    /// Nets after the small one, with statistics, priors and evaluations of their own (second net).
    pub larger_nets: usize,
    /// Nodes by the key of their position (re-use of evaluations).
    pub positions: bool,
    /// Numbers by edge that rules keep by `Rule::keeps`.
    pub kept: usize,
    /// Floats by edge that rules from outside the core keep.
    pub outside: usize,
}

impl ColumnSet {
    /// More than one net searches.
    #[inline]
    pub fn has_more_nets(&self) -> bool {
        self.larger_nets > 0
    }
}

/// The columns of one tree.
#[derive(Clone, Debug, Default)]
pub struct RuleColumns {
    /// Which of them are kept.
    pub enabled: ColumnSet,
    /// By visited edge: M, the sum of squared deviations of the values of the edge's visits.
    pub deviations: Column<f64>,
    /// M of the root.
    pub root_deviations: f64,
    /// By node: the network's own value for its mover, where the search takes another one.
    pub raw_network: Column<Value>,
    /// Factors of the edges of nodes that were selected from.
    pub balance: Balance,
    /// By visited edge: the weights of frozen nodes.
    pub frozen: Frozen,
    /// By visited edge: what is proven of the edge's result.
    pub bounds: Column<Bounds>,
    /// What is proven of the root, over the edges that it may take.
    pub root_bounds: Bounds,
    /// By larger net and visited edge: statistics of the net's turns.
    pub large: PerNet<EdgeStats>,
    /// The same of the root.
    pub root_large: Vec<EdgeStats>,
    /// By larger net and visited edge: number of its entry to the frontier of that net's tree, from 1; 0 = it was never there.
    pub entered: PerNet<u32>,
    /// By larger net and edge: the net's prior, in the bits of a `Prior`.
    pub large_priors: PerNet<u16>,
    /// By node: which nets know it.
    pub nets: Column<NodeNets>,
    /// By net, the small one first, and node: win - loss and share of draws by the net, for the node's mover.
    pub net_values: PerNet<[f32; 2]>,
    /// The first node of each position.
    pub positions: Positions,
    /// Nodes with several edges that lead to them.
    pub graph: Graph,
    /// By visited edge: what rules keep by `Rule::keeps`.
    pub kept: Floats,
    /// The same of the root.
    pub root_kept: Vec<f64>,
    /// By visited edge: what rules from outside the core keep.
    pub outside: Floats,
    /// The same of the root.
    pub root_outside: Vec<f64>,
}

impl RuleColumns {
    /// These columns, empty.
    pub fn new(enabled: ColumnSet) -> Self {
        RuleColumns {
            enabled,
            deviations: Column::new(enabled.deviations),
            root_deviations: 0.0,
            raw_network: Column::new(enabled.raw_network),
            balance: Balance::new(enabled.balance),
            frozen: Frozen::new(enabled.frozen),
            bounds: Column::new(enabled.bounds),
            root_bounds: Bounds::OPEN,
            large: PerNet::new(enabled.larger_nets),
            root_large: vec![EdgeStats::FRESH_ROOT; enabled.larger_nets],
            entered: PerNet::new(enabled.larger_nets),
            large_priors: PerNet::new(enabled.larger_nets),
            nets: Column::new(enabled.has_more_nets()),
            net_values: PerNet::new(if enabled.has_more_nets() { enabled.larger_nets + 1 } else { 0 }),
            positions: Positions::new(enabled.positions),
            graph: Graph::new(enabled.graph),
            kept: Floats::new(enabled.kept),
            root_kept: vec![0.0; enabled.kept],
            outside: Floats::new(enabled.outside),
            root_outside: vec![0.0; enabled.outside],
        }
    }

    // Trait objects, so that a new column is a name in these lists. The lists of reading and of changing have one
    // order: copies pair them.
    fn by_stats(&self) -> [&dyn SideColumn; 7] {
        [&self.deviations, &self.frozen.sums, &self.bounds, &self.large, &self.entered, &self.kept, &self.outside]
    }

    fn by_stats_mut(&mut self) -> [&mut dyn SideColumn; 7] {
        let kept = &mut self.kept;
        let outside = &mut self.outside;
        let bounds = &mut self.bounds;
        let large = &mut self.large;
        [&mut self.deviations, &mut self.frozen.sums, bounds, large, &mut self.entered, kept, outside]
    }

    fn by_edge(&self) -> [&dyn SideColumn; 1] {
        [&self.large_priors]
    }

    fn by_edge_mut(&mut self) -> [&mut dyn SideColumn; 1] {
        [&mut self.large_priors]
    }

    fn by_node(&self) -> [&dyn SideColumn; 6] {
        let balance = &self.balance;
        [&self.raw_network, &self.nets, &self.net_values, &balance.starts, &balance.levels, &self.graph.own]
    }

    fn by_node_mut(&mut self) -> [&mut dyn SideColumn; 6] {
        let nets = &mut self.nets;
        let net_values = &mut self.net_values;
        let balance = &mut self.balance;
        [&mut self.raw_network, nets, net_values, &mut balance.starts, &mut balance.levels, &mut self.graph.own]
    }

    /// True when a column belongs to the statistics of edges.
    #[inline]
    pub(crate) fn keeps_stats(&self) -> bool {
        // Asked before every loop over columns: plain PUCT must not pay for seven empty calls a visit.
        let ColumnSet { deviations, frozen, bounds, kept, outside, .. } = self.enabled;
        deviations || frozen || bounds || self.enabled.has_more_nets() || kept > 0 || outside > 0
    }

    /// True when something is kept by edge.
    #[inline]
    pub(crate) fn keeps_edges(&self) -> bool {
        self.enabled.balance || self.enabled.has_more_nets()
    }

    /// True when something is kept by node.
    #[inline]
    pub(crate) fn keeps_nodes(&self) -> bool {
        self.enabled.raw_network || self.enabled.has_more_nets() || self.enabled.balance || self.enabled.graph
    }

    /// There are this many statistics now.
    pub(crate) fn resize_stats(&mut self, len: usize) {
        self.by_stats_mut().into_iter().for_each(|column| column.resize(len));
    }

    /// A block of statistics moved.
    pub(crate) fn move_stats(&mut self, from: Range<usize>, to: usize) {
        self.by_stats_mut().into_iter().for_each(|column| column.move_within(from.clone(), to));
    }

    /// A node's edge number `place` has statistics now.
    pub(crate) fn begin_stats(&mut self, index: usize, place: u16) {
        self.clear_stats(index);
        self.frozen.add_stats(index, place);
    }

    /// Statistics begin anew; weights that are frozen stay.
    pub(crate) fn clear_stats(&mut self, index: usize) {
        // Frozen weights are the opponent's assumed policy, not a result of visits, so they outlive visits
        // that are taken back.
        let frozen = self.frozen.sums.get(index);
        self.by_stats_mut().into_iter().for_each(|column| column.clear(index));
        self.frozen.sums.set(index, frozen);
    }

    /// Statistics were copied from another tree.
    pub(crate) fn copy_stats(&mut self, to: usize, source: &RuleColumns, from: usize) {
        let pairs = self.by_stats_mut().into_iter().zip(source.by_stats());
        pairs.for_each(|(column, source)| column.copy_from(to, source, from..from + 1));
    }

    /// There are this many nodes now.
    pub(crate) fn resize_nodes(&mut self, len: usize) {
        self.by_node_mut().into_iter().for_each(|column| column.resize(len));
    }

    /// A node was copied from another tree.
    pub(crate) fn copy_node(&mut self, to: u32, source: &RuleColumns, from: u32) {
        let to = to as usize;
        let from = from as usize;
        let pairs = self.by_node_mut().into_iter().zip(source.by_node());
        pairs.for_each(|(column, source)| column.copy_from(to, source, from..from + 1));
        self.positions.copy_node(to as u32, &source.positions, from as u32);
        self.graph.nodes.copy_node(to as u32, &source.graph.nodes, from as u32);
    }

    /// There are this many edges now.
    pub(crate) fn resize_edges(&mut self, len: usize) {
        self.by_edge_mut().into_iter().for_each(|column| column.resize(len));
    }

    /// The last edge of a range came to its front.
    pub(crate) fn rotate_edges(&mut self, range: Range<usize>) {
        self.by_edge_mut().into_iter().for_each(|column| column.rotate(range.clone()));
    }

    /// Edges of a range were put into another order: the one at `places[k]` came to place `k`.
    pub(crate) fn permute_edges(&mut self, range: Range<usize>, places: &[usize]) {
        self.by_edge_mut().into_iter().for_each(|column| column.permute(range.clone(), places));
    }

    /// Edges were copied from another tree.
    pub(crate) fn copy_edges(&mut self, to: usize, source: &RuleColumns, from: Range<usize>) {
        let pairs = self.by_edge_mut().into_iter().zip(source.by_edge());
        pairs.for_each(|(column, source)| column.copy_from(to, source, from.clone()));
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let all = self.by_stats().into_iter().chain(self.by_edge()).chain(self.by_node());
        all.map(SideColumn::bytes).sum::<usize>()
            + self.balance.bytes()
            + self.positions.bytes()
            + self.graph.nodes.bytes()
    }
}
