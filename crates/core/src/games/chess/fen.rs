//! Reading and writing of positions: FEN, cleaned of what no position can have, with a clear message for what stays wrong.

use shakmaty::fen::Fen;
use shakmaty::{Bitboard, Castles, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, FromSetup, Position as _};
use shakmaty::{PositionError, PositionErrorKinds, Role, Setup};

use super::position::Position;
use crate::game::GameError;

const PIECES_A_SIDE: usize = 16;
const PAWNS_A_SIDE: usize = 8;

/// A position as it was read.
pub struct ReadFen {
    /// The board, with the castling rights and the en passant square that it can have.
    pub chess: Chess,
    /// What was changed, a line each; empty where the FEN was taken as it is.
    pub notes: Vec<String>,
}

/// A FEN cleaned of what no position can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanFen {
    /// The FEN without the castling rights and the en passant square that were impossible.
    pub fen: String,
    /// Whether it is a position of Chess960: asked for, or seen from its castling rights.
    pub chess960: bool,
    /// What was changed, a line each; empty where the FEN was taken as it is.
    pub notes: Vec<String>,
}

/// Cleans a FEN as every reader of positions does: castling rights that no king and rook can have and an impossible en
/// passant square are left out, castling rights that only Chess960 has make it Chess960. An error for what stays wrong.
pub fn clean_fen(text: &str, chess960: bool) -> Result<CleanFen, GameError> {
    let read = parse(text, castling_mode(chess960))?;
    let chess960 = read.chess.castles().mode().is_chess960();
    let fen = write(&Position::new(read.chess, Default::default()));
    Ok(CleanFen { fen, chess960, notes: read.notes })
}

/// The rules by which castling rights are read and moves of castling are written.
pub fn castling_mode(chess960: bool) -> CastlingMode {
    if chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard }
}

/// The position that a FEN describes; of its six fields only pieces and side to move must be there.
pub fn parse(text: &str, mode: CastlingMode) -> Result<ReadFen, GameError> {
    let fail = |what: String| GameError(format!("chess position {text:?}: {what}"));
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if !(2..=6).contains(&fields.len()) {
        let allowed = "a FEN has 2 to 6 fields (pieces, side to move, castling rights, en passant square, \
                       plies since the last capture or pawn move, move number)";
        return Err(fail(format!("{allowed}; {} given", fields.len())));
    }
    let mut notes = Vec::new();
    complete(&mut fields, &mut notes);
    let fen = Fen::from_ascii(fields.join(" ").as_bytes()).map_err(|error| fail(format!("{error}")))?;
    let mut setup = fen.into_setup();
    check_pieces(&setup).map_err(fail)?;
    // Rights before the position is built: it would be refused for them.
    let mode = clean_rights(&mut setup, mode, fields[2], &mut notes);
    let chess = from_setup(setup, mode, fields[3], &mut notes).map_err(fail)?;
    Ok(ReadFen { chess, notes })
}

/// Writes the side to move as the standard does, and what a short FEN has no field for as absent.
fn complete(fields: &mut Vec<&str>, notes: &mut Vec<String>) {
    match fields[1] {
        "W" => fields[1] = "w",
        "B" => fields[1] = "b",
        _ => {}
    }
    // Collections of problems stop after the side to move. Nobody can tell then whether a king may castle: none may,
    // as python-chess and Lichess read it, and the note says so.
    let missing = &["castling rights", "en passant square"][fields.len().min(4) - 2..];
    if !missing.is_empty() {
        notes.push(format!("the FEN has no field for {}, so it is read without", missing.join(" and ")));
        fields.resize(4, "-");
    }
}

/// The FEN of a position, with the en passant square if it counts.
pub fn write(position: &Position) -> String {
    let mut setup = position.chess().to_setup(EnPassantMode::Always);
    setup.ep_square = position.en_passant();
    let text = setup_text(setup.clone());
    let standard = possible_rights(&setup, CastlingMode::Standard).castling_rights();
    if !position.is_chess960() || setup.castling_rights == standard || needs_chess960(&setup, "KQkq") {
        return text;
    }
    // As KQkq the rights of sides that begin from different places would be taken for those that editors leave.
    let mut fields: Vec<&str> = text.split(' ').collect();
    let rights = rights_by_files(&setup);
    fields[2] = &rights;
    fields.join(" ")
}

/// Castling rights by the files of their rooks, `HFhe`.
fn rights_by_files(setup: &Setup) -> String {
    let mut text = String::new();
    for color in Color::ALL {
        let rooks = setup.castling_rights & Bitboard::from(color.backrank());
        let files = rooks.into_iter().rev().map(|square| square.file().char());
        text.extend(files.map(|file| if color.is_white() { file.to_ascii_uppercase() } else { file }));
    }
    text
}

fn setup_text(setup: Setup) -> String {
    Fen::try_from_setup(setup).map_or_else(|lossy| lossy.ignore().to_string(), |fen| fen.to_string())
}

fn check_pieces(setup: &Setup) -> Result<(), String> {
    if setup.pockets.is_some() || setup.remaining_checks.is_some() || setup.promoted.any() {
        return Err("pockets, counted checks and promotion marks belong to other variants of chess".into());
    }
    for color in Color::ALL {
        // Counted here, because `from_setup` lets positions through that promotion could not make, and with them any
        // number of pieces.
        let pieces = setup.board.by_color(color);
        let pawns = pieces & setup.board.by_role(Role::Pawn);
        if pieces.count() > PIECES_A_SIDE || pawns.count() > PAWNS_A_SIDE {
            let allowed = format!("at most {PIECES_A_SIDE} pieces, {PAWNS_A_SIDE} of them pawns, are allowed");
            return Err(format!("{color} has {} pieces and {} pawns; {allowed}", pieces.count(), pawns.count()));
        }
    }
    Ok(())
}

/// Leaves the castling rights that are possible, and returns whose they are. `given`: the field of the FEN.
fn clean_rights(setup: &mut Setup, mode: CastlingMode, given: &str, notes: &mut Vec<String>) -> CastlingMode {
    let mode = if mode.is_standard() && needs_chess960(setup, given) {
        notes.push(format!("the castling rights {given} are of Chess960, so the position is read as Chess960"));
        CastlingMode::Chess960
    } else {
        mode
    };
    let possible = possible_rights(setup, mode).castling_rights();
    // Editors write rights that the position cannot have; such a FEN is read without them.
    if possible != setup.castling_rights {
        setup.castling_rights = possible;
        let kept = setup_text(setup.clone());
        let kept = kept.split(' ').nth(2).unwrap_or("-");
        let needed = match mode {
            CastlingMode::Standard => "the king on its first square and a rook in the corner",
            CastlingMode::Chess960 => "king and rook on the first rank of their side",
        };
        notes.push(format!("the castling rights {given} are read as {kept}: a right needs {needed}"));
    }
    mode
}

fn possible_rights(setup: &Setup, mode: CastlingMode) -> Castles {
    Castles::from_setup(setup, mode).unwrap_or_else(|possible| possible)
}

/// Whether the castling rights are seen to be of Chess960. Editors leave rights with kings that have castled, so one that
/// Chess960 could have prove nothing: either all of them are possible there, or both sides have rights with kings and rooks
/// on the same files, as at the start of a game. Rights by the files of rooks, `HFhe`, are of Chess960 alone, also where the
/// sides begin from different places.
fn needs_chess960(setup: &Setup, given: &str) -> bool {
    let standard = possible_rights(setup, CastlingMode::Standard).castling_rights();
    let chess960 = possible_rights(setup, CastlingMode::Chess960);
    let possible = chess960.castling_rights();
    if possible == standard {
        return false;
    }
    let by_files = given.bytes().all(|letter| matches!(letter.to_ascii_lowercase(), b'a'..=b'h'));
    if by_files && possible == setup.castling_rights {
        return true;
    }
    if !have_same_files(setup, &chess960) {
        return false;
    }
    let both_sides = Color::ALL.into_iter().all(|color| chess960.has_color(color));
    possible == setup.castling_rights || both_sides
}

/// Whether kings that may castle, and rooks of one wing, stand on one file, as they do at the start of a game.
fn have_same_files(setup: &Setup, castles: &Castles) -> bool {
    let has_both = Color::ALL.into_iter().all(|color| castles.has_color(color));
    let kings = Color::ALL.map(|color| setup.board.king_of(color).map(|square| square.file()));
    if has_both && kings[0] != kings[1] {
        return false;
    }
    CastlingSide::ALL.into_iter().all(|side| {
        let [white, black] = Color::ALL.map(|color| castles.rook(color, side).map(|square| square.file()));
        white.is_none() || black.is_none() || white == black
    })
}

/// More pieces than promotion can make and checks that no move can give do no harm, so they are let through.
fn from_setup(setup: Setup, mode: CastlingMode, given: &str, notes: &mut Vec<String>) -> Result<Chess, String> {
    let rights = setup.castling_rights;
    let is_wrong = |error: &PositionError<Chess>| error.kinds().contains(PositionErrorKinds::INVALID_EP_SQUARE);
    let found = Chess::from_setup(setup, mode);
    if found.as_ref().is_err_and(is_wrong) {
        notes.push(format!("the en passant square {given} is left out: no pawn has just made a double step past it"));
    }
    found
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .map_err(|error| explain(error.kinds(), rights))
}

fn explain(kinds: PositionErrorKinds, rights: Bitboard) -> String {
    let reasons = [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "each side needs a king"),
        (PositionErrorKinds::TOO_MANY_KINGS, "each side has one king only"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "pawns cannot stand on the first or last rank"),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side that is not to move is in check"),
    ];
    if let Some((_, text)) = reasons.into_iter().find(|(kind, _)| kinds.contains(*kind)) {
        return text.to_string();
    }
    let squares: Vec<String> = rights.into_iter().map(|square| square.to_string()).collect();
    format!("its castling rights are impossible; rooks were looked for on {}", squares.join(", "))
}
