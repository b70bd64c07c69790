//! What proven results say about which move to play and which line is the best (place 6).

use crate::final_choice::Merit;
use crate::game::Player;
use crate::rules::solver::DrawPreference;
use crate::rules::solver::bounds::{Bounds, FAR};
use crate::search::Search;
use crate::tree::Step;

/// Rank of a proven draw that is preferred to all that is open.
const PREFERRED_DRAW: i32 = 1;

impl Bounds {
    /// Where a result puts a move: a win above 1, the shorter the higher; a loss below 0, the longer the higher; 0 else.
    pub fn rank(self) -> i32 {
        let nearness = i32::from(FAR - self.plies.max(1));
        match self.result() {
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

    /// Where a proven result puts edge `edge` of the root; 0 without one.
    pub(crate) fn proof_rank(&self, edge: usize) -> i32 {
        self.tree.root_node().map_or(0, |root| self.edge_bounds(root, edge).rank())
    }

    /// Puts the root's proven draws above what is open if the draw is preferred to the best of that.
    pub(crate) fn prefer_draws(&self, merits: &mut [Merit]) {
        let (Some(rule), Some(root)) = (&self.setup.params.solver, self.tree.root_node()) else { return };
        let is_draw = |edge: usize| self.edge_bounds(root, edge).result() == Some(0);
        let is_candidate = |edge: &usize| merits[*edge].allowed && merits[*edge].proof == 0;
        let best = (0..merits.len()).filter(is_candidate).min_by(|a, b| Merit::descending(&merits[*a], &merits[*b]));
        let Some(leader) = best else { return };
        if !is_draw(leader) && rule.draw_preference.takes_draw(merits[leader].q, self.draw_q(root)) {
            (0..merits.len()).filter(|edge| is_draw(*edge)).for_each(|edge| merits[edge].proof = PREFERRED_DRAW);
        }
    }

    /// Q of a draw for the mover of a node.
    fn draw_q(&self, node: u32) -> f64 {
        let for_first = self.setup.params.draw_score;
        if self.tree.node(node).mover == Player::First { for_first } else { -for_first }
    }

    /// Where edge `edge` of a node stands in the best line from there: in a node that is proven drawn the drawn edges come first.
    pub(crate) fn line_rank(&self, node: u32, edge: usize) -> i32 {
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
