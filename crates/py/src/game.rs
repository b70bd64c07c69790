//! `Game` and `State` for Python.

use std::sync::Arc;

use hauteur_core::game::{Action, Game, Outcome, Player, State, perft};
use hauteur_core::games;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::value_error;
use crate::python_game::{PythonGame, raise_stored};

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
    /// `answer`, unless the game is written in Python and raised an exception meanwhile: then that.
    pub fn checked<T>(&self, answer: T) -> PyResult<T> {
        raise_stored(self.0.as_ref()).map(|()| answer)
    }
}

#[pymethods]
impl PyGame {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        Ok(PyGame(Arc::from(games::make_game(spec).map_err(value_error)?)))
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
    fn spec(&self) -> &str {
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

    #[getter]
    fn max_plies(&self) -> usize {
        self.0.info().max_plies
    }

    /// Return the start of the game, seen through the symmetry of this number (0: as it is).
    #[pyo3(signature = (symmetry=0))]
    fn initial_state(&self, symmetry: usize) -> PyResult<PyState> {
        let count = if symmetry == 0 { 1 } else { self.0.symmetries().len() };
        if symmetry >= count {
            let (spec, last) = (self.spec(), count - 1);
            return Err(value_error(format!("{spec}: symmetry must be from 0 to {last}, got {symmetry}")));
        }
        let state = self.0.initial_seen(symmetry);
        self.checked(PyState { state, game: self.clone(), start: Start::Game(symmetry), moves: Vec::new() })
    }

    /// Return the start of the game.
    fn new_initial_state(&self) -> PyResult<PyState> {
        self.initial_state(0)
    }

    /// Return square and action permutations, int32 [S, H*W] and [S, A], identity first:
    /// new_plane.flat[i] = plane.flat[squares[s, i]]; new_policy[a] = policy[actions[s, a]].
    #[allow(clippy::type_complexity)]
    fn symmetries<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<i32>>, Bound<'py, PyArray2<i32>>)> {
        let all = self.0.symmetries();
        let squares: Vec<Vec<i32>> = all.iter().map(|s| s.squares.iter().map(|&i| i as i32).collect()).collect();
        let actions: Vec<Vec<i32>> = all.iter().map(|s| s.actions.iter().map(|&a| i32::from(a)).collect()).collect();
        Ok((PyArray2::from_vec2(py, &squares)?, PyArray2::from_vec2(py, &actions)?))
    }

    fn __repr__(&self) -> String {
        format!("Game({:?})", self.spec())
    }
}

/// Where the moves of a position begin.
#[derive(Clone)]
enum Start {
    /// At the start of its game, as this symmetry shows it.
    Game(usize),
    /// At this position; until a move is played, at the one that has it.
    Position(Option<Arc<dyn State>>),
}

/// One position of a game, with whatever its rules need of the past.
///
/// `to_move`: 0 first player, 1 second. `ply`: plies since the start of the game. `key`: hash of all that a network sees.
/// `position_key`: hash of the position without the way that led to it (`SearchParams.cache_key`).
/// `apply` changes the position in place; `copy()` first to keep it. Notebooks show the board.
///
/// >>> import hauteur as ht
/// >>> state = ht.load_game("tictactoe").new_initial_state()
/// >>> state.apply("b2")
/// >>> state.apply(0)
/// >>> state.moves, state.to_move, state.legal_actions().tolist()
/// ([4, 0], 0, [1, 2, 3, 5, 6, 7, 8])
/// >>> state.features().shape, state.outcome()
/// ((2, 3, 3), None)
#[pyclass(name = "State", module = "hauteur._core")]
pub struct PyState {
    /// The position.
    pub state: Box<dyn State>,
    /// Its game.
    pub game: PyGame,
    start: Start,
    /// Played from `start`.
    moves: Vec<Action>,
}

impl PyState {
    /// A position from which moves begin.
    pub fn new(state: Box<dyn State>, game: &PyGame) -> Self {
        PyState { state, game: game.clone(), start: Start::Position(None), moves: Vec::new() }
    }

    /// The legal action that a number or a text means.
    fn meant(&self, action: &Bound<'_, PyAny>) -> PyResult<Action> {
        if let Ok(text) = action.cast::<PyString>() {
            return self.action_from_text(text.to_str()?);
        }
        let number = action.extract().map_err(|_| {
            let kind = action.get_type();
            value_error(format!("an action is a whole number or its text, such as {}; got {kind}", self.example()))
        })?;
        self.check_legal(number)
    }

    /// A legal action as number and text, for messages.
    fn example(&self) -> String {
        let Some(first) = self.legal().first().copied() else { return "0".into() };
        self.state.action_to_text(first, None).map_or_else(|_| first.to_string(), |text| format!("{first} or {text:?}"))
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

    /// Return the legal actions, uint16, ascending; none at the end of the game.
    fn legal_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u16>>> {
        Ok(self.game.checked(self.legal())?.into_pyarray(py))
    }

    /// The position that `moves` begin from: the start of the game, or a position out of a search.
    #[getter]
    fn start(&self) -> PyResult<PyState> {
        match &self.start {
            Start::Game(symmetry) => self.game.initial_state(*symmetry),
            Start::Position(Some(start)) => self.game.checked(PyState::new(start.clone_box(), &self.game)),
            Start::Position(None) => self.game.checked(PyState::new(self.state.clone_box(), &self.game)),
        }
    }

    /// The actions played since `start`.
    #[getter]
    fn moves(&self) -> Vec<Action> {
        self.moves.clone()
    }

    /// Play a legal action, given as its number or its text, in place. Raise ValueError for what is not legal here.
    fn apply(&mut self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let action = self.meant(action)?;
        if let Start::Position(None) = &self.start {
            self.start = Start::Position(Some(Arc::from(self.state.clone_box())));
        }
        self.moves.push(action);
        self.state.play(action);
        self.game.checked(())
    }

    /// Play a legal action: the same as `apply`.
    fn play(&mut self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        self.apply(action)
    }

    /// Return an independent copy.
    fn copy(&self) -> PyResult<PyState> {
        let (game, start, moves) = (self.game.clone(), self.start.clone(), self.moves.clone());
        self.game.checked(PyState { state: self.state.clone_box(), game, start, moves })
    }

    fn __copy__(&self) -> PyResult<PyState> {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyResult<PyState> {
        self.copy()
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

    /// Return the features, float32 [C, H, W], from the view of the player to move.
    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let mut row = vec![0.0; self.game.0.info().row_len()];
        self.state.encode(&mut row);
        self.game.checked(row)?.into_pyarray(py).reshape(self.game.0.info().feature_shape)
    }

    /// Return the features, float32 [C, H, W], from the view of the player to move.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        self.encode(py)
    }

    /// Return the features of a board of at most 64 squares as masks uint64 [C] and values float32 [C].
    #[allow(clippy::type_complexity)]
    fn encode_packed<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f32>>)> {
        check_packable(self.game.0.as_ref())?;
        let planes = self.game.0.info().feature_shape[0];
        let (mut masks, mut values) = (vec![0; planes], vec![0.0; planes]);
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

    /// Return the number of a legal action from its text. Raise ValueError where it means none.
    fn action_from_text(&self, text: &str) -> PyResult<u16> {
        self.game.checked(self.state.action_from_text(text))?.map_err(value_error)
    }

    /// Return the position drawn as text.
    fn text(&self) -> PyResult<String> {
        self.game.checked(self.state.text())
    }

    /// Return the position as an SVG document, drawn by the game itself.
    fn svg(&self) -> PyResult<String> {
        self.game.checked(self.state.svg())
    }

    /// The board as notebooks show it: an SVG document.
    fn _repr_svg_(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("hauteur.games.pictures")?.call_method1("board_svg", (slf,))?.extract()
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

    fn __repr__(&self) -> String {
        format!("State({:?}, {:?})", self.game.spec(), self.state.notation())
    }
}

/// +1 first player won, 0 draw, -1 second player won.
fn outcome_number(outcome: Outcome) -> i8 {
    match outcome {
        Outcome::Win(Player::First) => 1,
        Outcome::Win(Player::Second) => -1,
        Outcome::Draw => 0,
    }
}

/// Packed features need boards of at most 64 squares.
pub fn check_packable(game: &dyn Game) -> PyResult<()> {
    let [_, rows, columns] = game.info().feature_shape;
    if rows * columns <= 64 {
        return Ok(());
    }
    let spec = &game.info().spec;
    Err(value_error(format!("packed features need a board of at most 64 squares; {spec} has {rows} x {columns}")))
}

/// Names of the built-in games.
#[pyfunction]
pub fn game_names() -> Vec<&'static str> {
    games::game_names()
}
