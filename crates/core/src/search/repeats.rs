//! Repeats as results: where they are met, and how they are taken back when the root has moved on (repetition).

use crate::game::Outcome;
use crate::rules::repetition::{Removed, Repetition, RepetitionMode};
use crate::search::Search;
use crate::stats::{EdgeStats, TERMINAL, Value, repeated_after};
use crate::tree::Tree;

impl Search {
    /// The result that a repeat at the scratch position counts as, and the mark of its record. The root is exempt.
    pub(super) fn repeat_at_leaf(&self) -> Option<(Outcome, u32)> {
        let rule = self.setup.params.repetition.as_ref()?;
        let repeat = self.scratch.state.repetition()?;
        let counts = rule.counts(self.path.len(), repeat.plies_since);
        counts.then(|| (repeat.outcome, repeated_after(repeat.plies_since)))
    }

    /// Takes back all visits of repeats that no longer count, now that the root has moved past their first occurrence.
    pub(super) fn reopen_repeats(&mut self) {
        if let Some(rule) = self.setup.params.repetition.filter(|rule| rule.mode == RepetitionMode::InlineValue) {
            match self.setup.graph() {
                true => self.tree.reopen_graph(&rule),
                false => {
                    self.tree.reopen_larger_nets(&rule);
                    self.tree.reopen_repeats(&rule, self.setup.averages());
                }
            }
        }
    }
}

/// A pass over a tree that was just re-rooted, where no node comes before its parent.
struct Reopening<'a> {
    rule: &'a Repetition,
    /// Means have step sizes of their own, so they do not say what a visit did to them.
    averaged: bool,
    /// By node: plies from the root.
    depths: Vec<usize>,
    /// By node: what it has lost, for its mover.
    lost: Vec<Removed>,
}

impl Tree {
    /// Makes repeats that no longer count edges without visits, and takes those visits from all nodes above them. `averaged`: means
    /// have step sizes of their own (Q average); such a mean becomes the plain one of what is left.
    fn reopen_repeats(&mut self, rule: &Repetition, averaged: bool) {
        let Some(root) = self.root_node() else { return };
        let lost = vec![Removed::default(); self.num_nodes()];
        let mut pass = Reopening { rule, averaged, depths: self.depths(), lost };
        // Re-rooting copies breadth first, so children have higher numbers than their parents: from the end,
        // each node is complete before its parent asks for it.
        for node in (0..self.num_nodes() as u32).rev() {
            pass.lost[node as usize] = self.reopen_edges(node, &pass);
        }
        let lost = pass.lost[root as usize];
        let own = self.root;
        let deviations = self.columns.root_deviations;
        (self.root, self.columns.root_deviations) = self.without(lost, root, own, deviations, false, averaged);
    }

    /// Plies from the root to each node.
    pub(super) fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.num_nodes()];
        for node in 0..self.num_nodes() as u32 {
            for stats in self.stats(node).iter().filter(|stats| stats.node < TERMINAL) {
                depths[stats.node as usize] = depths[node as usize] + 1;
            }
        }
        depths
    }

    /// Takes visits from the edges of a node: those of repeats, and those that its children have lost. Returns them all.
    fn reopen_edges(&mut self, node: u32, pass: &Reopening) -> Removed {
        let first = self.node(node).stats as usize;
        let mut all = Removed::default();
        for record in first..first + self.stats(node).len() {
            let stats = self.stats[record];
            let lost = match stats.repeated_plies() {
                // The first occurrence is still below the root.
                Some(plies) if pass.rule.counts(pass.depths[node as usize] + 1, plies) => continue,
                Some(_) => self.reopen_stats(record),
                None => self.take_from_stats(node, record, pass),
            };
            all = all.and(lost);
        }
        all
    }

    /// Makes a record of a repeat one without visits; returns what it had. Weights that are frozen stay.
    fn reopen_stats(&mut self, record: usize) -> Removed {
        let stats = self.stats[record];
        self.stats[record] = EdgeStats::fresh(stats.prior);
        self.columns.clear_stats(record);
        Removed::of(&stats)
    }

    /// Takes from a record what its child has lost; returns that, for the mover of `node`. An exact value does not rest on repeats.
    fn take_from_stats(&mut self, node: u32, record: usize, pass: &Reopening) -> Removed {
        let stats = self.stats[record];
        let lost = pass.lost.get(stats.node as usize).filter(|lost| lost.visits > 0);
        let Some(lost) = lost.filter(|_| !self.columns.bounds.get(record).is_proven()) else {
            return Removed::default();
        };
        let flip = self.node(stats.node).mover != self.node(node).mover;
        let lost = lost.seen(flip);
        let deviations = self.columns.deviations.get(record);
        let (stats, deviations) = self.without(lost, stats.node, stats, deviations, flip, pass.averaged);
        self.stats[record] = stats;
        self.columns.deviations.set(record, deviations);
        lost
    }

    /// The record of a node without some visits, and its squared deviations. `flip`: the record is for the other player.
    fn without(
        &self,
        lost: Removed,
        node: u32,
        mut stats: EdgeStats,
        deviations: f64,
        flip: bool,
        averaged: bool,
    ) -> (EdgeStats, f64) {
        if lost.visits == 0 {
            return (stats, deviations);
        }
        if !averaged {
            let deviations = lost.taken_from(&mut stats, deviations);
            return (stats, deviations);
        }
        let before = f64::from(stats.visits);
        // With step sizes of their own the weight of a single visit in the mean is not known any more, so the
        // mean is made anew of what is left.
        stats.visits -= lost.visits;
        let mean = self.plain_mean(node, stats.visits);
        let Value { wl, d } = if flip { mean.flipped() } else { mean };
        (EdgeStats { wl, d, ..stats }, deviations * f64::from(stats.visits) / before)
    }

    /// The mean of a node's own evaluation and the visits of its edges, `visits` in all, for its mover.
    pub(super) fn plain_mean(&self, node: u32, visits: u32) -> Value {
        let own = self.network_value(node);
        let own_visits = f64::from(u8::from(!self.node(node).forced));
        let edges = self.stats(node).iter();
        let (wl, d) = edges.fold((own.wl * own_visits, f64::from(own.d) * own_visits), |(wl, d), stats| {
            let visits = f64::from(stats.visits);
            (wl + visits * stats.wl, d + visits * f64::from(stats.d))
        });
        let visits = f64::from(visits.max(1));
        Value { wl: wl / visits, d: (d / visits) as f32 }
    }
}
