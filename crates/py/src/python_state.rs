//! Games written in Python: `State` for a Python object with the same method names.
//!
//! The methods of `State` cannot fail, those of a Python object can. The first exception is kept in the game; from then
//! on every position of the game behaves like a drawn one, so that the core comes to a rest, and the border raises the
//! exception with `raise_stored` before it returns to Python.

use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

use hauteur_core::game::{Action, Game, GameError, GameInfo, Outcome, Player, Repeat, State, Symmetry};
use numpy::{AllowTypeChange, PyArrayLike2, PyArrayLike3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Games without `max_plies` may last this many plies.
const DEFAULT_MAX_PLIES: usize = 1000;
const REQUIRED: [&str; 8] =
    ["num_actions", "feature_shape", "to_move", "legal_actions", "play", "outcome", "encode", "copy"];

/// A game whose positions are Python objects.
pub struct PythonGame(Arc<Shared>);

/// What all positions of a game share.
struct Shared {
    info: GameInfo,
    /// The initial position; games start with copies of it.
    start: Py<PyAny>,
    symmetries: Vec<Symmetry>,
    error: Mutex<Option<PyErr>>,
}

impl PythonGame {
    /// Reads the facts of the game off its initial position. Fails with a ValueError that names what is missing or wrong.
    pub fn new(start: &Bound<'_, PyAny>, spec: Option<String>) -> PyResult<Self> {
        let class = start.get_type().name()?.to_string();
        if let Some(missing) = REQUIRED.iter().find(|name| !start.hasattr(**name).unwrap_or(false)) {
            let all = REQUIRED.join(", ");
            return Err(value_error(format!("{class} has no {missing}; a game's position needs {all}")));
        }
        let info = read_info(start, spec.unwrap_or_else(|| class.to_lowercase()))?;
        let symmetries = read_symmetries(start, &info)?;
        Ok(PythonGame(Arc::new(Shared { info, start: start.copy()?, symmetries, error: Mutex::new(None) })))
    }
}

/// The `copy` method of a position.
trait CopyPosition {
    fn copy(&self) -> PyResult<Py<PyAny>>;
}

impl CopyPosition for Bound<'_, PyAny> {
    fn copy(&self) -> PyResult<Py<PyAny>> {
        self.call_method0("copy").map(Bound::unbind)
    }
}

fn read_info(start: &Bound<'_, PyAny>, spec: String) -> PyResult<GameInfo> {
    let wrong = |what: &str| value_error(format!("{spec}: {what}"));
    let attribute = |name: &str| start.getattr(name);
    let num_actions: usize = attribute("num_actions")?
        .extract()
        .ok()
        .filter(|count| (1..=usize::from(Action::MAX)).contains(count))
        .ok_or_else(|| wrong("num_actions must be a whole number from 1 to 65535"))?;
    let (planes, rows, columns): (usize, usize, usize) = attribute("feature_shape")?
        .extract()
        .ok()
        .filter(|&(planes, rows, columns)| planes > 0 && rows > 0 && columns > 0)
        .ok_or_else(|| wrong("feature_shape must be three whole numbers >= 1: planes, rows, columns"))?;
    let max_plies = match start.getattr_opt("max_plies")? {
        None => DEFAULT_MAX_PLIES,
        Some(value) => value
            .extract()
            .ok()
            .filter(|&plies: &usize| plies > 0)
            .ok_or_else(|| wrong("max_plies must be a whole number >= 1"))?,
    };
    let name = spec.split('(').next().unwrap_or_default().to_string();
    Ok(GameInfo { name, num_actions, feature_shape: [planes, rows, columns], max_plies, spec })
}

/// The symmetries that the position's `symmetries()` gives: two integer arrays [S, squares] and [S, actions].
fn read_symmetries(start: &Bound<'_, PyAny>, info: &GameInfo) -> PyResult<Vec<Symmetry>> {
    let squares = info.feature_shape[1] * info.feature_shape[2];
    if !start.hasattr("symmetries")? {
        let squares = (0..squares as u32).collect();
        return Ok(vec![Symmetry { squares, actions: (0..info.num_actions as Action).collect() }]);
    }
    let both: (Bound<'_, PyAny>, Bound<'_, PyAny>) = start.call_method0("symmetries")?.extract()?;
    let (square_rows, action_rows) =
        (permutations(&both.0, squares, "squares", info)?, permutations(&both.1, info.num_actions, "actions", info)?);
    if square_rows.len() != action_rows.len() || square_rows.is_empty() {
        let counts = (square_rows.len(), action_rows.len());
        return Err(value_error(format!(
            "{}: symmetries must be as many for squares as for actions, got {counts:?}",
            info.spec
        )));
    }
    let pairs = square_rows.into_iter().zip(action_rows);
    Ok(pairs.map(|(s, a)| Symmetry { squares: s, actions: a.iter().map(|&i| i as Action).collect() }).collect())
}

/// The rows of an integer array, each of which must be a permutation of 0..length; the first one the identity.
fn permutations(array: &Bound<'_, PyAny>, length: usize, what: &str, info: &GameInfo) -> PyResult<Vec<Vec<u32>>> {
    let array: PyArrayLike2<'_, i64, AllowTypeChange> = array.extract()?;
    let identity: Vec<u32> = (0..length as u32).collect();
    let mut rows = Vec::new();
    for row in array.as_array().rows() {
        let row: Vec<u32> = row.iter().map(|&i| u32::try_from(i).unwrap_or(u32::MAX)).collect();
        let mut sorted = row.clone();
        sorted.sort_unstable();
        if sorted != identity || (rows.is_empty() && row != identity) {
            let index = rows.len();
            let spec = &info.spec;
            return Err(value_error(format!(
                "{spec}: row {index} of the symmetries' {what} must be a permutation of 0 to {}, row 0 the identity",
                length - 1
            )));
        }
        rows.push(row);
    }
    Ok(rows)
}

impl Game for PythonGame {
    fn info(&self) -> &GameInfo {
        &self.0.info
    }

    fn initial(&self) -> Box<dyn State> {
        let object = Python::attach(|py| {
            let start = self.0.start.bind(py);
            start.copy().unwrap_or_else(|error| {
                self.0.store(error);
                self.0.start.clone_ref(py)
            })
        });
        Box::new(PythonState::new(self.0.clone(), object))
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        self.0.symmetries.clone()
    }

    fn foreign(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl Shared {
    /// Keeps the first exception.
    fn store(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
    }

    fn failed(&self) -> bool {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some()
    }
}

/// Raises the exception that a position of the game met since the last call, if there was one.
pub fn raise_stored(game: &dyn Game) -> PyResult<()> {
    let Some(python) = game.foreign().and_then(|game| game.downcast_ref::<PythonGame>()) else { return Ok(()) };
    let stored = python.0.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    stored.map_or(Ok(()), Err)
}

/// A copy of `state` whose exceptions `game` reports, if both are of the same kind of game written in Python.
pub fn adopted(state: &dyn State, game: &dyn Game) -> Box<dyn State> {
    let mut copy = state.clone_box();
    let python = game.foreign().and_then(|game| game.downcast_ref::<PythonGame>());
    if let (Some(game), Some(state)) = (python, state.as_any().downcast_ref::<PythonState>()) {
        let mut ours = PythonState::new(game.0.clone(), Python::attach(|py| state.object.clone_ref(py)));
        ours.copy_from(state);
        copy = Box::new(ours);
    }
    copy
}

/// A position: a Python object and what was already asked of it.
struct PythonState {
    game: Arc<Shared>,
    object: Py<PyAny>,
    moves: Vec<Action>,
    known: Known,
}

/// Answers of the object, kept until the next move. They are set, not initialised in place, so that nobody waits for
/// an answer while its finder waits for the interpreter.
#[derive(Clone, Default)]
struct Known {
    to_move: OnceLock<Player>,
    legal: OnceLock<Vec<Action>>,
    outcome: OnceLock<Option<Outcome>>,
    row: OnceLock<Vec<f32>>,
}

impl PythonState {
    fn new(game: Arc<Shared>, object: Py<PyAny>) -> Self {
        PythonState { game, object, moves: Vec::new(), known: Known::default() }
    }

    /// Asks the object; after an exception, in this call or an earlier one, the answer is `otherwise`.
    fn ask<T>(&self, otherwise: T, question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.game.failed() {
            return otherwise;
        }
        Python::attach(|py| {
            question(self.object.bind(py)).unwrap_or_else(|error| {
                self.game.store(error);
                otherwise
            })
        })
    }

    /// Asks a method that a game may leave out; `None` without it.
    fn ask_optional<T>(&self, method: &str, argument: Option<Action>) -> Option<T>
    where
        T: for<'py> FromPyObjectOwned<'py>,
    {
        self.ask(None, |object| {
            let Some(method) = object.getattr_opt(method)? else { return Ok(None) };
            let answer = match argument {
                None => method.call0()?,
                Some(action) => method.call1((action,))?,
            };
            answer.extract().map(Some).map_err(Into::into)
        })
    }

    /// An answer that is asked once a position; what stands in for it after an exception is not kept.
    fn remember<T: Clone>(&self, place: &OnceLock<T>, answer: impl FnOnce() -> T) -> T {
        place.get().cloned().unwrap_or_else(|| {
            let answer = answer();
            if !self.game.failed() {
                let _ = place.set(answer.clone());
            }
            answer
        })
    }

    fn wrong(&self, what: String) -> PyErr {
        value_error(format!("{} after {:?}: {what}", self.game.info.spec, self.notation()))
    }

    fn legal(&self) -> Vec<Action> {
        self.remember(&self.known.legal, || self.ask(Vec::new(), |object| self.read_legal(object)))
    }

    fn read_legal(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<Action>> {
        let listed = object.call_method0("legal_actions")?;
        let wide: Vec<i64> = listed.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?;
        let count = self.game.info.num_actions as i64;
        if wide.is_sorted_by(|a, b| a < b) && wide.iter().all(|action| (0..count).contains(action)) {
            return Ok(wide.into_iter().map(|action| action as Action).collect());
        }
        let last = count - 1;
        Err(self.wrong(format!("legal_actions must be ascending, without repeats, in 0 to {last}; got {wide:?}")))
    }

    fn read_outcome(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<Outcome>> {
        let answer = object.call_method0("outcome")?;
        if answer.is_none() {
            // a search must not meet a position that is neither over nor has moves
            return match (self.legal().is_empty(), self.game.failed()) {
                (false, _) => Ok(None),
                (true, true) => Ok(Some(Outcome::Draw)),
                (true, false) => Err(self.wrong("no legal action, but outcome() is None".into())),
            };
        }
        match answer.extract::<i64>().ok().and_then(number_outcome) {
            Some(outcome) => Ok(Some(outcome)),
            None => Err(self.wrong(format!("outcome() must be 1, 0, -1 or None, got {}", answer.repr()?))),
        }
    }

    fn row(&self) -> Vec<f32> {
        self.remember(&self.known.row, || self.ask(vec![0.0; self.row_len()], |object| self.read_row(object)))
    }

    fn read_row(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
        let array: PyArrayLike3<'_, f32, AllowTypeChange> = object.call_method0("encode")?.extract()?;
        let shape = self.game.info.feature_shape;
        if array.shape() != shape {
            return Err(self.wrong(format!("encode() must give shape {shape:?}, got {:?}", array.shape())));
        }
        let row: Vec<f32> = array.as_array().iter().copied().collect();
        match row.iter().find(|value| !value.is_finite()) {
            None => Ok(row),
            Some(value) => Err(self.wrong(format!("encode() must give finite numbers, got {value}"))),
        }
    }

    /// What `repetition()` gives: None, or earlier occurrences, plies since the latest, and if need be the result (0 without it).
    fn read_repetition(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<Repeat>> {
        let Some(answer) = object.getattr_opt("repetition")?.map(|method| method.call0()).transpose()? else {
            return Ok(None);
        };
        if answer.is_none() {
            return Ok(None);
        }
        let numbers: Option<Vec<i64>> = answer.extract().ok();
        let (count, plies, result) = match numbers.as_deref() {
            Some([count, plies]) => (*count, *plies, 0),
            Some([count, plies, result]) => (*count, *plies, *result),
            _ => (0, 0, 0),
        };
        let played = 1..=self.moves.len() as i64;
        let outcome = number_outcome(result).filter(|_| count >= 1 && played.contains(&plies));
        let repeat = |outcome| Repeat { count: count as u32, plies_since: plies as u32, outcome };
        outcome.map(|outcome| Some(repeat(outcome))).ok_or_else(|| {
            let got = answer.repr().map_or_else(|_| "?".into(), |text| text.to_string());
            self.wrong(format!(
                "repetition() must be None or (earlier occurrences, plies since the latest of them) with, if need be, the \
                 result 1, 0 or -1 behind; got {got}"
            ))
        })
    }

    /// What `key()` gives, whatever its type, as text; `None` for a game without it.
    fn own_key(&self) -> Option<String> {
        self.ask(None, |object| match object.getattr_opt("key")? {
            None => Ok(None),
            Some(method) => Ok(Some(method.call0()?.repr()?.to_string())),
        })
    }

    /// Name of an action: what the game calls it, or its number.
    fn action_name(&self, action: Action) -> String {
        self.ask_optional("action_to_text", Some(action)).unwrap_or_else(|| action.to_string())
    }
}

impl State for PythonState {
    fn to_move(&self) -> Player {
        self.remember(&self.known.to_move, || {
            self.ask(Player::First, |object| match object.getattr("to_move")?.extract::<i64>() {
                Ok(0) => Ok(Player::First),
                Ok(1) => Ok(Player::Second),
                _ => Err(self.wrong(format!("to_move must be 0 or 1, got {}", object.getattr("to_move")?.repr()?))),
            })
        })
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        out.extend(self.legal());
    }

    fn play(&mut self, action: Action) {
        self.ask((), |object| object.call_method1("play", (action,)).map(|_| ()));
        self.moves.push(action);
        self.known = Known::default();
        if self.moves.len() > self.game.info.max_plies {
            let limit = self.game.info.max_plies;
            self.game.store(self.wrong(format!("the game lasts longer than max_plies = {limit}")));
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.game.failed() {
            return Some(Outcome::Draw);
        }
        self.remember(&self.known.outcome, || self.ask(Some(Outcome::Draw), |object| self.read_outcome(object)))
    }

    fn repetition(&self) -> Option<Repeat> {
        self.ask(None, |object| self.read_repetition(object))
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.outcome().map(|_| "game over")
    }

    fn ply(&self) -> usize {
        self.moves.len()
    }

    fn encode(&self, row: &mut [f32]) {
        row.copy_from_slice(&self.row());
    }

    /// Planes that hold two different values other than 0 have no packed form: that is an exception.
    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        let row = self.row();
        let squares = row.len() / masks.len();
        for (c, plane) in row.chunks_exact(squares).enumerate() {
            values[c] = plane.iter().copied().find(|value| *value != 0.0).unwrap_or(0.0);
            masks[c] = (0..squares).filter(|&i| plane[i] != 0.0).fold(0, |mask, i| mask | 1 << i);
            if plane.iter().any(|value| *value != 0.0 && *value != values[c]) {
                self.game.store(self.wrong(format!("plane {c} holds several values, so it has no packed form")));
            }
        }
    }

    fn row_len(&self) -> usize {
        self.game.info.row_len()
    }

    /// The object's own `key()`, or a hash of features, legal actions and mover.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.to_move() as u8).hash(&mut hasher);
        match self.own_key() {
            Some(own) => own.hash(&mut hasher),
            None => {
                self.legal().hash(&mut hasher);
                self.row().iter().for_each(|value| value.to_bits().hash(&mut hasher));
            }
        }
        hasher.finish()
    }

    fn clone_box(&self) -> Box<dyn State> {
        let mut copy = PythonState::new(self.game.clone(), Python::attach(|py| self.object.clone_ref(py)));
        copy.copy_from(self);
        Box::new(copy)
    }

    fn copy_from(&mut self, other: &dyn State) {
        let other = other.as_any().downcast_ref::<Self>().expect("a position of the same game");
        if let Some(object) = other.ask(None, |object| object.copy().map(Some)) {
            self.object = object;
        }
        self.moves.clone_from(&other.moves);
        self.known = other.known.clone();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        match notation {
            None => Ok(self.action_name(action)),
            Some(name) => Err(GameError(format!("{} has no notation {name:?}; leave it out", self.game.info.spec))),
        }
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        let names: Vec<String> = self.legal().iter().map(|&action| self.action_name(action)).collect();
        let found = names.iter().position(|name| name.eq_ignore_ascii_case(text.trim()));
        found.map(|index| self.legal()[index]).ok_or_else(|| {
            let allowed = if names.is_empty() { "none (the game is over)".into() } else { names.join(" ") };
            GameError(format!("{text:?} is no legal move of {} here; legal moves: {allowed}", self.game.info.spec))
        })
    }

    fn text(&self) -> String {
        self.ask_optional("text", None).unwrap_or_else(|| format!("{}: {}", self.game.info.spec, self.notation()))
    }

    /// The object's own drawing, or its text in an SVG document.
    fn svg(&self) -> String {
        self.ask_optional("svg", None).unwrap_or_else(|| text_as_svg(&self.text()))
    }

    /// The object's own notation, or the numbers of the actions played.
    fn notation(&self) -> String {
        let moves = || self.moves.iter().map(Action::to_string).collect::<Vec<_>>().join(" ");
        self.ask_optional("notation", None).unwrap_or_else(moves)
    }
}

/// The result that a number means to games written in Python.
fn number_outcome(number: i64) -> Option<Outcome> {
    match number {
        1 => Some(Outcome::Win(Player::First)),
        0 => Some(Outcome::Draw),
        -1 => Some(Outcome::Win(Player::Second)),
        _ => None,
    }
}

/// Lines of text as an SVG document.
fn text_as_svg(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let lines: Vec<&str> = escaped.lines().collect();
    let width = 20 + 9 * text.lines().map(|line| line.chars().count()).max().unwrap_or(1);
    let height = 20 + 18 * lines.len();
    let spans = lines.iter().enumerate();
    let spans = spans.map(|(i, line)| format!("<text x=\"10\" y=\"{}\">{line}</text>\n", 24 + 18 * i));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"15\" xml:space=\"preserve\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
        spans.collect::<String>()
    )
}
