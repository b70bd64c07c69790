//! The editor of positions of chess: another piece on a square, the mover, castling rights.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::messages::fields;
use crate::place::Place;
use crate::position::{load_game, with_fen};
use crate::start960::{board_of_fen, placement};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Edit {
    square: String,
    piece: String,
    mover: String,
    castling: String,
}

/// The FEN of a position with another piece on a square; an error for what is no position.
pub fn edit(given: Json) -> Result<Json, String> {
    // One message, read as two records: other requests have the same fields of a position.
    let (place, edit): (Place, Edit) = (fields(given.clone(), "edit")?, fields(given, "edit")?);
    let fen = place.played()?.position.state.notation();
    let mut board = board_of_fen(&fen).ok_or("only positions of chess are set up")?;
    if !edit.square.is_empty() {
        if !board.contains_key(&edit.square) {
            return Err(format!("no square: {:?}", edit.square));
        }
        let piece = edit.piece.chars().next().filter(|sign| "KQRBNPkqrbnp".contains(*sign));
        if let Some(king) = piece.filter(|sign| "Kk".contains(*sign)) {
            board.values_mut().filter(|sign| **sign == king).for_each(|sign| *sign = ' '); // there is one king
        }
        board.insert(edit.square, piece.unwrap_or(' '));
    }
    let has = |square: &str, sign: char| board.get(square) == Some(&sign);
    // A right that king and rook do not have would be cleaned away with a note; the editor leaves it out without
    // one.
    let able = |right: char| {
        let (rank, king, rook) = if right.is_uppercase() { ('1', 'K', 'R') } else { ('8', 'k', 'r') };
        let file = if right.eq_ignore_ascii_case(&'k') { 'h' } else { 'a' };
        has(&format!("e{rank}"), king) && has(&format!("{file}{rank}"), rook)
    };
    let rights: String = "KQkq".chars().filter(|right| edit.castling.contains(*right) && able(*right)).collect();
    let mover = if edit.mover == "b" { "b" } else { "w" };
    let rights = if rights.is_empty() { "-".into() } else { rights };
    // En passant and the counters were those of another position.
    let fen = format!("{} {mover} {rights} - 0 1", placement(&board));
    load_game(&with_fen("chess", &fen)?)?; // refuses what is no position of a game
    Ok(json!({ "fen": fen }))
}
