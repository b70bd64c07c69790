//! Solver (certainty propagation, MCTS-Solver): proven bounds of results travel up the tree.
//!
//! Bounds stand in a column of the records (`RuleColumns::bounds`). A record whose bounds meet is proven: its value is exact
//! and frozen, and a visit that comes to it ends there.

pub mod bounds;

use crate::rules::Rule;
use crate::rules::setting::{choices, settings};

choices! {
    /// The way of selection with proven children below the root.
    pub enum LostChildMode {
        /// Plain PUCT with the exact value: visits of losing moves are a warning that travels up (Winands).
        Visit,
        /// A child that is proven lost for the mover gets Q - 50.
        Avoid,
        /// U times 0.5 for proven wins and losses, 0.0001 for draws.
        Damp,
        /// U / (1 + exp(-1.7 (d - 4))) for every proven child.
        DampByDepth,
        /// A child that is proven lost for the mover counts with prior 0 (lc0).
        ZeroPrior,
    }
}

choices! {
    /// When a proven draw is played in the place of the most visited move.
    pub enum DrawPreference {
        /// When the most visited move has Q < 0.
        QBased,
        /// Never.
        Never,
        /// Always, unless a win is proven.
        Always,
    }
}

settings! {
    /// Solver (certainty propagation, MCTS-Solver): proven bounds of results travel up the tree.
    Solver: Copy {
        /// Plies that are looked ahead at expansion.
        lookahead: u8 = 0, 0.0 => 1.0;
        /// Positions that a search of wins by threats may look at in a new node; 0: no such search. Chess and minichess (mates by
        /// checks), Gomoku (fours and threes).
        threats: u32 = 0, 0.0 => 1_000_000.0;
        /// Positions that an exact search of the root's moves may look at; 0: no such search. Connect Four, Gomoku, Hex, NoGo, Othello,
        /// tic-tac-toe.
        exact: u32 = 0, 0.0 => 10_000_000.0;
        /// The way of selection with proven children below the root.
        lost_child_mode: LostChildMode = LostChildMode::Visit;
        /// Values that are backed up are clamped to the bounds of the nodes they pass.
        clamp_to_bounds: bool = true;
        /// A proof corrects the means of all ancestors, as if every earlier visit had returned the proven value.
        retro_fix: bool = true;
        /// A proven root edge is not chosen while another one is not proven.
        root_excludes_proven: bool = true;
        /// When a proven draw is played in the place of the most visited move; q_based: when that has Q < 0.
        draw_preference: DrawPreference = DrawPreference::QBased;
        /// Nodes with a single legal move are expanded on the spot, without the network.
        auto_extend: bool = true;
    }
}

/// Where an edge is met, for the terms of its score.
#[derive(Clone, Copy, Debug)]
pub struct ProvenContext {
    /// At the root.
    pub at_root: bool,
    /// 1 at the root.
    pub depth: usize,
    /// Completed visits of all edges of the node, at least 1.
    pub child_visits: f64,
}

impl Rule for Solver {
    fn changes_scores(&self) -> bool {
        use LostChildMode::{Avoid, Damp, DampByDepth};
        // Such a proof gives an edge a value before its first visit; the loop of plain PUCT would take that edge for
        // one without a value.
        self.proves_new_nodes() || self.exact > 0 || matches!(self.lost_child_mode, Avoid | Damp | DampByDepth)
    }

    fn changes_selection(&self) -> bool {
        self.changes_scores() || self.drops_prior(Some(-1))
    }

    fn against_graph(&self) -> Option<&'static str> {
        match self {
            _ if self.clamp_to_bounds => Some(".clamp_to_bounds"),
            _ if self.auto_extend => Some(".auto_extend"),
            _ => None,
        }
    }

    fn is_asked(&self) -> bool {
        false
    }
}

impl Solver {
    /// A new node may have a proof before any visit of its edges.
    pub fn proves_new_nodes(&self) -> bool {
        self.lookahead > 0 || self.threats > 0
    }

    /// Q and U of an edge that is proven to give `result`, from its exact Q and the U of PUCT.
    ///
    /// A root that excludes proven edges gives them U = 0 and Q - 50 + 0.4 N / C, so that none is taken while another may be.
    pub fn proven_terms(&self, (q, u): (f64, f64), result: i8, visits: u32, place: ProvenContext) -> (f64, f64) {
        if place.at_root && self.root_excludes_proven {
            // 50 is beyond all that Q and U of an open edge come to; see `best_but_proven` for how far that holds.
            return (q - 50.0 + 0.4 * f64::from(visits) / place.child_visits, 0.0);
        }
        match self.lost_child_mode {
            LostChildMode::Visit | LostChildMode::ZeroPrior => (q, u),
            LostChildMode::Avoid if result < 0 => (q - 50.0, u),
            LostChildMode::Avoid => (q, u),
            LostChildMode::Damp => (q, u * if result == 0 { 0.0001 } else { 0.5 }),
            LostChildMode::DampByDepth => (q, u / (1.0 + (-1.7 * (place.depth as f64 - 4.0)).exp())),
        }
    }

    /// The prior of an edge that is proven to give `result` does not count.
    pub fn drops_prior(&self, result: Option<i8>) -> bool {
        self.lost_child_mode == LostChildMode::ZeroPrior && result == Some(-1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of the worked example: B (6 visits, U 0.191663) is proven drawn, C (2 visits, U 0.304105) proven lost.
    fn scores(lost_child_mode: LostChildMode, depth: usize, at_root: bool) -> [f64; 2] {
        let rule = Solver { lost_child_mode, ..Solver::default() };
        let place = ProvenContext { at_root, depth, child_visits: 20.0 };
        [(0, 0.191_663, 6), (-1, 0.304_105, 2)].map(|(result, u, visits)| {
            let (q, u) = rule.proven_terms((f64::from(result), u), result, visits, place);
            q + u
        })
    }

    #[test]
    fn scores_of_proven_edges() {
        use LostChildMode::{Avoid, Damp, DampByDepth, Visit};
        let table = [
            (Visit, 2, false, [0.191_663, -0.695_895]),
            (Avoid, 2, false, [0.191_663, -50.695_895]),
            (Damp, 2, false, [0.000_019, -0.847_947]),
            (DampByDepth, 1, false, [0.001_161, -0.998_157]),
            (DampByDepth, 2, false, [0.006_190, -0.990_179]),
            (DampByDepth, 4, false, [0.095_831, -0.847_947]),
            (DampByDepth, 6, false, [0.185_473, -0.705_716]),
            (Visit, 1, true, [-49.88, -50.96]),
        ];
        for (mode, depth, at_root, expected) in table {
            let found = scores(mode, depth, at_root);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-6), "{mode:?} {depth}: {found:?}");
        }
    }
}
