//! Reading and writing of positions: FEN of a 5x5 board, with a clear message for everything that is wrong.

use super::attacks::{FIRST_RANK, LAST_RANK, SIDE};
use super::board::Board;
use super::position::Position;
use super::role::Role;
use crate::game::{GameError, Player};

/// Where the game begins.
pub const START: &str = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1";
const PIECES_A_SIDE: u32 = 10;
const PAWNS_A_SIDE: u32 = 5;
const FIELDS: &str = "a FEN has 4 to 6 fields (pieces, side to move, - for castling, - for en passant, plies since the last \
                      capture or pawn move, move number)";

/// The position that a FEN describes; the last two of its six fields may be missing.
pub fn parse(text: &str) -> Result<Position, GameError> {
    read(text).map_err(|what| GameError(format!("minichess position {text:?}: {what}")))
}

/// The FEN of a position.
pub fn write(position: &Position) -> String {
    let board = position.white_board();
    let ranks: Vec<String> = (0..SIDE).rev().map(|rank| write_rank(&board, rank)).collect();
    let side = if position.mover() == Player::First { 'w' } else { 'b' };
    format!("{} {side} - - {} {}", ranks.join("/"), position.quiet_plies(), position.number())
}

fn read(text: &str) -> Result<Position, String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let (pieces, side) = match fields[..] {
        [pieces, side, "-", "-", ..] if fields.len() <= 6 => (pieces, side),
        [_, _, _, _] | [_, _, _, _, _] | [_, _, _, _, _, _] => {
            return Err("there is no castling and no en passant: the third and fourth field are -".into());
        }
        _ => return Err(format!("{FIELDS}; {} given", fields.len())),
    };
    let mover = read_side(side)?;
    let quiet_plies = read_count(fields.get(4), "plies since the last capture or pawn move", 0)?;
    let number = read_count(fields.get(5), "the move number", 1)?;
    let board = read_board(pieces)?;
    check(&board)?;
    let board = if mover == Player::First { board } else { board.turned() };
    // As the side that has just moved sees it: it may not have left its king in check, and the rules here rest on that.
    if board.turned().is_check() {
        return Err("the side that is not to move is in check".into());
    }
    Ok(Position::new(board, mover, quiet_plies, u32::from(number)))
}

fn read_side(text: &str) -> Result<Player, String> {
    match text {
        "w" => Ok(Player::First),
        "b" => Ok(Player::Second),
        _ => Err(format!("the side to move is w or b, got {text:?}")),
    }
}

/// A counter; `absent` where the field is missing.
fn read_count(field: Option<&&str>, what: &str, absent: u16) -> Result<u16, String> {
    let Some(text) = field else { return Ok(absent) };
    text.parse().map_err(|_| format!("{what} must be a whole number from 0 to {}, got {text:?}", u16::MAX))
}

/// The board as White sees it.
fn read_board(text: &str) -> Result<Board, String> {
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != SIDE {
        return Err(format!("the board has {SIDE} ranks, separated by /; {} given", ranks.len()));
    }
    let mut board = Board::default();
    for (rank, row) in ranks.into_iter().rev().enumerate() {
        read_rank(&mut board, rank, row)?;
    }
    Ok(board)
}

fn read_rank(board: &mut Board, rank: usize, text: &str) -> Result<(), String> {
    let wrong = || {
        format!("rank {} is {text:?}; a rank has {SIDE} squares: PNBRQK, pnbrqk, or 1 to {SIDE} empty ones", rank + 1)
    };
    let mut file = 0;
    for sign in text.chars() {
        let role = Role::ALL.into_iter().find(|role| role.letter() == sign.to_ascii_lowercase());
        match (role, sign.to_digit(10)) {
            (Some(role), _) if file < SIDE => board.put(role, rank * SIDE + file, sign.is_ascii_uppercase()),
            (None, Some(1..)) => {}
            _ => return Err(wrong()),
        }
        file += sign.to_digit(10).unwrap_or(1) as usize;
    }
    if file == SIDE { Ok(()) } else { Err(wrong()) }
}

/// What every position of the game has; the board is White's view.
fn check(board: &Board) -> Result<(), String> {
    for (name, pieces) in [("white", board.own), ("black", board.other)] {
        let pawns = pieces & board.role(Role::Pawn);
        if (pieces & board.role(Role::King)).count_ones() != 1 {
            return Err(format!(
                "each side has one king, {name} has {}",
                (pieces & board.role(Role::King)).count_ones()
            ));
        }
        if pieces.count_ones() > PIECES_A_SIDE || pawns.count_ones() > PAWNS_A_SIDE {
            let allowed = format!("at most {PIECES_A_SIDE} pieces, {PAWNS_A_SIDE} of them pawns, are allowed");
            return Err(format!(
                "{name} has {} pieces and {} pawns; {allowed}",
                pieces.count_ones(),
                pawns.count_ones()
            ));
        }
    }
    if board.role(Role::Pawn) & (FIRST_RANK | LAST_RANK) != 0 {
        return Err("pawns cannot stand on the first or last rank".into());
    }
    Ok(())
}

fn write_rank(board: &Board, rank: usize) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for square in rank * SIDE..(rank + 1) * SIDE {
        match piece_letter(board, square) {
            None => empty += 1,
            Some(letter) => {
                push_empty(&mut out, empty);
                empty = 0;
                out.push(letter);
            }
        }
    }
    push_empty(&mut out, empty);
    out
}

fn push_empty(out: &mut String, empty: usize) {
    if empty > 0 {
        out.push_str(&empty.to_string());
    }
}

/// The letter of a piece, a capital for White's; the board is White's view.
pub fn piece_letter(board: &Board, square: usize) -> Option<char> {
    let letter = board.role_at(square)?.letter();
    Some(if board.own >> square & 1 == 1 { letter.to_ascii_uppercase() } else { letter })
}
