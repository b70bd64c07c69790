//! Answers of games written in Python: how they are read, and the one exception for those that are not allowed.

use std::fmt::Write;

use hauteur_core::game::Action;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString, PyTuple};

use crate::errors::WrongAnswer;
use crate::python_facts::REQUIRED;

/// Actions that a message shows: the last ones, which lead to what is wrong.
const SHOWN_ACTIONS: usize = 8;
/// Characters of an answer that a message shows.
const SHOWN_CHARACTERS: usize = 200;
/// Characters of a message.
const MESSAGE_CHARACTERS: usize = 1400;

/// The exception for an answer that is not allowed. moves: those before it; `None`: of the game itself.
pub fn wrong_answer(spec: &str, moves: Option<&[Action]>, what: &str) -> PyErr {
    let place = moves.map_or_else(String::new, |moves| format!(" after the actions {}", actions_text(moves)));
    WrongAnswer::new_err(clipped(&format!("{spec}{place}: {what}"), MESSAGE_CHARACTERS))
}

/// The last actions in brackets, with the number of those before.
fn actions_text(moves: &[Action]) -> String {
    let before = moves.len().saturating_sub(SHOWN_ACTIONS);
    let mut parts: Vec<String> = moves[before..].iter().map(Action::to_string).collect();
    if before > 0 {
        parts.insert(0, format!("{before} more"));
    }
    format!("[{}]", parts.join(", "))
}

/// What an answer is, for a message: its repr in one line, not longer than a line.
pub fn shown(answer: &Bound<'_, PyAny>) -> String {
    // `repr` is code of the user's as well, and the message is made because something is wrong with that.
    let text = match answer.repr() {
        Ok(text) => text.to_string(),
        Err(_) => format!("an object of type {}", answer.get_type()),
    };
    // Arrays and dataclasses have a repr of several lines.
    let in_a_line: Vec<&str> = text.split_whitespace().collect();
    clipped(&in_a_line.join(" "), SHOWN_CHARACTERS)
}

fn clipped(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.into(),
        Some((end, _)) => format!("{} ...", &text[..end]),
    }
}

/// Whether an answer is a bool, of Python or of numpy.
pub fn is_bool(answer: &Bound<'_, PyAny>) -> bool {
    // `bool_` of numpy 1 is `bool` of numpy 2; neither is a `bool` of Python. To cast it would need numpy for each
    // answer.
    let named = |name: &str| name == "bool" || name == "bool_";
    answer.is_instance_of::<PyBool>()
        // The type that nearly all answers have is told by a pointer; names of types are texts.
        || (!answer.is_exact_instance_of::<pyo3::types::PyInt>()
            && answer.get_type().name().is_ok_and(|name| name.to_str().is_ok_and(named)))
}

/// The whole numbers that an answer lists, whatever kind of sequence it is; `None` where it is something else.
pub fn whole_numbers(answer: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    // Tuples, lists, arrays and generators are all allowed: a game is written for people, and the size is checked
    // after it.
    answer.try_iter().ok()?.map(|item| item.ok()?.extract().ok()).collect()
}

/// A copy of a position. wrong: makes the exception for a copy that is no position.
pub fn copy_of(position: &Bound<'_, PyAny>, wrong: &dyn Fn(String) -> PyErr) -> PyResult<Py<PyAny>> {
    let copy = position.call_method0("copy")?;
    // Members need not be looked at one by one where the class is the same: copies are made at every node of a
    // tree.
    if copy.get_type().is(position.get_type()) {
        return Ok(copy.unbind());
    }
    for name in REQUIRED {
        if copy.getattr_opt(name)?.is_none() {
            return Err(wrong(format!("copy() must give another position, got {}, which has no {name}", shown(&copy))));
        }
    }
    // A class that derives from a game and takes over its `copy` would be played by the rules of that game.
    if position.is_instance(&copy.get_type())? {
        let (own, above) = (position.get_type().name()?, copy.get_type().name()?);
        return Err(wrong(format!("copy() of {own} must give a {own}, got a {above}: make it by type(self)(...)")));
    }
    Ok(copy.unbind())
}

/// What tells a key from others, as text: arrays by all their bytes, everything else by its repr.
///
/// The repr of an array of more than 1,000 numbers leaves most of them out. wrong: makes the exception for a repr that
/// does so within an object whose parts are not known here.
pub fn key_text(key: &Bound<'_, PyAny>, wrong: &dyn Fn(String) -> PyErr) -> PyResult<String> {
    let mut text = String::new();
    write_key(key, wrong, &mut text)?;
    Ok(text)
}

fn write_key(key: &Bound<'_, PyAny>, wrong: &dyn Fn(String) -> PyErr, out: &mut String) -> PyResult<()> {
    // Exactly these: a subclass may mean more than its parts, which its own repr says.
    if key.is_exact_instance_of::<PyTuple>() || key.is_exact_instance_of::<PyList>() {
        out.push('(');
        for part in key.try_iter()? {
            write_key(&part?, wrong, out)?;
            out.push(',');
        }
        out.push(')');
        return Ok(());
    }
    // Before the repr, which leaves out the middle of an array of more than 1,000 numbers: two positions would be
    // one.
    if let Some(bytes) = array_bytes(key)? {
        out.push_str(&bytes);
        return Ok(());
    }
    let text = key.repr()?.to_string();
    if !key.is_instance_of::<PyString>() && text.contains("array(") && text.contains(", ..., ") {
        return Err(wrong(format!(
            "key() must tell positions apart, but its repr leaves out numbers: {}; give the \
             array itself, or array.tobytes()",
            shown(key)
        )));
    }
    out.push_str(&text);
    Ok(())
}

/// Kind, shape and bytes of a numpy array of numbers, as text; `None` for anything else.
fn array_bytes(key: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Ok(array) = key.cast::<numpy::PyUntypedArray>() else { return Ok(None) };
    let kind = array.getattr("dtype")?;
    // The bytes of such an array are addresses, which differ for equal objects.
    if kind.getattr("hasobject")?.is_truthy()? {
        return Ok(None);
    }
    let bytes: Vec<u8> = array.call_method0("tobytes")?.extract()?;
    // Type and shape as well: zeros of one shape have the bytes of zeros of another.
    let mut text = format!("{}{}", kind.str()?, array.getattr("shape")?.str()?);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Some(text))
}
