//! What a search reports, as dictionaries of Python.

use std::collections::HashMap;

use hauteur_core::search::Search;
use hauteur_core::search::branches::Branch;
use hauteur_core::search::counters::Counters;
use hauteur_core::search::report::EdgeReport;
use hauteur_lab::report::plies_to_end;
use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Totals and sizes of one search.
pub fn search_map(search: &Search) -> HashMap<&'static str, f64> {
    let mut stats = counter_map(search.counters());
    stats.insert("nodes", search.tree().num_nodes() as f64);
    stats.insert("edges", search.tree().num_edges() as f64);
    stats.insert("full", search.full().map_or(0.0, |why| f64::from(why as u8)));
    stats.insert("bytes", search.tree().bytes() as f64);
    stats
}

/// Totals of a search or of many.
pub fn counter_map(counters: &Counters) -> HashMap<&'static str, f64> {
    HashMap::from([
        ("visits", counters.visits as f64),
        ("rows", counters.rows as f64),
        ("large_visits", counters.large_visits as f64),
        ("large_rows", counters.large_rows as f64),
        ("cache_lookups", counters.cache_lookups as f64),
        ("cache_hits", counters.cache_hits as f64),
        ("position_hits", counters.position_hits as f64),
        ("transpositions", counters.transpositions as f64),
        ("terminal_visits", counters.terminal_visits as f64),
        ("oracle_hits", counters.oracle_hits as f64),
        ("contempt_draws", counters.contempt_draws as f64),
        ("collisions", counters.collisions as f64),
        ("depth_sum", counters.depth_sum as f64),
        ("depth_max", counters.depth_max as f64),
    ])
}

/// One edge of a node.
pub fn edge_dict<'py>(py: Python<'py>, edge: &EdgeReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("action", edge.action)?;
    dict.set_item("visits", edge.visits)?;
    dict.set_item("large_visits", edge.large_visits)?;
    dict.set_item("in_flight", edge.in_flight)?;
    dict.set_item("prior", edge.prior)?;
    dict.set_item("q", edge.q)?;
    dict.set_item("wdl", edge.value.map(|value| value.wdl()))?;
    dict.set_item("reported_wdl", edge.reported.map(|value| value.wdl()))?;
    dict.set_item("u", edge.u)?;
    dict.set_item("score", edge.q + edge.u)?;
    dict.set_item("value", edge.network.map(|value| value.wl))?;
    dict.set_item("terminal", edge.terminal)?;
    dict.set_item("lower", edge.bounds.lower)?;
    dict.set_item("upper", edge.bounds.upper)?;
    dict.set_item("plies", plies_to_end(edge.bounds))?;
    dict.set_item("variance", edge.variance)?;
    dict.set_item("frozen", edge.frozen)?;
    dict.set_item("replies", edge.replies)?;
    dict.set_item("node_visits", edge.node_visits)?;
    dict.set_item("node_frozen", edge.node_frozen)?;
    Ok(dict)
}

/// Branches as columns, of the names and meanings of `edge_dict`, and `parent`, -1 for the root. What is not known is NaN, `plies` -1.
pub fn branch_columns<'py>(py: Python<'py>, branches: &[Branch]) -> PyResult<Bound<'py, PyDict>> {
    fn add<T: Element>(
        dict: &Bound<'_, PyDict>,
        name: &str,
        rows: &[Branch],
        get: impl Fn(&EdgeReport) -> T,
    ) -> PyResult<()> {
        let column: Vec<T> = rows.iter().map(|row| get(&row.edge)).collect();
        dict.set_item(name, column.into_pyarray(dict.py()))
    }
    let dict = PyDict::new(py);
    let parents: Vec<i32> = branches.iter().map(|row| row.parent.map_or(-1, |parent| parent as i32)).collect();
    dict.set_item("parent", parents.into_pyarray(py))?;
    add(&dict, "action", branches, |edge| edge.action)?;
    add(&dict, "visits", branches, |edge| edge.visits)?;
    add(&dict, "large_visits", branches, |edge| edge.large_visits)?;
    add(&dict, "prior", branches, |edge| edge.prior)?;
    add(&dict, "q", branches, |edge| edge.q)?;
    let wdl: Vec<f32> =
        branches.iter().flat_map(|row| row.edge.reported.map_or([f32::NAN; 3], |value| value.wdl())).collect();
    dict.set_item("reported_wdl", wdl.into_pyarray(py).reshape([branches.len(), 3])?)?;
    add(&dict, "value", branches, |edge| edge.network.map_or(f64::NAN, |value| value.wl))?;
    add(&dict, "score", branches, |edge| edge.q + edge.u)?;
    add(&dict, "terminal", branches, |edge| edge.terminal)?;
    add(&dict, "lower", branches, |edge| edge.bounds.lower)?;
    add(&dict, "upper", branches, |edge| edge.bounds.upper)?;
    add(&dict, "plies", branches, |edge| plies_to_end(edge.bounds).map_or(-1, i32::from))?;
    add(&dict, "frozen", branches, |edge| edge.frozen.unwrap_or(f64::NAN))?;
    add(&dict, "replies", branches, |edge| edge.replies as u32)?;
    add(&dict, "node_visits", branches, |edge| edge.node_visits)?;
    add(&dict, "node_frozen", branches, |edge| edge.node_frozen)?;
    Ok(dict)
}
