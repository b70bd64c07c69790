//! Moves as people write them: SAN with its marks left out, added or changed (`ed5`, `e:d5`, `e2-e4`, `Ng1-f3`, `a8Q`,
//! `a8(Q)`, `♘f3`, `o-o`, `exd6 e.p.`). A word is read where all of it has a meaning and one legal move fits; it never
//! becomes another move by leaving a sign out.

use shakmaty::{CastlingSide, File, Move, MoveList, Position as _, Rank, Role, Square};

use super::legal;
use super::position::Position;

/// Bytes of a word; no notation of a move is longer.
const MAX_WORD: usize = 24;
// Words for checks stand in books and files of the last century: no move ends in letters like these.
const ENDINGS: [&str; 14] =
    ["(e.p.)", "(ep)", "e.p.", "e.p", "ep", "+", "#", "!", "?", "ch.", "ch", "mate", "dis.", "dbl."];

/// A move as far as a word gives it.
struct Written {
    role: Role,
    file: Option<File>,
    rank: Option<Rank>,
    takes: bool,
    to: Square,
    promotion: Option<Role>,
}

/// The legal moves that a word may mean.
pub fn candidates(position: &Position, text: &str) -> Vec<Move> {
    let Some(plain) = plain(text) else { return Vec::new() };
    let word = without_endings(&plain);
    if let Some(side) = castling(word) {
        return position.chess().castling_moves(side).into_iter().collect();
    }
    let Some(written) = parse(word) else { return Vec::new() };
    let mut legal: MoveList = position.chess().san_candidates(written.role, written.to);
    legal.retain(|played| fits(&written, *played));
    // People also write castling as the king's squares, `Ke1-g1`.
    if legal.is_empty() {
        return castling_by_squares(position, &written).into_iter().collect();
    }
    legal.into_iter().collect()
}

/// A word in ASCII: figurines as letters, dashes as hyphens, signs of a capture as x. None where a sign has no meaning.
fn plain(text: &str) -> Option<String> {
    if text.len() > MAX_WORD {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\u{2654}' | '\u{265a}' => plain.push('K'),
            '\u{2655}' | '\u{265b}' => plain.push('Q'),
            '\u{2656}' | '\u{265c}' => plain.push('R'),
            '\u{2657}' | '\u{265d}' => plain.push('B'),
            '\u{2658}' | '\u{265e}' => plain.push('N'),
            '\u{2659}' | '\u{265f}' => plain.push('p'),
            '\u{fe0e}' | '\u{fe0f}' => {} // how the figurine before it is drawn
            '\u{2010}'..='\u{2014}' | '\u{2212}' => plain.push('-'),
            ':' | '\u{d7}' | 'X' => plain.push('x'),
            '\u{41e}' | '\u{43e}' => plain.push('O'), // the Cyrillic letter
            '\u{2020}' => plain.push('+'),
            '\u{2021}' => plain.push('#'),
            sign if sign.is_ascii_graphic() => plain.push(sign),
            _ => return None,
        }
    }
    Some(plain)
}

fn without_endings(word: &str) -> &str {
    let mut bare = word;
    while let Some(rest) = ENDINGS.iter().find_map(|ending| bare.strip_suffix(ending)) {
        bare = rest;
    }
    bare
}

fn castling(word: &str) -> Option<CastlingSide> {
    match word {
        "O-O" | "o-o" | "0-0" | "OO" | "oo" | "00" => Some(CastlingSide::KingSide),
        "O-O-O" | "o-o-o" | "0-0-0" | "OOO" | "ooo" | "000" => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

fn parse(word: &str) -> Option<Written> {
    // The colon of a capture may stand at the end: ed5:
    let (word, takes_at_end) = word.strip_suffix('x').map_or((word, false), |rest| (rest, true));
    let (role, rest) = match word.chars().next()? {
        letter if letter.is_ascii_uppercase() => (Role::from_char(letter)?, &word[1..]),
        'p' => (Role::Pawn, &word[1..]),
        _ => (Role::Pawn, word),
    };
    let rest = without_brackets(rest)?;
    let (squares, promotion) = split_promotion(&rest)?;
    let (before, to) = squares.split_at_checked(squares.len().checked_sub(2)?)?;
    let to = Square::from_ascii(to.as_bytes()).ok()?;
    let takes = takes_at_end || before.ends_with('x');
    let from = before.strip_suffix(['x', '-']).unwrap_or(before);
    let mut signs = from.chars().peekable();
    let file = signs.next_if(|sign| ('a'..='h').contains(sign)).and_then(File::from_char);
    let rank = signs.next_if(|sign| ('1'..='8').contains(sign)).and_then(Rank::from_char);
    // P is a knight in Dutch, so a pawn has this letter only where its square is named too.
    let is_pawn_for_sure = !word.starts_with('P') || (file.is_some() && rank.is_some());
    let is_whole = signs.next().is_none() && (promotion.is_none() || role == Role::Pawn) && is_pawn_for_sure;
    is_whole.then_some(Written { role, file, rank, takes, to, promotion })
}

/// The rest of a word without the brackets around where the piece comes from, `N(g1)f3`. None where they are not closed.
fn without_brackets(rest: &str) -> Option<String> {
    match rest.strip_prefix('(') {
        None => Some(rest.to_string()),
        Some(inside) => inside.split_once(')').map(|(from, after)| format!("{from}{after}")),
    }
}

/// The squares of a word, and the piece of a promotion after them: `=Q`, `Q`, `(Q)`, `/Q`. None for another ending.
fn split_promotion(text: &str) -> Option<(&str, Option<Role>)> {
    if text.ends_with(|sign: char| sign.is_ascii_digit()) {
        return Some((text, None));
    }
    let (inner, is_closed) = text.strip_suffix(')').map_or((text, false), |inner| (inner, true));
    let letter = inner.chars().next_back()?;
    let role = Role::from_char(letter).filter(|role| !matches!(role, Role::King | Role::Pawn))?;
    let mut squares = &inner[..inner.len() - 1];
    if is_closed {
        squares = squares.strip_suffix('(')?;
    }
    squares = squares.strip_suffix(['=', '/', '-']).unwrap_or(squares);
    squares.ends_with(['1', '8']).then_some((squares, Some(role)))
}

/// Whether a legal move is the one that is written. A mark of a capture needs a capture, a capture needs no mark; but a
/// pawn that takes names at least its file.
fn fits(written: &Written, played: Move) -> bool {
    let Some(from) = played.from() else { return false };
    if played.is_castle() {
        return false;
    }
    let has_file = written.file.is_none_or(|file| file == from.file());
    let has_rank = written.rank.is_none_or(|rank| rank == from.rank());
    let is_told = written.role != Role::Pawn || written.file.is_some() || !played.is_capture();
    let takes = !written.takes || played.is_capture();
    has_file && has_rank && is_told && takes && written.promotion == played.promotion()
}

/// Castling written by the squares of the king, `Ke1-g1`.
fn castling_by_squares(position: &Position, written: &Written) -> Option<Move> {
    let from = Square::from_coords(written.file?, written.rank?);
    let is_king = written.role == Role::King
        && !written.takes
        && position.chess().board().king_of(position.chess().turn()) == Some(from);
    if is_king { legal::castling_by_king_square(position.chess(), from, written.to) } else { None }
}
