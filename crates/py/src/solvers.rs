//! The exact solver of Connect Four for Python.

use std::sync::Mutex;

use hauteur_core::games::connect4::Position;
use hauteur_core::solvers::connect4::Solver;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::game::{PyState, value_error};

/// Sizes of the table, as powers of two of its 8-byte entries.
const TABLE_BITS: std::ops::RangeInclusive<u32> = 10..=30;

/// Solves Connect Four positions exactly.
#[pyclass(name = "Connect4Solver", module = "hauteur._core", frozen)]
pub struct PyConnect4Solver(Mutex<Solver>);

#[pymethods]
impl PyConnect4Solver {
    #[new]
    #[pyo3(signature = (table_bits=22))]
    fn new(table_bits: u32) -> PyResult<Self> {
        if !TABLE_BITS.contains(&table_bits) {
            return Err(value_error(format!("table_bits must be 10 to 30, got {table_bits}")));
        }
        Ok(PyConnect4Solver(Mutex::new(Solver::new(table_bits))))
    }

    fn move_values<'py>(&self, py: Python<'py>, state: PyRef<'py, PyState>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let Some(position) = state.state.as_any().downcast_ref::<Position>() else {
            let spec = &state.game.0.info().spec;
            return Err(value_error(format!("this solver knows connect4 alone, got a state of {spec}")));
        };
        let solve = || self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).move_values(position);
        Ok(py.detach(solve).into_pyarray(py))
    }

    #[getter]
    fn nodes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).nodes())
    }
}
