//! The weights of the frozen nodes of a tree (search-contempt).

use std::ops::Range;

use crate::game::Player;
use crate::tree::column::Column;

/// The weights of the frozen nodes of a tree. A node is frozen when the running sum of its last visited edge is above 0.
///
/// The `edges` of the methods are a node's visited edges, as indices of their statistics.
#[derive(Clone, Debug, Default)]
pub struct Frozen {
    /// By visited edge: the sum of the weights of the node's edges up to this one, 0 = the node is not frozen.
    pub(crate) sums: Column<f64>,
    /// The root's mover for whom the tree was grown.
    made_for: Option<Player>,
}

impl Frozen {
    /// Storage for weights, or none while the rule is off.
    pub fn new(on: bool) -> Self {
        Frozen { sums: Column::new(on), made_for: None }
    }

    /// The root's mover for whom the tree was grown.
    #[inline]
    pub fn root_player(&self) -> Option<Player> {
        self.made_for
    }

    /// The visits are for this player at the root.
    #[inline]
    pub fn set_root_player(&mut self, mover: Player) {
        self.made_for = Some(mover);
    }

    /// Edge number `place` of a node has statistics now, at `index`: it has no weight, so the sum stays.
    pub(crate) fn add_stats(&mut self, index: usize, place: u16) {
        // An edge that gets its first record after the freezing is never drawn: an equal running sum is a
        // weight of 0.
        let sum = if place == 0 { 0.0 } else { self.sums.get(index - 1) };
        self.sums.set(index, sum);
    }

    /// The running sums of the weights of a node's edges; all 0 while it is not frozen.
    #[inline]
    pub fn sums(&self, edges: Range<usize>) -> &[f64] {
        self.sums.range(edges)
    }

    /// True when the node of these edges is frozen.
    #[inline]
    pub fn is_frozen(&self, edges: Range<usize>) -> bool {
        self.sums(edges).last().is_some_and(|sum| *sum > 0.0)
    }

    /// The weights of a frozen node by index of the edge, 0 = never drawn; edges beyond the end have none. `None`: the node is not frozen.
    pub fn weights(&self, edges: Range<usize>) -> Option<Vec<f64>> {
        let weight = |before: &mut f64, sum: &f64| Some(sum - std::mem::replace(before, *sum));
        self.is_frozen(edges.clone()).then(|| self.sums(edges).iter().scan(0.0, weight).collect())
    }

    /// Whether the opponent may reply with edge number `edge`; true where nothing is frozen.
    pub fn in_support(&self, edges: Range<usize>, edge: usize) -> bool {
        let sums = self.sums(edges.clone());
        let before = edge.checked_sub(1).map_or(0.0, |edge| sums.get(edge).copied().unwrap_or(f64::INFINITY));
        !self.is_frozen(edges) || sums.get(edge).is_some_and(|sum| *sum > before)
    }

    /// Freezes the node of these edges with these running sums.
    pub(crate) fn freeze(&mut self, edges: Range<usize>, sums: &[f64]) {
        self.sums.range_mut(edges).copy_from_slice(sums);
    }

    /// The node of these edges is not frozen any more.
    pub(crate) fn thaw(&mut self, edges: Range<usize>) {
        self.sums.range_mut(edges).fill(0.0);
    }
}
