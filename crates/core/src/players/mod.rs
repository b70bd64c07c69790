//! Players without a network: tree searches whose values come from random games, as opponents by which a trained player is
//! measured, and exact solvers.

mod connect4_bits;
pub mod exact;
pub mod mcts;
pub mod nogo_board;
mod nogo_games;
mod random_games;
pub mod rave;
pub mod rollout;
pub mod solve_connect4;
pub mod solved_positions;

use crate::game::{Action, GameError, Outcome, Player, State};
use crate::math::rng::Stream;

/// Maximum of simulations of a search.
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

/// What a player gets: 2 a win, 1 a draw, 0 a loss.
fn halves(outcome: Outcome, player: Player) -> u32 {
    match outcome {
        // Halves are whole numbers: their sums are exact, in whatever order games end.
        Outcome::Win(winner) => 2 * u32::from(winner == player),
        Outcome::Draw => 1,
    }
}

/// Plays the game's random moves until it is over; `before` sees every position and its move. `actions`: a buffer.
fn play_to_the_end(
    state: &mut dyn State,
    random: &mut Stream,
    actions: &mut Vec<Action>,
    mut before: impl FnMut(&dyn State, Action),
) -> Outcome {
    loop {
        if let Some(outcome) = state.outcome() {
            return outcome;
        }
        let action = state.random_action(random, actions);
        before(state, action);
        state.play(action);
    }
}
