//! Small values at the border: numbers of outcomes, hashes, texts as Python literals, quantiles.

use std::hash::{DefaultHasher, Hash, Hasher};

use hauteur_core::game::{Game, Outcome, Player};
use hauteur_core::rules::lower_bound;
use pyo3::prelude::*;

use crate::errors::value_error;

/// A function of this module as pickle finds it: by its name.
pub fn named<'py>(py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    // By its public name: another process, or a later version, has to find it there.
    py.import("hauteur._core")?.getattr(function)
}

/// A hash of something that has one.
pub fn hash_of(thing: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// Text as a Python literal.
pub fn python_text(text: &str) -> String {
    let mut literal = String::from('"');
    for sign in text.chars() {
        match sign {
            '"' | '\\' => literal.extend(['\\', sign]),
            // Written by hand: escapes of Rust's `Debug`, as `\u{301}`, are none of Python.
            _ if sign.is_control() => literal += &format!("\\U{:08x}", u32::from(sign)),
            _ => literal.push(sign),
        }
    }
    literal + "\""
}

/// +1 first player won, 0 draw, -1 second player won.
pub fn outcome_number(outcome: Outcome) -> i8 {
    match outcome {
        Outcome::Win(Player::First) => 1,
        Outcome::Win(Player::Second) => -1,
        Outcome::Draw => 0,
    }
}

/// Packed features need boards of at most 64 squares.
pub fn check_packable(game: &dyn Game) -> PyResult<()> {
    let [_, rows, columns] = game.info().feature_shape;
    // A plane is a mask of 64 bits.
    if rows * columns <= 64 {
        return Ok(());
    }
    let spec = &game.info().spec;
    Err(value_error(format!("packed features need a board of at most 64 squares; {spec} has {rows} x {columns}")))
}

/// Return t with P(T <= t) = confidence for Student's distribution of `freedom` degrees; confidence: 0.5 to below 1.
#[pyfunction]
pub fn t_quantile(confidence: f64, freedom: u32) -> PyResult<f64> {
    if !(0.5..1.0).contains(&confidence) || freedom == 0 {
        return Err(value_error(format!(
            "confidence must be 0.5 to below 1 and freedom >= 1, got {confidence}, {freedom}"
        )));
    }
    Ok(lower_bound::t_quantile(confidence, freedom))
}
