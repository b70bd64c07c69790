//! Odds games of chess for Python: `hauteur.games.odds`.

use std::collections::BTreeMap;

use hauteur_lab::odds::{self, Odds};
use hauteur_lab::start960::{board_of_fen, start_rank};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::values::{hash_of, python_text};

/// A handicap: pieces that the giver lacks at a start of chess, or lesser ones in their place.
#[pyclass(name = "Odds", module = "hauteur._core", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub struct PyOdds(Odds);

#[pymethods]
impl PyOdds {
    /// 0 White, 1 Black.
    #[getter]
    fn giver(&self) -> usize {
        self.0.giver
    }

    /// Number of the start, 0 to 959; 518 is the normal one.
    #[getter]
    fn start(&self) -> usize {
        self.0.start
    }

    /// Of each given piece, in the order of the name, its home, its letter, and that of what stands there, or None.
    #[getter]
    fn given(&self) -> Vec<(&str, char, Option<char>)> {
        self.0.given().collect()
    }

    /// Name in messages and tables: `queen d1 + rook a1`, `queen d8 for knight, start 356`.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// The name without the number of the start.
    #[getter]
    fn items(&self) -> String {
        self.0.items()
    }

    /// The given pieces as letters in the order of the name: `q`, `qr`, `q>n`. Settings are chosen by them.
    #[getter]
    fn pieces(&self) -> String {
        self.0.pieces()
    }

    /// The position, White to move. A rook, or what a king would castle with, takes its castling right with it.
    #[getter]
    fn fen(&self) -> String {
        self.0.fen()
    }

    /// The game that begins there, as a spec of `load_game`.
    #[getter]
    fn game(&self) -> String {
        self.0.game()
    }

    fn __hash__(&self) -> u64 {
        // Handicaps that are equal begin at one position, and a text can be hashed as it is.
        hash_of(self.0.game())
    }

    fn __repr__(&self) -> String {
        format!("parse_odds({})", python_text(&self.0.name()))
    }
}

fn side(gives: Option<&str>) -> Option<usize> {
    gives.map(|gives| usize::from(gives == "black"))
}

/// Return the handicap that a text names.
#[pyfunction]
#[pyo3(signature = (text, gives=None, start=518))]
pub fn parse_odds(text: &str, gives: Option<&str>, start: usize) -> PyResult<PyOdds> {
    odds::parse(text, side(gives), start).map(PyOdds).map_err(value_error)
}

/// Return the odds of a position in which no piece has moved; None for a start without odds and for anything else.
#[pyfunction]
pub fn odds_of(fen: &str) -> PyResult<Option<PyOdds>> {
    // Without it a text that is no FEN would be a start without odds.
    if board_of_fen(fen).is_none() {
        let shown: String = fen.chars().take(80).collect();
        return Err(value_error(format!("no board of a FEN: {shown:?}")));
    }
    Ok(odds::odds_of(fen).map(PyOdds))
}

/// Return the handicap with the piece of a home square given too, or with that item taken out; None: nothing given.
#[pyfunction]
pub fn toggled_odds(odds: Option<PyOdds>, square: &str, gives: &str, start: usize) -> PyResult<Option<PyOdds>> {
    let found = odds::toggled(odds.as_ref().map(|odds| &odds.0), square, usize::from(gives == "black"), start);
    found.map(|odds| odds.map(PyOdds)).map_err(value_error)
}

fn checked_start(number: usize) -> PyResult<usize> {
    let wrong = || value_error(format!("the start must be a number from 0 to 959, got {number}"));
    (number < 960).then_some(number).ok_or_else(wrong)
}

/// Return the signs of one of the 960 starts by square.
#[pyfunction]
pub fn start_board(number: usize) -> PyResult<BTreeMap<String, char>> {
    Ok(hauteur_lab::start960::start_board(checked_start(number)?))
}

/// Return the first rank of one of the 960 starts by Scharnagl's numbers: 518 is rnbqkbnr.
#[pyfunction(name = "start_rank")]
pub fn rank_of_start(number: usize) -> PyResult<String> {
    Ok(start_rank(checked_start(number)?))
}

/// Return the game that begins at one of the 960 starts, as a spec of `load_game`.
#[pyfunction]
pub fn start_game(number: usize) -> PyResult<String> {
    Ok(odds::start_game(checked_start(number)?))
}
