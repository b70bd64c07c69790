//! Positions of chess from and to python-chess.

use hauteur_lab::position::load_game;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

use crate::errors::value_error;
use crate::game::{PyGame, PyState};

/// Where every game of standard chess begins.
const CHESS_START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// The position of a board of python-chess.
pub fn board_state(board: &Bound<'_, PyAny>) -> PyResult<PyState> {
    // Variants of python-chess are boards with other rules under the same methods. Chess960 is no variant there,
    // and has a flag.
    let variant: String = board.getattr("uci_variant")?.extract()?;
    if variant != "chess" {
        return Err(value_error(format!("a chess.Board of standard chess is needed, got one of {variant}")));
    }
    // The root and the moves and not the last position: repetitions and the planes of a network need what was
    // before.
    let root = board.call_method0("root")?;
    // The square as it stands. By default python-chess leaves it out where no pawn can take; the core has its own
    // rule.
    let options = [("en_passant", "fen")].into_py_dict(board.py())?;
    let fen: String = root.call_method("fen", (), Some(&options))?.extract()?;
    // The usual start without a FEN, so that the position is of the game "chess".
    let spec = match (board.getattr("chess960")?.is_truthy()?, fen == CHESS_START) {
        (true, _) => format!("chess(chess960=true, fen={fen})"),
        (false, true) => "chess".into(),
        (false, false) => format!("chess(fen={fen})"),
    };
    let mut state = load_game(&spec).map(PyGame).map_err(value_error)?.new_initial_state(0)?;
    for played in board.getattr("move_stack")?.try_iter()? {
        let text: String = played?.call_method0("uci")?.extract()?;
        // Checked here: a null move or a move that was pushed unchecked is an error in one line.
        state.apply_text(&text)?;
    }
    Ok(state)
}

/// A position of chess as a `chess.Board` with its moves.
pub fn chess_board<'py>(state: &PyState, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    // From the start, since UCI of a move, castling above all, is that of the position in which it is played.
    let mut place = state.position().back_to(0).state;
    let options = [("chess960", state.game.spec().contains("chess960=true"))].into_py_dict(py)?;
    let board = py.import("chess")?.getattr("Board")?.call((place.notation(),), Some(&options))?;
    for &action in &state.moves {
        board.call_method1("push_uci", (place.action_to_text(action, Some("uci")).map_err(value_error)?,))?;
        place.play(action);
    }
    Ok(board)
}
