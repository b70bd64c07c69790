//! `Game` and `State` for Python.

use std::sync::Arc;

use hauteur_core::game::{Action, Game, GameError, State, perft, same_position};
use hauteur_core::games;
use hauteur_core::picture;
use hauteur_lab::position::load_game;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;

use crate::chess_boards::chess_board;
use crate::errors::value_error;
use crate::hints;
use crate::python_game::{PythonGame, python_start, raise_stored};
use crate::values::{check_packable, hash_of, named, outcome_number, python_text};

/// A game: its sizes, and the position that it starts from.
///
/// Made by `hauteur.load_game`. `name`, `spec`: without and with parameters. `num_actions`: A, the length of a policy.
/// `feature_shape`: (C, H, W), planes, rows, columns of the features. `max_plies`: no game is longer.
///
/// >>> import hauteur as ht
/// >>> game = ht.load_game("tictactoe")
/// >>> game.spec, game.num_actions, game.feature_shape, game.max_plies
/// ('tictactoe', 9, (2, 3, 3), 9)
#[pyclass(name = "Game", module = "hauteur._core", frozen, from_py_object)]
#[derive(Clone)]
pub struct PyGame(pub Arc<dyn Game>);

impl PyGame {
    /// Whether both play by the same rules: one spec, and one class where they are written in Python.
    pub fn same(&self, other: &PyGame) -> bool {
        // Two classes may have one name, as when a notebook's cell has run again.
        let class = |game: &PyGame| {
            python_start(game.0.as_ref()).map(|start| Python::attach(|py| start.bind(py).get_type().as_ptr() as usize))
        };
        self.spec() == other.spec() && class(self) == class(other)
    }

    /// `answer`, unless the game is written in Python and raised an exception meanwhile: then that.
    pub fn checked<T>(&self, answer: T) -> PyResult<T> {
        raise_stored(self.0.as_ref()).map(|()| answer)
    }
}

#[pymethods]
impl PyGame {
    #[new]
    pub fn new(spec: &str) -> PyResult<Self> {
        load_game(spec).map(PyGame).map_err(value_error)
    }

    #[staticmethod]
    #[pyo3(signature = (game, spec=None))]
    fn from_python(game: &Bound<'_, PyAny>, spec: Option<String>) -> PyResult<Self> {
        Ok(PyGame(Arc::new(PythonGame::new(game, spec)?)))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.info().name
    }

    #[getter]
    pub fn spec(&self) -> &str {
        &self.0.info().spec
    }

    #[getter]
    fn num_actions(&self) -> usize {
        self.0.info().num_actions
    }

    #[getter]
    fn feature_shape(&self) -> (usize, usize, usize) {
        let [planes, rows, columns] = self.0.info().feature_shape;
        (planes, rows, columns)
    }

    /// The plane of the features that is all ones where the second player is to move, zeros where the first one is.
    #[getter]
    pub fn colour_plane(&self) -> Option<usize> {
        self.0.initial().colour_plane().map(|plane| plane.start / plane.len())
    }

    #[getter]
    fn max_plies(&self) -> usize {
        self.0.info().max_plies
    }

    /// How the squares of its text are drawn: `pieces`, `stones`, `discs`, `crosses` or `letters`; empty: by `State.svg` alone.
    #[getter]
    fn look(&self) -> String {
        self.0.customs().look
    }

    /// The form of files in which games are recorded: `pgn`, `sgf`; None: a line of moves.
    #[getter]
    fn record_form(&self) -> Option<String> {
        Some(self.0.customs().record_form).filter(|form| !form.is_empty())
    }

    /// The notation of moves that people read (chess: `san`); None: the usual one.
    #[getter]
    fn move_notation(&self) -> Option<String> {
        Some(self.0.customs().move_notation).filter(|notation| !notation.is_empty())
    }

    /// Whether positions have a FEN, and the spec a parameter `fen`.
    #[getter]
    fn has_fen(&self) -> bool {
        self.0.customs().has_fen
    }

    /// What the two players are called, as captions call them: `White` and `Black`.
    #[getter]
    fn sides(&self) -> PyResult<(String, String)> {
        let [first, second] = self.0.initial().sides();
        self.checked((first, second))
    }

    /// Whether a game can end as a draw.
    #[getter]
    fn has_draws(&self) -> bool {
        self.0.customs().has_draws
    }

    /// What the value of a position depends on beyond its key and its ply; None in games without such rules.
    #[getter]
    fn past_matters(&self) -> Option<&'static str> {
        self.0.past_matters()
    }

    /// Return the start of the game, seen through the symmetry of this number (0: unchanged).
    #[pyo3(signature = (symmetry=0))]
    pub fn new_initial_state(&self, symmetry: usize) -> PyResult<PyState> {
        // Symmetries are permutations of all squares and actions; the usual start needs none of them made.
        let count = if symmetry == 0 { 1 } else { self.0.symmetries().len() };
        if symmetry >= count {
            let spec = self.spec();
            let last = count - 1;
            return Err(value_error(format!("{spec}: symmetry must be from 0 to {last}, got {symmetry}")));
        }
        let state = self.0.initial_seen(symmetry);
        self.checked(PyState { state, game: self.clone(), symmetry, moves: Vec::new() })
    }

    /// Return square and action permutations, int32 [S, H*W] and [S, A], identity first:
    /// new_plane.flat[i] = plane.flat[squares[s, i]]; new_policy[a] = policy[actions[s, a]].
    #[allow(clippy::type_complexity)]
    fn symmetries<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<i32>>, Bound<'py, PyArray2<i32>>)> {
        let all = self.0.symmetries();
        // int32, though actions fit into 16 bits: narrower types wrap where people compute with them (decision 6).
        let squares: Vec<Vec<i32>> = all.iter().map(|s| s.squares.iter().map(|&i| i as i32).collect()).collect();
        let actions: Vec<Vec<i32>> = all.iter().map(|s| s.actions.iter().map(|&a| i32::from(a)).collect()).collect();
        Ok((PyArray2::from_vec2(py, &squares)?, PyArray2::from_vec2(py, &actions)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyGame>().is_ok_and(|other| self.same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.spec())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // By its start, which Python pickles by its class: another process may not know the spec.
        match python_start(self.0.as_ref()) {
            Some(start) => (named(py, "python_game_from")?, (start.clone_ref(py), self.spec())).into_bound_py_any(py),
            None => (py.get_type::<PyGame>(), (self.spec(),)).into_bound_py_any(py),
        }
    }

    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(hints::of_game(name))
    }

    fn __repr__(&self) -> String {
        format!("ht.load_game({})", python_text(self.spec()))
    }
}

/// Build a pickled game that is written in Python.
#[pyfunction]
pub fn python_game_from(game: &Bound<'_, PyAny>, spec: String) -> PyResult<PyGame> {
    PyGame::from_python(game, Some(spec))
}

/// Build a pickled position: its game, the symmetry that it is seen through, and the actions played.
#[pyfunction]
pub fn state_from(game: PyGame, symmetry: usize, moves: Vec<i64>) -> PyResult<PyState> {
    let mut state = game.new_initial_state(symmetry)?;
    moves.into_iter().try_for_each(|action| state.play_number(action))?;
    Ok(state)
}

/// One position of a game, with whatever its rules need of the past: a value.
///
/// `to_move`: 0 first player, 1 second. `ply`: plies since the start of the game. `key`: hash of all that a network sees.
/// `position_key`: hash of the position without the way that led to it (`SearchParams.cache_key`).
/// `child(action)` gives the position after a move; `apply` plays it in place, `undo` takes it back. Positions are equal
/// where the rules and a network cannot tell them apart, in chess with repetitions and the positions before; equal ones have
/// equal hashes. They can be copied, pickled, and kept in sets (do not change one that lies there). Notebooks show the board.
///
/// >>> import hauteur as ht
/// >>> state = ht.load_game("tictactoe").new_initial_state()
/// >>> state.apply_text("b2")
/// >>> state.apply(0)
/// >>> state.moves, state.to_move, state.legal_actions().tolist()
/// ([4, 0], 0, [1, 2, 3, 5, 6, 7, 8])
/// >>> state.features().shape, state.outcome(), state.is_terminal
/// ((2, 3, 3), None, False)
/// >>> state
/// ht.position("tictactoe", "b2 a3")
/// >>> state == ht.position("tictactoe", [4, 0]), state.child(1) == state
/// (True, False)
#[pyclass(name = "State", module = "hauteur._core")]
pub struct PyState {
    /// The position.
    pub state: Box<dyn State>,
    /// Its game.
    pub game: PyGame,
    /// How the start of the game is seen (0: unchanged).
    pub symmetry: usize,
    /// Played since the start.
    pub moves: Vec<Action>,
}

impl PyState {
    /// A position that was reached from the root of a tree by some actions. `state`: the position itself.
    pub fn reached(root: &Line, actions: &[Action], state: Box<dyn State>) -> Self {
        let moves = [&root.moves, actions].concat();
        PyState { state, game: root.game.clone(), symmetry: root.symmetry, moves }
    }

    /// How the position was reached.
    pub fn line(&self) -> Line {
        Line { game: self.game.clone(), symmetry: self.symmetry, moves: self.moves.clone() }
    }

    /// The action that a whole number means. TypeError for anything else.
    fn number(&self, action: &Bound<'_, PyAny>) -> PyResult<i64> {
        action.extract().map_err(|_| {
            let got = action.repr().map_or_else(|_| "?".into(), |text| text.to_string());
            let example = self.example();
            PyTypeError::new_err(format!(
                "an action is a whole number, such as {example}; got {got}: moves as text go through apply_text or parse"
            ))
        })
    }

    /// A legal action as number, and its text, for messages.
    fn example(&self) -> String {
        let Some(first) = self.legal().first().copied() else { return "0".into() };
        self.state
            .action_to_text(first, None)
            .map_or_else(|_| first.to_string(), |text| format!("{first} (the move {text})"))
    }

    fn play_number(&mut self, action: i64) -> PyResult<()> {
        let action = self.check_legal(action)?;
        // Before the position changes: where a game in Python fails in the middle of the move, both have it.
        self.moves.push(action);
        self.state.play(action);
        self.game.checked(())
    }

    /// The name of the game, if its positions have a FEN. AttributeError for other games.
    fn check_fen(&self, what: &str) -> PyResult<&str> {
        let name = self.game.0.info().name.as_str();
        if self.game.has_fen() {
            return Ok(name);
        }
        Err(PyAttributeError::new_err(format!("{name} has no {what}; notation() is its position in one line")))
    }

    fn legal(&self) -> Vec<u16> {
        let mut actions = Vec::new();
        self.state.legal_actions(&mut actions);
        actions
    }

    fn check_legal(&self, action: i64) -> PyResult<Action> {
        let legal = self.game.checked(self.legal())?;
        let found = legal.iter().find(|known| i64::from(**known) == action).copied();
        found.ok_or_else(|| value_error(format!("action {action} is not legal here; legal: {legal:?}")))
    }
}

#[pymethods]
impl PyState {
    #[getter]
    fn game(&self) -> PyGame {
        self.game.clone()
    }

    #[getter]
    fn to_move(&self) -> PyResult<u8> {
        self.game.checked(self.state.to_move() as u8)
    }

    #[getter]
    fn ply(&self) -> usize {
        self.state.ply()
    }

    #[getter]
    fn key(&self) -> PyResult<u64> {
        self.game.checked(self.state.key())
    }

    #[getter]
    fn position_key(&self) -> PyResult<u64> {
        self.game.checked(self.state.position_key())
    }

    /// Return the legal actions, int64, ascending; none at the end of the game.
    fn legal_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        // int64 (decision 6): `action - 1` wraps in narrower types.
        let wide: Vec<i64> = self.game.checked(self.legal())?.into_iter().map(i64::from).collect();
        Ok(wide.into_pyarray(py))
    }

    /// The legal moves as text, in the order of `legal_actions()`.
    #[getter]
    fn legal_moves(&self) -> PyResult<Vec<String>> {
        let texts: Result<Vec<String>, GameError> =
            self.legal().into_iter().map(|action| self.state.action_to_text(action, None)).collect();
        self.game.checked(texts)?.map_err(value_error)
    }

    /// The start of the game, which `moves` begin from.
    #[getter]
    fn start(&self) -> PyResult<PyState> {
        self.game.new_initial_state(self.symmetry)
    }

    /// The actions played since `start`.
    #[getter]
    fn moves(&self) -> Vec<Action> {
        self.moves.clone()
    }

    /// Play a legal action in place. Raise ValueError for what is not legal here, TypeError for what is no number.
    fn apply(&mut self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let action = self.number(action)?;
        self.play_number(action)
    }

    /// Play a legal move given as text, in place. Raise ValueError where it means none.
    pub fn apply_text(&mut self, text: &str) -> PyResult<()> {
        let action = self.parse(text)?;
        self.play_number(i64::from(action))
    }

    /// Return the position after a legal action; this one stays.
    fn child(&self, action: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let mut child = self.copy()?;
        child.apply(action)?;
        Ok(child)
    }

    /// Take the last move back, in place, and return its action. Raise ValueError where none was played.
    fn undo(&mut self) -> PyResult<Action> {
        let Some((&last, before)) = self.moves.split_last() else {
            return Err(value_error("there is no move to take back: this is the start of the game"));
        };
        let mut start = self.game.new_initial_state(self.symmetry)?;
        // Played from the start: states have no undo, which searches never need (decision 6).
        before.iter().for_each(|&action| start.state.play(action));
        self.state = self.game.checked(start.state)?;
        // Only now: after an exception of the game the position still is the one that its moves say.
        self.moves.pop();
        Ok(last)
    }

    /// Return an independent copy.
    pub fn copy(&self) -> PyResult<PyState> {
        let state = self.state.clone_box();
        let game = self.game.clone();
        let moves = self.moves.clone();
        self.game.checked(PyState { state, game, symmetry: self.symmetry, moves })
    }

    fn __copy__(&self) -> PyResult<PyState> {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyResult<PyState> {
        self.copy()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        // Another object is not equal, which is no error: sets and `in` compare with anything.
        let Ok(other) = other.cast::<PyState>() else { return Ok(false) };
        // An error where another thread plays on it, as `borrow` would panic.
        let other = other.try_borrow()?;
        let same = self.game.same(&other.game) && same_position(self.state.as_ref(), other.state.as_ref());
        self.game.checked(same)
    }

    fn __hash__(&self) -> PyResult<u64> {
        // The ply as well, as equality has it: a position that comes back is another one for the rules.
        self.game.checked(hash_of((self.game.spec(), self.state.key(), self.state.ply())))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (self.game.clone(), self.symmetry, self.moves.clone());
        (named(py, "state_from")?, arguments).into_bound_py_any(py)
    }

    /// Whether the game is over.
    #[getter]
    fn is_terminal(&self) -> PyResult<bool> {
        self.game.checked(self.state.outcome().is_some())
    }

    /// Return the result: 1 the first player won, 0 draw, -1 the second player won, None: the game goes on.
    fn outcome(&self) -> PyResult<Option<i8>> {
        self.game.checked(self.state.outcome().map(outcome_number))
    }

    /// Return earlier occurrences of the position, plies since the latest, and the result that a repeat comes to (1, 0, -1);
    /// None: it is new, or the game knows no repeats.
    fn repetition(&self) -> PyResult<Option<(u32, u32, i8)>> {
        let repeat = self.state.repetition();
        self.game.checked(repeat.map(|repeat| (repeat.count, repeat.plies_since, outcome_number(repeat.outcome))))
    }

    /// Whether the result rests on what was played before, not on the position alone.
    #[getter]
    fn outcome_depends_on_path(&self) -> PyResult<bool> {
        self.game.checked(self.state.outcome_depends_on_path())
    }

    /// Return why the game is over, in a word or two; None while it is not.
    fn end_reason(&self) -> PyResult<Option<&'static str>> {
        self.game.checked(self.state.end_reason())
    }

    /// Return the first player's points less the second's as the board stands, komi counted (Go: by area; Othello: discs);
    /// None in games without points.
    fn score(&self) -> PyResult<Option<f32>> {
        self.game.checked(self.state.score())
    }

    /// Return whose point each square is as the board stands, int8 [H, W]: 1 the first player's, -1 the second's, 0 nobody's
    /// (Go: by area; Othello: discs); None in games without points.
    fn ownership<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<i8>>>> {
        let [_, rows, columns] = self.game.0.info().feature_shape;
        let Some(signs) = self.game.checked(self.state.ownership())? else {
            return Ok(None);
        };
        Ok(Some(signs.into_pyarray(py).reshape([rows, columns])?))
    }

    /// Return the features, float32 [C, H, W], from the view of the player to move.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let mut row = vec![0.0; self.game.0.info().row_len()];
        self.state.encode(&mut row);
        self.game.checked(row)?.into_pyarray(py).reshape(self.game.0.info().feature_shape)
    }

    /// Return the features of a board of at most 64 squares as masks uint64 [C] and values float32 [C].
    #[allow(clippy::type_complexity)]
    fn features_packed<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f32>>)> {
        check_packable(self.game.0.as_ref())?;
        let planes = self.game.0.info().feature_shape[0];
        let mut masks = vec![0; planes];
        let mut values = vec![0.0; planes];
        self.state.encode_packed(&mut masks, &mut values);
        self.game.checked(())?;
        Ok((masks.into_pyarray(py), values.into_pyarray(py)))
    }

    /// Return a legal action as text; `notation`: one of several where the game has them (chess: `uci`, `san`).
    #[pyo3(signature = (action, notation=None))]
    fn action_to_text(&self, action: i64, notation: Option<&str>) -> PyResult<String> {
        let action = self.check_legal(action)?;
        self.game.checked(self.state.action_to_text(action, notation))?.map_err(value_error)
    }

    /// Return the squares of a legal action as (row, column) from the top left: from and to, or where the stone comes to lie;
    /// none for an action without squares.
    fn squares(&self, action: i64) -> PyResult<Vec<(usize, usize)>> {
        let action = self.check_legal(action)?;
        let info = self.game.0.info();
        let found = self.game.checked(self.state.squares(action, info))?;
        Ok(found.into_iter().map(|square| (square / info.feature_shape[2], square % info.feature_shape[2])).collect())
    }

    /// Return the number of a legal action from its text. Raise ValueError where it means none.
    fn parse(&self, text: &str) -> PyResult<u16> {
        self.game.checked(self.state.action_from_text(text))?.map_err(value_error)
    }

    /// Return a legal move of chess as people write it, such as Nf3.
    fn san(&self, action: i64) -> PyResult<String> {
        self.action_to_text(action, Some("san"))
    }

    /// Return a legal move of chess as engines write it, such as g1f3.
    fn uci(&self, action: i64) -> PyResult<String> {
        self.action_to_text(action, Some("uci"))
    }

    /// The position as FEN, in chess and minichess. AttributeError in other games.
    #[getter]
    fn fen(&self) -> PyResult<String> {
        self.check_fen("FEN")?;
        self.notation()
    }

    /// Return the position as a `chess.Board` with its moves; an AttributeError in games that are not chess.
    fn board<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.check_fen("chess.Board")? != "chess" {
            return Err(PyAttributeError::new_err("minichess has no chess.Board: its board is 5 x 5"));
        }
        let start = self.position().back_to(0).state;
        let chess960 = self.game.spec().contains("chess960=true");
        chess_board(py, start, chess960, &self.moves)
    }

    /// Return the position drawn as text.
    fn text(&self) -> PyResult<String> {
        self.game.checked(self.state.text())
    }

    /// Return the position as a stand-alone SVG document, the last move marked; `flip`: seen from the second player's side. A game
    /// with an `svg()` of its own draws itself.
    #[pyo3(signature = (*, flip=false))]
    fn svg(&self, flip: bool) -> PyResult<String> {
        let board = self.board_of(None)?;
        self.game.checked(board.map_or_else(|_| picture::own_svg(self.state.as_ref()), |board| board.svg(flip)))
    }

    /// The board as notebooks show it: an SVG document.
    fn _repr_svg_(&self) -> PyResult<String> {
        self.svg(false)
    }

    /// Return the position in one line: chess as FEN, other games as the moves so far.
    fn notation(&self) -> PyResult<String> {
        self.game.checked(self.state.notation())
    }

    /// Return the number of move sequences of this length.
    fn perft(&self, py: Python<'_>, depth: u32) -> PyResult<u64> {
        self.game.checked(py.detach(|| perft(self.state.as_ref(), depth)))
    }

    fn __str__(&self) -> PyResult<String> {
        self.text()
    }

    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(hints::of_position(name))
    }

    fn __repr__(&self) -> PyResult<String> {
        let spec = python_text(self.game.spec());
        // No call makes such a position from text, so the repr is none that could be evaluated.
        if self.symmetry > 0 {
            return Ok(format!("<position of {spec} seen through symmetry {}: {}>", self.symmetry, self.notation()?));
        }
        let mut place = self.game.0.initial();
        let mut texts = Vec::new();
        for &action in &self.moves {
            texts.push(place.action_to_text(action, None).map_err(value_error)?);
            place.play(action);
        }
        let moves = if texts.is_empty() { String::new() } else { format!(", {}", python_text(&texts.join(" "))) };
        self.game.checked(format!("ht.position({spec}{moves})"))
    }
}

/// How a position was reached: its game, the symmetry that its start is seen through, and the actions played.
#[derive(Clone)]
pub struct Line {
    pub game: PyGame,
    symmetry: usize,
    pub moves: Vec<Action>,
}

/// Names of the built-in games.
#[pyfunction]
pub fn game_names() -> Vec<&'static str> {
    games::game_names()
}
