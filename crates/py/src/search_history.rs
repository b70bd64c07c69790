//! Reports of searches in Python as the page Analyse takes them, and their curves over time.

use hauteur_core::game::Action;
use hauteur_lab::history::History;
use hauteur_lab::position::Position;
use hauteur_lab::report::{Pace, Report, RootMove};
use hauteur_lab::sessions::play;
use pyo3::prelude::*;

use crate::game::{PyGame, PyState};

/// `hauteur.mcts.report.RootReport`, as far as pages show it.
#[derive(FromPyObject)]
pub struct GivenReport {
    moves: Vec<GivenMove>,
    visits: u32,
    wdl: [f32; 3],
    value: [f32; 3],
    seldepth: u64,
    nodes: usize,
    memory: usize,
    pace: GivenPace,
    reason: String,
}

/// `hauteur.mcts.report.RootMove`.
#[derive(FromPyObject)]
struct GivenMove {
    action: Action,
    visits: u32,
    prior: f32,
    q: f64,
    wdl: Option<[f32; 3]>,
    value: Option<f64>,
    terminal: bool,
    line: Vec<Action>,
    lower: i8,
    upper: i8,
    plies: Option<u16>,
}

/// `hauteur.mcts.report.Pace`.
#[derive(FromPyObject)]
struct GivenPace {
    seconds: f64,
    new_visits: u64,
    depth: f64,
    rows: u64,
}

impl From<GivenMove> for RootMove {
    fn from(given: GivenMove) -> RootMove {
        let GivenMove { action, visits, prior, q, wdl, value, terminal, line, lower, upper, plies } = given;
        RootMove { action, visits, prior, q, wdl, value, terminal, line, bounds: (lower, upper), plies }
    }
}

impl From<GivenReport> for Report {
    fn from(given: GivenReport) -> Report {
        let GivenReport { moves, visits, wdl, value, seldepth, nodes, memory, pace, reason } = given;
        let GivenPace { seconds, new_visits, depth, rows } = pace;
        let moves = moves.into_iter().map(RootMove::from).collect();
        let pace = Pace { seconds, new_visits, depth, rows };
        Report { moves, visits, wdl, value, seldepth, nodes, memory, pace, reason: reason.into() }
    }
}

/// Return the search of a position as the hint of a page, as JSON. `report`: with the lines of its moves.
#[pyfunction]
pub fn hint_view(state: &PyState, report: GivenReport) -> PyResult<String> {
    let view = play::hint_view(&state.position(), &report.into());
    state.game.checked(view.to_string())
}

/// The reports of the searches of one position.
#[pyclass(name = "SearchHistory", module = "hauteur._core")]
pub struct PySearchHistory {
    history: History,
    position: Position,
    game: PyGame,
}

#[pymethods]
impl PySearchHistory {
    #[new]
    fn new(state: &PyState) -> Self {
        PySearchHistory { history: History::default(), position: state.position(), game: state.game.clone() }
    }

    /// Note that another search of the position begins.
    fn begin_search(&mut self) {
        self.history.begin_search();
    }

    /// Keep the next report of the search; return it as JSON.
    fn add(&mut self, report: GivenReport) -> PyResult<String> {
        let view = self.history.add(report.into(), &self.position);
        self.game.checked(view.to_string())
    }

    /// Return visits and Q of the most visited moves over the reports, as JSON.
    fn curves(&self) -> PyResult<String> {
        self.game.checked(self.history.view(&self.position).to_string())
    }

    /// Return the report with the nearest visits as JSON, its moves without lines; None before the first one.
    fn moment(&self, visits: u32) -> PyResult<Option<String>> {
        let view = self.history.moment(visits, &self.position);
        self.game.checked(view.map(|view| view.to_string()))
    }
}
