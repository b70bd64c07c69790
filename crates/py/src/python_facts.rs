//! What all positions of a game written in Python share: its facts, read off the initial position, and its first exception.

use std::sync::Mutex;

use hauteur_core::game::{Action, Customs, GameInfo, LOOKS, Symmetry};
use numpy::{AllowTypeChange, PyArrayLike2};
use pyo3::prelude::*;

use crate::python_answers::{shown, whole_numbers, wrong_answer};

/// Games without `max_plies` may last this many plies.
const DEFAULT_MAX_PLIES: usize = 1000;
/// What every position has; `METHODS` of them are asked by calls.
const REQUIRED: [&str; 8] =
    ["num_actions", "feature_shape", "to_move", "legal_actions", "apply", "outcome", "features", "copy"];
const METHODS: [&str; 5] = ["legal_actions", "apply", "outcome", "features", "copy"];

/// What all positions of a game share.
pub struct Shared {
    pub info: GameInfo,
    /// The initial position; games start with copies of it.
    pub start: Py<PyAny>,
    pub symmetries: Vec<Symmetry>,
    pub customs: Customs,
    /// The value of a position depends on more than its key and its ply.
    pub past_matters: bool,
    error: Mutex<Option<PyErr>>,
}

impl Shared {
    /// Reads the facts of the game off its initial position. Fails with a ValueError that names what is missing or wrong.
    pub fn read(start: &Bound<'_, PyAny>, spec: Option<String>) -> PyResult<Self> {
        let class = start.get_type().name()?.to_string();
        // A class that was given without a name, as in a notebook, still needs one in messages.
        let spec = spec.unwrap_or_else(|| class.to_lowercase());
        check_members(start, &class, &spec)?;
        let info = read_info(start, spec)?;
        let wrong = |what: String| wrong_answer(&info.spec, None, &what);
        let symmetries = read_symmetries(start, &info)?;
        let customs = read_customs(start, &info)?;
        let past_matters = match start.getattr_opt("past_matters")? {
            // A game with repeats depends on the moves before; exact solvers, which know positions alone, must
            // refuse it.
            None => start.hasattr("repetition")?,
            Some(given) => given
                .extract()
                .map_err(|_| wrong(format!("past_matters must be True or False, got {}", shown(&given))))?,
        };
        // A copy: the user may go on to play with the object that was given.
        let start = copy_of(start, &wrong)?;
        Ok(Shared { info, start, symmetries, customs, past_matters, error: Mutex::new(None) })
    }

    /// Takes the exception that was kept.
    pub fn take_error(&self) -> Option<PyErr> {
        // Under a panic of another thread too: an exception that is there must still reach the user.
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// Keeps the first exception.
    pub fn store(&self, error: PyErr) {
        // The first one is the cause. After it the game answers with draws, of which others may follow.
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
    }

    /// Whether an exception is kept.
    pub fn failed(&self) -> bool {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some()
    }
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
        let own = position.get_type().name()?;
        let above = copy.get_type().name()?;
        return Err(wrong(format!("copy() of {own} must give a {own}, got a {above}: make it by type(self)(...)")));
    }
    Ok(copy.unbind())
}

/// Fails with a ValueError that names the first member that is missing, or no method.
fn check_members(start: &Bound<'_, PyAny>, class: &str, spec: &str) -> PyResult<()> {
    let all = REQUIRED.join(", ");
    for name in REQUIRED {
        // a property may fail for a reason of its own, which is worth a line
        let Some(member) = start.getattr_opt(name)? else {
            let what = format!("{class} has no {name}; a game's position needs {all}");
            return Err(wrong_answer(spec, None, &what));
        };
        if METHODS.contains(&name) && !member.is_callable() {
            let what = format!("{class}.{name} must be a method, got {}", shown(&member));
            return Err(wrong_answer(spec, None, &what));
        }
    }
    Ok(())
}

fn read_info(start: &Bound<'_, PyAny>, spec: String) -> PyResult<GameInfo> {
    let wrong = |what: &str, got: &Bound<'_, PyAny>| wrong_answer(&spec, None, &format!("{what}, got {}", shown(got)));
    let given = start.getattr("num_actions")?;
    let num_actions: usize = given
        .extract()
        .ok()
        // Actions are 16 bits wide in trees and records.
        .filter(|count| (1..=usize::from(Action::MAX)).contains(count))
        .ok_or_else(|| wrong("num_actions must be a whole number from 1 to 65535", &given))?;
    let given = start.getattr("feature_shape")?;
    let feature_shape = whole_numbers(&given)
        .and_then(|sizes| sizes.into_iter().map(|size| usize::try_from(size).ok().filter(|&size| size > 0)).collect())
        .and_then(|sizes: Vec<usize>| <[usize; 3]>::try_from(sizes).ok())
        .ok_or_else(|| wrong("feature_shape must be three whole numbers >= 1: planes, rows, columns", &given))?;
    let max_plies = match start.getattr_opt("max_plies")? {
        None => DEFAULT_MAX_PLIES,
        Some(given) => given
            .extract()
            .ok()
            .filter(|&plies: &usize| plies > 0)
            .ok_or_else(|| wrong("max_plies must be a whole number >= 1", &given))?,
    };
    let name = spec.split('(').next().unwrap_or_default().to_string();
    Ok(GameInfo { name, num_actions, feature_shape, max_plies, spec })
}

/// How the game is shown, from the attributes that the position has: `look` and `has_draws`.
fn read_customs(start: &Bound<'_, PyAny>, info: &GameInfo) -> PyResult<Customs> {
    let wrong =
        |what: &str, got: &Bound<'_, PyAny>| wrong_answer(&info.spec, None, &format!("{what}, got {}", shown(got)));
    let mut customs = Customs::default();
    // It draws itself, so its text is not looked at for a board; `look` below may say otherwise.
    if start.hasattr("svg")? {
        customs.look = String::new();
    }
    if let Some(look) = start.getattr_opt("look")? {
        let allowed = |look: &String| LOOKS.contains(&look.as_str());
        // All but the last one, which is empty: how a game says that it draws itself.
        let listed = LOOKS[..LOOKS.len() - 1].join(", ");
        let named: Option<String> = look.extract().ok();
        customs.look = named.filter(allowed).ok_or_else(|| wrong(&format!("look must be one of {listed}"), &look))?;
    }
    if let Some(draws) = start.getattr_opt("has_draws")? {
        customs.has_draws = draws.extract().map_err(|_| wrong("has_draws must be True or False", &draws))?;
    }
    Ok(customs)
}

/// The symmetries that the position's `symmetries()` gives: two integer arrays [S, squares] and [S, actions].
fn read_symmetries(start: &Bound<'_, PyAny>, info: &GameInfo) -> PyResult<Vec<Symmetry>> {
    let squares = info.feature_shape[1] * info.feature_shape[2];
    let Some(method) = start.getattr_opt("symmetries")? else {
        // Every game has the identity: training and laws need no second way for games without symmetries.
        let squares = (0..squares as u32).collect();
        return Ok(vec![Symmetry { squares, actions: (0..info.num_actions as Action).collect() }]);
    };
    let wrong = |what: String| wrong_answer(&info.spec, None, &what);
    if !method.is_callable() {
        return Err(wrong(format!("symmetries must be a method, got {}", shown(&method))));
    }
    let given = method.call0()?;
    let both: (Bound<'_, PyAny>, Bound<'_, PyAny>) = given.extract().map_err(|_| {
        let actions = info.num_actions;
        let shapes = format!("two integer arrays, of shapes [S, {squares}] and [S, {actions}]");
        wrong(format!("symmetries() must give {shapes}, got {}", shown(&given)))
    })?;
    let (square_rows, action_rows) =
        (permutations(&both.0, squares, "squares", info)?, permutations(&both.1, info.num_actions, "actions", info)?);
    if square_rows.len() != action_rows.len() || square_rows.is_empty() {
        let counts = (square_rows.len(), action_rows.len());
        return Err(wrong(format!("symmetries must be as many for squares as for actions, got {counts:?}")));
    }
    let pairs = square_rows.into_iter().zip(action_rows);
    Ok(pairs.map(|(s, a)| Symmetry { squares: s, actions: a.iter().map(|&i| i as Action).collect() }).collect())
}

/// The rows of an integer array, each of which must be a permutation of 0..length; the first one the identity.
fn permutations(array: &Bound<'_, PyAny>, length: usize, what: &str, info: &GameInfo) -> PyResult<Vec<Vec<u32>>> {
    let wrong = |what: String| wrong_answer(&info.spec, None, &what);
    let array: PyArrayLike2<'_, i64, AllowTypeChange> = array.extract().map_err(|_| {
        wrong(format!("the symmetries' {what} must be an integer array [S, {length}], got {}", shown(array)))
    })?;
    let identity: Vec<u32> = (0..length as u32).collect();
    let mut rows = Vec::new();
    for row in array.as_array().rows() {
        // What is negative or too large becomes a number that no permutation has, so one check finds it.
        let row: Vec<u32> = row.iter().map(|&i| u32::try_from(i).unwrap_or(u32::MAX)).collect();
        let mut sorted = row.clone();
        sorted.sort_unstable();
        if sorted != identity || (rows.is_empty() && row != identity) {
            let index = rows.len();
            return Err(wrong(format!(
                "row {index} of the symmetries' {what} must be a permutation of 0 to {}, row 0 the identity",
                length - 1
            )));
        }
        rows.push(row);
    }
    Ok(rows)
}
