//! Boards for Python: `hauteur.games.pictures`.

use hauteur_core::picture::{self, Board, CELL, LEFT, TOP};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::game::PyState;

/// The look of a position on a rectangular board, in the units of its drawing.
#[pyclass(name = "Board", module = "hauteur._core", frozen)]
pub struct PyBoard(Board);

#[pymethods]
impl PyBoard {
    /// How its squares are drawn, one of the values of `Game.look`.
    #[getter]
    fn look(&self) -> &'static str {
        self.0.look.name()
    }

    /// One sign a square, row by row from the top, `.` where it is empty.
    #[getter]
    fn cells(&self) -> String {
        self.0.cells.signs.iter().collect()
    }

    /// Labels of the rows, from the top; empty texts where there are none.
    #[getter]
    fn row_labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.cells.row_labels)
    }

    /// Labels of the columns; empty texts where there are none.
    #[getter]
    fn column_labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.cells.column_labels)
    }

    /// Whose turn it is, or how the game ended.
    #[getter]
    fn caption(&self) -> &str {
        &self.0.caption
    }

    /// Squares of the last move, as indices of cells.
    #[getter]
    fn last<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.last)
    }

    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    #[getter]
    fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Width and height of the drawing.
    #[getter]
    fn size(&self) -> (usize, usize) {
        self.0.size()
    }

    /// Side of a square.
    #[getter]
    fn cell(&self) -> usize {
        CELL
    }

    /// Margins at the left and above.
    #[getter]
    fn margins(&self) -> (usize, usize) {
        (LEFT, TOP)
    }

    /// Of every sign that such a board can have its id and the `<g>` that draws it; none where the signs are any letters.
    #[getter]
    fn symbols(&self) -> Vec<(char, String, String)> {
        let look = self.0.look;
        look.signs().chars().map(|sign| (sign, look.symbol_id(sign), look.symbol(sign))).collect()
    }

    /// Name of every square, such as e4, in the order of the cells; row and column without labels.
    #[getter]
    fn square_names(&self) -> Vec<String> {
        (0..self.0.cells.signs.len()).map(|square| self.0.square_name(square)).collect()
    }

    /// Return how far a row lies to the right of the top one.
    fn slant(&self, row: usize) -> usize {
        self.0.slant(row)
    }

    /// Return the empty board with its labels as SVG; `flip`: seen from the second player's side.
    #[pyo3(signature = (*, flip=false))]
    fn ground(&self, flip: bool) -> String {
        self.0.ground(flip)
    }
}

impl PyState {
    /// The board of the position, or why it has none. `last`: squares of the last move, where they are known.
    pub fn board_of(&self, last: Option<Vec<usize>>) -> PyResult<Result<Board, String>> {
        let last = last.unwrap_or_else(|| self.position().last_squares());
        self.game.checked(picture::board_of(self.game.0.as_ref(), self.state.as_ref(), last))
    }
}

/// Return the board of a position, or None. `last`: squares of the last move, where they are known.
#[pyfunction]
#[pyo3(signature = (state, last=None))]
pub fn board_of(state: &PyState, last: Option<Vec<usize>>) -> PyResult<Option<PyBoard>> {
    Ok(state.board_of(last)?.ok().map(PyBoard))
}

/// Return why a position has no board of cells, in words that follow "because"; empty where it has one.
#[pyfunction]
pub fn why_no_board(state: &PyState) -> PyResult<String> {
    Ok(state.board_of(Some(Vec::new()))?.err().unwrap_or_default())
}
