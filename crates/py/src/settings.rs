//! The schema of the settings, and the checks of the core, for Python's models of them.

use hauteur_core::schema;
use pyo3::prelude::*;

use crate::errors::value_error;

/// The schema of all settings, as JSON.
#[pyfunction]
pub fn settings_schema() -> String {
    schema::schema()
}

/// Checks the settings of a section, given as JSON; true where they leave the search unchanged.
#[pyfunction]
pub fn check_settings(section: &str, settings: &str) -> PyResult<bool> {
    schema::check(section, settings).map_err(value_error)
}
