//! Comparisons of two searches for Python: `hauteur.studies.explain`.

use hauteur_core::game::Action;
use hauteur_lab::explained::{Explained, Side};
use hauteur_lab::explanation::{self, Question};
use hauteur_lab::position::Position;
use hauteur_lab::report::{Pace, report};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::value_error;
use crate::forest::PyForest;
use crate::game::PyState;

/// A search of a comparison at its end: its report, and the most visited nodes of its tree.
#[pyclass(name = "Explained", module = "hauteur._core", frozen)]
pub struct PyExplained {
    found: Explained,
    position: Position,
}

/// What a search does not know of itself, as JSON.
#[derive(Deserialize)]
struct Facts {
    side: Side,
    evaluator: String,
    reason: String,
    seconds: f64,
    new_visits: u64,
    depth: f64,
    rows: u64,
}

#[pymethods]
impl PyExplained {
    /// Read the tree `id` of a forest. `state`: its root; `facts`: JSON with `side`, `evaluator`, `reason`, `seconds`, `new_visits`,
    /// `depth` and `rows`; `most`: nodes that are read.
    #[new]
    fn new(forest: &PyForest, id: i64, state: &PyState, facts: &str, most: usize) -> PyResult<Self> {
        let facts: Facts = serde_json::from_str(facts).map_err(|error| value_error(error.to_string()))?;
        let Facts { side, evaluator, reason, seconds, new_visits, depth, rows } = facts;
        let search = forest.tree(id)?;
        // With the line of every move, since the page shows any of them.
        let report = report(search, usize::MAX, Pace { seconds, new_visits, depth, rows }, reason);
        let found = Explained::read(side, search, report, evaluator, most);
        Ok(PyExplained { found, position: state.position() })
    }

    /// Return what a rule did, as JSON: this search has it, `off` does without. `name`: of the side; `page`: of the rule.
    fn effect_of_rule(&self, name: &str, key: &str, off: &PyExplained, page: Option<&str>) -> String {
        explanation::effect_of_rule(name, key, &self.found, &off.found, &self.position, page).to_string()
    }

    /// Return the comparison with another search as JSON. `rules`: what each rule did, as JSON.
    fn explanation(
        &self,
        other: &PyExplained,
        rules: Vec<String>,
        visits: u32,
        seed: u64,
        batch_size: usize,
    ) -> PyResult<String> {
        let rules = rules.iter().map(|rule| serde_json::from_str(rule)).collect::<Result<_, _>>();
        let rules = rules.map_err(|error| value_error(error.to_string()))?;
        let question = Question { position: self.position.clone(), visits, seed, batch_size };
        Ok(explanation::explanation(&question, &self.found, &other.found, rules).to_string())
    }

    /// Return the moves after a line of actions that either search visited, as JSON. ValueError for a line of neither tree.
    fn children(&self, other: &PyExplained, line: Vec<Action>) -> PyResult<String> {
        let found = explanation::children(&self.found, &other.found, &self.position, &line);
        found.map(|found| found.to_string()).map_err(value_error)
    }
}
