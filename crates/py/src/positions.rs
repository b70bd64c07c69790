//! Features and values of many positions at once.

use hauteur_core::game::State;
use hauteur_core::players::rollout::rollout_value;
use numpy::{IntoPyArray, Ix1, Ix2, Ix4, PyArray2, PyArrayMethods, PyReadwriteArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::arrays::{read, write};
use crate::errors::value_error;
use crate::game::PyState;

/// Does `work` for each item, without the GIL: here, or on a pool of more than one thread, which takes longer to start than some hundred
/// rows to compute.
fn on_threads<T: Send>(
    py: Python<'_>,
    threads: usize,
    items: Vec<T>,
    work: impl Fn(T) -> Result<(), String> + Send + Sync,
) -> PyResult<()> {
    let done = if threads > 1 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(value_error)?;
        py.detach(|| pool.install(|| items.into_par_iter().try_for_each(work)))
    } else {
        py.detach(|| items.into_iter().try_for_each(work))
    };
    done.map_err(value_error)
}

fn check_rows(shape: &[usize], rows: usize, row_len: usize) -> PyResult<()> {
    let got: usize = shape[1..].iter().product();
    if shape[0] >= rows && got == row_len {
        return Ok(());
    }
    Err(value_error(format!("out must have at least {rows} rows of {row_len} floats, got shape {shape:?}")))
}

/// A row of another length would be written beyond its place, or leave a part of it as it was.
fn check_one_game(states: &[PyRef<'_, PyState>]) -> PyResult<()> {
    let row_len = |state: &PyRef<'_, PyState>| state.state.row_len();
    if states.iter().map(row_len).all(|length| Some(length) == states.first().map(row_len)) {
        return Ok(());
    }
    Err(value_error("all states must be of one game"))
}

/// Features of many states.
#[pyfunction]
#[pyo3(signature = (states, out, threads=1))]
pub fn encode_positions(
    py: Python<'_>,
    states: Vec<PyRef<'_, PyState>>,
    out: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<()> {
    let mut out = write::<f32, Ix4>("out", out)?;
    let Some(first) = states.first() else { return Ok(()) };
    let row_len = first.state.row_len();
    check_rows(out.shape(), states.len(), row_len)?;
    check_one_game(&states)?;
    let positions: Vec<&dyn State> = states.iter().map(|state| state.state.as_ref()).collect();
    let floats = out.as_slice_mut()?;
    let rows = positions.into_iter().zip(floats.chunks_mut(row_len)).collect();
    on_threads(py, threads, rows, |(state, row): (&dyn State, &mut [f32])| {
        state.encode(row);
        Ok(())
    })?;
    raise_any(&states)
}

/// Values of positions by random games, float32 [N, 3].
#[pyfunction]
#[pyo3(signature = (states, seed=0, games=1))]
pub fn rollout_values<'py>(
    py: Python<'py>,
    states: Vec<PyRef<'py, PyState>>,
    seed: u64,
    games: u32,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    if games == 0 {
        return Err(value_error("games must be >= 1, got 0"));
    }
    let positions: Vec<&dyn State> = states.iter().map(|state| state.state.as_ref()).collect();
    // Collected without the interpreter, as a game takes long; the array is made of it afterwards.
    let play = || positions.iter().flat_map(|state| rollout_value(*state, seed, games)).collect::<Vec<f32>>();
    let values = py.detach(play);
    raise_any(&states)?;
    values.into_pyarray(py).reshape([states.len(), 3])
}

/// Features of positions inside recorded games, and which actions are legal there if `legal` is given.
#[pyfunction]
#[pyo3(signature = (starts, actions, games, plies, out, threads=1, legal=None))]
#[allow(clippy::too_many_arguments)]
pub fn encode_games(
    py: Python<'_>,
    starts: Vec<PyRef<'_, PyState>>,
    actions: Vec<Bound<'_, PyAny>>,
    games: &Bound<'_, PyAny>,
    plies: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    threads: usize,
    legal: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let mut out = write::<f32, Ix4>("out", out)?;
    let mut legal = legal.map(|array| write::<u8, Ix2>("legal", array)).transpose()?;
    let games = read::<i64, Ix1>("games", games)?;
    let plies = read::<i64, Ix1>("plies", plies)?;
    let games = games.as_slice()?;
    let plies = plies.as_slice()?;
    if starts.len() != actions.len() || games.len() != plies.len() {
        let counts = (starts.len(), actions.len(), games.len(), plies.len());
        return Err(value_error(format!(
            "one start a game and one ply a row, got (starts, games, rows, plies) {counts:?}"
        )));
    }
    let Some(first) = starts.first() else { return Ok(()) };
    let row_len = first.state.row_len();
    check_rows(out.shape(), games.len(), row_len)?;
    check_one_game(&starts)?;
    let actions = actions.iter().map(|one| read::<u16, Ix1>("actions", one)).collect::<PyResult<Vec<_>>>()?;
    let actions: Vec<&[u16]> = actions.iter().map(|a| a.as_slice()).collect::<Result<_, _>>()?;
    // All of them before any row: a thread that fails in the middle would leave an array of which nobody knows what
    // is in it.
    for (&game, &ply) in games.iter().zip(plies) {
        let moves = usize::try_from(game).ok().and_then(|game| actions.get(game));
        if !moves.is_some_and(|moves| (0..=moves.len() as i64).contains(&ply)) {
            return Err(value_error(format!("no ply {ply} in game {game}: {} games were given", actions.len())));
        }
    }
    let positions: Vec<&dyn State> = starts.iter().map(|state| state.state.as_ref()).collect();
    let floats = out.as_slice_mut()?;
    let flags = match &mut legal {
        None => games.iter().map(|_| None).collect(),
        Some(array) => legal_rows(array, games.len(), first.game.0.info().num_actions)?,
    };
    let rows = games.iter().zip(plies).zip(floats.chunks_mut(row_len)).zip(flags).collect();
    let done = on_threads(py, threads, rows, |(((&game, &ply), row), flags)| {
        let played = &actions[game as usize][..ply as usize];
        // Each row from the start of its game: rows come in any order, and threads share nothing.
        let state = replay(positions[game as usize], played).map_err(|e| format!("game {game}, {e}"))?;
        state.encode(row);
        if let Some(flags) = flags {
            mark_legal(state.as_ref(), flags);
        }
        Ok(())
    });
    // First: where a game in Python has failed, an action that is "not legal" is only what came of it.
    raise_any(&starts)?;
    done
}

/// One row of flags for each of `rows` positions.
fn legal_rows<'a>(
    array: &'a mut PyReadwriteArray<'_, u8, Ix2>,
    rows: usize,
    num_actions: usize,
) -> PyResult<Vec<Option<&'a mut [u8]>>> {
    if array.shape() != [rows, num_actions] {
        let got = array.shape();
        return Err(value_error(format!("legal must have shape [{rows}, {num_actions}], got {got:?}")));
    }
    Ok(array.as_slice_mut()?.chunks_mut(num_actions).map(Some).collect())
}

/// 1 for legal actions, 0 for others.
fn mark_legal(state: &dyn State, flags: &mut [u8]) {
    let mut legal = Vec::new();
    state.legal_actions(&mut legal);
    flags.fill(0);
    legal.into_iter().for_each(|action| flags[usize::from(action)] = 1);
}

/// Raises the exception that a game written in Python met in one of these positions.
fn raise_any(states: &[PyRef<'_, PyState>]) -> PyResult<()> {
    states.iter().try_for_each(|state| state.game.checked(()))
}

/// The position after these actions, each checked.
fn replay(start: &dyn State, actions: &[u16]) -> Result<Box<dyn State>, String> {
    let mut state = start.clone_box();
    let mut legal = Vec::new();
    // Recorded actions come from files, and `play` of an illegal one is undefined.
    for (ply, &action) in actions.iter().enumerate() {
        state.legal_actions(&mut legal);
        if !legal.contains(&action) {
            return Err(format!("ply {ply}: action {action} is not legal"));
        }
        state.play(action);
    }
    Ok(state)
}
