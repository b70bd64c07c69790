//! Settings of rules: their errors and ranges.

use thiserror::Error;

/// A parameter outside its range, or JSON that is no `SearchParams`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ParamsError(pub(crate) String);

/// Fails unless `value` is `least` to `most`.
pub(crate) fn within(name: &str, value: f64, least: f64, most: f64) -> Result<(), ParamsError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParamsError(format!("SearchParams.{name} must be {least} to {most}, got {value}")))
}
