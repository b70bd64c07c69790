//! `Tablebase` for Python.

use std::sync::Arc;

use hauteur_core::game::{Action, GameError};
use hauteur_core::games::chess::Position;
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::game::PyState;
use crate::syzygy::Syzygy;

/// Syzygy tablebases of chess.
#[pyclass(name = "Tablebase", module = "hauteur._core", frozen)]
pub struct PyTablebase(pub Arc<Syzygy>);

#[pymethods]
impl PyTablebase {
    #[new]
    fn new(paths: &str) -> PyResult<Self> {
        Ok(PyTablebase(Arc::new(Syzygy::open(paths).map_err(refuse)?)))
    }

    #[getter]
    fn largest(&self) -> usize {
        self.0.largest()
    }

    #[getter]
    fn files(&self) -> usize {
        self.0.files()
    }

    #[getter]
    fn missing(&self) -> Vec<String> {
        self.0.missing().to_vec()
    }

    fn result(&self, state: &PyState) -> PyResult<Option<i32>> {
        self.0.result(position(state)?).map_err(refuse)
    }

    fn probe_wdl(&self, state: &PyState) -> PyResult<Option<i32>> {
        self.0.wdl(position(state)?).map_err(refuse)
    }

    fn probe_dtz(&self, state: &PyState) -> PyResult<Option<i32>> {
        self.0.dtz(position(state)?).map_err(refuse)
    }

    #[pyo3(signature = (state, fast_play = false))]
    fn root_actions(&self, state: &PyState, fast_play: bool) -> PyResult<Option<Vec<Action>>> {
        self.0.root_actions(position(state)?, fast_play).map_err(refuse)
    }
}

fn refuse(GameError(message): GameError) -> PyErr {
    value_error(message)
}

fn position(state: &PyState) -> PyResult<&Position> {
    let found = state.state.as_any().downcast_ref();
    found.ok_or_else(|| value_error(format!("tablebases are for chess, got a state of {}", state.game.0.info().spec)))
}
