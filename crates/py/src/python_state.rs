//! Positions of games written in Python: `State` for a Python object with the same method names.

use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use hauteur_core::game::{Action, Cells, GameError, GameInfo, Outcome, Player, Repeat, State};
use hauteur_core::picture;
use numpy::{AllowTypeChange, PyArrayLikeDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::python_answers::{is_bool, key_text, shown, whole_numbers, wrong_answer};
use crate::python_cells;
use crate::python_facts::{Shared, copy_of};

const NO_MASK: &str = " (indices, not a mask: np.flatnonzero(mask))";

/// A position: a Python object and what was already asked of it.
pub struct PythonState {
    game: Arc<Shared>,
    /// The Python object.
    pub object: Py<PyAny>,
    moves: Vec<Action>,
    known: Known,
}

/// Answers of the object, kept until the next move. They are set, not initialised in place, so that no one waits for
/// an answer while its finder waits for the interpreter.
#[derive(Clone, Default)]
struct Known {
    to_move: OnceLock<Player>,
    legal: OnceLock<Vec<Action>>,
    outcome: OnceLock<Option<Outcome>>,
    row: OnceLock<Vec<f32>>,
}

impl PythonState {
    /// The position of this object.
    pub fn new(game: Arc<Shared>, object: Py<PyAny>) -> Self {
        PythonState { game, object, moves: Vec::new(), known: Known::default() }
    }

    /// Asks the object; after an exception, in this call or an earlier one, the answer is `otherwise`.
    fn ask<T>(&self, otherwise: T, question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        // The object is not asked again: after an exception it may be half changed, and only the first one is
        // raised.
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

    /// Asks a method for a text, which a game may leave out; `None` without it.
    fn ask_text(&self, name: &str, argument: Option<Action>) -> Option<String> {
        self.ask(None, |object| {
            let Some(method) = object.getattr_opt(name)? else { return Ok(None) };
            let call = argument.map_or_else(|| format!("{name}()"), |action| format!("{name}({action})"));
            if !method.is_callable() {
                return Err(self.wrong(format!("{name} must be a method, got {}", shown(&method))));
            }
            let answer = match argument {
                None => method.call0()?,
                Some(action) => method.call1((action,))?,
            };
            match answer.extract() {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(self.wrong(format!("{call} must give text, got {}", shown(&answer)))),
            }
        })
    }

    /// An answer that is asked once a position; what stands in for it after an exception is not kept.
    fn remember<T: Clone>(&self, place: &OnceLock<T>, answer: impl FnOnce() -> T) -> T {
        place.get().cloned().unwrap_or_else(|| {
            let answer = answer();
            // A copy of this position may be used after the exception was raised: it must ask again.
            if !self.game.failed() {
                let _ = place.set(answer.clone());
            }
            answer
        })
    }

    /// The exception that names the game, the moves until here and what was wrong about an answer.
    fn wrong(&self, what: String) -> PyErr {
        wrong_answer(&self.game.info.spec, Some(&self.moves), &what)
    }

    fn legal(&self) -> Vec<Action> {
        self.remember(&self.known.legal, || self.ask(Vec::new(), |object| self.read_legal(object)))
    }

    fn read_legal(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<Action>> {
        let listed = object.call_method0("legal_actions")?;
        let last = self.game.info.num_actions as i64 - 1;
        let wrong = |hint: &str| {
            let got = shown(&listed);
            let allowed = format!("ascending, without repeats, in 0 to {last}");
            self.wrong(format!("legal_actions must be {allowed}; got {got}{hint}"))
        };
        let mut actions: Vec<i64> = Vec::new();
        // Item by item, so that arrays, lists and ranges are read alike; the whole answer is shown where one is
        // wrong.
        for item in listed.try_iter().map_err(|_| wrong(""))? {
            let item = item?;
            // Python takes True for 1: a mask of a board with two actions would be read as these.
            if is_bool(&item) {
                return Err(wrong(NO_MASK));
            }
            actions.push(item.extract().map_err(|_| wrong(""))?);
        }
        // Ascending, as `State` promises the core; an action that is there twice would be searched as two moves.
        if actions.is_sorted_by(|a, b| a < b) && actions.iter().all(|action| (0..=last).contains(action)) {
            return Ok(actions.into_iter().map(|action| action as Action).collect());
        }
        // Zeros and ones for every action are a mask of numbers, which is the likeliest mistake.
        let is_mask = actions.len() as i64 == last + 1 && actions.iter().all(|action| (0..=1).contains(action));
        Err(wrong(if is_mask { NO_MASK } else { "" }))
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
        // False for "goes on" would be 0, a draw.
        let number = if is_bool(&answer) { None } else { answer.extract::<i64>().ok() };
        number.and_then(number_outcome).map(Some).ok_or_else(|| {
            let hint = if is_bool(&answer) { "; None means that the game goes on" } else { "" };
            self.wrong(format!("outcome() must be 1, 0, -1 or None, got {}{hint}", shown(&answer)))
        })
    }

    fn row(&self) -> Vec<f32> {
        self.remember(&self.known.row, || self.ask(vec![0.0; self.row_len()], |object| self.read_row(object)))
    }

    fn read_row(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
        let answer = object.call_method0("features")?;
        let shape = self.game.info.feature_shape;
        let wrong = |got: String| self.wrong(format!("features() must give shape {shape:?}, got {got}"));
        // Of any type of numbers: games write bool planes or lists.
        let array: PyArrayLikeDyn<'_, f32, AllowTypeChange> = answer.extract().map_err(|_| wrong(shown(&answer)))?;
        if array.shape() != shape {
            return Err(wrong(if array.ndim() == 0 { shown(&answer) } else { format!("{:?}", array.shape()) }));
        }
        let row: Vec<f32> = array.as_array().iter().copied().collect();
        // A NaN would go through the net into every value above this position.
        match row.iter().find(|value| !value.is_finite()) {
            None => Ok(row),
            Some(value) => Err(self.wrong(format!("features() must give finite numbers, got {value}"))),
        }
    }

    /// What `squares(action)` gives: (row, column) from the top left, each on the board.
    fn read_squares(&self, action: Action, answer: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let [_, rows, columns] = self.game.info.feature_shape;
        let on_board = |pair: &Vec<i64>| match pair[..] {
            [row, column] => (0..rows as i64).contains(&row) && (0..columns as i64).contains(&column),
            _ => false,
        };
        let listed = answer.try_iter().ok().and_then(|squares| squares.collect::<PyResult<Vec<_>>>().ok());
        let pairs: Option<Vec<Vec<i64>>> = listed.and_then(|squares| squares.iter().map(whole_numbers).collect());
        match pairs.filter(|pairs| pairs.iter().all(on_board)) {
            Some(pairs) => Ok(pairs.iter().map(|pair| pair[0] as usize * columns + pair[1] as usize).collect()),
            None => Err(self.wrong(format!(
                "squares({action}) must be pairs (row, column) below ({rows}, {columns}), got {}",
                shown(answer)
            ))),
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
        let numbers = whole_numbers(&answer);
        let (count, plies, result) = match numbers.as_deref() {
            Some([count, plies]) => (*count, *plies, 0),
            Some([count, plies, result]) => (*count, *plies, *result),
            _ => (0, 0, 0),
        };
        // An occurrence before the start, or after this position, cannot be looked up by the search.
        let played = 1..=self.moves.len() as i64;
        let outcome = number_outcome(result).filter(|_| count >= 1 && played.contains(&plies));
        let repeat = |outcome| Repeat { count: count as u32, plies_since: plies as u32, outcome };
        outcome.map(|outcome| Some(repeat(outcome))).ok_or_else(|| {
            let got = shown(&answer);
            self.wrong(format!(
                "repetition() must be None or (earlier occurrences, plies since the latest of them) with, if need be, the \
                 result 1, 0 or -1; got {got}"
            ))
        })
    }

    /// What `key()` gives, whatever its type, as text; `None` for a game without it.
    fn own_key(&self) -> Option<String> {
        self.ask(None, |object| match object.getattr_opt("key")? {
            None => Ok(None),
            Some(method) if !method.is_callable() => {
                Err(self.wrong(format!("key must be a method, got {}", shown(&method))))
            }
            Some(method) => key_text(&method.call0()?, &|what| self.wrong(what)).map(Some),
        })
    }

    /// The rows that `cells()` gives: texts of single signs, as many and as long as the features have rows and columns; `None` for a game
    /// without it.
    fn own_rows(&self) -> Option<Cells> {
        self.ask(None, |object| {
            let Some(method) = object.getattr_opt("cells")? else { return Ok(None) };
            if !method.is_callable() {
                return Err(self.wrong(format!("cells must be a method, got {}", shown(&method))));
            }
            let answer = method.call0()?;
            let rows = answer.extract().ok().and_then(|rows| python_cells::from_rows(rows, &self.game.info));
            let [_, height, width] = self.game.info.feature_shape;
            let wrong =
                || self.wrong(format!("cells() must give {height} texts of {width} signs, got {}", shown(&answer)));
            rows.map(Some).ok_or_else(wrong)
        })
    }

    /// The board that the object's text is, and the line below it.
    fn board_of_text(&self) -> Result<(Cells, Option<String>), String> {
        // Other looks say that the text is a board; letters are what every game has that says nothing.
        if self.game.customs.look == "letters" {
            python_cells::check_size(&self.game.info)?;
        }
        let Some(text) = self.ask_text("text", None) else {
            return Err("there is no text() that draws it, a row a line".into());
        };
        python_cells::from_text(&text, &self.game.info)
    }

    /// Name of an action: what the game calls it, or its number.
    fn action_name(&self, action: Action) -> String {
        self.ask_text("action_to_text", Some(action)).unwrap_or_else(|| action.to_string())
    }
}

impl State for PythonState {
    fn to_move(&self) -> Player {
        self.remember(&self.known.to_move, || {
            self.ask(Player::First, |object| {
                let wrong = |got: String| self.wrong(format!("to_move must be 0 or 1, got {got}"));
                let answer = object.getattr("to_move").map_err(|error| wrong(error.to_string()))?;
                match answer.extract::<i64>() {
                    Ok(0) => Ok(Player::First),
                    Ok(1) => Ok(Player::Second),
                    _ if answer.is_callable() => Err(wrong("a method; it is an attribute or a property".into())),
                    _ => Err(wrong(shown(&answer))),
                }
            })
        })
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        out.extend(self.legal());
    }

    fn play(&mut self, action: Action) {
        self.ask((), |object| {
            let answer = object.call_method1("apply", (action,))?;
            // Games of other libraries give the next position and leave this one as it was: the same move would be
            // searched for ever.
            if answer.get_type().is(object.get_type()) && !answer.is(object) {
                return Err(self.wrong(format!("apply({action}) must play in place, but gives another position")));
            }
            Ok(())
        });
        // After a failure too: messages name the moves, and the core counts plies.
        self.moves.push(action);
        self.known = Known::default();
        // A game that never ends would let self-play run for ever.
        if self.moves.len() > self.game.info.max_plies {
            let limit = self.game.info.max_plies;
            self.game.store(self.wrong(format!("the game lasts longer than max_plies = {limit}")));
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        // Every game ends here, so that the core comes to a rest with all positions that it has.
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
            // Not refused when the game is read: only a plane of some later position may have two values.
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
        // Always: a `key()` of the board alone would join positions in which the other player is to move.
        (self.to_move() as u8).hash(&mut hasher);
        match self.own_key() {
            Some(own) => own.hash(&mut hasher),
            None => {
                self.legal().hash(&mut hasher);
                // Bits, since floats have no hash; -0 and 0 then differ, which costs a second evaluation and no
                // wrong one.
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
        // After a failure the old object stays: nobody asks it any more.
        if let Some(object) = other.ask(None, |object| copy_of(object, &|what| other.wrong(what)).map(Some)) {
            self.object = object;
        }
        self.moves.clone_from(&other.moves);
        // The copy has the same answers, and asking Python again is most of a visit.
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

    fn squares(&self, action: Action, info: &GameInfo) -> Vec<usize> {
        self.ask(Vec::new(), |object| match object.getattr_opt("squares")? {
            None => Ok(info.square_of(action)),
            Some(method) if !method.is_callable() => {
                Err(self.wrong(format!("squares must be a method, got {}", shown(&method))))
            }
            Some(method) => self.read_squares(action, &method.call1((action,))?),
        })
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        let names: Vec<String> = self.legal().iter().map(|&action| self.action_name(action)).collect();
        // People write `A1` where a game says `a1`.
        let found = names.iter().position(|name| name.eq_ignore_ascii_case(text.trim()));
        found.map(|index| self.legal()[index]).ok_or_else(|| {
            let allowed = if names.is_empty() { "none (the game is over)".into() } else { names.join(" ") };
            GameError(format!("{text:?} is not a legal move of {} here; legal moves: {allowed}", self.game.info.spec))
        })
    }

    /// What the object's `cells()` gives, or the grid that its text is.
    fn cells(&self) -> Result<Cells, String> {
        // Its own `cells()` before its text, which may have the board with other things.
        if let Some(rows) = self.own_rows() {
            return Ok(rows);
        }
        self.board_of_text().map(|(cells, _)| cells)
    }

    /// What captions call the player to move here, and after a move.
    fn sides(&self) -> [String; 2] {
        let mut names = ["First player".to_string(), "Second player".to_string()];
        let mut place = self.clone_box();
        // Here and after a move, as a caption says who is to move and nothing says it of both. Players who move
        // twice, or a game that is over, leave the usual name.
        for _ in 0..2 {
            if let Some(name) = place.caption().strip_suffix(" to move") {
                let mut letters = name.chars();
                let first: String = letters.next().map(char::to_uppercase).into_iter().flatten().collect();
                names[place.to_move() as usize] = first + letters.as_str();
            }
            let mut actions = Vec::new();
            place.legal_actions(&mut actions);
            if let Some(&action) = actions.first().filter(|_| place.outcome().is_none()) {
                place.play(action);
            }
        }
        names
    }

    /// The line below a grid with labels, the result, or the last line of the text where it says whose turn it is.
    fn caption(&self) -> String {
        // The line of the game itself may say more than whose turn it is.
        if let Ok((_, Some(line))) = self.board_of_text() {
            return line;
        }
        picture::result(self).unwrap_or_else(|| {
            let text = self.ask_text("text", None).unwrap_or_default();
            let last = text.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default().trim();
            if last.ends_with("to move") {
                return last.to_string();
            }
            format!("{} player to move", ["first", "second"][self.to_move() as usize])
        })
    }

    fn text(&self) -> String {
        self.ask_text("text", None).unwrap_or_else(|| match self.own_rows() {
            Some(cells) => cells.text() + &self.caption(),
            None => format!("{}: {}", self.game.info.spec, self.notation()),
        })
    }

    fn own_svg(&self) -> Option<String> {
        self.ask_text("svg", None)
    }

    /// The object's own notation, or the numbers of the actions played.
    fn notation(&self) -> String {
        let moves = || self.moves.iter().map(Action::to_string).collect::<Vec<_>>().join(" ");
        self.ask_text("notation", None).unwrap_or_else(moves)
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
