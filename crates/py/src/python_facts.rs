//! What all positions of a game written in Python share: its facts, read off the initial position, and its first exception.

use std::sync::Mutex;

use hauteur_core::game::{Action, Customs, GameInfo, LOOKS, Symmetry};
use numpy::{AllowTypeChange, PyArrayLike2};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Games without `max_plies` may last this many plies.
const DEFAULT_MAX_PLIES: usize = 1000;
const REQUIRED: [&str; 8] =
    ["num_actions", "feature_shape", "to_move", "legal_actions", "apply", "outcome", "features", "copy"];

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
        if let Some(missing) = REQUIRED.iter().find(|name| !start.hasattr(**name).unwrap_or(false)) {
            let all = REQUIRED.join(", ");
            return Err(value_error(format!("{class} has no {missing}; a game's position needs {all}")));
        }
        let info = read_info(start, spec.unwrap_or_else(|| class.to_lowercase()))?;
        let symmetries = read_symmetries(start, &info)?;
        let customs = read_customs(start, &info)?;
        let past_matters = match start.getattr_opt("past_matters")? {
            None => start.hasattr("repetition")?,
            Some(given) => given
                .extract()
                .map_err(|_| value_error(format!("{}: past_matters must be True or False", info.spec)))?,
        };
        Ok(Shared { info, start: start.copy()?, symmetries, customs, past_matters, error: Mutex::new(None) })
    }

    /// Takes the exception that was kept.
    pub fn take_error(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// Keeps the first exception.
    pub fn store(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
    }

    /// Whether an exception is kept.
    pub fn failed(&self) -> bool {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some()
    }
}
/// The `copy` method of a position.
pub trait CopyPosition {
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

/// How the game is shown, from the attributes that the position has: `look` and `has_draws`.
fn read_customs(start: &Bound<'_, PyAny>, info: &GameInfo) -> PyResult<Customs> {
    let wrong = |what: &str| value_error(format!("{}: {what}", info.spec));
    let mut customs = Customs::default();
    if start.hasattr("svg")? {
        customs.look = String::new();
    }
    if let Some(look) = start.getattr_opt("look")? {
        let allowed = |look: &String| LOOKS.contains(&look.as_str());
        let listed = LOOKS[..5].join(", ");
        customs.look =
            look.extract().ok().filter(allowed).ok_or_else(|| wrong(&format!("look must be one of {listed}")))?;
    }
    if let Some(draws) = start.getattr_opt("has_draws")? {
        customs.has_draws = draws.extract().map_err(|_| wrong("has_draws must be True or False"))?;
    }
    Ok(customs)
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
