//! The factors of the edges of those nodes that were selected from (tree balance).

use std::ops::Range;

use hauteur_machine::Arena;

use crate::tree::column::Column;

/// Factors of U, or what is added to Q, of the edges of some nodes; nothing while the rule is off.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    /// By node: 1 + where its factors begin, 0 = it has none yet.
    pub(crate) starts: Column<u32>,
    /// By node: what its factors are divided by; 0 = to be computed.
    pub(crate) levels: Column<f64>,
    /// Of each such node its factors, not yet divided by its level.
    factors: Arena<f64>,
}

impl Balance {
    /// Storage for factors, or none while the rule is off.
    pub fn new(on: bool) -> Self {
        Balance { starts: Column::new(on), levels: Column::new(on), factors: Arena::new() }
    }

    /// True when a node has its factors.
    #[inline]
    pub fn is_known(&self, node: u32) -> bool {
        self.starts.get(node as usize) > 0
    }

    /// The factors of a node of this many edges, which has them.
    #[inline]
    pub fn factors(&self, node: u32, edges: usize) -> &[f64] {
        &self.factors[self.starts.get(node as usize) as usize - 1..][..edges]
    }

    /// What the factors of a node are divided by; 0 = to be computed.
    #[inline]
    pub fn level(&self, node: u32) -> f64 {
        self.levels.get(node as usize)
    }

    pub(crate) fn set(&mut self, node: u32, factors: &[f64]) {
        // Factors are appended: few nodes have them, and a column by edge would be paid for by all.
        self.starts.set(node as usize, self.factors.len() as u32 + 1);
        self.levels.set(node as usize, 0.0);
        self.factors.extend_from_slice(factors);
    }

    /// Sets what the factors of a node are divided by.
    pub(crate) fn set_level(&mut self, node: u32, level: f64) {
        self.levels.set(node as usize, level);
    }

    /// Brings the factor of the last of some edges of a node to their front.
    pub(crate) fn rotate(&mut self, node: u32, edges: Range<usize>) {
        if let Some(factors) = self.reordered(node, edges) {
            factors.rotate_right(1);
        }
    }

    /// Puts the factors of some edges of a node into another order: the one at `places[k]` comes to place `k`.
    pub(crate) fn permute(&mut self, node: u32, edges: Range<usize>, places: &[usize]) {
        if let Some(factors) = self.reordered(node, edges) {
            let before = factors.to_vec();
            factors.iter_mut().zip(places).for_each(|(factor, place)| *factor = before[*place]);
        }
    }

    /// Factors that are about to have another order, so that sums over them must be taken again.
    fn reordered(&mut self, node: u32, edges: Range<usize>) -> Option<&mut [f64]> {
        let start = (self.starts.get(node as usize) as usize).checked_sub(1)?;
        self.levels.set(node as usize, 0.0);
        Some(&mut self.factors[start + edges.start..start + edges.end])
    }

    /// Takes the factors of a node of another tree, which has this many edges.
    pub(crate) fn copy_node(&mut self, to: u32, source: &Balance, from: u32, edges: usize) {
        if source.is_known(from) {
            self.set(to, source.factors(from, edges));
            self.set_level(to, source.level(from));
        }
    }

    /// Bytes of the factors.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.factors[..])
    }
}
