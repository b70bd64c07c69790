//! Reading and writing of positions: FEN with a clear message for everything that is wrong.

use shakmaty::fen::Fen;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Position as _, PositionError, Setup};
use shakmaty::{PositionErrorKinds, Role};

use super::position::Position;
use crate::game::GameError;

const PIECES_A_SIDE: usize = 16;
const PAWNS_A_SIDE: usize = 8;

/// The position that a FEN describes; the last two of its six fields may be missing.
pub fn parse(text: &str, mode: CastlingMode) -> Result<Chess, GameError> {
    let fail = |what: String| GameError(format!("chess position {text:?}: {what}"));
    let fields = text.split_whitespace().count();
    if !(4..=6).contains(&fields) {
        let allowed = "a FEN has 4 to 6 fields (pieces, side to move, castling rights, en passant square, \
                       plies since the last capture or pawn move, move number)";
        return Err(fail(format!("{allowed}; {fields} given")));
    }
    let fen = Fen::from_ascii(text.as_bytes()).map_err(|error| fail(format!("{error}")))?;
    let setup = fen.into_setup();
    check_pieces(&setup).map_err(fail)?;
    from_setup(setup, mode).map_err(fail)
}

/// The FEN of a position, with the en passant square if it counts.
pub fn write(position: &Position) -> String {
    let mut setup = position.chess().to_setup(EnPassantMode::Always);
    setup.ep_square = position.en_passant();
    Fen::try_from_setup(setup).map_or_else(|lossy| lossy.ignore().to_string(), |fen| fen.to_string())
}

fn check_pieces(setup: &Setup) -> Result<(), String> {
    if setup.pockets.is_some() || setup.remaining_checks.is_some() || setup.promoted.any() {
        return Err("pockets, counted checks and promotion marks belong to other variants of chess".into());
    }
    for color in Color::ALL {
        let pieces = setup.board.by_color(color);
        let pawns = pieces & setup.board.by_role(Role::Pawn);
        if pieces.count() > PIECES_A_SIDE || pawns.count() > PAWNS_A_SIDE {
            let allowed = format!("at most {PIECES_A_SIDE} pieces, {PAWNS_A_SIDE} of them pawns, are allowed");
            return Err(format!("{color} has {} pieces and {} pawns; {allowed}", pieces.count(), pawns.count()));
        }
    }
    Ok(())
}

/// More pieces than promotion can make and checks that no move can give do no harm, so they are let through.
fn from_setup(setup: Setup, mode: CastlingMode) -> Result<Chess, String> {
    let rights = setup.castling_rights;
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .map_err(|error| explain(error.kinds(), rights, mode))
}

fn explain(kinds: PositionErrorKinds, rights: Bitboard, mode: CastlingMode) -> String {
    let reasons = [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "each side needs a king"),
        (PositionErrorKinds::TOO_MANY_KINGS, "each side has one king only"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "pawns cannot stand on the first or last rank"),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side that is not to move is in check"),
        (
            PositionErrorKinds::INVALID_EP_SQUARE,
            "the en passant square must lie behind a pawn that has just made a double step",
        ),
    ];
    if let Some((_, text)) = reasons.into_iter().find(|(kind, _)| kinds.contains(*kind)) {
        return text.to_string();
    }
    let squares: Vec<String> = rights.into_iter().map(|square| square.to_string()).collect();
    let needed = match mode {
        CastlingMode::Standard => "king on e1 or e8 and rook in its corner (Chess960: give chess960=true)",
        CastlingMode::Chess960 => "king and rook on the first rank of their side, the rook outside",
    };
    format!("castling rights need {needed}; rooks were looked for on {}", squares.join(", "))
}
