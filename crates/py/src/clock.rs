//! The share of a clock for a move, for Python: `hauteur.mcts.limits`.

use hauteur_lab::limits::{self, Clock, Pacing};
use pyo3::prelude::*;

/// Return target and maximum of the seconds for the next move.
#[pyfunction]
pub fn plan_clock(
    remaining: f64,
    increment: f64,
    moves_to_go: Option<u32>,
    move_number: usize,
    overhead: f64,
    slowmover: f64,
    lateness: f64,
) -> (f64, f64) {
    let clock = Clock { remaining, increment, moves_to_go };
    let budget = limits::plan(&clock, move_number, &Pacing { overhead, slowmover, lateness });
    (budget.target, budget.maximum)
}

/// Return the median number of moves still to play after this many.
#[pyfunction]
pub fn moves_left(move_number: usize) -> f64 {
    limits::moves_left(move_number)
}

/// Return the moves to go of a game of at most `max_plies` plies; None: more than a game usually has left.
#[pyfunction]
pub fn moves_to_go(ply: usize, max_plies: usize) -> Option<u32> {
    Clock::of_game(0.0, 0.0, ply, max_plies).moves_to_go
}
