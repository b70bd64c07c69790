//! Games of files for Python: PGN and SGF by the readers of `hauteur_lab`.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;

use hauteur_core::game::Action;
use hauteur_core::games::chess;
use hauteur_lab::pgn::{self, GameLine, GameRead, Reader, result_text};
use hauteur_lab::{decode, sgf, texts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::value_error;
use crate::game::PyGame;

/// Return a FEN of chess cleaned of what no position can have, whether it is of Chess960, and what was changed.
#[pyfunction]
#[pyo3(signature = (fen, chess960=false))]
pub fn clean_fen(fen: &str, chess960: bool) -> PyResult<(String, bool, Vec<String>)> {
    let clean = chess::clean_fen(fen, chess960).map_err(value_error)?;
    Ok((clean.fen, clean.chess960, clean.notes))
}

/// Reads the games of a PGN file or text one after another.
#[pyclass(name = "PgnReader", module = "hauteur._core")]
pub struct PyPgnReader {
    // One class for files and texts. `Sync` for pyo3, whose objects may be shared by threads.
    reader: Reader<Box<dyn Read + Send + Sync>>,
}

impl PyPgnReader {
    fn of(source: Box<dyn Read + Send + Sync>, plays: bool, annotated: bool) -> io::Result<Self> {
        let reader = if annotated { Reader::annotated(source)? } else { Reader::new(source, plays)? };
        Ok(PyPgnReader { reader })
    }
}

#[pymethods]
impl PyPgnReader {
    /// Read a file in pieces; it may be longer than the memory.
    #[staticmethod]
    #[pyo3(signature = (path, plays=true, annotated=false))]
    fn of_file(path: PathBuf, plays: bool, annotated: bool) -> PyResult<Self> {
        // No buffer around it: the reader takes pieces of its own.
        let opened = PyPgnReader::of(Box::new(File::open(&path)?), plays, annotated);
        Ok(opened.map_err(|error| match error.kind() {
            // A command may read several files, and what is wrong with the content does not say of which one it is.
            io::ErrorKind::InvalidData => io::Error::new(error.kind(), format!("{}: {error}", path.display())),
            _ => error,
        })?)
    }

    #[staticmethod]
    #[pyo3(signature = (text, plays=true, annotated=false))]
    fn of_text(text: String, plays: bool, annotated: bool) -> PyResult<Self> {
        // The text moves into the reader, which lives as long as Python's iterator.
        Ok(PyPgnReader::of(Box::new(Cursor::new(text.into_bytes())), plays, annotated)?)
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> PyResult<Option<PyPgnGame>> {
        Ok(self.reader.next_game()?.map(|read| PyPgnGame { read }))
    }
}

/// A game of a PGN file.
#[pyclass(name = "PgnGame", module = "hauteur._core", frozen)]
pub struct PyPgnGame {
    read: GameRead,
}

impl PyPgnGame {
    fn line_read(&self) -> PyResult<&GameLine> {
        // An error only when the moves are asked for: tags and number of a game that cannot be read are shown with
        // it.
        match &self.read.played {
            Some(Ok(line)) => Ok(line),
            Some(Err(error)) => Err(value_error(error)),
            None => Err(PyValueError::new_err("the moves of this game were not read")),
        }
    }
}

#[pymethods]
impl PyPgnGame {
    #[getter]
    fn number(&self) -> usize {
        self.read.number
    }

    #[getter]
    fn line(&self) -> usize {
        self.read.line
    }

    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tag_dict(py, &self.read.tags)
    }

    #[getter]
    fn plies(&self) -> usize {
        self.read.plies
    }

    /// The result by the tag alone; by what stands after the moves where the tag has none.
    #[getter]
    fn tagged(&self) -> &'static str {
        result_text(self.read.tagged)
    }

    /// Why the game cannot be used, in a line; None where it can.
    #[getter]
    fn wrong(&self) -> Option<&str> {
        self.read.played.as_ref()?.as_ref().err().map(String::as_str)
    }

    #[getter]
    fn game(&self) -> PyResult<PyGame> {
        Ok(PyGame(self.line_read()?.start.game.clone()))
    }

    /// The FEN that it begins at; None: the usual start of chess.
    #[getter]
    fn fen(&self) -> PyResult<Option<&str>> {
        Ok(self.line_read()?.start.fen.as_deref())
    }

    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let actions: &[Action] = &self.line_read()?.actions;
        PyTuple::new(py, actions)
    }

    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let moves: Vec<&str> = self.line_read()?.uci.split_ascii_whitespace().collect();
        PyTuple::new(py, moves)
    }

    /// How it ended, by the result after the moves or by the tag; None where nothing says so.
    #[getter]
    fn outcome(&self) -> PyResult<Option<i8>> {
        self.read.outcome.clone().map_err(value_error)
    }

    /// Why it ended by the rules; None where it did not.
    #[getter]
    fn ended(&self) -> PyResult<Option<&'static str>> {
        Ok(self.line_read()?.ended)
    }

    #[getter]
    fn notes(&self) -> PyResult<Vec<String>> {
        Ok(self.line_read()?.notes.clone())
    }

    /// The nodes of its tree, parents first, of a reader that keeps annotations.
    fn tree(&self, py: Python<'_>) -> PyResult<Vec<TreeRow>> {
        let raw = self.read.raw.as_ref();
        let raw = raw.ok_or_else(|| PyValueError::new_err("the variations and comments of this game were not read"))?;
        let tree = py.detach(|| pgn::tree::read(&pgn::Lines::default(), raw)).map_err(value_error)?;
        Ok(tree_rows(tree.nodes))
    }
}

/// The tags of a game in their order; of several of one name the first.
fn tag_dict<'py>(py: Python<'py>, tags: &[(String, String)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in tags {
        // As `RawGame::tag`, so that Python and the core mean the same value by a name.
        if !dict.contains(name)? {
            dict.set_item(name, value)?;
        }
    }
    Ok(dict)
}

/// A node of a tree: parent (-1 at the start), UCI, SAN, comment before and after, glyphs.
type TreeRow = (i64, String, String, String, String, Vec<u8>);

fn tree_rows(nodes: Vec<pgn::tree::Node>) -> Vec<TreeRow> {
    let mut parents = vec![-1i64; nodes.len()];
    for (number, node) in nodes.iter().enumerate() {
        for &child in &node.children {
            parents[child] = number as i64;
        }
    }
    let rows = nodes.into_iter().zip(parents);
    rows.map(|(node, parent)| (parent, node.uci, node.san, node.before, node.comment, node.nags)).collect()
}

/// Return a game of chess with its variations: tags, game, FEN, outcome, notes, and its nodes, parents first.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn read_pgn_tree<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<(Bound<'py, PyDict>, PyGame, Option<String>, Option<i8>, Vec<String>, Vec<TreeRow>)> {
    // A long text takes its time, and sessions of other pages run in this process.
    let (raw, tree) = py.detach(|| pgn::read_tree(text)).map_err(value_error)?;
    let rows = tree_rows(tree.nodes);
    let start = tree.line.start;
    Ok((tag_dict(py, &raw.tags)?, PyGame(start.game), start.fen, tree.line.outcome, tree.notes, rows))
}

/// A game of SGF.
#[pyclass(name = "SgfGame", module = "hauteur._core", frozen)]
pub struct PySgfGame {
    read: sgf::GameRead,
}

impl PySgfGame {
    fn line_read(&self) -> PyResult<&sgf::GameLine> {
        self.read.played.as_ref().map_err(value_error)
    }
}

#[pymethods]
impl PySgfGame {
    #[getter]
    fn number(&self) -> usize {
        self.read.number
    }

    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tag_dict(py, &self.read.tags)
    }

    #[getter]
    fn text(&self) -> &str {
        &self.read.text
    }

    /// Why the game cannot be used, in a line; None where it can.
    #[getter]
    fn wrong(&self) -> Option<&str> {
        self.read.played.as_ref().err().map(String::as_str)
    }

    #[getter]
    fn game(&self) -> PyResult<PyGame> {
        Ok(PyGame(self.line_read()?.game.clone()))
    }

    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let actions: &[Action] = &self.line_read()?.actions;
        PyTuple::new(py, actions)
    }

    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.line_read()?.moves)
    }

    #[getter]
    fn outcome(&self) -> PyResult<Option<i8>> {
        Ok(self.line_read()?.outcome)
    }

    #[getter]
    fn reason(&self) -> PyResult<&str> {
        Ok(&self.line_read()?.reason)
    }
}

/// Return the games of an SGF text. game: which they must be of; None: each says so itself.
#[pyfunction]
#[pyo3(signature = (text, game=None))]
pub fn read_sgf(py: Python<'_>, text: &str, game: Option<PyGame>) -> Vec<PySgfGame> {
    let games = py.detach(|| sgf::read(text, game.as_ref().map(|game| &game.0)));
    games.into_iter().map(|read| PySgfGame { read }).collect()
}

/// Return the spec of the first game of an SGF text. wanted: the name of the game that is expected.
#[pyfunction]
#[pyo3(signature = (text, wanted=""))]
pub fn sgf_spec(text: &str, wanted: &str) -> PyResult<String> {
    sgf::spec_of_text(text, wanted).map_err(value_error)
}

/// Return the bytes of an SGF file as text, by the encoding that it names, else UTF-8, else Latin-1.
#[pyfunction]
pub fn sgf_text(data: &[u8]) -> String {
    decode::sgf_text(data)
}

/// Return what a text is, as it begins: `pgn`, `sgf`, `fen` or `moves`.
#[pyfunction]
pub fn form_of_text(text: &str) -> &'static str {
    texts::form_of(text).name()
}
