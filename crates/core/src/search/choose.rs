//! Which edge a descent takes where rules have a say: a rule in the place of PUCT, or PUCT with the scores of rules.
//!
//! In this order: a rule that stands in the place of PUCT (frozen nodes, halving, forced playouts) draws or names an edge; else the
//! loop that was compiled for the rules that are on; else `NodeScores`, which has all of them.

use crate::search::Search;
use crate::search::scores::{NodeContext, NodeScores};
use crate::search::scoring::Scoring;
use crate::search::select::{Limited, NodeView, Plain, best_edge};
use crate::stats::EdgeStats;

impl Search {
    /// The edge that a rule in the place of PUCT takes; `None`: PUCT decides.
    pub(super) fn edge_by_rule(&mut self, node: u32, own: &EdgeStats) -> Option<usize> {
        if self.path.is_empty() {
            // Forced playouts act at roots alone (Wu 2019, section 3.2), and so does halving (Danihelka et al.
            // 2022, algorithm 2).
            let forces = self.setup.params.forced_playouts.is_some();
            let forced = if forces { self.forced_edge(node, own) } else { None };
            return if self.setup.halves() { self.halving_edge(node) } else { forced };
        }
        let frozen = if self.setup.freezes() { self.draw_frozen(node, own) } else { None };
        // Where both rules are on, an opponent that is frozen has no improved policy: its moves are drawn.
        frozen.or_else(|| self.improved_edge(node, own))
    }

    /// The edge that is taken where more than the plain scores decides. Apart, so that plain PUCT stays small.
    #[inline(never)]
    pub(super) fn edge_by_rules(&mut self, node: u32, own: &EdgeStats) -> Option<usize> {
        let taken = self.edge_by_rule(node, own);
        if !self.setup.scoring.is_plain() {
            return self.best_by_rules(node, own, taken);
        }
        let at_root = self.path.is_empty();
        if taken.is_none() && (self.setup.drops_priors() || (at_root && self.setup.root_excludes_proven())) {
            return self.best_but_proven(node, own);
        }
        taken.or_else(|| {
            let view = NodeView::new(&self.setup, &self.tree, node, own, at_root);
            let edges = self.tree.edges(node);
            let stats = self.tree.stats(node);
            if at_root {
                let root = Limited { prior: |k, p| self.root.prior(k, p), allows: |k| self.root.allows(k) };
                best_edge(&view, edges, stats, &root)
            } else {
                best_edge(&view, edges, stats, &Plain)
            }
        })
    }

    /// The edge with the best score, unless one was drawn.
    pub(super) fn best_by_rules(&mut self, node: u32, own: &EdgeStats, drawn: Option<usize>) -> Option<usize> {
        let at_root = self.path.is_empty();
        if at_root {
            // sigma^2 of a node is known at the edge that leads to it, so it travels down with the descent; the
            // root has no such edge.
            self.rules.variance = self.root_variance();
        }
        if let Some(rule) = self.setup.params.tree_balance {
            self.prepare_balance(&rule, node);
        }
        // The fast loops know neither noise nor restriction. All of them find the edge that `NodeScores`
        // finds, with the same bits; tests hold them together.
        if !at_root || self.root.is_plain() {
            match &self.setup.scoring {
                Scoring::Terms(rules) => return drawn.or_else(|| self.best_by_terms(rules, node, own)),
                &Scoring::Noise(rule) if drawn.is_none() => return self.best_by_noise(&rule, node, own),
                &Scoring::Spread(rule) if drawn.is_none() => return self.best_by_spread(&rule, node, own),
                _ => {}
            }
        }
        let root = at_root.then_some(&self.root);
        let mixed = self.setup.params.second_net.as_ref().map(|rule| self.own_stats(rule, node, own));
        let own = mixed.unwrap_or(*own);
        let context =
            NodeContext { node, own, depth: self.path.len() + 1, variance: self.rules.variance, root, turn: self.turn };
        let scores = NodeScores::new(&self.setup, &self.tree, context);
        let best = drawn.or_else(|| scores.best(&mut self.rules.draws))?;
        self.rules.variance = scores.child_variance(best);
        Some(best)
    }
}
