//! Players without a network: tree searches whose values come from random games, which a trained player is measured
//! against, and exact solvers.

mod connect4_bits;
pub mod exact;
pub mod mcts;
pub mod nogo_board;
pub mod rave;
pub mod rollout;
pub mod solve_connect4;
pub mod solved_positions;

use crate::game::{GameError, State};

/// Most simulations of a search.
pub const MAX_SIMULATIONS: u32 = 10_000_000;

/// Fails for a number of simulations out of range, and where the game is over.
fn check(state: &dyn State, simulations: u32) -> Result<(), GameError> {
    if !(1..=MAX_SIMULATIONS).contains(&simulations) {
        return Err(GameError(format!("simulations must be 1 to {MAX_SIMULATIONS}, got {simulations}")));
    }
    if state.outcome().is_some() {
        return Err(GameError("the game is over: there is no move to search for".into()));
    }
    Ok(())
}
