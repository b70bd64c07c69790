//! Errors of the core as exceptions of Python.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(_core, WrongAnswer, PyValueError, "A game written in Python gave an answer that is not allowed.");

/// A ValueError with this text.
pub fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
