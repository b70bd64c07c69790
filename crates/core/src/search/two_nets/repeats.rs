//! Repeats that no longer count are taken back from the statistics of the larger nets.

use crate::rules::repetition::{Removed, Repetition};
use crate::stats::{Step, TERMINAL};
use crate::tree::Tree;

impl Tree {
    /// Takes back the larger nets' visits of repeats that no longer count; before the tree's own records of them begin anew.
    pub(in crate::search) fn reopen_larger_nets(&mut self, rule: &Repetition) {
        let Some(root) = self.root_node() else { return };
        let depths = if self.columns.root_large.is_empty() { Vec::new() } else { self.depths() };
        for place in 0..self.columns.root_large.len() {
            let mut lost = vec![Removed::default(); self.num_nodes()];
            // From the end: children have higher numbers than their parents after re-rooting.
            for node in (0..self.num_nodes() as u32).rev() {
                lost[node as usize] = self.reopen_edges_of(place, node, rule, depths[node as usize], &lost);
            }
            let lost = lost[root as usize];
            if lost.visits > 0 {
                lost.taken_from(&mut self.columns.root_large[place], 0.0);
            }
        }
    }

    /// Takes a larger net's visits from the edges of a node; returns them all, for the node's mover.
    fn reopen_edges_of(
        &mut self,
        place: usize,
        node: u32,
        rule: &Repetition,
        depth: usize,
        lost: &[Removed],
    ) -> Removed {
        let mut all = Removed::default();
        for edge in 0..self.stats(node).len() as u32 {
            let step = Step { node, edge };
            let stats = *self.record(step);
            let index = self.stats_index(step);
            let mut large = self.columns.large.get(place, index);
            let gone = match stats.repeated_plies() {
                Some(plies) if rule.counts(depth + 1, plies) => Removed::default(),
                Some(_) => Removed::of(&large),
                None if stats.node < TERMINAL => {
                    let flip = self.node(stats.node).mover != self.node(node).mover;
                    lost[stats.node as usize].seen(flip)
                }
                None => Removed::default(),
            };
            if gone.visits > 0 && stats.node < TERMINAL {
                gone.taken_from(&mut large, 0.0);
                self.columns.large.set(place, index, large);
            }
            all = all.and(gone);
        }
        all
    }
}
