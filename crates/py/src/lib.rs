//! The border between the core and Python: numpy in and out, the GIL released, errors to ValueError. No rule, no formula.

use pyo3::prelude::*;

mod arrays;
mod baselines;
mod bench;
mod errors;
mod evaluators;
mod forest;
mod game;
mod hints;
mod network;
mod playing;
mod positions;
mod python_answers;
mod python_facts;
mod python_game;
mod python_state;
mod records;
mod reports;
mod rules;
mod settings;
mod solvers;
mod stop;
mod syzygy;
mod tablebase;
mod values;

/// The compiled core of hauteur.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("WrongAnswer", module.py().get_type::<errors::WrongAnswer>())?;
    module.add_class::<game::PyGame>()?;
    module.add_class::<game::PyState>()?;
    module.add_class::<forest::PyForest>()?;
    module.add_class::<forest::PyBatch>()?;
    module.add_class::<network::PyNetwork>()?;
    module.add_class::<evaluators::PyUniform>()?;
    module.add_class::<playing::PyPlayedGames>()?;
    module.add_class::<playing::PyMoveDue>()?;
    module.add_class::<playing::PyGameOver>()?;
    module.add_class::<records::PyPgnReader>()?;
    module.add_class::<records::PyPgnGame>()?;
    module.add_class::<records::PySgfGame>()?;
    module.add_class::<solvers::PyExactSolver>()?;
    module.add_class::<stop::PyStopFlag>()?;
    module.add_class::<tablebase::PyTablebase>()?;
    module.add_function(wrap_pyfunction!(solvers::solved_positions, module)?)?;
    module.add_function(wrap_pyfunction!(solvers::forced_win, module)?)?;
    module.add_function(wrap_pyfunction!(solvers::bounded_win, module)?)?;
    module.add_function(wrap_pyfunction!(game::game_names, module)?)?;
    module.add_function(wrap_pyfunction!(values::t_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(game::python_game_from, module)?)?;
    module.add_function(wrap_pyfunction!(game::state_from, module)?)?;
    module.add_function(wrap_pyfunction!(game::position_of, module)?)?;
    module.add_function(wrap_pyfunction!(records::clean_fen, module)?)?;
    module.add_function(wrap_pyfunction!(records::read_pgn_tree, module)?)?;
    module.add_function(wrap_pyfunction!(records::form_of_text, module)?)?;
    module.add_function(wrap_pyfunction!(records::read_sgf, module)?)?;
    module.add_function(wrap_pyfunction!(records::sgf_spec, module)?)?;
    module.add_function(wrap_pyfunction!(records::sgf_text, module)?)?;
    module.add_function(wrap_pyfunction!(positions::encode_positions, module)?)?;
    module.add_function(wrap_pyfunction!(positions::encode_games, module)?)?;
    module.add_function(wrap_pyfunction!(positions::rollout_values, module)?)?;
    module.add_function(wrap_pyfunction!(baselines::mcts_search, module)?)?;
    module.add_function(wrap_pyfunction!(baselines::rave_search, module)?)?;
    module.add_function(wrap_pyfunction!(playing::choose_action, module)?)?;
    module.add_function(wrap_pyfunction!(settings::settings_schema, module)?)?;
    module.add_function(wrap_pyfunction!(settings::check_settings, module)?)?;
    module.add_function(wrap_pyfunction!(bench::random_u64, module)?)?;
    module.add_function(wrap_pyfunction!(bench::dirichlet, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench_search, module)?)
}
