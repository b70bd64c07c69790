//! Games written in Python: `Game` for the initial position that a user gives.
//!
//! The methods of `State` cannot fail, those of a Python object can. The first exception is kept in the game; from then
//! on every position of the game behaves like a drawn one, so that the core comes to a rest, and the border raises the
//! exception with `raise_stored` before it returns to Python.

use std::any::Any;
use std::sync::Arc;

use hauteur_core::game::{Customs, Game, GameInfo, State, Symmetry};
use pyo3::prelude::*;

use crate::python_answers::wrong_answer;
use crate::python_facts::{Shared, copy_of};
use crate::python_state::PythonState;

/// A game whose positions are Python objects.
pub struct PythonGame(Arc<Shared>);

impl PythonGame {
    /// Reads the facts of the game off its initial position. Fails with a ValueError that names what is missing or wrong.
    pub fn new(start: &Bound<'_, PyAny>, spec: Option<String>) -> PyResult<Self> {
        Shared::read(start, spec).map(|shared| PythonGame(Arc::new(shared)))
    }
}

impl Game for PythonGame {
    fn info(&self) -> &GameInfo {
        &self.0.info
    }

    fn initial(&self) -> Box<dyn State> {
        let object = Python::attach(|py| {
            let start = self.0.start.bind(py);
            // Games play in place, so each begins with a copy of the object that the user gave.
            copy_of(start, &|what| wrong_answer(&self.0.info.spec, None, &what)).unwrap_or_else(|error| {
                // The core needs some position; from here on it is drawn, and the border raises the exception.
                self.0.store(error);
                self.0.start.clone_ref(py)
            })
        });
        Box::new(PythonState::new(self.0.clone(), object))
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        self.0.symmetries.clone()
    }

    fn customs(&self) -> Customs {
        self.0.customs.clone()
    }

    fn past_matters(&self) -> Option<&'static str> {
        self.0.past_matters.then_some("the moves before")
    }

    fn foreign(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Raises the exception that a position of the game met since the last call, if there was one.
pub fn raise_stored(game: &dyn Game) -> PyResult<()> {
    let Some(python) = game.foreign().and_then(|game| game.downcast_ref::<PythonGame>()) else { return Ok(()) };
    python.0.take_error().map_or(Ok(()), Err)
}

/// The initial position that a game written in Python was made of.
pub fn python_start(game: &dyn Game) -> Option<&Py<PyAny>> {
    game.foreign().and_then(|game| game.downcast_ref::<PythonGame>()).map(|game| &game.0.start)
}

/// A copy of `state` whose exceptions `game` reports, if both are of the same kind of game written in Python.
pub fn adopted(state: &dyn State, game: &dyn Game) -> Box<dyn State> {
    let mut copy = state.clone_box();
    let python = game.foreign().and_then(|game| game.downcast_ref::<PythonGame>());
    // A class that was loaded twice has two games, each with a place for its exception. The forest looks at its
    // own.
    if let (Some(game), Some(state)) = (python, state.as_any().downcast_ref::<PythonState>()) {
        let mut ours = PythonState::new(game.0.clone(), Python::attach(|py| state.object.clone_ref(py)));
        ours.copy_from(state);
        copy = Box::new(ours);
    }
    copy
}
