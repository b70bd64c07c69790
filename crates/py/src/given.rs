//! Positions as users give them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::chess_boards::board_game;
use crate::game::{PyGame, PyState};

/// Return the position that a user gave: a State (a copy), a `chess.Board` with its moves, or a FEN of chess.
#[pyfunction]
pub fn position_of(given: &Bound<'_, PyAny>) -> PyResult<PyState> {
    if let Ok(state) = given.cast::<PyState>() {
        // A copy, as with the other forms: the caller's position stays his.
        return state.try_borrow()?.copy();
    }
    // Text is a FEN here and never a spec, so that no position depends on which of the two it could be.
    if let Ok(fen) = given.extract::<String>() {
        return PyGame::new(&format!("chess(fen={})", fen.trim()))?.new_initial_state(0);
    }
    // By its attributes: python-chess is not imported for a check.
    if given.hasattr("move_stack")? && given.hasattr("uci_variant")? {
        let (spec, moves) = board_game(given)?;
        let mut state = PyGame::new(&spec)?.new_initial_state(0)?;
        for played in moves {
            // Checked here: a null move or a move that was pushed unchecked is an error in one line.
            state.apply_text(&played)?;
        }
        return Ok(state);
    }
    let kind = given.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "expected a position: a State, as ht.position makes it, a chess.Board or a FEN; got {kind}"
    )))
}
