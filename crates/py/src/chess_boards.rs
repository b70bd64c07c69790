//! Positions of chess from and to python-chess.

use hauteur_core::game::{Action, State};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

use crate::errors::value_error;

/// Where every game of standard chess begins.
const CHESS_START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Where a board of python-chess begins, as the spec of a game, and its moves from there in UCI.
pub fn board_game(board: &Bound<'_, PyAny>) -> PyResult<(String, Vec<String>)> {
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
    let mut moves = Vec::new();
    for played in board.getattr("move_stack")?.try_iter()? {
        moves.push(played?.call_method0("uci")?.extract()?);
    }
    Ok((spec, moves))
}

/// A `chess.Board` with these moves from `place`, where the game begins.
pub fn chess_board<'py>(
    py: Python<'py>,
    mut place: Box<dyn State>,
    chess960: bool,
    moves: &[Action],
) -> PyResult<Bound<'py, PyAny>> {
    let options = [("chess960", chess960)].into_py_dict(py)?;
    let board = py.import("chess")?.getattr("Board")?.call((place.notation(),), Some(&options))?;
    for &action in moves {
        // UCI of a move, castling above all, is that of the position in which it is played.
        board.call_method1("push_uci", (place.action_to_text(action, Some("uci")).map_err(value_error)?,))?;
        place.play(action);
    }
    Ok(board)
}
