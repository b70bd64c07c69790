//! Exact values from outside the search: endgame tablebases.

use crate::game::{Outcome, State};

/// Knows the result of perfect play in some positions.
///
/// The search asks at a leaf that is not the root, before the network is asked, and treats an answer as the end of the game.
pub trait LeafOracle: Send + Sync {
    /// The result with perfect play of both, where it is known for certain whatever was played before; `None` elsewhere.
    ///
    /// For chess this is lc0's rule: tables say win, draw or loss under the fifty-move rule for positions right after a
    /// capture or pawn move, so positions with castling rights, with plies since then, or with more pieces than the largest
    /// table has are not known. A win that the fifty-move rule spoils is a draw.
    fn probe(&self, state: &dyn State) -> Option<Outcome>;
}
