//! Errors of the core as exceptions of Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A ValueError with this text.
pub fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
