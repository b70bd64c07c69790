//! Games as text for Python: `hauteur.games.game_texts`, `pgn` and `sgf`.

use std::collections::BTreeMap;

use hauteur_core::game::Action;
use hauteur_lab::game_text::{self, Writing};
use hauteur_lab::{game_tree, pgn, sgf};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::value_error;
use crate::game::{PyGame, PyState};

/// A game that was read from a text.
#[pyclass(name = "TextGame", module = "hauteur._core", frozen)]
pub struct PyTextGame(game_text::ReadGame);

#[pymethods]
impl PyTextGame {
    /// Of the game with its start.
    #[getter]
    fn spec(&self) -> &str {
        &self.0.game.info().spec
    }

    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.actions)
    }

    /// Of the players; empty where the text has none.
    #[getter]
    fn names(&self) -> (&str, &str) {
        (&self.0.names[0], &self.0.names[1])
    }

    /// How it ended for the first player, off the board too; None where it goes on or nothing says so.
    #[getter]
    fn outcome(&self) -> Option<i8> {
        self.0.ending.as_ref().map(|(outcome, _)| *outcome)
    }

    /// Why it ended; empty where nothing says so.
    #[getter]
    fn reason(&self) -> &str {
        self.0.ending.as_ref().map_or("", |(_, reason)| reason)
    }

    /// What was changed to read it, a line each.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.notes)
    }
}

/// Return the game of a text, of several the first. `game`: that moves and FENs are of.
#[pyfunction]
pub fn read_text_game(text: &str, game: &PyGame) -> PyResult<PyTextGame> {
    // Moves may be of a game in Python; its exception says more than the error of a text that could not be read by
    // it.
    game.checked(game_text::read(text, &game.0))?.map(PyTextGame).map_err(value_error)
}

/// Return the game of a text as a tree for pages, as JSON. `game`: that moves and FENs are of.
#[pyfunction]
pub fn game_tree_view(text: &str, game: &PyGame) -> PyResult<String> {
    let view = game.checked(game_tree::view(text, &game.0))?;
    view.map(|view| view.to_string()).map_err(value_error)
}

/// Return a game as text. `start`, `actions`: its moves from its start on; `ending`: outcome for the first player and reason;
/// `date`: year, month and day with hyphens.
#[pyfunction]
pub fn written_game(
    start: &PyState,
    actions: Vec<Action>,
    form: &str,
    names: [String; 2],
    ending: Option<(i8, String)>,
    event: &str,
    date: &str,
) -> PyResult<String> {
    let ending = ending.as_ref().map(|(outcome, reason)| (*outcome, reason.as_str()));
    let writing = Writing { names: &names, ending, event, date };
    let text = game_text::written(&start.position(), &actions, form, &writing);
    start.game.checked(text)?.map_err(value_error)
}

/// Return a game of chess as PGN. `state`: its start; `comments`: text after a move, by ply.
#[pyfunction]
pub fn written_pgn(
    tags: Vec<(String, String)>,
    state: &PyState,
    actions: Vec<Action>,
    result: &str,
    comments: BTreeMap<usize, String>,
) -> PyResult<String> {
    pgn::written(&tags, state.state.clone_box(), &actions, result, &comments).map_err(value_error)
}

/// Return the tags of where a game begins: SetUp and FEN unless that is the usual start, in Chess960 always and Variant.
#[pyfunction]
pub fn pgn_position_tags(game: &PyGame, start: &PyState, is_start_of_game: bool) -> Vec<(String, String)> {
    pgn::position_tags(game.0.as_ref(), start.state.as_ref(), is_start_of_game)
}

/// Return a value in a form valid inside of the quotes of a tag: one line, its quotes and backslashes replaced.
#[pyfunction]
pub fn pgn_tag_value(text: &str) -> String {
    pgn::tag_value(text)
}

/// Return a game as SGF. `root`: further properties of the first node; `comments`: text after a move, by ply.
#[pyfunction]
pub fn written_sgf(
    game: &PyGame,
    root: Vec<(String, String)>,
    actions: Vec<Action>,
    comments: BTreeMap<usize, String>,
) -> String {
    sgf::written(game.0.as_ref(), &root, &actions, &comments)
}

/// Return the first game of an SGF text with what a review says of its moves. `before`: Black's expected score before the first
/// move; `notes`: by ply a comment, the property that judges the move, Black's expected score after it, the better line, and
/// what its first move says. Scores are in per cent.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn annotated_sgf(
    text: &str,
    game: &PyGame,
    annotator: &str,
    before: Option<f64>,
    notes: BTreeMap<usize, (String, String, f64, Vec<Action>, String)>,
) -> PyResult<String> {
    let note = |(comment, judgement, chances, line, line_comment)| sgf::MoveNote {
        comment,
        judgement,
        chances,
        line,
        line_comment,
    };
    let notes = notes.into_iter().map(|(ply, fields)| (ply, note(fields))).collect();
    sgf::annotated(text, game.0.as_ref(), annotator, before, &notes).map_err(value_error)
}

/// Return the value of RE.
#[pyfunction]
pub fn sgf_result(outcome: i8, reason: &str) -> String {
    sgf::result_text(outcome, reason)
}
