//! A model of the opponent: a second network gives the priors of the nodes where the opponent of the root's player moves.
//!
//! At every *opponent node* s (its mover is not the root's mover), at most `plies` below the root, the prior of a move is
//! `P_r(s, a) = softmax(logits_M(s) / T_M)` of the model M. Values everywhere, and priors where the root's player moves, are those of the
//! own network. Search-contempt decides how opponent nodes are visited: PUCT with these priors up to N_scl visits, then draws of the
//! frozen ones; with `n_scl = 0` every visit draws from `P_r` at once, so that Q is the expectation over the replies of the model
//! (expectimax), exact for an opponent who plays as M does.

use crate::rules::Rule;
use crate::rules::setting::settings;

settings! {
    /// A model of the opponent: a second network gives the priors of the nodes where the opponent of the root's player moves.
    OpponentNet: Copy {
        /// T_M: the model's priors are softmax(logits / temperature).
        temperature: f64 = 1.0, 1e-3 => 100.0;
        /// Share of the draws at opponent nodes that are made; the others are PUCT: against a model that may be wrong.
        share: f64 = 1.0, 0.0 => 1.0;
        /// Opponent nodes deeper than this below the root have the own network's priors and PUCT; absent: none are.
        plies: Option<u32> = None, 1.0 => 1000.0;
    }
}

impl Rule for OpponentNet {}

impl OpponentNet {
    /// Whether the model acts at an opponent node at this depth, in plies below the root.
    #[inline]
    pub fn reaches(&self, depth: usize) -> bool {
        self.plies.is_none_or(|plies| depth <= plies as usize)
    }
}
