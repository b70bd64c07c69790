//! How proofs climb a path, and backup in a tree that has them.

use crate::game::Player;
use crate::rules::q_average::QAverage;
use crate::rules::solver::Solver;
use crate::rules::solver::bounds::{Bounds, of_node};
use crate::stats::{EdgeStats, Step, Value};
use crate::tree::Tree;

impl Tree {
    /// A node's only move is played without asking the network.
    pub fn mark_forced(&mut self, node: u32) {
        self.nodes[node as usize].forced = true;
    }

    /// Says what value a forced node has for the network; `raw`: before contempt.
    pub fn set_network_value(&mut self, node: u32, value: Value, raw: Value) {
        self.network[node as usize] = [value.wl as f32, value.d];
        self.columns.raw_network.set(node as usize, raw);
    }

    /// What is proven of the edge that a step takes.
    #[inline]
    pub fn bounds_at(&self, step: Step) -> Bounds {
        self.columns.bounds.get(self.stats_index(step))
    }

    /// Bounds of a node for its mover, over the edges that are allowed.
    pub fn node_bounds(&self, node: u32, allows: impl Fn(usize) -> bool) -> Bounds {
        let edges = self.edges(node).len();
        let chosen = self.stats(node).len();
        let first = self.node(node).stats as usize;
        // An edge without record is open, so it leaves the upper bound of its node open.
        let complete = (chosen..edges).all(|edge| !allows(edge));
        let in_support = |edge| !self.columns.enabled.proofs_in_support || self.in_frozen_support(node, edge);
        let bounds = |edge| if in_support(edge) { self.columns.bounds.get(first + edge) } else { Bounds::OPEN };
        of_node((0..chosen).filter(|edge| allows(*edge)).map(bounds), complete)
    }

    /// Gives the edge that a step takes what is proven of its child; false if that is nothing new.
    fn learn_bounds(&mut self, step: Step, node: u32) -> bool {
        let record = self.stats_index(step);
        let flip = self.node(node).mover != self.node(step.node).mover;
        let learnt = self.columns.bounds.get(record).tightened(self.node_bounds(node, |_| true).seen_from_parent(flip));
        if let Some(bounds) = learnt {
            self.columns.bounds.set(record, bounds);
        }
        learnt.is_some()
    }

    /// Carries bounds from the edge that a path ends with towards the root; ends at the first node that learns nothing.
    /// True when an edge of the root has changed.
    pub fn spread_bounds(&mut self, path: &[Step]) -> bool {
        // `all` ends at the first node that learns nothing: what is above it cannot have changed.
        path.windows(2).rev().all(|pair| self.learn_bounds(pair[0], pair[1].node))
    }

    /// Gives the edge at the end of a path what is proven of its child, and carries that up.
    /// True when an edge of the root has changed.
    pub fn spread_node(&mut self, path: &[Step], node: u32) -> bool {
        path.last().is_none_or(|last| self.learn_bounds(*last, node)) && self.spread_bounds(path)
    }

    /// `backup_by_rules` where nodes may be proven: their value is exact and goes up in the place of what came from below, and
    /// values that pass a node keep within its bounds.
    pub fn backup_with_bounds(
        &mut self,
        path: &[Step],
        mover: Player,
        value: Value,
        solver: &Solver,
        average: Option<&QAverage>,
    ) {
        let mut climb = Climb { value, owner: mover, correction: Correction::NONE, solver, average };
        for step in path.iter().rev() {
            climb.turn_to(self.node(step.node).mover);
            let record = self.stats_index(*step);
            let bounds = self.columns.bounds.get(record);
            let deviations = self.columns.deviations.get(record);
            let stats = &mut self.stats[record];
            stats.in_flight -= 1;
            let deviations = if bounds.is_proven() {
                climb.pass_proven(stats, bounds);
                deviations
            } else {
                climb.pass(stats, deviations, bounds)
            };
            self.columns.deviations.set(record, deviations);
        }
        climb.turn_to(path.first().map_or(mover, |step| self.node(step.node).mover));
        self.root.in_flight -= 1;
        self.columns.root_deviations =
            climb.pass(&mut self.root, self.columns.root_deviations, self.columns.root_bounds);
    }
}

/// What is to be added to the sum of the values of earlier visits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Correction {
    wl: f64,
    d: f64,
}

impl Correction {
    const NONE: Correction = Correction { wl: 0.0, d: 0.0 };
}

/// A value on its way to the root.
struct Climb<'a> {
    value: Value,
    /// Whose value it is.
    owner: Player,
    correction: Correction,
    solver: &'a Solver,
    average: Option<&'a QAverage>,
}

impl Climb<'_> {
    /// Sees value and correction as this player does.
    fn turn_to(&mut self, player: Player) {
        if player != self.owner {
            self.value = self.value.flipped();
            self.correction.wl = -self.correction.wl;
            self.owner = player;
        }
    }

    /// One more visit of a proven edge. What its earlier visits had returned instead is corrected in all that lies above.
    fn pass_proven(&mut self, stats: &mut EdgeStats, bounds: Bounds) {
        let exact = bounds.value();
        let visits = f64::from(stats.visits);
        // The means above contain the estimates that this edge had returned. Their sum is moved by what those
        // were wrong by; with other step sizes the weights of the old visits are not known.
        self.correction = if self.solver.retro_fix && self.average.is_none() {
            Correction { wl: (exact.wl - stats.wl) * visits, d: f64::from(exact.d - stats.d) * visits }
        } else {
            Correction::NONE
        };
        self.value = exact;
        stats.visits += 1;
        (stats.wl, stats.d) = (exact.wl, exact.d);
    }

    /// One more visit of an edge that is not proven; returns its squared deviations.
    fn pass(&mut self, stats: &mut EdgeStats, deviations: f64, bounds: Bounds) -> f64 {
        let bounds = if self.solver.clamp_to_bounds { bounds } else { Bounds::OPEN };
        if self.correction != Correction::NONE && stats.visits > 0 {
            self.correct(stats, bounds);
        }
        self.value = bounds.clamp(self.value);
        let mut step_size = self.average.map(|rule| |visits| rule.step_size(visits));
        stats.add_with_deviations(deviations, self.value, step_size.as_mut())
    }

    /// Moves the mean of the earlier visits, within the bounds.
    fn correct(&mut self, stats: &mut EdgeStats, bounds: Bounds) {
        let visits = f64::from(stats.visits);
        let free = stats.wl + self.correction.wl / visits;
        let wl = free.clamp(f64::from(bounds.lower), f64::from(bounds.upper));
        // The bounds cut the correction off here, so only what was really applied goes further up.
        if wl != free {
            self.correction.wl = (wl - stats.wl) * visits;
        }
        let d = (f64::from(stats.d) + self.correction.d / visits).clamp(0.0, 1.0 - wl.abs());
        (stats.wl, stats.d) = (wl, d as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Edge;
    use crate::tree::columns::{ColumnSet, RuleColumns};

    const DRAWLESS: f32 = 0.0;

    /// The worked example: own value 0.08; visits and Q of the edges 12 x 0.2, 6 x 0.1, 2 x 0.02.
    fn example() -> (Tree, Vec<Step>) {
        let enabled = ColumnSet { bounds: true, ..ColumnSet::default() };
        let mut tree = Tree::with_columns(RuleColumns::new(enabled));
        let edges: Vec<Edge> = (0..4).map(|a| Edge::new(a, 0.25)).collect();
        let root = tree.add_node(Player::First, &edges, Value { wl: 0.08, d: DRAWLESS });
        for (k, (visits, wl)) in [(12, 0.2), (6, 0.1), (2, 0.02)].into_iter().enumerate() {
            tree.choose_edge(root, k as u32);
            let node = tree.add_node(Player::Second, &edges, Value { wl: -wl, d: DRAWLESS });
            let stats = tree.step_stats(Step { node: root, edge: k as u32 });
            (stats.visits, stats.wl, stats.node) = (visits, wl, node);
        }
        (tree.root.visits, tree.root.node) = (21, root);
        tree.root.wl = (0.08 + 2.4 + 0.6 + 0.04) / 21.0;
        (tree, vec![Step { node: root, edge: 1 }])
    }

    fn proven_root_value(solver: &Solver) -> f64 {
        let (mut tree, path) = example();
        let record = tree.stats_index(path[0]);
        tree.columns.bounds.set(record, Bounds::exact(-1, 2, false));
        tree.change_in_flight(&path, 1);
        tree.backup_with_bounds(&path, Player::First, Value { wl: -1.0, d: 0.0 }, solver, None);
        assert_eq!((tree.stats(path[0].node)[1].wl, tree.stats(path[0].node)[1].visits), (-1.0, 7));
        tree.root.wl
    }

    #[test]
    fn a_proof_corrects_the_visits_before_it() {
        let fixed = proven_root_value(&Solver::default());
        assert!((fixed - (0.08 + 2.4 + 0.04 - 7.0) / 22.0).abs() < 1e-12, "{fixed}");
        assert!((fixed + 0.203_636_363_636).abs() < 1e-9);
        let plain = proven_root_value(&Solver { retro_fix: false, ..Solver::default() });
        assert!((plain - 0.096_363_636_363).abs() < 1e-9, "{plain}");
    }

    #[test]
    fn a_reopened_root_is_the_mean_of_its_edges() {
        let (mut tree, _) = example();
        (tree.root.visits, tree.root.wl) = (40, 1.0);
        tree.reopen_root();
        assert_eq!(tree.root.visits, 21);
        assert!((tree.root.wl - 3.12 / 21.0).abs() < 1e-8);
    }
}
