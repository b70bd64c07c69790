//! What pages show, as JSON: `hauteur_lab` for positions of Python.

use hauteur_lab::position::Position;
use hauteur_lab::{played, view};
use pyo3::prelude::*;

use crate::game::PyState;

/// Return a position as the board of a page takes it, as JSON.
#[pyfunction]
pub fn position_view(state: &PyState, flip: bool) -> PyResult<String> {
    let view = view::position_view(&state.position(), flip);
    state.game.checked(view.to_string())
}

/// Return the pieces that each side has lost between the start of a game and a position, as signs, the most valuable first.
#[pyfunction]
pub fn captured(start: &PyState, now: &PyState) -> PyResult<(String, String)> {
    let [first, second] = played::captured(&start.position(), &now.position());
    now.game.checked((first, second))
}

impl PyState {
    /// The position as the lab has it.
    pub fn position(&self) -> Position {
        let game = self.game.0.clone();
        let symmetry = self.symmetry;
        Position { game, state: self.state.clone_box(), moves: self.moves.clone(), symmetry }
    }
}
