//! Names that other programs have for what a position or a game has here: an error says what to write.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

/// Names of other programs for members of a position.
const OF_POSITIONS: &[(&str, &str)] = &[
    ("push", "apply_text(text), or apply(action)"),
    ("push_san", "apply_text(text)"),
    ("push_uci", "apply_text(text)"),
    ("play", "apply_text(text), or apply(action)"),
    ("move", "apply_text(text), or apply(action)"),
    ("step", "apply(action)"),
    ("pop", "undo()"),
    ("turn", "to_move: 0 is the first player"),
    ("current_player", "to_move: 0 is the first player"),
    ("player", "to_move: 0 is the first player"),
    ("is_game_over", "is_terminal"),
    ("game_over", "is_terminal"),
    ("is_over", "is_terminal"),
    ("done", "is_terminal"),
    ("result", "outcome()"),
    ("winner", "outcome()"),
    ("returns", "outcome()"),
    ("actions", "legal_actions(), or legal_moves"),
    ("possible_moves", "legal_moves"),
    ("observation", "features()"),
    ("observation_tensor", "features()"),
    ("clone", "copy()"),
    ("history", "moves"),
    ("move_stack", "moves"),
    ("search", "hauteur.search(position)"),
];

/// The same for members of a game.
const OF_GAMES: &[(&str, &str)] = &[
    ("initial_state", "new_initial_state()"),
    ("initial", "new_initial_state()"),
    ("start", "new_initial_state()"),
    ("new_game", "new_initial_state()"),
    ("position", "hauteur.position(game)"),
    ("board", "hauteur.position(game)"),
    ("num_distinct_actions", "num_actions"),
    ("shape", "feature_shape"),
];

/// The error for an attribute that a position has not.
pub fn of_position(name: &str) -> PyErr {
    unknown("a position", name, OF_POSITIONS)
}

/// The error for an attribute that a game has not.
pub fn of_game(name: &str) -> PyErr {
    unknown("a game", name, OF_GAMES)
}

fn unknown(owner: &str, name: &str, meant: &[(&str, &str)]) -> PyErr {
    let hint = meant.iter().find(|(other, _)| *other == name).map(|(_, here)| format!(": write {here}"));
    PyAttributeError::new_err(format!("{owner} has no attribute '{name}'{}", hint.unwrap_or_default()))
}
