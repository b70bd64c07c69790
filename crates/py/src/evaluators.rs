//! Evaluators for the core: its own, and those written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use hauteur_core::evaluator::{Batch, Evaluator, Position, Reads, Uniform};
use numpy::{Ix2, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::read;
use crate::errors::value_error;
use crate::game::{Line, PyGame, PyState};
use crate::network::{PyNetwork, ThreadedNetwork};

/// Equal priors and an even value.
#[pyclass(name = "Uniform", module = "hauteur._core", frozen)]
pub struct PyUniform;

#[pymethods]
impl PyUniform {
    #[new]
    fn new() -> Self {
        PyUniform
    }
}

/// The evaluator of the core that an object is for a game, with the threads that share its rows.
pub fn core_evaluator(object: &Bound<'_, PyAny>, game: &PyGame) -> Option<(Arc<dyn Evaluator>, usize)> {
    if let Ok(network) = object.cast::<PyNetwork>() {
        let network = network.get();
        return Some((network.evaluator(game), network.network.threads()));
    }
    object.cast::<PyUniform>().ok().map(|_| (Arc::new(Uniform) as Arc<dyn Evaluator>, 1))
}

/// An evaluator of Python: an object that has one of the core as its `core`, or the calls of `hauteur.networks.evaluators.base`.
pub struct GivenEvaluator {
    /// What the core asks; each thread of the core computes its own rows.
    pub evaluator: Arc<dyn Evaluator>,
    /// Threads that it was made for; `None` where the interpreter computes it.
    pub threads: Option<usize>,
    python: Option<Arc<PythonEvaluator>>,
}

impl GivenEvaluator {
    /// Reads it off an object.
    pub fn new(object: &Bound<'_, PyAny>, game: &PyGame) -> PyResult<Self> {
        // Such an evaluator is asked by the core itself, without Python; the object around it has name and limits
        // for users.
        let core = object.getattr_opt("core")?;
        if let Some((evaluator, threads)) = core.as_ref().and_then(|core| core_evaluator(core, game)) {
            // The threads of the core are the parallel ones here. A pool for each batch as well would have more
            // threads than cores.
            let alone = core.and_then(|core| core.cast::<PyNetwork>().ok().map(|one| one.get().network.clone()));
            let reads = evaluator.reads();
            let evaluator = alone.map_or(evaluator, |network| Arc::new(Unshared { network, reads }));
            return Ok(GivenEvaluator { evaluator, threads: Some(threads), python: None });
        }
        let python = Arc::new(PythonEvaluator::new(object, game)?);
        Ok(GivenEvaluator { evaluator: python.clone(), threads: None, python: Some(python) })
    }

    /// The exception that it has met, once.
    pub fn take_error(&self) -> Option<PyErr> {
        self.python.as_ref().and_then(|python| locked(&python.failed).take())
    }
}

/// A network whose rows are computed by the thread that asks.
struct Unshared {
    network: Arc<ThreadedNetwork>,
    reads: Reads,
}

impl Evaluator for Unshared {
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        self.network.evaluate_here(Batch::Planes(features), rows, logits, wdl)
    }

    fn batch_size(&self) -> usize {
        self.network.batch_size()
    }

    fn reads(&self) -> Reads {
        self.reads
    }

    fn evaluate_batch(&self, batch: Batch, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        self.network.evaluate_here(batch, rows, logits, wdl)
    }
}

/// An evaluator written in Python. The interpreter is attached to for a batch alone.
struct PythonEvaluator {
    object: Py<PyAny>,
    game: PyGame,
    reads: Reads,
    batch_size: usize,
    /// One batch is submitted at a time; it is locked before the interpreter is attached to.
    submits: Mutex<()>,
    failed: Mutex<Option<PyErr>>,
}

impl PythonEvaluator {
    fn new(object: &Bound<'_, PyAny>, game: &PyGame) -> PyResult<Self> {
        let [_, rows, columns] = game.0.info().feature_shape;
        let packs = rows * columns <= 64 && object.hasattr("submit_packed")?;
        // From the most special form on: an object may have all of these methods, and `submit` is what each one
        // has.
        let reads = match () {
            () if object.hasattr("submit_states")? => Reads::Positions,
            () if object.hasattr("submit_blind")? => Reads::Nothing,
            () if packs => Reads::Packed,
            () => Reads::Planes,
        };
        Ok(PythonEvaluator {
            object: object.clone().unbind(),
            game: game.clone(),
            reads,
            batch_size: object.getattr("batch_size")?.extract()?,
            submits: Mutex::new(()),
            failed: Mutex::new(None),
        })
    }

    /// Starts the computation; returns what is waited for.
    fn submit<'py>(&self, py: Python<'py>, batch: &Batch, rows: usize) -> PyResult<Bound<'py, PyAny>> {
        let (object, [planes, height, width]) = (self.object.bind(py), self.game.0.info().feature_shape);
        match batch {
            Batch::Planes(features) => {
                // A copy: an array of Python may outlive the call, and the core's buffer is used for the next batch
                // then.
                let array = PyArray1::from_slice(py, features).reshape([rows, planes, height, width])?;
                object.call_method1("submit", (array,))
            }
            Batch::Packed(masks, values) => {
                let masks = PyArray1::from_slice(py, masks).reshape([rows, planes])?;
                let values = PyArray1::from_slice(py, values).reshape([rows, planes])?;
                object.call_method1("submit_packed", (masks, values))
            }
            Batch::Nothing => object.call_method1("submit_blind", (rows,)),
            Batch::Positions(positions) => {
                let states: Vec<PyState> = positions.iter().map(state_of).collect::<PyResult<_>>()?;
                object.call_method1("submit_states", (PyList::new(py, states)?,))
            }
        }
    }

    /// Waits for the answers and copies them.
    fn answers(&self, pending: &Bound<'_, PyAny>, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> PyResult<()> {
        let py = pending.py();
        // Such answers lie where the device has written them. They are copied below, so the copy of `result` can be
        // saved.
        let answers = match pending.getattr_opt("borrowed")? {
            Some(borrowed) => borrowed.call0()?,
            None => pending.call_method0("result")?,
        };
        let both = (answers.get_item(0)?, answers.get_item(1)?);
        let given = (read::<f32, Ix2>("policy_logits", &both.0)?, read::<f32, Ix2>("wdl", &both.1)?);
        let actions = self.game.0.info().num_actions;
        if given.0.shape()[1] != actions || given.1.shape()[1] != 3 {
            let got = (given.0.shape(), given.1.shape());
            return Err(value_error(format!("answers must be rows of {actions} logits and of 3 shares, got {got:?}")));
        }
        // More rows than were asked for are allowed: devices fill a batch up to a size that they like.
        let got = given.0.shape()[0].min(given.1.shape()[0]);
        if got < rows {
            return Err(value_error(format!("answers for {rows} rows are needed, got {got}")));
        }
        let given_logits = given.0.as_slice()?;
        let given_wdl = given.1.as_slice()?;
        // Megabytes in large batches; other threads may use the interpreter meanwhile.
        py.detach(|| {
            logits.copy_from_slice(&given_logits[..logits.len()]);
            wdl.copy_from_slice(&given_wdl[..wdl.len()]);
        });
        Ok(())
    }
}

/// A position for Python; whoever searches here says where its line begins.
fn state_of(position: &Position) -> PyResult<PyState> {
    // Only positions that came with their past can be shown to Python, whose states have moves.
    let origin = position.origin.as_ref().and_then(|origin| origin.downcast_ref::<Line>());
    let origin = origin.ok_or_else(|| value_error("a position without its line was to be evaluated"))?;
    Ok(PyState::reached(origin, &position.moves, position.state.clone_box()))
}

impl Evaluator for PythonEvaluator {
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        self.evaluate_batch(Batch::Planes(features), rows, logits, wdl)
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn reads(&self) -> Reads {
        self.reads
    }

    fn evaluate_batch(&self, batch: Batch, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        // The lock before the interpreter, and given back before the answer is waited for: the other order would
        // let a thread wait for the lock with the interpreter that its holder needs, and one batch would be
        // computed at a time.
        let submitted = {
            let _one = locked(&self.submits);
            Python::attach(|py| self.submit(py, &batch, rows).map(Bound::unbind))
        };
        let answered =
            submitted.and_then(|pending| Python::attach(|py| self.answers(pending.bind(py), rows, logits, wdl)));
        answered.map_err(|error| {
            let message = error.to_string();
            // The exception itself for the caller; the core has its text alone, and ends the games by it.
            locked(&self.failed).get_or_insert(error);
            message
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
