//! Exact solvers for Python.

use std::sync::{Mutex, MutexGuard};

use hauteur_core::game::Action;
use hauteur_core::players::exact::{MoveSolver, solver_of};
use hauteur_core::players::solved_positions::{Progress, Request, find};
use hauteur_core::search::mates::{self, Effort};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::game::{PyGame, PyState};
use crate::python_game::adopted;
use crate::stop::{Halt, PyStopFlag};

/// Solves positions of one game exactly.
#[pyclass(name = "ExactSolver", module = "hauteur._core", frozen)]
pub struct PyExactSolver {
    game: PyGame,
    solver: Mutex<Box<dyn MoveSolver>>,
}

impl PyExactSolver {
    fn locked(&self) -> MutexGuard<'_, Box<dyn MoveSolver>> {
        // A panic has reached the caller as an exception; the table behind the lock stays of use.
        self.solver.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl PyExactSolver {
    #[new]
    #[pyo3(signature = (game, table_bits=22))]
    fn new(game: PyGame, table_bits: u32) -> PyResult<Self> {
        let solver = solver_of(game.0.as_ref(), table_bits);
        let solver = Mutex::new(game.checked(solver)?.map_err(value_error)?);
        Ok(PyExactSolver { game, solver })
    }

    #[pyo3(signature = (state, nodes=None))]
    fn move_values(&self, py: Python<'_>, state: PyRef<'_, PyState>, nodes: Option<u64>) -> PyResult<Option<Vec<i8>>> {
        // The table has values of one game under keys that another one may have too.
        if !self.game.same(&state.game) {
            let own = self.game.spec();
            let other = state.game.spec();
            return Err(value_error(format!("this solver is for {own}, got a state of {other}")));
        }
        let own = adopted(state.state.as_ref(), self.game.0.as_ref());
        // The lock is taken without the interpreter. Whoever waited for it with the interpreter would stop the
        // thread that has the lock, where that one needs the interpreter for a game in Python.
        let values = py.detach(|| self.locked().move_values(own.as_ref(), nodes.unwrap_or(u64::MAX)));
        self.game.checked(values)
    }

    #[getter]
    fn nodes(&self, py: Python<'_>) -> u64 {
        // As above: a call of `move_values` may hold the lock for minutes.
        py.detach(|| self.locked().nodes())
    }
}

/// The shortest win of the mover in at most `moves` of his moves; none; or empty where `stop` or the end of `nodes` came first.
#[pyfunction]
#[pyo3(signature = (state, moves, actions=None, stop=None, nodes=u64::MAX))]
pub fn forced_win(
    py: Python<'_>,
    state: PyRef<'_, PyState>,
    moves: u32,
    actions: Option<Vec<Action>>,
    stop: Option<PyRef<'_, PyStopFlag>>,
    nodes: u64,
) -> PyResult<Option<Vec<Action>>> {
    // A copy: the caller's position may be changed by another thread while no one holds the interpreter.
    let position = state.state.clone_box();
    let game = state.game.clone();
    let halt = Halt::new(stop.as_deref(), None);
    let first = actions.unwrap_or_default();
    let answer = py.detach(|| {
        let effort = Effort { positions: nodes, halted: &|| halt.has_come() };
        mates::forced_win(position.as_ref(), moves, &first, &effort)
    });
    Ok(match game.checked(answer)? {
        mates::Answer::Win(line) => Some(line),
        mates::Answer::NoWin => None,
        mates::Answer::Halted => Some(Vec::new()),
    })
}

/// Positions of one ply after another: the moves that lead to each, the values of its legal moves.
type Positions = Vec<(Vec<Action>, Vec<i8>)>;

/// Finds solved positions of a game. watch: called with what is done, how often, and of how many.
#[pyfunction]
#[pyo3(signature = (game, count, seed=0, nodes=1_000_000, total=100_000_000, table_bits=22, watch=None))]
#[expect(clippy::too_many_arguments)]
pub fn solved_positions(
    py: Python<'_>,
    game: PyGame,
    count: usize,
    seed: u64,
    nodes: u64,
    total: u64,
    table_bits: u32,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Positions, Vec<usize>, bool)> {
    let mut solver = game.checked(solver_of(game.0.as_ref(), table_bits))?.map_err(value_error)?;
    let request = Request { count, seed, nodes, total };
    let told = |progress: Progress| {
        let Some(watch) = &watch else { return };
        let (what, done, of) = match progress {
            Progress::Played { games, of } => ("games played", games, of),
            Progress::Tried { plies, of } => ("plies tried", plies, of),
            Progress::Solved { positions, of } => ("positions solved", positions, of),
        };
        // Attached for the call alone; the search between two of them needs no interpreter.
        Python::attach(|py| {
            if let Err(error) = watch.call1(py, (what, done, of)) {
                // The search has no way to end in its middle, and what it finds is right, whatever the display does
                // with it.
                error.write_unraisable(py, None);
            }
        });
    };
    let found = py.detach(|| find(game.0.as_ref(), solver.as_mut(), &request, &told));
    let found = game.checked(found)?;
    let positions = found.positions.into_iter().map(|one| (one.actions, one.values)).collect();
    Ok((positions, found.unsolved, found.quiet))
}
