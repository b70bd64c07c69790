//! What rules keep beside the records, edges and nodes of a tree. A column exists only while its rule is on, so plain PUCT
//! pays for none of them.

use std::ops::Range;

use crate::params::SearchParams;
use crate::rules::search_contempt::Frozen;
use crate::rules::second_net::{LargeStats, NodeNets};
use crate::rules::solver::bounds::Bounds;
use crate::tree::Value;

/// One value an index, beside another vector, or nothing at all while it is off.
#[derive(Clone, Debug, Default)]
pub struct Column<T> {
    on: bool,
    items: Vec<T>,
}

impl<T: Copy + Default> Column<T> {
    pub(crate) fn new(on: bool) -> Self {
        Column { on, items: Vec::new() }
    }

    /// True when values are kept.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The value at an index; the default while the column is off.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        self.items.get(index).copied().unwrap_or_default()
    }

    /// Changes the value at an index; nothing while the column is off.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        if let Some(item) = self.items.get_mut(index) {
            *item = value;
        }
    }

    /// Grows with the vector beside it.
    pub fn resize(&mut self, len: usize) {
        if self.on {
            self.items.resize(len, T::default());
        }
    }

    /// Moves a block of values.
    pub fn copy_within(&mut self, from: Range<usize>, to: usize) {
        if self.on {
            self.items.copy_within(from, to);
        }
    }

    /// The values of a range; empty while the column is off.
    #[inline]
    pub fn range(&self, range: Range<usize>) -> &[T] {
        self.items.get(range).unwrap_or_default()
    }

    /// The values of a range, to be reordered; empty while the column is off.
    pub fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        if self.on { &mut self.items[range] } else { &mut [] }
    }

    /// The last value of a range comes to its front.
    fn rotate(&mut self, range: Range<usize>) {
        if self.on {
            self.items[range].rotate_right(1);
        }
    }

    /// Puts the values of a range into another order: the one at `places[k]` comes to place `k`.
    fn permute(&mut self, range: Range<usize>, places: &[usize]) {
        if self.on {
            let before = self.items[range.clone()].to_vec();
            self.items[range].iter_mut().zip(places).for_each(|(item, place)| *item = before[*place]);
        }
    }

    /// Takes the values of a range of another column.
    fn copy_range(&mut self, to: usize, source: &Self, from: Range<usize>) {
        if self.on {
            self.items[to..to + from.len()].copy_from_slice(&source.items[from]);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.items[..])
    }
}

/// The columns of one tree.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// By record: M, the sum of squared deviations of the values behind the edge (variance).
    pub deviations: Column<f64>,
    /// M of the root.
    pub root_deviations: f64,
    /// By node: the network's own value for its mover, where the search takes another one (WDL contempt).
    pub raw_network: Column<Value>,
    /// By edge: legal moves behind it, 0 = the game is over there (tree balance).
    pub replies: Column<u16>,
    /// By record: the weights of frozen nodes (search-contempt).
    pub frozen: Frozen,
    /// By record: what is proven of the result behind the edge (solver).
    pub bounds: Column<Bounds>,
    /// What is proven of the root, over the edges that it may take (solver).
    pub root_bounds: Bounds,
    /// A frozen node takes no proof from edges outside of its support (solver with search-contempt).
    pub proofs_in_support: bool,
    /// By record: what the large net's turns found behind the edge (second net).
    pub large: Column<LargeStats>,
    /// The same of the root.
    pub root_large: LargeStats,
    /// By edge: the large net's prior, in the bits of a `Prior` (second net).
    pub large_priors: Column<u16>,
    /// By node: which nets know it (second net).
    pub nets: Column<NodeNets>,
}

impl Side {
    /// The columns that these settings need, empty.
    pub fn new(params: &SearchParams) -> Self {
        let spread = params.variance.is_some() || params.lower_bound.is_some();
        Side {
            deviations: Column::new(spread),
            root_deviations: 0.0,
            raw_network: Column::new(params.wdl_contempt.is_some()),
            replies: Column::new(params.tree_balance.is_some()),
            frozen: Frozen::new(params.search_contempt.is_some()),
            bounds: Column::new(params.solver.is_some()),
            root_bounds: Bounds::OPEN,
            proofs_in_support: params.search_contempt.as_ref().is_some_and(|rule| rule.proofs_respect_contempt),
            large: Column::new(params.second_net.is_some()),
            root_large: LargeStats::default(),
            large_priors: Column::new(params.second_net.is_some()),
            nets: Column::new(params.second_net.is_some()),
        }
    }

    /// The same columns, empty.
    pub fn emptied(&self) -> Self {
        Side {
            deviations: Column::new(self.deviations.on),
            root_deviations: 0.0,
            raw_network: Column::new(self.raw_network.on),
            replies: Column::new(self.replies.on),
            frozen: self.frozen.emptied(),
            bounds: Column::new(self.bounds.on),
            root_bounds: Bounds::OPEN,
            proofs_in_support: self.proofs_in_support,
            large: Column::new(self.large.on),
            root_large: LargeStats::default(),
            large_priors: Column::new(self.large_priors.on),
            nets: Column::new(self.nets.on),
        }
    }

    /// There are so many records now.
    pub(crate) fn resize_records(&mut self, len: usize) {
        self.deviations.resize(len);
        self.frozen.resize(len);
        self.bounds.resize(len);
        self.large.resize(len);
    }

    /// A block of records moved.
    pub(crate) fn move_records(&mut self, from: Range<usize>, to: usize) {
        self.deviations.copy_within(from.clone(), to);
        self.frozen.move_records(from.clone(), to);
        self.bounds.copy_within(from.clone(), to);
        self.large.copy_within(from, to);
    }

    /// A record was made.
    pub(crate) fn clear_record(&mut self, record: usize) {
        self.deviations.set(record, 0.0);
        self.bounds.set(record, Bounds::OPEN);
        self.large.set(record, LargeStats::default());
    }

    /// A record was copied from another tree.
    pub(crate) fn copy_record(&mut self, to: usize, source: &Side, from: usize) {
        self.deviations.set(to, source.deviations.get(from));
        self.frozen.copy_record(to, &source.frozen, from);
        self.bounds.set(to, source.bounds.get(from));
        self.large.set(to, source.large.get(from));
    }

    /// Something is kept by edge.
    pub(crate) fn keeps_edges(&self) -> bool {
        self.replies.on || self.large_priors.on
    }

    /// There are so many nodes now.
    pub(crate) fn resize_nodes(&mut self, len: usize) {
        self.nets.resize(len);
        self.raw_network.resize(len);
    }

    /// A node was copied from another tree.
    pub(crate) fn copy_node(&mut self, to: u32, source: &Side, from: u32) {
        self.raw_network.set(to as usize, source.raw_network.get(from as usize));
        self.nets.set(to as usize, source.nets.get(from as usize));
    }

    /// There are so many edges now.
    pub(crate) fn resize_edges(&mut self, len: usize) {
        self.replies.resize(len);
        self.large_priors.resize(len);
    }

    /// The last edge of a range came to its front.
    pub(crate) fn rotate_edges(&mut self, range: Range<usize>) {
        self.replies.rotate(range.clone());
        self.large_priors.rotate(range);
    }

    /// Edges of a range were put into another order: the one at `places[k]` came to place `k`.
    pub(crate) fn permute_edges(&mut self, range: Range<usize>, places: &[usize]) {
        self.replies.permute(range.clone(), places);
        self.large_priors.permute(range, places);
    }

    /// Edges were copied from another tree.
    pub(crate) fn copy_edges(&mut self, to: usize, source: &Side, from: Range<usize>) {
        self.replies.copy_range(to, &source.replies, from.clone());
        self.large_priors.copy_range(to, &source.large_priors, from);
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let by_two_nets = self.large.bytes() + self.large_priors.bytes() + self.nets.bytes();
        self.deviations.bytes()
            + self.raw_network.bytes()
            + self.replies.bytes()
            + self.frozen.bytes()
            + self.bounds.bytes()
            + by_two_nets
    }
}
