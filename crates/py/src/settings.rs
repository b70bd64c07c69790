//! The settings of Python's models: their schema, their checks, and those of a search.

use hauteur_core::params::SearchParams;
use hauteur_core::schema;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

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

/// Search settings from a `SearchParams` of Python (any object with `model_dump_json`) or from its JSON text.
pub fn search_params(params: &Bound<'_, PyAny>) -> PyResult<SearchParams> {
    let json = match params.cast::<PyString>() {
        Ok(text) => text.to_str()?.to_owned(),
        Err(_) => {
            let dump = params.getattr("model_dump_json").map_err(|_| {
                value_error(format!("params must be SearchParams or their JSON text, got {}", params.get_type()))
            })?;
            let options = PyDict::new(params.py());
            // Sections that are off are not there for the core, which has no null.
            options.set_item("exclude_none", true)?;
            dump.call((), Some(&options))?.extract()?
        }
    };
    SearchParams::from_json(&json).map_err(value_error)
}
