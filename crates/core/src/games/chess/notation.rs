//! Moves as text: UCI (castling e1g1; king takes rook in Chess960), SAN, and the names of lc0's policy.

use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::uci::UciMove;
use shakmaty::{Move, Position as _, Role, Square};

use super::legal;
use super::people;
use super::position::Position;
use crate::game::{Action, GameError};

/// The names under which `write` knows a notation.
pub const NOTATIONS: &str = "uci, san, lc0";

/// The text of a legal action.
pub fn write(position: &Position, action: Action, notation: Option<&str>) -> Result<String, GameError> {
    let played = legal_move(position, action)?;
    match notation.unwrap_or("uci") {
        "uci" => Ok(UciMove::from_move(played, position.chess().castles().mode()).to_string()),
        "san" => Ok(san(position, played)),
        "lc0" => Ok(lc0(played)),
        other => Err(GameError(format!("chess has no notation {other:?}; allowed: {NOTATIONS}"))),
    }
}

/// Reads a legal action given as UCI or SAN, also as people write SAN (`people`).
pub fn read(position: &Position, text: &str) -> Result<Action, GameError> {
    let trimmed = text.trim();
    // The capital matters: B1d2 is a bishop's move, b1d2 one from b1.
    let found = match parse_uci(trimmed) {
        Some(uci) => from_uci(position, uci),
        None => from_san(position, trimmed),
    };
    // Strict notations first: what people write (`people`) may be ambiguous, and then it is refused.
    let (found, fitting) = match found {
        Some(played) => (Some(played), 1),
        None => {
            let candidates = people::candidates(position, trimmed);
            (candidates.first().copied().filter(|_| candidates.len() == 1), candidates.len())
        }
    };
    found.and_then(|played| position.encode(played)).ok_or_else(|| {
        let fen = super::fen::write(position);
        let what = if fitting > 1 { "may be several legal moves" } else { "is not a legal move" };
        GameError(format!("{text:?} {what} in {fen} (moves are read as UCI, e2e4, or SAN, Nf3)"))
    })
}

/// The text of a legal action as UCI; unlike `write` it does not check that the action is legal.
pub fn uci(position: &Position, action: Action) -> String {
    let mode = position.chess().castles().mode();
    position.decode(action).map_or_else(String::new, |played| UciMove::from_move(played, mode).to_string())
}

fn legal_move(position: &Position, action: Action) -> Result<Move, GameError> {
    let mut actions = Vec::new();
    legal::actions(position.chess(), &mut actions);
    let known = actions.binary_search(&action).ok().and_then(|_| position.decode(action));
    known.ok_or_else(|| {
        let fen = super::fen::write(position);
        GameError(format!("action {action} is not legal in {fen}; legal actions: {actions:?}"))
    })
}

fn san(position: &Position, played: Move) -> String {
    let san = San::from_move(position.chess(), played);
    let mut after = position.chess().clone();
    after.play_unchecked(played);
    let suffix = after.is_check().then(|| if legal::any(&after) { Suffix::Check } else { Suffix::Checkmate });
    SanPlus { san, suffix }.to_string()
}

/// Castling is the king taking his rook, promotion to a knight has no suffix.
fn lc0(played: Move) -> String {
    let uci = UciMove::from_chess960(played).to_string();
    // No square ends in n.
    let plain = uci.strip_suffix('n').unwrap_or(&uci);
    plain.to_string()
}

fn parse_uci(text: &str) -> Option<UciMove> {
    if !matches!(text.as_bytes(), [b'a'..=b'h', b'1'..=b'8', ..]) {
        return None; // most moves are SAN, which is seen at once
    }
    let (squares, promotion) = text.split_at_checked(4)?;
    let text = format!("{squares}{}", promotion.to_ascii_lowercase());
    UciMove::from_ascii(text.as_bytes()).ok().filter(|uci| uci.is_normal())
}

fn from_uci(position: &Position, uci: UciMove) -> Option<Move> {
    let from = uci.from()?;
    let to = uci.to()?;
    let chess = position.chess();
    let role = chess.board().role_at(from)?;
    let targets = legal::targets(chess, from);
    // Castling is coded as king takes rook; e1g1 is the other way to write it.
    if role == Role::King && uci.promotion().is_none() && !targets.contains(to) {
        return legal::castling_by_king_square(chess, from, to);
    }
    let promotes = role == Role::Pawn && (to.rank() as u8 == 0 || to.rank() as u8 == 7);
    let fits = match uci.promotion() {
        Some(Role::King | Role::Pawn) => false,
        promotion => promotion.is_some() == promotes,
    };
    if !fits || !targets.contains(to) {
        return None;
    }
    Some(rebuild(position, role, from, to, uci.promotion()))
}

fn rebuild(position: &Position, role: Role, from: Square, to: Square, promotion: Option<Role>) -> Move {
    let chess = position.chess();
    if role == Role::King && chess.us().contains(to) {
        Move::Castle { king: from, rook: to }
    } else if role == Role::Pawn && from.file() != to.file() && chess.board().role_at(to).is_none() {
        Move::EnPassant { from, to }
    } else {
        Move::Normal { role, from, capture: chess.board().role_at(to), to, promotion }
    }
}

fn from_san(position: &Position, text: &str) -> Option<Move> {
    if text.starts_with('P') {
        return None; // not only a pawn's letter: `people`
    }
    SanPlus::from_ascii(text.as_bytes()).ok()?.san.to_move(position.chess()).ok()
}
