//! `PlayedGames` for Python: the core's loop of games.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hauteur_core::evaluator::Origin;
use hauteur_core::forest::ForestError;
use hauteur_core::game::Action;
use hauteur_core::play::choice::{RootMove, choose};
use hauteur_core::play::messages::{Answer, Event};
use hauteur_core::play::record::Record;
use hauteur_core::play::running::{Lost, Plan};
use hauteur_core::play::settings::{GameRules, Layout, Lineup, MoveSettings, SearchPlayer, Temperature};
use hauteur_core::play::threads::GameThreads;
use hauteur_core::search::outside::OutsideRules;
use hauteur_core::step::StepFacts;
use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use crate::errors::value_error;
use crate::evaluators::GivenEvaluator;
use crate::forest::entering;
use crate::game::{PyGame, PyState};
use crate::rules::PyRules;
use crate::settings::search_params;

/// Players that search: settings of the search, of the choice of moves (JSON), the indices of their evaluators, and rules in Python.
type GivenPlayer<'py> =
    Option<(Bound<'py, PyAny>, String, usize, Option<usize>, Vec<usize>, Option<Bound<'py, PyAny>>)>;

fn refuse(ForestError(message): ForestError) -> PyErr {
    value_error(message)
}

fn settings<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(value_error)
}

/// The action to play after a search, see `_core.pyi`. moves: action, visits, Q, prior and proven result of each.
#[pyfunction]
pub fn choose_action(
    moves: Vec<(Action, u32, f32, f32, Option<i8>)>,
    best: Action,
    ply: usize,
    uniform: f64,
    temperature: &str,
) -> PyResult<Action> {
    let temperature: Temperature = settings(temperature)?;
    let row = |(action, visits, q, prior, proven)| RootMove { action, visits, q, prior, proven };
    let moves: Vec<RootMove> = moves.into_iter().map(row).collect();
    Ok(choose(&moves, best, temperature.at(ply), uniform, &temperature))
}

/// A move is due from a player who does not search; see `_core.pyi`.
#[pyclass(name = "MoveDue", module = "hauteur._core", frozen, get_all)]
pub struct PyMoveDue {
    number: u64,
    player: usize,
    actions: Vec<u32>,
    seed: u64,
}

/// A game is over; see `_core.pyi`.
#[pyclass(name = "GameOver", module = "hauteur._core", frozen, get_all)]
pub struct PyGameOver {
    number: u64,
    record: Py<PyDict>,
}

/// Games in progress; see `_core.pyi`.
#[pyclass(name = "PlayedGames", module = "hauteur._core", frozen)]
pub struct PyPlayedGames {
    threads: GameThreads,
    game: PyGame,
    evaluators: Vec<GivenEvaluator>,
    rules: Vec<Arc<PyRules>>,
}

#[pymethods]
impl PyPlayedGames {
    #[new]
    #[pyo3(signature = (game, players, evaluators, rules, *, parallel, batch_size, workers, seed))]
    #[allow(clippy::too_many_arguments)] // they are keywords
    fn new(
        game: PyGame,
        players: Vec<GivenPlayer<'_>>,
        evaluators: Vec<Bound<'_, PyAny>>,
        rules: &str,
        parallel: usize,
        batch_size: usize,
        workers: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let evaluators: Vec<GivenEvaluator> =
            evaluators.iter().map(|object| GivenEvaluator::new(object, &game)).collect::<PyResult<_>>()?;
        let rules: GameRules = settings(rules)?;
        let mut rules_in_python: Vec<Arc<PyRules>> = Vec::new();
        let player = |given: GivenPlayer<'_>| {
            let Some((search, moves, small, large, more, chain)) = given else { return Ok(None) };
            let moves: MoveSettings = settings(&moves)?;
            let chain = chain.map(|chain| PyRules::new(&chain)).transpose()?.map(Arc::new);
            rules_in_python.extend(chain.clone());
            let search = search_params(&search)?;
            let rules = chain.map(|one| one as Arc<dyn OutsideRules>);
            Ok(Some(SearchPlayer { search, moves, small, large, more, rules }))
        };
        let lineup = Lineup {
            players: players.into_iter().map(player).collect::<PyResult<_>>()?,
            evaluators: evaluators.iter().map(|given| given.evaluator.clone()).collect(),
            rules,
        };
        let layout = Layout { parallel, batch_size, workers, seed };
        let threads = GameThreads::new(lineup, game.0.info(), layout).map_err(refuse)?;
        Ok(PyPlayedGames { threads, game, evaluators, rules: rules_in_python })
    }

    #[getter]
    fn has_room(&self) -> bool {
        self.threads.has_room()
    }

    #[getter]
    fn running(&self) -> usize {
        self.threads.running()
    }

    #[getter]
    fn workers(&self) -> usize {
        self.threads.workers()
    }

    fn begin(
        &self,
        number: u64,
        state: PyRef<'_, PyState>,
        sides: [usize; 2],
        plies: usize,
        seed: u64,
    ) -> PyResult<()> {
        let (state, line) = entering(&self.game, &state)?;
        // For evaluators that read positions: states of Python have the moves from the start of the game.
        let origin: Option<Origin> = Some(Arc::new(line));
        self.threads.begin(Plan { number, sides, state, origin, plies, seed }).map_err(refuse)
    }

    fn no_more(&self) {
        self.threads.no_more();
    }

    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let threads = &self.threads;
        // Threads of the games attach for evaluators and rules in Python. A caller that waits with the interpreter
        // would wait for ever.
        let longest = Duration::try_from_secs_f64(seconds).map_err(value_error)?;
        let event = py.detach(|| threads.wait(longest));
        // Before the event: the games of an exception have ended as draws, and must not be taken for results.
        self.game.checked(())?;
        match event {
            None => Ok(None),
            Some(Event::Asked(question)) => {
                let actions: Vec<u32> = question.actions.into_iter().map(u32::from).collect();
                let due = PyMoveDue { number: question.number, player: question.player, actions, seed: question.seed };
                Ok(Some(due.into_bound_py_any(py)?))
            }
            Some(Event::Ended { record, .. }) => {
                let over = PyGameOver { number: record.number, record: record_dict(py, *record)?.unbind() };
                Ok(Some(over.into_bound_py_any(py)?))
            }
            Some(Event::Failed(message)) => {
                // Where the failure began: a rule or an evaluator has its exception with its traceback, the event a
                // line of text.
                self.rules.iter().try_for_each(|rules| rules.checked(()))?;
                let raised = self.evaluators.iter().find_map(GivenEvaluator::take_error);
                Err(raised.unwrap_or_else(|| PyRuntimeError::new_err(message)))
            }
        }
    }

    #[pyo3(signature = (number, action, *, score, depth, seconds, note))]
    fn answer(&self, number: u64, action: u16, score: f32, depth: u16, seconds: Option<f32>, note: String) {
        self.threads.answer(number, Answer::Move { action, score, depth, seconds, note });
    }

    fn lose(&self, number: u64, reason: String, detail: String, resigned: bool) {
        self.threads.answer(number, Answer::Lost(Lost { reason, detail, resigned }));
    }

    fn facts(&self) -> HashMap<&'static str, f64> {
        let facts = self.threads.facts();
        // One type for all values, as Python adds them up; 53 bits are enough for each.
        HashMap::from([
            ("games", facts.games as f64),
            ("moves", facts.moves as f64),
            ("visits", facts.visits as f64),
            ("cache_hits", facts.cache_hits as f64),
            ("cache_lookups", facts.cache_lookups as f64),
            ("tree_bytes", facts.tree_bytes as f64),
            ("waited", facts.waited.as_secs_f64()),
        ])
    }

    /// By evaluator: rows, batches, capacity, seconds in the search, seconds in the network.
    fn network_facts(&self) -> Vec<(u64, u64, u64, f64, f64)> {
        let numbers = |facts: &StepFacts| {
            let search = facts.search.as_secs_f64();
            let network = facts.network.as_secs_f64();
            (facts.rows, facts.batches, facts.capacity, search, network)
        };
        self.threads.facts().networks.iter().map(numbers).collect()
    }

    fn close(&self, py: Python<'_>) {
        let threads = &self.threads;
        // As in `wait`: a thread that finishes its batch may need the interpreter for it.
        py.detach(|| threads.stop());
    }

    #[staticmethod]
    fn threads_of(evaluator: &Bound<'_, PyAny>, game: PyGame) -> PyResult<Option<usize>> {
        Ok(GivenEvaluator::new(evaluator, &game)?.threads)
    }
}

impl Drop for PyPlayedGames {
    fn drop(&mut self) {
        Python::attach(|py| py.detach(|| self.threads.stop())); // a thread that waits for the interpreter must get it
    }
}

/// A game that is over: its columns by name, and its result.
fn record_dict(py: Python<'_>, record: Record) -> PyResult<Bound<'_, PyDict>> {
    fn set<T: Element>(dict: &Bound<'_, PyDict>, name: &str, column: Vec<T>) -> PyResult<()> {
        dict.set_item(name, column.into_pyarray(dict.py()))
    }
    let dict = PyDict::new(py);
    let columns = record.columns;
    let moves = columns.actions.len();
    dict.set_item("root_wdl", columns.root_wdl.into_pyarray(py).reshape([moves, 3])?)?;
    set(&dict, "actions", columns.actions)?;
    set(&dict, "movers", columns.movers)?;
    set(&dict, "policy_actions", columns.policy_actions)?;
    set(&dict, "policy_counts", columns.policy_counts)?;
    set(&dict, "policy_lengths", columns.policy_lengths)?;
    set(&dict, "net_value", columns.net_value)?;
    set(&dict, "surprise", columns.surprise)?;
    set(&dict, "visits", columns.visits)?;
    set(&dict, "temperatures", columns.temperatures)?;
    set(&dict, "learn", columns.learn)?;
    set(&dict, "scores", columns.scores)?;
    set(&dict, "depths", columns.depths)?;
    set(&dict, "seconds", columns.seconds)?;
    set(&dict, "proven", columns.proven)?;
    dict.set_item("outcome", record.outcome)?;
    dict.set_item("end_reason", record.end_reason)?;
    dict.set_item("resigned", record.resigned.map_or(-1, |side| side as i64))?;
    dict.set_item("notes", record.notes.into_iter().collect::<HashMap<_, _>>())?;
    Ok(dict)
}
