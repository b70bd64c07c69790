//! What proven results say about which move to visit, to play, and to show in a line (places 2 and 6).

use crate::game::Player;
use crate::rules::solver::DrawPreference;
use crate::rules::solver::bounds::{Bounds, FAR};
use crate::search::Search;
use crate::search::final_choice::MoveRank;
use crate::search::select::{Limited, NodeView, best_edge};
use crate::stats::{EdgeStats, Prior, Step};

/// Rank of a proven draw that is preferred to all that is open.
const PREFERRED_DRAW: i32 = 1;

impl Bounds {
    /// Where a result puts a move: a win above 1, the shorter the higher; a loss below 0, the longer the higher; 0 else.
    pub fn rank(self) -> i32 {
        let nearness = i32::from(FAR - self.plies.max(1));
        match self.result() {
            // Above a preferred draw even where the way to the end is not known.
            Some(1) => PREFERRED_DRAW + 1 + nearness,
            Some(-1) => -1 - nearness,
            _ => 0,
        }
    }
}

impl DrawPreference {
    /// Whether a proven draw is played in the place of a leader that is open; both Q are for the mover.
    pub fn takes_draw(self, leader_q: f64, draw_q: f64) -> bool {
        match self {
            DrawPreference::QBased => leader_q < draw_q,
            DrawPreference::Never => false,
            DrawPreference::Always => true,
        }
    }
}

impl Search {
    /// What is proven of edge `edge` of a node, for the node's mover.
    pub fn edge_bounds(&self, node: u32, edge: usize) -> Bounds {
        match edge < self.tree.stats(node).len() {
            true => self.tree.bounds_at(Step { node, edge: edge as u32 }),
            false => Bounds::OPEN,
        }
    }

    /// Index of the edge that PUCT takes where moves that are proven lost may have prior 0, and a root may exclude proven edges.
    ///
    /// Excluded edges have scores below -48, which other edges are above as long as first-play urgency is no worse than -40.
    pub(in crate::search) fn best_but_proven(&mut self, node: u32, own: &EdgeStats) -> Option<usize> {
        let at_root = self.path.is_empty();
        let excludes = at_root && self.setup.root_excludes_proven();
        if excludes && self.setup.params.root_fpu.unwrap_or(self.setup.params.fpu).value.abs() > 40.0 {
            return self.best_by_rules(node, own, None);
        }
        let view = NodeView::new(&self.setup, &self.tree, node, own, at_root);
        let first = self.tree.node(node).stats as usize;
        let edges = self.tree.edges(node);
        let stats = self.tree.stats(node);
        let bounds = |k: usize| if k < stats.len() { self.tree.columns.bounds.get(first + k) } else { Bounds::OPEN };
        let prior = |k: usize, stored: Prior| match self.setup.drops_priors() && bounds(k).upper == -1 {
            true => 0.0,
            false if at_root => self.root.prior(k, stored),
            false => f64::from(stored.get()),
        };
        let allowed = |k: usize| !at_root || (self.root.allows(k) && !(excludes && bounds(k).is_proven()));
        let terms = Limited { prior, allows: allowed };
        // At a root where every edge is proven none is allowed above, and the exact values decide.
        best_edge(&view, edges, stats, &terms).or_else(|| self.best_by_rules(node, own, None))
    }

    /// Where a proven result puts edge `edge` of the root; 0 without one.
    pub(in crate::search) fn proof_rank(&self, edge: usize) -> i32 {
        self.tree.root_node().map_or(0, |root| self.edge_bounds(root, edge).rank())
    }

    /// Puts the root's proven draws above what is open if the draw is preferred to the best of that.
    pub(in crate::search) fn prefer_draws(&self, ranks: &mut [MoveRank]) {
        let (Some(rule), Some(root)) = (&self.setup.params.solver, self.tree.root_node()) else { return };
        let is_draw = |edge: usize| self.edge_bounds(root, edge).result() == Some(0);
        // The leader of what is open alone: a proven win stands above every draw, whatever the preference.
        let is_candidate = |edge: &usize| ranks[*edge].allowed && ranks[*edge].proof == 0;
        let best = (0..ranks.len()).filter(is_candidate).min_by(|a, b| MoveRank::descending(&ranks[*a], &ranks[*b]));
        let Some(leader) = best else { return };
        if !is_draw(leader) && rule.draw_preference.takes_draw(ranks[leader].q, self.draw_q(root)) {
            (0..ranks.len()).filter(|edge| is_draw(*edge)).for_each(|edge| ranks[edge].proof = PREFERRED_DRAW);
        }
    }

    /// Q of a draw for the mover of a node.
    fn draw_q(&self, node: u32) -> f64 {
        let for_first = self.setup.params.draw_score;
        if self.tree.node(node).mover == Player::First { for_first } else { -for_first }
    }

    /// Where edge `edge` of a node stands in the best line from there: in a node that is proven drawn the drawn edges come first.
    pub(in crate::search) fn line_rank(&self, node: u32, edge: usize) -> i32 {
        let bounds = self.edge_bounds(node, edge);
        let drawn = bounds.result() == Some(0) && self.tree.node_bounds(node, |_| true).result() == Some(0);
        if drawn { PREFERRED_DRAW } else { bounds.rank() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_wins_then_draws_then_long_losses() {
        let exact = |result, plies| Bounds::exact(result, plies, false).rank();
        let ranks =
            [exact(1, 1), exact(1, 3), exact(1, FAR), PREFERRED_DRAW, 0, exact(-1, FAR), exact(-1, 4), exact(-1, 2)];
        assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]), "{ranks:?}");
        assert_eq!((exact(0, 5), Bounds::OPEN.rank()), (0, 0));
    }

    #[test]
    fn draws_are_taken_for_less_than_nothing() {
        use DrawPreference::{Always, Never, QBased};
        assert!(QBased.takes_draw(-0.2, 0.0) && !QBased.takes_draw(0.1, 0.0) && QBased.takes_draw(0.1, 0.3));
        assert!(Always.takes_draw(0.9, 0.0) && !Never.takes_draw(-0.9, 0.0));
    }
}
