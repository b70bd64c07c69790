//! The players of the time before networks, for Python.

use hauteur_core::game::Action;
use hauteur_core::players::{mcts, rave};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::game::PyState;

/// Numbers that `mcts_search` gives for every action.
const MCTS_COLUMNS: usize = 2;
/// Numbers that `rave_search` gives for every action.
const RAVE_COLUMNS: usize = 4;

/// Searches a position of any game by random games.
#[pyfunction]
#[pyo3(signature = (state, simulations, seed=0))]
pub fn mcts_search<'py>(
    py: Python<'py>,
    state: PyRef<'py, PyState>,
    simulations: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let start = state.state.as_ref();
    // Random games take seconds, and players of other games are threads of Python. A game in Python attaches again
    // by itself.
    let moves = py.detach(|| mcts::search(start, simulations, seed));
    // Before the answer is looked at: after an exception it is that of a game of draws.
    let moves = state.game.checked(moves)?.map_err(value_error)?;
    let rows = moves.into_iter().map(|found| (found.action, [found.visits, found.halves]));
    table::<MCTS_COLUMNS>(py, &state, rows)
}

/// Searches a position of a game of at most 256 actions by random games with all-moves-as-first values.
#[pyfunction]
#[pyo3(signature = (state, simulations, seed=0))]
pub fn rave_search<'py>(
    py: Python<'py>,
    state: PyRef<'py, PyState>,
    simulations: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let start = state.state.as_ref();
    let info = state.game.0.info();
    let moves = py.detach(|| rave::search(start, info, simulations, seed));
    let moves = state.game.checked(moves)?.map_err(value_error)?;
    let numbers = |found: rave::MoveStatistics| [found.visits, found.halves, found.amaf_visits, found.amaf_halves];
    table::<RAVE_COLUMNS>(py, &state, moves.into_iter().map(|found| (found.action, numbers(found))))
}

/// Rows by action; those of actions that are not given are 0.
fn table<'py, const COLUMNS: usize>(
    py: Python<'py>,
    state: &PyState,
    rows: impl Iterator<Item = (Action, [u32; COLUMNS])>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let actions = state.game.0.info().num_actions;
    let mut table = vec![0; actions * COLUMNS];
    for (action, numbers) in rows {
        let begin = usize::from(action) * COLUMNS;
        table[begin..begin + COLUMNS].copy_from_slice(&numbers);
    }
    table.into_pyarray(py).reshape([actions, COLUMNS])
}
