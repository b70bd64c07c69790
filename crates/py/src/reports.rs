//! What a search reports, as dictionaries of Python.

use std::collections::HashMap;

use hauteur_core::rules::solver::bounds::{Bounds, FAR};
use hauteur_core::search::Search;
use hauteur_core::search::counters::Counters;
use hauteur_core::search::report::EdgeReport;
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

/// Plies to the proven end; `None` where nothing is proven, or an oracle's word is all that is known.
pub fn plies_to_end(bounds: Bounds) -> Option<u16> {
    (bounds.is_proven() && bounds.plies < FAR).then_some(bounds.plies)
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
    dict.set_item("frozen", edge.frozen)?;
    dict.set_item("replies", edge.replies)?;
    Ok(dict)
}
