//! `Forest` and `Batch` for Python.

use std::collections::HashMap;
use std::sync::Arc;

use hauteur_core::evaluator::{Evaluator, Origin};
use hauteur_core::forest::{BatchId, Forest, ForestError};
use hauteur_core::game::{Action, State};
use hauteur_core::rows::Rows;
use hauteur_core::rules::second_net::{MAX_NETS, Net};
use hauteur_core::search::Search;
use hauteur_core::search::counters::Counters;
use hauteur_core::search::oracle::LeafOracle;
use hauteur_core::search::outside::OutsideRules;
use hauteur_core::search::report::EdgeReport;
use hauteur_core::stats::Value;
use hauteur_core::step::{BatchBuffers, StepFacts, step_unless};
use hauteur_lab::report::plies_to_end;
use numpy::{IntoPyArray, Ix1, Ix2, Ix4, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Ids, Whole, read, write};
use crate::errors::value_error;
use crate::evaluators::core_evaluator;
use crate::game::{Line, PyGame, PyState};
use crate::python_game::{adopted, python_start};
use crate::reports::{branch_columns, counter_map, edge_dict, search_map};
use crate::rules::PyRules;
use crate::settings::search_params;
use crate::stop::{Halt, PyStopFlag};
use crate::tablebase::PyTablebase;
use crate::values::check_packable;

fn refuse(ForestError(message): ForestError) -> PyErr {
    value_error(message)
}

fn tree_index(id: i64) -> PyResult<usize> {
    // Ids are int64, as numpy has them; a negative one would be a huge index.
    usize::try_from(id).map_err(|_| value_error(format!("tree ids are 0 or more, got {id}")))
}

/// This action of the root, if it is legal.
fn legal_action(search: &Search, id: i64, action: i64) -> PyResult<Action> {
    // `State::play` of an illegal action is undefined, and an action of Python may be of another position.
    let mut legal = Vec::new();
    search.root_state().legal_actions(&mut legal);
    let found = legal.iter().find(|known| i64::from(**known) == action).copied();
    found.ok_or_else(|| value_error(format!("tree {id}: action {action} is not legal; legal: {legal:?}")))
}

/// The position as searches of this game take it, and how it was reached. ValueError where it is of another game.
pub fn entering(game: &PyGame, state: &PyState) -> PyResult<(Box<dyn State>, Line)> {
    let ours = game.0.info();
    let theirs = state.game.0.info();
    let written_in_python = python_start(game.0.as_ref()).is_some();
    // By name and sizes, and not by spec: chess from a FEN is the same game for a net. Of a game in Python the spec
    // is all that tells classes apart.
    if (&ours.name, ours.num_actions, ours.feature_shape) != (&theirs.name, theirs.num_actions, theirs.feature_shape)
        || (written_in_python && ours.spec != theirs.spec)
    {
        return Err(value_error(format!("this forest searches {}, got a state of {}", ours.spec, theirs.spec)));
    }
    let mut line = state.line();
    if written_in_python {
        line.game = game.clone(); // which reports the exceptions of its positions
    }
    // A copy in any case: the tree must not change when the caller plays on with his position.
    Ok((adopted(state.state.as_ref(), game.0.as_ref()), line))
}

/// Token of one gather.
#[pyclass(name = "Batch", module = "hauteur._core", frozen)]
pub struct PyBatch {
    id: BatchId,
    // Read when the batch was gathered, as `batch_states` needs the line of each row's tree.
    trees: Vec<i64>,
}

#[pymethods]
impl PyBatch {
    fn __len__(&self) -> usize {
        self.trees.len()
    }
}

/// Many searches, one batch.
#[pyclass(name = "Forest", module = "hauteur._core")]
pub struct PyForest {
    forest: Forest,
    game: PyGame,
    params: String,
    /// How the position of each tree's root was reached.
    lines: HashMap<i64, Line>,
    rules: Option<Arc<PyRules>>,
    /// Buffers of steps, with the evaluator that they are for.
    buffers: Option<(Arc<dyn Evaluator>, BatchBuffers)>,
}

impl PyForest {
    /// A tree; a ValueError for a number that no tree has.
    pub fn tree(&self, id: i64) -> PyResult<&Search> {
        self.forest.tree(tree_index(id)?).map_err(refuse)
    }

    fn tree_mut(&mut self, id: i64) -> PyResult<&mut Search> {
        self.forest.tree_mut(tree_index(id)?).map_err(refuse)
    }

    fn id_array<'py>(&self, py: Python<'py>, finished: bool) -> Bound<'py, PyArray1<i64>> {
        self.forest.ids(finished).into_iter().map(|id| id as i64).collect::<Vec<_>>().into_pyarray(py)
    }

    /// One row a tree, `blank` but for what `fill` writes.
    fn rows<'py, T: numpy::Element + Copy>(
        &self,
        py: Python<'py>,
        ids: &Ids<'_>,
        width: usize,
        blank: T,
        fill: impl Fn(&Search, &mut [T]),
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let ids = ids.as_slice()?;
        let mut values = vec![blank; ids.len() * width];
        for (id, row) in ids.iter().zip(values.chunks_mut(width)) {
            fill(self.tree(*id)?, row);
        }
        let values = self.checked(values)?;
        values.into_pyarray(py).reshape([ids.len(), width])
    }

    fn edge_rows<'py, T: numpy::Element + Copy>(
        &self,
        py: Python<'py>,
        ids: &Ids<'_>,
        blank: T,
        pick: impl Fn(&EdgeReport) -> T,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        self.rows(py, ids, self.game.0.info().num_actions, blank, |search, row| {
            search.root_edges().iter().for_each(|edge| row[usize::from(edge.action)] = pick(edge));
        })
    }

    fn wdl_rows<'py>(
        &self,
        py: Python<'py>,
        ids: &Ids<'_>,
        pick: impl Fn(&Search) -> Option<Value>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, ids, 3, f32::NAN, |search, row| {
            if let Some(value) = pick(search) {
                row.copy_from_slice(&value.wdl());
            }
        })
    }

    /// The value, unless a game or a rule written in Python has raised an exception meanwhile.
    fn checked<T>(&self, value: T) -> PyResult<T> {
        self.game.checked(())?;
        self.rules.as_ref().map_or(Ok(()), |rules| rules.checked(()))?;
        Ok(value)
    }

    /// The token of a gather; takes the batch back if a game or a rule written in Python raised an exception meanwhile.
    fn gathered(&mut self, id: BatchId) -> PyResult<PyBatch> {
        // The caller gets no token, so nobody else could take these visits back.
        if let Err(error) = self.checked(()) {
            self.forest.cancel(id).map_err(refuse)?;
            return Err(error);
        }
        self.token(id)
    }

    fn token(&self, id: BatchId) -> PyResult<PyBatch> {
        let trees = self.forest.batch_trees(id).map_err(refuse)?;
        Ok(PyBatch { id, trees: trees.into_iter().map(|tree| tree as i64).collect() })
    }

    fn wanted_net(&self, net: usize) -> PyResult<Net> {
        let nets = self.nets();
        match nets[..] {
            _ if nets.contains(&net) => Ok(Net::new(net)),
            [only] if net < 2 => {
                Err(value_error(format!("net must be {only}: this search has one network, got {net}")))
            }
            [_, _, .., last] => Err(value_error(format!("net must be 0 (the smallest) to {last}, got {net}"))),
            _ => Err(value_error(format!("net must be 0 (small) or 1 (large), got {net}"))),
        }
    }
}

#[pymethods]
impl PyForest {
    #[new]
    #[pyo3(signature = (game, params, seed=0, threads=1, rules=None))]
    fn new(
        game: PyGame,
        params: &Bound<'_, PyAny>,
        seed: u64,
        threads: usize,
        rules: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let params = search_params(params)?;
        if params.swap_colors && game.colour_plane().is_none() {
            let what = "its features do not tell who is to move";
            return Err(value_error(format!("SearchParams.swap_colors is not for {}: {what}", game.spec())));
        }
        let json = serde_json::to_string(&params).map_err(value_error)?;
        let rules = rules.map(PyRules::new).transpose()?.map(Arc::new);
        let outside = rules.clone().map(|rules| rules as Arc<dyn OutsideRules>);
        Ok(PyForest {
            forest: Forest::with_rules(params, seed, threads, outside).map_err(refuse)?,
            game,
            params: json,
            lines: HashMap::new(),
            rules,
            buffers: None,
        })
    }

    #[getter]
    fn game(&self) -> PyGame {
        self.game.clone()
    }

    #[getter]
    fn params(&self) -> &str {
        &self.params
    }

    #[getter]
    fn nets(&self) -> Vec<usize> {
        Net::all().filter(|net| self.forest.asks(*net)).map(Net::index).collect()
    }

    #[pyo3(signature = (state, seed=None))]
    fn add(&mut self, state: PyRef<'_, PyState>, seed: Option<u64>) -> PyResult<i64> {
        let (state, line) = entering(&self.game, &state)?;
        let id = self.forest.add(state, seed) as i64;
        self.lines.insert(id, line);
        self.game.checked(id)
    }

    fn set_tablebase(&mut self, tablebase: Option<PyRef<'_, PyTablebase>>) {
        self.forest.set_oracle(tablebase.map(|tables| tables.0.clone() as Arc<dyn LeafOracle>));
    }

    fn remove(&mut self, ids: Ids<'_>) -> PyResult<()> {
        for id in ids.as_slice()? {
            self.forest.remove(tree_index(*id)?).map_err(refuse)?;
            self.lines.remove(id);
        }
        Ok(())
    }

    fn set_visit_limits(&mut self, ids: Ids<'_>, visits: &Bound<'_, PyAny>) -> PyResult<()> {
        let visits = Whole::<u32>::read("visits", visits)?;
        let ids = ids.as_slice()?;
        let visits = visits.as_slice()?;
        if ids.len() != visits.len() {
            return Err(value_error(format!("{} ids but {} limits", ids.len(), visits.len())));
        }
        for (id, visits) in ids.iter().zip(visits) {
            self.tree_mut(*id)?.set_visit_limit(*visits);
        }
        Ok(())
    }

    fn set_quiet(&mut self, ids: Ids<'_>, quiet: &Bound<'_, PyAny>) -> PyResult<()> {
        let quiet = read::<bool, Ix1>("quiet", quiet)?;
        let ids = ids.as_slice()?;
        let quiet = quiet.as_slice()?;
        if ids.len() != quiet.len() {
            return Err(value_error(format!("{} ids but {} flags", ids.len(), quiet.len())));
        }
        for (id, quiet) in ids.iter().zip(quiet) {
            self.tree_mut(*id)?.set_quiet(*quiet);
        }
        Ok(())
    }

    fn restrict_root(&mut self, id: i64, actions: Vec<i64>) -> PyResult<()> {
        let search = self.tree_mut(id)?;
        // All checked before one is set: after an error the root is as it was.
        let actions = actions.iter().map(|action| legal_action(search, id, *action)).collect::<PyResult<_>>()?;
        search.restrict_root(actions);
        Ok(())
    }

    fn active<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.id_array(py, false)
    }

    fn finished<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.id_array(py, true)
    }

    #[pyo3(signature = (features, net=0))]
    fn gather(&mut self, py: Python<'_>, features: &Bound<'_, PyAny>, net: usize) -> PyResult<PyBatch> {
        let net = self.wanted_net(net)?;
        // A number in the place of an array: evaluators that read positions, or nothing, need no features written.
        if let Ok(rows) = features.extract::<usize>() {
            let forest = &mut self.forest;
            // The forest is borrowed by this call, so no other thread of Python can touch it meanwhile.
            let id = py.detach(|| forest.gather(net, Rows::Unwritten(rows)));
            return self.gathered(id);
        }
        let mut features = write::<f32, Ix4>("features", features)?;
        let info = self.game.0.info();
        if features.shape()[1..] != info.feature_shape {
            let shape = info.feature_shape;
            let got = features.shape();
            return Err(value_error(format!("features must be rows of shape {shape:?}, got {got:?}")));
        }
        let row_len = info.row_len();
        let floats = features.as_slice_mut()?;
        let forest = &mut self.forest;
        let id = py.detach(|| forest.gather(net, Rows::Planes(floats, row_len)));
        self.gathered(id)
    }

    #[pyo3(signature = (masks, values, net=0))]
    fn gather_packed(
        &mut self,
        py: Python<'_>,
        masks: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        net: usize,
    ) -> PyResult<PyBatch> {
        let net = self.wanted_net(net)?;
        check_packable(self.game.0.as_ref())?;
        let mut masks = write::<u64, Ix2>("masks", masks)?;
        let mut values = write::<f32, Ix2>("values", values)?;
        let planes = self.game.0.info().feature_shape[0];
        if masks.shape()[1] != planes || masks.shape() != values.shape() {
            let got = (masks.shape(), values.shape());
            return Err(value_error(format!("masks and values must be rows of {planes} planes, got {got:?}")));
        }
        let masks = masks.as_slice_mut()?;
        let values = values.as_slice_mut()?;
        let forest = &mut self.forest;
        let id = py.detach(|| forest.gather(net, Rows::Packed(masks, values, planes)));
        self.gathered(id)
    }

    fn apply(
        &mut self,
        py: Python<'_>,
        batch: PyRef<'_, PyBatch>,
        policy_logits: &Bound<'_, PyAny>,
        wdl: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let policy_logits = read::<f32, Ix2>("policy_logits", policy_logits)?;
        let wdl = read::<f32, Ix2>("wdl", wdl)?;
        let actions = self.game.0.info().num_actions;
        if policy_logits.shape()[1] != actions || wdl.shape()[1] != 3 {
            let got = (policy_logits.shape(), wdl.shape());
            return Err(value_error(format!("answers must be rows of {actions} logits and of 3 shares, got {got:?}")));
        }
        let logits = policy_logits.as_slice()?;
        let wdl = wdl.as_slice()?;
        let id = batch.id;
        let forest = &mut self.forest;
        py.detach(|| forest.apply(id, logits, wdl, actions)).map_err(refuse)?;
        self.checked(())
    }

    fn cancel(&mut self, batch: PyRef<'_, PyBatch>) -> PyResult<()> {
        self.forest.cancel(batch.id).map_err(refuse)
    }

    #[pyo3(signature = (evaluator, rows, net=0, batches=1, stop=None, seconds=None, sure=0))]
    #[allow(clippy::too_many_arguments)] // those of Python
    fn step(
        &mut self,
        py: Python<'_>,
        evaluator: &Bound<'_, PyAny>,
        rows: usize,
        net: usize,
        batches: usize,
        stop: Option<PyRef<'_, PyStopFlag>>,
        seconds: Option<f64>,
        sure: usize,
    ) -> PyResult<(usize, usize, f64, f64)> {
        let wrong = || value_error(format!("evaluator must be one of the core, got {}", evaluator.get_type()));
        let (net, (evaluator, _)) = (self.wanted_net(net)?, core_evaluator(evaluator, &self.game).ok_or_else(wrong)?);
        // By address: another evaluator may read another form, for which the buffers would be of wrong lengths.
        let fits =
            |(of, buffers): &(Arc<dyn Evaluator>, BatchBuffers)| Arc::ptr_eq(of, &evaluator) && buffers.holds(rows);
        let mut buffers = self.buffers.take().filter(fits).unwrap_or_else(|| {
            // As large as it prefers: the first steps of a search have few rows, and later ones would need buffers
            // again.
            let buffers = BatchBuffers::new(self.game.0.info(), evaluator.as_ref(), rows.max(evaluator.batch_size()));
            (evaluator.clone(), buffers)
        });
        buffers.1.limit(rows);
        let forests = std::slice::from_mut(&mut self.forest);
        let lines = &self.lines;
        let root_line = |_: usize, tree: usize| -> (Option<Origin>, Vec<Action>) {
            // Copied for each row, which happens only for evaluators that read positions.
            (lines.get(&(tree as i64)).map(|line| Arc::new(line.clone()) as Origin), Vec::new())
        };
        let mut facts = StepFacts::default();
        let halt = Halt::new(stop.as_deref(), seconds);
        let done = py.detach(|| {
            for batch in 0..batches {
                // The first `sure` batches end by nothing: without the root's evaluation there is no move to play.
                let halted = || batch >= sure && halt.has_come();
                if halted() {
                    break;
                }
                let users = [(0, net)];
                step_unless(forests, &users, evaluator.as_ref(), &mut buffers.1, &root_line, &mut facts, &halted)?;
            }
            Ok::<_, String>(())
        });
        // Before errors are looked at: they are good for the next step.
        self.buffers = Some(buffers);
        // The exception of a game or a rule comes first; the evaluator's error may be only what followed.
        self.checked(())?;
        done.map_err(value_error)?;
        let search = facts.search.as_secs_f64();
        let network = facts.network.as_secs_f64();
        Ok((facts.rows as usize, facts.batches as usize, search, network))
    }

    fn batch_states(&self, batch: PyRef<'_, PyBatch>) -> PyResult<Vec<PyState>> {
        let states = self.forest.batch_states(batch.id).map_err(refuse)?;
        let lines = self.forest.batch_lines(batch.id).map_err(refuse)?;
        let rows = states.into_iter().zip(lines).zip(&batch.trees);
        Ok(rows.map(|((state, line), tree)| PyState::reached(&self.lines[tree], &line, state)).collect())
    }

    fn root_node_visits<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let visits = ids.as_slice()?.iter().map(|id| Ok(self.tree(*id)?.tree().root.visits));
        Ok(visits.collect::<PyResult<Vec<u32>>>()?.into_pyarray(py))
    }

    fn root_visits<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.edge_rows(py, &ids, 0, |edge| edge.visits)
    }

    fn root_q<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        // Before the first visit Q is an assumption, so that it is not given as a finding.
        self.edge_rows(py, &ids, f32::NAN, |edge| if edge.visits > 0 { edge.q as f32 } else { f32::NAN })
    }

    fn best_actions<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray1<u16>>> {
        let best = |id: &i64| {
            let none =
                || value_error(format!("tree {id} has no best action: it was not searched, or its game is over"));
            self.tree(*id)?.best_action().ok_or_else(none)
        };
        let found = ids.as_slice()?.iter().map(best).collect::<PyResult<Vec<Action>>>();
        Ok(self.checked(found)??.into_pyarray(py))
    }

    fn root_counters(&self, id: i64) -> PyResult<(u32, u64, u64, u64, u64)> {
        let search = self.tree(id)?;
        let Counters { visits, large_visits, depth_sum, rows, oracle_hits, .. } = *search.counters();
        Ok((search.tree().root.visits, visits - large_visits, depth_sum, rows, oracle_hits))
    }

    fn root_rivals(&self, id: i64) -> PyResult<(Vec<u32>, Vec<f32>)> {
        Ok(self.tree(id)?.root_rivals())
    }

    fn root_mean(&self, id: i64) -> PyResult<f64> {
        Ok(self.tree(id)?.root_q().unwrap_or(f64::NAN))
    }

    fn root_bounds(&self, id: i64) -> PyResult<(i8, i8, Option<u16>)> {
        let bounds = self.tree(id)?.root_bounds();
        Ok((bounds.lower, bounds.upper, plies_to_end(bounds)))
    }

    fn policy_targets<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, &ids, self.game.0.info().num_actions, 0.0, |search, row| {
            search.policy_target().into_iter().for_each(|(action, share)| row[usize::from(action)] = share);
        })
    }

    fn root_priors<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.edge_rows(py, &ids, 0.0, |edge| edge.prior)
    }

    fn root_values<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.wdl_rows(py, &ids, Search::root_value)
    }

    fn reported_values<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.wdl_rows(py, &ids, Search::root_reported_value)
    }

    fn network_values<'py>(&self, py: Python<'py>, ids: Ids<'_>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.wdl_rows(py, &ids, Search::root_network_value)
    }

    fn root_edges<'py>(&self, py: Python<'py>, id: i64) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.checked(self.tree(id)?.root_edges())?.iter().map(|edge| edge_dict(py, edge)).collect()
    }

    fn root_visits_of<'py>(&self, py: Python<'py>, id: i64, net: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        if net >= MAX_NETS {
            return Err(value_error(format!("net must be 0 to {}, got {net}", MAX_NETS - 1)));
        }
        let visits = self.tree(id)?.root_visits_of(Net::new(net));
        Ok(self.checked(visits)?.into_pyarray(py))
    }

    #[pyo3(signature = (id, line, most=None))]
    fn edges_at<'py>(
        &self,
        py: Python<'py>,
        id: i64,
        line: Vec<Action>,
        most: Option<usize>,
    ) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        let Some(edges) = self.tree(id)?.edges_at(&line) else { return Ok(None) };
        edges.iter().take(most.unwrap_or(usize::MAX)).map(|edge| edge_dict(py, edge)).collect::<PyResult<_>>().map(Some)
    }

    fn branches<'py>(&self, py: Python<'py>, id: i64, count: usize) -> PyResult<Bound<'py, PyDict>> {
        let search = self.tree(id)?;
        branch_columns(py, &py.detach(|| search.branches(count)))
    }

    #[pyo3(signature = (id, action=None, max_length=64))]
    fn principal_variation(&self, id: i64, action: Option<i64>, max_length: usize) -> PyResult<Vec<Action>> {
        let search = self.tree(id)?;
        let first = action.map(|action| legal_action(search, id, action)).transpose()?;
        self.checked(search.principal_variation(first, max_length))
    }

    fn advance(&mut self, py: Python<'_>, ids: Ids<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let actions = Whole::<u16>::read("actions", actions)?;
        let ids = ids.as_slice()?;
        let actions = actions.as_slice()?;
        if ids.len() != actions.len() {
            return Err(value_error(format!("{} ids but {} actions", ids.len(), actions.len())));
        }
        let index = |(id, action): (&i64, &u16)| Ok((tree_index(*id)?, *action));
        let moves: Vec<(usize, Action)> = ids.iter().zip(actions).map(index).collect::<PyResult<_>>()?;
        let forest = &mut self.forest;
        py.detach(|| forest.advance(&moves)).map_err(refuse)?;
        // After `advance`, which changes nothing where it fails.
        for (id, action) in ids.iter().zip(actions) {
            self.lines.entry(*id).and_modify(|line| line.moves.push(*action));
        }
        self.game.checked(())
    }

    fn state(&self, id: i64) -> PyResult<PyState> {
        let state = self.tree(id)?.root_state().clone_box();
        Ok(PyState::reached(&self.lines[&id], &[], state))
    }

    fn stats(&self) -> HashMap<&'static str, f64> {
        let mut stats = counter_map(&self.forest.counters());
        stats.insert("nodes", self.forest.tree_nodes() as f64);
        stats.insert("bytes", self.forest.tree_bytes() as f64);
        stats.insert("cache_positions", self.forest.cache_len() as f64);
        stats
    }

    fn tree_stats(&self, id: i64) -> PyResult<HashMap<&'static str, f64>> {
        Ok(search_map(self.tree(id)?))
    }

    fn edges_after(&self, id: i64, line: Vec<Action>) -> PyResult<Vec<(Action, u32, Option<f64>)>> {
        Ok(self.tree(id)?.edges_after(&line))
    }

    fn digest(&self, id: i64) -> PyResult<u64> {
        Ok(self.tree(id)?.tree().digest())
    }

    fn check_invariants(&self, id: i64) -> PyResult<()> {
        self.tree(id)?.check_invariants().map_err(value_error)
    }

    fn clear_cache(&mut self) {
        self.forest.clear_cache();
    }
}
