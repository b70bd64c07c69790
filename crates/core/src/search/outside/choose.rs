//! Selection by rules from outside: a node is shown, and the edge taken that they leave with the greatest score.

use crate::game::Player;
use crate::search::outside::{ALLOWED, EDGE_FACTS, EdgeDraws, NodeRows};
use crate::search::scores::{NodeContext, NodeScores};
use crate::search::{Along, LeafSources, Reached, Search, Visit};
use crate::stats::{EdgeStats, Step};
use crate::tree::Tree;

/// Where the descent of a tree stands, and what was shown of that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub node: u32,
    pub own: EdgeStats,
    /// The edge that led here, by its place in the rows above; -1 where none was shown.
    pub via: i64,
    /// Where the node's edges begin in the rows.
    pub start: usize,
}

impl Standing {
    pub(super) fn at(node: u32, own: EdgeStats, via: i64) -> Self {
        Standing { node, own, via, start: 0 }
    }
}

/// What is shown of the terms of edges, [E]. Priors are empty where no rule asks for them.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub priors: Vec<f64>,
    pub q: Vec<f64>,
    pub u: Vec<f64>,
}

impl Terms {
    pub(super) fn clear(&mut self) {
        [&mut self.priors, &mut self.q, &mut self.u].into_iter().for_each(Vec::clear);
    }
}

impl Search {
    /// Begins a descent.
    pub(super) fn begin_descent(&mut self, sources: LeafSources) -> Reached {
        self.path.clear();
        self.scratch.state.copy_from(self.root_state.as_ref());
        let Some(node) = self.tree.root_node() else {
            let waits = self.root_waits();
            return Reached::End(if waits { Visit::Collision } else { self.reach_leaf(sources) });
        };
        if self.setup.freezes() {
            self.tree.columns.frozen.set_root_player(self.tree.node(node).mover);
        }
        Reached::Node(node, self.tree.root)
    }

    /// The edge that the core's rules take in the place of PUCT; `None` where scores decide.
    pub(super) fn edge_unasked(&mut self, at: &Standing) -> Option<usize> {
        let taken = self.edge_by_rule(at.node, &at.own)?;
        if self.setup.scoring.is_plain() {
            return Some(taken);
        }
        self.best_by_rules(at.node, &at.own, Some(taken))
    }

    /// Takes an edge of the node that the descent stands at.
    pub(super) fn take_edge(&mut self, node: u32, edge: usize, sources: LeafSources) -> Reached {
        let edge = self.give_record(node, edge);
        match self.go_along::<false>(node, edge) {
            Along::Node(child, own) => Reached::Node(child, own),
            end => Reached::End(self.end_along(end, sources)),
        }
    }

    fn context(&self, at: &Standing) -> NodeContext<'_> {
        let root = self.path.is_empty().then_some(&self.root);
        let depth = self.path.len() + 1;
        NodeContext { node: at.node, own: at.own, depth, variance: self.rules.variance, root, turn: self.turn }
    }

    /// Shows the node that the descent stands at: its rows, and the terms of its edges.
    pub(super) fn show(
        &mut self,
        tree: usize,
        at: &mut Standing,
        draws: &[EdgeDraws],
        rows: &mut NodeRows,
        terms: &mut Terms,
    ) {
        if self.path.is_empty() {
            self.rules.variance = self.root_variance();
        }
        if let Some(rule) = self.setup.params.tree_balance {
            self.prepare_balance(&rule, at.node);
        }
        at.start = rows.actions.len();
        rows.via.push(at.via);
        self.tree.show_node(tree, at.node, &at.own, self.path.last().copied(), rows);
        let root = self.path.is_empty().then_some(&self.root);
        let node = at.node;
        let own = at.own;
        let depth = self.path.len() + 1;
        let context = NodeContext { node, own, depth, variance: self.rules.variance, root, turn: self.turn };
        let scores = NodeScores::new(&self.setup, &self.tree, context);
        let wants_priors = self.setup.outside.as_ref().is_some_and(|rules| rules.places().priors);
        let count = self.tree.edges(at.node).len();
        if let Some(root) = root {
            let allowed = (0..count).map(|k| f64::from(u8::from(root.allows(k))));
            rows.edges[ALLOWED][at.start..].iter_mut().zip(allowed).for_each(|(item, flag)| *item = flag);
        }
        for k in 0..count {
            // Without proofs: these come last, in `pick`, because a rule from outside may not change what is certain.
            let (q, u) = scores.free_terms(k, || self.rules.draws.normal());
            terms.q.push(q);
            terms.u.push(u);
            if wants_priors {
                terms.priors.push(scores.mixed_prior(k));
            }
        }
        let first = EDGE_FACTS + self.tree.columns.root_outside.len();
        for (kind, column) in draws.iter().zip(&mut rows.edges[first..]) {
            match kind {
                // From the tree's own stream: what it draws does not depend on the trees that are shown with it.
                EdgeDraws::Uniform => column[at.start..].fill_with(|| self.rules.draws.uniform()),
                EdgeDraws::Normal => column[at.start..].fill_with(|| self.rules.draws.normal()),
            }
        }
    }

    /// Computes U of the node that was shown from the priors that rules have left.
    pub(super) fn reprice(&self, at: &Standing, terms: &mut Terms) {
        let scores = NodeScores::new(&self.setup, &self.tree, self.context(at));
        for k in 0..self.tree.edges(at.node).len() {
            let place = at.start + k;
            terms.u[place] = scores.bonus(k, terms.priors[place], &scores.record(k));
        }
    }

    /// The edge of the node that was shown with the greatest score, among equals the first, unless rules have picked one.
    pub(super) fn pick(&mut self, at: &Standing, terms: &Terms, picked: i64) -> usize {
        let q = &terms.q[at.start..];
        let u = &terms.u[at.start..];
        let count = self.tree.edges(at.node).len();
        let at_root = self.path.is_empty();
        let allows = |k: usize| !at_root || self.root.allows(k);
        let mut best = usize::try_from(picked).ok();
        let scored = (self.setup.solves() || self.setup.params.variance.is_some())
            .then(|| NodeScores::new(&self.setup, &self.tree, self.context(at)));
        if best.is_none() {
            let mut best_score = f64::NEG_INFINITY;
            for (k, (q, u)) in q[..count].iter().zip(&u[..count]).enumerate() {
                let proven =
                    scored.as_ref().filter(|_| self.setup.solves()).and_then(|scores| scores.proven_terms(k, *u));
                let (q, u) = proven.unwrap_or((*q, *u));
                if q + u > best_score && allows(k) {
                    (best, best_score) = (Some(k), q + u);
                }
            }
        }
        let best = best.expect("a node has an edge that may be taken");
        let variance = scored.map(|scores| scores.child_variance(best));
        self.rules.variance = variance.unwrap_or(self.rules.variance);
        best
    }

    /// The rows of the root alone.
    pub(in crate::search) fn root_rows(&self, root: u32) -> NodeRows {
        let columns = self.tree.columns.root_outside.len();
        let mut rows = NodeRows::new(columns, 0);
        rows.clear(0);
        rows.via.push(-1);
        self.tree.show_node(0, root, &self.tree.root, None, &mut rows);
        rows
    }
}

impl Tree {
    /// Adds the rows of a node, but for random numbers and where it was come from. `last`: the step that leads to it.
    fn show_node(&self, tree: usize, node: u32, own: &EdgeStats, last: Option<Step>, rows: &mut NodeRows) {
        let edges = self.edges(node);
        let stats = self.stats(node);
        let visited = self.visited(node);
        let sign = if self.node(node).mover == Player::First { 1.0 } else { -1.0 };
        let facts = [f64::from(own.visits), own.wl, f64::from(own.d), self.network_value(node).wl, sign];
        let index = last.map(|step| self.stats_index(step));
        let columns =
            index.map_or(&self.columns.root_outside[..], |index| self.columns.outside.range(index..index + 1));
        rows.nodes.iter_mut().zip(facts.iter().chain(columns)).for_each(|(row, fact)| row.push(*fact));
        rows.trees.push(tree as i64);
        let start = rows.actions.len();
        rows.actions.extend(edges.iter().map(|edge| edge.action));
        let end = rows.actions.len();
        rows.starts.push(end as i64);
        rows.edges.iter_mut().for_each(|row| row.resize(end, 0.0));
        let width = self.columns.root_outside.len();
        let kept = self.columns.outside.range(visited.clone());
        for (place, column) in rows.edges[EDGE_FACTS..][..width].iter_mut().enumerate() {
            let floats = kept.iter().skip(place).step_by(width);
            column[start..].iter_mut().zip(floats).for_each(|(item, float)| *item = *float);
        }
        let [visits, in_flight, mean, draws, priors, ended, proven, allowed, ..] = &mut rows.edges[..] else {
            unreachable!("rows have these facts")
        };
        allowed[start..].fill(1.0);
        priors[start..].iter_mut().zip(edges).for_each(|(item, edge)| *item = f64::from(edge.prior()));
        let bounds = self.columns.bounds.range(visited);
        let flags = bounds.iter().map(|bounds| f64::from(u8::from(bounds.is_proven())));
        proven[start..].iter_mut().zip(flags).for_each(|(item, flag)| *item = flag);
        let [visits, in_flight, mean, draws, ended] =
            [visits, in_flight, mean, draws, ended].map(|row| &mut row[start..][..stats.len()]);
        for (k, stats) in stats.iter().enumerate() {
            visits[k] = f64::from(stats.visits);
            in_flight[k] = f64::from(stats.in_flight);
            mean[k] = stats.wl;
            draws[k] = f64::from(stats.d);
            ended[k] = f64::from(u8::from(stats.is_end()));
        }
    }
}
