//! Repetition scoring: a position that occurs for the second time counts as the draw that it would come to (node state, place 5).

use serde::{Deserialize, Serialize};

use crate::game::Outcome;
use crate::rules::second_net::LargeStats;
use crate::rules::variance::merged;
use crate::search::Search;
use crate::tree::{EdgeStats, TERMINAL, Tree, Value, repeated_after};

/// Plies below the root before a repeat can count: no position of chess comes back sooner.
const LEAST_DEPTH: usize = 4;

/// Which second occurrences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionMode {
    /// Those whose first occurrence lies at or below the root, at depth 4 or more; a value, never a proof (lc0).
    InlineValue,
    /// All of them, also repeats of the game's history; a proof for the solver, as in the fork (unsound).
    LegacyCertain,
}

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Repetition {
    /// Which second occurrences count.
    pub mode: RepetitionMode,
}

impl Default for Repetition {
    fn default() -> Self {
        Repetition { mode: RepetitionMode::InlineValue }
    }
}

impl Repetition {
    /// Whether a position `depth` plies below the root counts whose earlier occurrence was `plies_since` plies before it.
    pub fn counts(&self, depth: usize, plies_since: u32) -> bool {
        match self.mode {
            RepetitionMode::InlineValue => depth >= LEAST_DEPTH && plies_since as usize <= depth,
            RepetitionMode::LegacyCertain => true,
        }
    }
}

impl Search {
    /// The result that a repeat at the scratch position counts as, and the mark of its record. The root is exempt.
    pub(crate) fn repeat_at_leaf(&self) -> Option<(Outcome, u32)> {
        let rule = self.setup.params.repetition.as_ref()?;
        let repeat = self.scratch.repetition()?;
        let counts = rule.counts(self.path.len(), repeat.plies_since);
        counts.then(|| (repeat.outcome, repeated_after(repeat.plies_since)))
    }

    /// Takes back all visits of repeats that count no longer, now that the root has moved past their first occurrence.
    pub(crate) fn reopen_repeats(&mut self) {
        if let Some(rule) = self.setup.params.repetition.filter(|rule| rule.mode == RepetitionMode::InlineValue) {
            self.tree.reopen_repeats(&rule, self.setup.params.q_average.is_some());
        }
    }
}

/// Visits that are taken back: their number, and mean and squared deviations of their values for some player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Removed {
    visits: u32,
    wl: f64,
    deviations: f64,
    d: f64,
}

impl Removed {
    fn of(end: &EdgeStats) -> Removed {
        Removed { visits: end.visits, wl: end.wl, deviations: 0.0, d: f64::from(end.d) }
    }

    fn seen(self, flip: bool) -> Removed {
        Removed { wl: if flip { -self.wl } else { self.wl }, ..self }
    }

    /// Both sets together.
    fn and(self, other: Removed) -> Removed {
        if self.visits == 0 || other.visits == 0 {
            return if self.visits == 0 { other } else { self };
        }
        let (k, l) = (f64::from(self.visits), f64::from(other.visits));
        let (_, wl, deviations) = merged((k, self.wl, self.deviations), (l, other.wl, other.deviations));
        Removed { visits: self.visits + other.visits, wl, deviations, d: self.d + (other.d - self.d) * l / (k + l) }
    }

    /// A record and its squared deviations without these visits; only that of a forced node may have no more. The inverse of
    /// merging two sets:
    ///
    /// Q' = Q - k (q - Q) / (n - k) and M' = M - m - (q - Q')^2 k (n - k) / n, with k visits of mean q and deviations m taken out.
    fn taken_from(&self, stats: &mut EdgeStats, deviations: f64) -> f64 {
        if self.visits >= stats.visits {
            (stats.visits, stats.wl, stats.d) = (0, 0.0, 0.0);
            return 0.0;
        }
        let (n, k) = (f64::from(stats.visits), f64::from(self.visits));
        let d = f64::from(stats.d);
        stats.wl = (stats.wl - k * (self.wl - stats.wl) / (n - k)).clamp(-1.0, 1.0);
        stats.d = (d - k * (self.d - d) / (n - k)).clamp(0.0, 1.0) as f32;
        stats.visits -= self.visits;
        let gap = self.wl - stats.wl;
        (deviations - self.deviations - gap * gap * k * (n - k) / n).max(0.0)
    }
}

/// Visits that are taken back from a node: those of the tree's records, and those of the large net's turns (second net).
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    visits: Removed,
    large: Removed,
}

impl Lost {
    fn is_nothing(&self) -> bool {
        self.visits.visits == 0 && self.large.visits == 0
    }

    fn seen(self, flip: bool) -> Lost {
        Lost { visits: self.visits.seen(flip), large: self.large.seen(flip) }
    }

    fn and(self, other: Lost) -> Lost {
        Lost { visits: self.visits.and(other.visits), large: self.large.and(other.large) }
    }

    /// What the large net found without its part.
    fn taken_from_large(&self, large: LargeStats) -> LargeStats {
        let LargeStats { wl, d, visits, .. } = large;
        let mut stats = EdgeStats { wl, d, visits, ..EdgeStats::FRESH_ROOT };
        if self.large.visits > 0 {
            self.large.taken_from(&mut stats, 0.0);
        }
        LargeStats { wl: stats.wl, d: stats.d, visits: stats.visits, ..large }
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
    lost: Vec<Lost>,
}

impl Tree {
    /// Makes repeats that count no longer edges without visits, and takes those visits from all nodes above them. `averaged`: means
    /// have step sizes of their own (Q average); such a mean becomes the plain one of what is left.
    fn reopen_repeats(&mut self, rule: &Repetition, averaged: bool) {
        let Some(root) = self.root_node() else { return };
        let lost = vec![Lost::default(); self.num_nodes()];
        let mut pass = Reopening { rule, averaged, depths: self.depths(), lost };
        for node in (0..self.num_nodes() as u32).rev() {
            pass.lost[node as usize] = self.reopen_edges(node, &pass);
        }
        let lost = pass.lost[root as usize];
        let (own, deviations) = (self.root, self.side.root_deviations);
        (self.root, self.side.root_deviations) = self.without(lost.visits, root, own, deviations, false, averaged);
        self.side.root_large = lost.taken_from_large(self.side.root_large);
    }

    /// Plies from the root to each node.
    fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.num_nodes()];
        for node in 0..self.num_nodes() as u32 {
            for stats in self.stats(node).iter().filter(|stats| stats.node < TERMINAL) {
                depths[stats.node as usize] = depths[node as usize] + 1;
            }
        }
        depths
    }

    /// Takes visits from the edges of a node: those of repeats, and those that the nodes behind have lost. Returns them all.
    fn reopen_edges(&mut self, node: u32, pass: &Reopening) -> Lost {
        let first = self.node(node).stats as usize;
        let mut all = Lost::default();
        for record in first..first + self.stats(node).len() {
            let stats = self.stats[record];
            let lost = match stats.repeated_plies() {
                Some(plies) if pass.rule.counts(pass.depths[node as usize] + 1, plies) => continue,
                Some(_) => self.reopen_record(record),
                None => self.take_from_record(node, record, pass),
            };
            all = all.and(lost);
        }
        all
    }

    /// Makes a record of a repeat one without visits; returns what it had. Weights that are frozen stay.
    fn reopen_record(&mut self, record: usize) -> Lost {
        let (stats, large) = (self.stats[record], self.side.large.get(record));
        self.stats[record] = EdgeStats::fresh(stats.prior);
        self.side.clear_record(record);
        let large = EdgeStats { wl: large.wl, d: large.d, visits: large.visits, ..stats };
        Lost { visits: Removed::of(&stats), large: Removed::of(&large) }
    }

    /// Takes from a record what the node behind it has lost; returns that, for the mover of `node`. An exact value rests on no repeat.
    fn take_from_record(&mut self, node: u32, record: usize, pass: &Reopening) -> Lost {
        let stats = self.stats[record];
        let lost = pass.lost.get(stats.node as usize).filter(|lost| !lost.is_nothing());
        let Some(lost) = lost.filter(|_| !self.side.bounds.get(record).is_proven()) else { return Lost::default() };
        let flip = self.node(stats.node).mover != self.node(node).mover;
        let lost = lost.seen(flip);
        let deviations = self.side.deviations.get(record);
        let (stats, deviations) = self.without(lost.visits, stats.node, stats, deviations, flip, pass.averaged);
        self.stats[record] = stats;
        self.side.deviations.set(record, deviations);
        self.side.large.set(record, lost.taken_from_large(self.side.large.get(record)));
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
        stats.visits -= lost.visits;
        let mean = self.plain_mean(node, stats.visits);
        let Value { wl, d } = if flip { mean.flipped() } else { mean };
        (EdgeStats { wl, d, ..stats }, deviations * f64::from(stats.visits) / before)
    }

    /// The mean of a node's own evaluation and the visits of its edges, `visits` in all, for its mover.
    fn plain_mean(&self, node: u32, visits: u32) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::variance::without;
    use crate::tree::Edge;

    #[test]
    fn which_repeats_count() {
        let inline = Repetition::default();
        assert!(inline.counts(5, 4) && inline.counts(4, 4));
        assert!(!inline.counts(3, 4) && !inline.counts(3, 2) && !inline.counts(5, 6));
        let legacy = Repetition { mode: RepetitionMode::LegacyCertain };
        assert!(legacy.counts(1, 40));
    }

    #[test]
    fn four_draws_of_ten_visits_taken_back() {
        let mut stats = EdgeStats { wl: 0.12, d: 0.4, visits: 10, ..EdgeStats::FRESH_ROOT };
        let draws = Removed { visits: 4, wl: 0.0, deviations: 0.0, d: 1.0 };
        draws.taken_from(&mut stats, 0.0);
        assert_eq!(stats.visits, 6);
        assert!((stats.wl - 0.20).abs() < 1e-12 && stats.d.abs() < 1e-6, "{stats:?}");
    }

    #[test]
    fn taking_back_at_once_is_taking_back_one_by_one() {
        let mut stats = EdgeStats { wl: 0.3, d: 0.4, visits: 10, ..EdgeStats::FRESH_ROOT };
        let draws = Removed { visits: 3, wl: 0.1, deviations: 0.0, d: 1.0 };
        let one_by_one = (0..3).fold((10.0, 0.3, 0.9), |set, _| without(set, 0.1));
        let deviations = draws.taken_from(&mut stats, 0.9);
        assert!((stats.wl - one_by_one.1).abs() < 1e-12 && (deviations - one_by_one.2).abs() < 1e-12);
    }

    #[test]
    fn sets_are_added_up() {
        let draws = Removed { visits: 2, wl: 0.0, deviations: 0.0, d: 1.0 };
        let wins = Removed { visits: 2, wl: 1.0, deviations: 0.0, d: 0.0 };
        assert_eq!(draws.and(wins), Removed { visits: 4, wl: 0.5, deviations: 1.0, d: 0.5 });
    }

    #[test]
    fn marks_hold_the_plies() {
        for plies in [1, 4, 100, 65_534] {
            let stats = EdgeStats { node: repeated_after(plies), ..EdgeStats::FRESH_ROOT };
            assert!(stats.is_end() && stats.repeated_plies() == Some(plies));
        }
        assert_eq!(EdgeStats::fresh(Edge::new(0, 0.5).stored_prior()).repeated_plies(), None);
    }
}
