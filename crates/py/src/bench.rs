//! The generator's draws, and a search without a network for benchmarks.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use hauteur_core::game::{Action, State};
use hauteur_core::math::rng::{self, CounterRng};
use hauteur_core::search::Search;
use hauteur_core::search::setup::Setup;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::game::PyState;
use crate::reports::search_map;
use crate::settings::search_params;

/// Draw number `counter` of the counter-based generator with this key.
#[pyfunction]
pub fn random_u64(key: u64, counter: u64) -> u64 {
    rng::draw(key, counter)
}

/// The noise that a tree draws for its root.
#[pyfunction]
pub fn dirichlet(py: Python<'_>, key: u64, counter: u64, alpha: f64, n: usize) -> PyResult<Bound<'_, PyArray1<f64>>> {
    if !(1e-6..=1000.0).contains(&alpha) {
        return Err(value_error(format!("alpha must be 1e-6 to 1000, got {alpha}")));
    }
    Ok(rng::dirichlet(&mut CounterRng { key, counter }, alpha, n).into_pyarray(py))
}

/// Searches one position with a uniform policy and values drawn from the positions' keys; returns counters and seconds.
#[pyfunction]
#[pyo3(signature = (state, params, visits, encode=false))]
pub fn bench_search(
    py: Python<'_>,
    state: PyRef<'_, PyState>,
    params: &Bound<'_, PyAny>,
    visits: u64,
    encode: bool,
) -> PyResult<HashMap<&'static str, f64>> {
    let params = search_params(params)?;
    let info = state.game.0.info().clone();
    let mut search = Search::new(Arc::new(Setup::new(params)), state.state.clone_box(), 0);
    let mut row = vec![0.0; if encode { info.row_len() } else { 0 }];
    let evaluate = |leaf: &dyn State, _: &[Action], _: &mut [f32]| {
        if encode {
            leaf.encode(&mut row);
            // The compiler would leave out a row that nobody reads.
            black_box(&row);
        }
        // No net, but values that differ: where all positions are worth the same the tree has another shape than in
        // play.
        let win = (rng::mix(leaf.key()) >> 40) as f32 / (1u64 << 24) as f32 * 0.25 + 0.375;
        [win, 0.0, 1.0 - win]
    };
    let seconds = py.detach(|| {
        let start = Instant::now();
        search.run(visits, evaluate, info.num_actions);
        start.elapsed().as_secs_f64()
    });
    let mut stats = search_map(&search);
    stats.insert("seconds", seconds);
    Ok(stats)
}
