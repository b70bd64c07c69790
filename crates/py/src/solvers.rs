//! The exact solver of Connect Four for Python.

use std::sync::{Mutex, MutexGuard};

use hauteur_core::games::connect4::{Board, COLUMNS, Position, ROWS};
use hauteur_core::players::solve_connect4::Solver;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::game::PyState;

/// Sizes of the table, as powers of two of entries.
const TABLE_BITS: std::ops::RangeInclusive<u32> = 10..=30;

/// Solves Connect Four positions of one board exactly.
#[pyclass(name = "Connect4Solver", module = "hauteur._core", frozen)]
pub struct PyConnect4Solver {
    board: Board,
    solver: Mutex<Solver>,
}

impl PyConnect4Solver {
    fn locked(&self) -> MutexGuard<'_, Solver> {
        self.solver.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl PyConnect4Solver {
    #[new]
    #[pyo3(signature = (table_bits=22, columns=COLUMNS, rows=ROWS))]
    fn new(table_bits: u32, columns: usize, rows: usize) -> PyResult<Self> {
        check_table_bits(table_bits)?;
        let board = Board::new(columns, rows).map_err(value_error)?;
        Ok(PyConnect4Solver { board, solver: Mutex::new(Solver::new(board, table_bits)) })
    }

    fn move_values<'py>(&self, py: Python<'py>, state: PyRef<'py, PyState>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let position = connect4_position(&state, self.board)?;
        Ok(py.detach(|| self.locked().move_values(position)).into_pyarray(py))
    }

    fn move_values_within(&self, py: Python<'_>, state: PyRef<'_, PyState>, nodes: u64) -> PyResult<Option<Vec<i8>>> {
        let position = connect4_position(&state, self.board)?;
        Ok(py.detach(|| self.locked().move_values_within(position, nodes)))
    }

    #[getter]
    fn nodes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.locked().nodes())
    }
}

fn connect4_position(state: &PyState, board: Board) -> PyResult<&Position> {
    let position = state.state.as_any().downcast_ref::<Position>();
    position.filter(|position| position.board() == board).ok_or_else(|| {
        let (columns, rows, spec) = (board.columns(), board.rows(), &state.game.0.info().spec);
        value_error(format!("this solver is for connect4 of {columns} columns and {rows} rows, got a state of {spec}"))
    })
}

fn check_table_bits(table_bits: u32) -> PyResult<()> {
    match TABLE_BITS.contains(&table_bits) {
        true => Ok(()),
        false => Err(value_error(format!("table_bits must be 10 to 30, got {table_bits}"))),
    }
}
