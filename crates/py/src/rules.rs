//! Search rules written in Python, which the core asks as `OutsideRules`.

use std::sync::Mutex;

use hauteur_core::search::outside::{EdgeDraws, Failed, NodeRows, OutsideRules, Places, WayRows};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::value_error;

/// A `RuleChain` of Python; its methods check what rules return.
#[derive(Debug)]
pub struct PyRules {
    chain: Py<PyAny>,
    places: Places,
    columns: usize,
    draws: Vec<EdgeDraws>,
    failure: Mutex<Option<PyErr>>,
}

impl PyRules {
    /// The rules of a chain.
    pub fn new(chain: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Asked once. The core looks at these for every depth of every gather.
        let acts = |place: &str| chain.getattr("places")?.contains(place);
        let places = Places {
            priors: acts("prior")?,
            terms: acts("edge_value")? || acts("exploration")? || acts("choose")?,
            steps: acts("step_size")?,
            backup: acts("after_backup")?,
            choice: acts("final_score")?,
        };
        let kind = |name: String| match name.as_str() {
            "uniform" => Ok(EdgeDraws::Uniform),
            "normal" => Ok(EdgeDraws::Normal),
            _ => Err(value_error(format!("draws must be uniform or normal, got {name:?}"))),
        };
        let draws: Vec<String> = chain.getattr("draws")?.extract()?;
        Ok(PyRules {
            chain: chain.clone().unbind(),
            places,
            columns: chain.getattr("columns")?.len()?,
            draws: draws.into_iter().map(kind).collect::<PyResult<_>>()?,
            failure: Mutex::new(None),
        })
    }

    /// The value, unless a rule has failed since the last call.
    pub fn checked<T>(&self, value: T) -> PyResult<T> {
        match self.failure.lock().expect("no panic while it is held").take() {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }

    /// Calls the chain; keeps what goes wrong.
    fn ask<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Failed> {
        // Rules are called from the core's threads, which do not hold the interpreter while they search.
        Python::attach(|py| call(self.chain.bind(py))).map_err(|error| {
            // Kept, as the core has no exceptions; the border raises it with its traceback (`checked`).
            *self.failure.lock().expect("no panic while it is held") = Some(error);
            Failed
        })
    }
}

impl OutsideRules for PyRules {
    fn places(&self) -> Places {
        self.places
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().expect("no panic while it is held").is_some()
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn draws(&self) -> &[EdgeDraws] {
        &self.draws
    }

    fn priors(&self, rows: &NodeRows, priors: &mut [f64]) -> Result<(), Failed> {
        self.ask(|chain| {
            show_nodes(chain, rows)?;
            // Copies in both directions: a rule may keep an array, and the core's memory is used again for the next
            // depth.
            let given = PyArray1::from_slice(chain.py(), priors);
            read_into(&chain.call_method1("priors", (given,))?, priors)
        })
    }

    fn terms(&self, rows: &NodeRows, q: &mut [f64], u: &mut [f64], picks: &mut [i64]) -> Result<(), Failed> {
        if !self.places.terms {
            return Ok(());
        }
        self.ask(|chain| {
            // With such rules `priors` has shown the same nodes just before.
            if !self.places.priors {
                show_nodes(chain, rows)?;
            }
            let py = chain.py();
            let given = (PyArray1::from_slice(py, q), PyArray1::from_slice(py, u));
            let found = chain.call_method1("terms", given)?;
            let found = found.cast::<PyTuple>()?;
            read_into(&found.get_item(0)?, q)?;
            read_into(&found.get_item(1)?, u)?;
            let picked = found.get_item(2)?;
            // A rule that only changes terms leaves the choice to the core.
            if picked.is_none() { Ok(()) } else { read_into(&picked, picks) }
        })
    }

    fn steps(&self, ways: &WayRows, steps: &mut [f64]) -> Result<(), Failed> {
        self.ask(|chain| {
            show_ways(chain, ways)?;
            read_into(&chain.call_method0("steps")?, steps)
        })
    }

    fn after_backup(&self, ways: &WayRows, columns: &mut [Vec<f64>]) -> Result<(), Failed> {
        self.ask(|chain| {
            show_ways(chain, ways)?;
            // Written in place by the rules, unlike answers: a rule sets the columns that it keeps and leaves the
            // others.
            let kept = table(chain.py(), columns)?;
            chain.call_method1("after_backup", (&kept,))?;
            let kept = kept.readonly();
            let width = columns.first().map_or(0, Vec::len);
            let floats = kept.as_slice()?;
            columns
                .iter_mut()
                .enumerate()
                .for_each(|(k, column)| column.copy_from_slice(&floats[k * width..][..width]));
            Ok(())
        })
    }

    fn final_scores(&self, rows: &NodeRows) -> Result<Vec<f64>, Failed> {
        self.ask(|chain| {
            show_nodes(chain, rows)?;
            let mut scores = vec![0.0; rows.actions.len()];
            read_into(&chain.call_method0("final_scores")?, &mut scores)?;
            Ok(scores)
        })
    }
}

/// Rows of the same length as an array of two dimensions.
fn table<'py>(py: Python<'py>, rows: &[Vec<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let width = rows.first().map_or(0, Vec::len);
    rows.concat().into_pyarray(py).reshape([rows.len(), width])
}

fn show_nodes(chain: &Bound<'_, PyAny>, rows: &NodeRows) -> PyResult<()> {
    let py = chain.py();
    let numbers = |values: &[i64]| PyArray1::from_slice(py, values);
    let trees = numbers(&rows.trees);
    let starts = numbers(&rows.starts);
    let via = numbers(&rows.via);
    let actions = PyArray1::from_slice(py, &rows.actions);
    let shown = (rows.depth, trees, starts, via, table(py, &rows.nodes)?, actions, table(py, &rows.edges)?);
    chain.call_method1("show_nodes", shown)?;
    Ok(())
}

fn show_ways(chain: &Bound<'_, PyAny>, ways: &WayRows) -> PyResult<()> {
    let py = chain.py();
    let trees = PyArray1::from_slice(py, &ways.trees);
    let starts = PyArray1::from_slice(py, &ways.starts);
    chain.call_method1("show_ways", (trees, starts, table(py, &ways.steps)?))?;
    Ok(())
}

/// Takes the numbers of an array of the same length.
fn read_into<T: numpy::Element + Copy>(found: &Bound<'_, PyAny>, numbers: &mut [T]) -> PyResult<()> {
    let found: PyReadonlyArray1<'_, T> = found.extract()?;
    // As many as were shown, or this panics: `RuleChain` checks what a rule returns, and names the rule.
    numbers.copy_from_slice(found.as_slice()?);
    Ok(())
}
