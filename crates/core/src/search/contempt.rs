//! Search-contempt in a search: when opponent nodes freeze, the draws there, and the player for whom a tree was grown.

use crate::rules::search_contempt::SearchContempt;
use crate::rules::second_net::Net;
use crate::search::Search;
use crate::search::opponent::draw_by_prior;
use crate::stats::EdgeStats;
use crate::tree::Tree;

impl Tree {
    /// The weights of a frozen node by index of the edge, 0 = never drawn; edges beyond the end have none. `None`: the node is not frozen.
    /// This is what a proof may rest on where `proofs_respect_contempt` is set.
    pub fn frozen_weights(&self, node: u32) -> Option<Vec<f64>> {
        self.columns.frozen.weights(self.visited(node))
    }

    /// Whether the opponent may reply with this edge; true where nothing is frozen.
    pub fn in_frozen_support(&self, node: u32, edge: usize) -> bool {
        self.columns.frozen.in_support(self.visited(node), edge)
    }

    #[inline]
    pub(super) fn is_frozen(&self, node: u32) -> bool {
        self.columns.frozen.is_frozen(self.visited(node))
    }

    fn freeze(&mut self, node: u32, rule: &SearchContempt) {
        let sums: Vec<f64> = rule.running_sums(self.stats(node)).collect();
        self.columns.frozen.freeze(self.visited(node), &sums);
    }
}

impl Search {
    /// Whether the tree was grown for the other player at its root, to whom the opponent's nodes are their own.
    #[inline]
    pub(super) fn grown_for_other(&self) -> bool {
        let Some(player) = self.tree.columns.frozen.root_player() else { return false };
        self.tree.root_node().is_some_and(|root| self.tree.node(root).mover != player)
    }

    /// Whether proofs hold against the other player's choice of moves only.
    pub(super) fn rests_on_other_support(&self) -> bool {
        self.tree.columns.enabled.proofs_in_support && self.grown_for_other()
    }

    /// The edge that this visit draws at a frozen node, which freezes now if it is time; `None`: PUCT decides. Not for the root.
    ///
    /// One uniform number u a draw: the first edge whose running sum is above u times the whole. u is at most 1 - 2^-53, so the product is
    /// below the whole, and edges without weight are passed over.
    #[inline]
    pub(super) fn draw_frozen(&mut self, node: u32, own: &EdgeStats) -> Option<usize> {
        if self.turn != Net::Small {
            return None; // of several nets the small one's visits freeze
        }
        let rule = self.setup.params.search_contempt.as_ref()?;
        // A negative N_scl freezes the nodes of the root's player instead, which makes the player model
        // itself.
        let is_own = self.tree.columns.frozen.root_player() == Some(self.tree.node(node).mover);
        let model = self.setup.params.opponent_net.as_ref();
        if !rule.acts_at(own.visits, is_own) || model.is_some_and(|model| !model.reaches(self.path.len())) {
            return None;
        }
        // The weights are those of the N_scl visits that PUCT has made until now, and never change again: a
        // distribution that the opponent is assumed to play by, which later visits must not improve (Joshi
        // 2025, equations 5 and 6; the visit at N_scl itself is drawn already, as by the author's engine).
        if rule.n_scl != 0 && !self.tree.is_frozen(node) {
            self.tree.freeze(node, rule);
        }
        let ratio = rule.ratio_at(own.visits) * model.map_or(1.0, |model| model.share);
        // No number is drawn at ratio 1, where it could not matter: the stream, and so the tree, is that of
        // the paper's rule.
        if ratio < 1.0 && self.rules.draws.uniform() >= ratio {
            return None;
        }
        if rule.n_scl == 0 {
            self.counters.contempt_draws += 1;
            return draw_by_prior(self.tree.edges(node), &mut self.rules.draws);
        }
        let sums = self.tree.columns.frozen.sums(self.tree.visited(node));
        // Running sums instead of weights, so that a draw is one binary search.
        let drawn = self.rules.draws.uniform() * sums.last()?;
        self.counters.contempt_draws += 1;
        Some(sums.partition_point(|sum| *sum <= drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Player;
    use crate::stats::{Edge, Step, Value};
    use crate::tree::columns::{ColumnSet, RuleColumns};

    #[test]
    fn frozen_nodes_keep_their_weights() {
        let mut tree = Tree::with_columns(RuleColumns::new(ColumnSet { frozen: true, ..ColumnSet::default() }));
        let edges: Vec<Edge> = (0..5).map(|action| Edge::new(action, 0.2)).collect();
        let node = tree.add_node(Player::Second, &edges, Value { wl: 0.0, d: 0.0 });
        for (edge, visits) in [(0, 2), (1, 0), (2, 3)] {
            tree.choose_edge(node, edge);
            tree.step_stats(Step { node, edge }).visits = visits;
        }
        assert_eq!((tree.frozen_weights(node), tree.in_frozen_support(node, 4)), (None, true));
        tree.freeze(node, &SearchContempt::default());
        tree.choose_edge(node, 3);
        assert_eq!(tree.frozen_weights(node), Some(vec![2.0, 0.0, 3.0, 0.0]));
        let support: Vec<bool> = (0..6).map(|edge| tree.in_frozen_support(node, edge)).collect();
        assert_eq!(support, [true, false, true, false, false, false]);
        tree.columns.frozen.thaw(tree.visited(node));
        assert_eq!(tree.frozen_weights(node), None);
    }
}
