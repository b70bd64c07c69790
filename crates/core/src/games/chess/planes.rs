//! The 112 input planes of lc0's networks (format "classical"), from the mover's view.
//!
//! Eight positions, the present one first, of 13 planes each: the mover's pawns, knights, bishops, rooks, queens, king, the
//! opponent's, and all ones if the position had occurred before. Then the castling rights (mover queen side, king side,
//! opponent queen side, king side), all ones if Black moves, the plies since the last capture or pawn move (raw number),
//! zeros, ones. Rank 1 of the mover comes first; squares count a1, b1 ... h8.

use shakmaty::{CastlingSide, Color, Position as _, Square};

use super::position::{HISTORY, HistoryFill, Position, Snapshot};

/// Number of planes.
pub const NUM_PLANES: usize = 112;
const PLANES_A_POSITION: usize = 13;
const CASTLING: usize = HISTORY * PLANES_A_POSITION;
/// The plane that is all ones if Black moves.
pub const BLACK_MOVES: usize = CASTLING + 4;
const HALF_MOVES: usize = CASTLING + 5;
const ONES: usize = CASTLING + 7;
const ALL: u64 = u64::MAX;

/// Writes the planes in packed form: `values[c]` where bit `square` of `masks[c]` is set, 0 elsewhere.
pub fn encode_packed(position: &Position, masks: &mut [u64], values: &mut [f32]) {
    masks[..NUM_PLANES].fill(0);
    values[..NUM_PLANES].fill(1.0);
    let turn = position.chess().turn();
    for age in 0..position.known() {
        let (snapshot, repeated) = position.earlier(age);
        write_pieces(snapshot, turn, step(masks, age));
        step(masks, age)[12] = if repeated { ALL } else { 0 };
    }
    fill_history(position, masks);
    write_facts(position, masks, values);
}

/// Writes the planes as floats: `row` holds 112 * 64 of them.
pub fn encode(position: &Position, row: &mut [f32]) {
    let mut masks = [0; NUM_PLANES];
    let mut values = [0.0; NUM_PLANES];
    encode_packed(position, &mut masks, &mut values);
    for (plane, (mask, value)) in row.chunks_exact_mut(64).zip(masks.iter().zip(values)) {
        write_plane(plane, *mask, value);
    }
}

#[inline]
fn write_plane(plane: &mut [f32], mask: u64, value: f32) {
    // Planes of ones and counters are common, and filling beats walking 64 bits.
    if mask == ALL {
        plane.fill(value);
        return;
    }
    plane.fill(0.0);
    let mut rest = mask;
    while rest != 0 {
        plane[rest.trailing_zeros() as usize] = value;
        rest &= rest - 1;
    }
}

fn step(masks: &mut [u64], age: usize) -> &mut [u64] {
    &mut masks[age * PLANES_A_POSITION..(age + 1) * PLANES_A_POSITION]
}

fn write_pieces(snapshot: &Snapshot, turn: Color, planes: &mut [u64]) {
    // The complement has the empty squares too, which no role has a bit on.
    let ours = if turn.is_white() { snapshot.white } else { !snapshot.white };
    for (index, role) in snapshot.roles.iter().enumerate() {
        planes[index] = seen(role & ours, turn);
        planes[index + 6] = seen(role & !ours, turn);
    }
}

/// The squares as the player sees them.
#[inline]
fn seen(squares: u64, turn: Color) -> u64 {
    // A rank is a byte, so swapping the bytes mirrors the board.
    if turn.is_white() { squares } else { squares.swap_bytes() }
}

/// Fills the steps before the first known position.
fn fill_history(position: &Position, masks: &mut [u64]) {
    let known = position.known();
    let steps = match (position.history_fill(), position.first_en_passant()) {
        // Before the start of a game there was nothing; before a FEN there was something that is not known.
        (HistoryFill::FenOnly, _) if position.first_is_start() => 0,
        (HistoryFill::No, None) => 0,
        (HistoryFill::No, Some(_)) => 1,
        _ => HISTORY,
    };
    let turn = position.chess().turn();
    for age in known..HISTORY.min(known.saturating_add(steps)) {
        // An en passant square tells the move before: the position before it is known in part, and is what lc0
        // fills with.
        let mut first = *position.earlier(known - 1).0;
        if let Some(square) = position.first_en_passant() {
            undo_double_push(&mut first, square);
        }
        write_pieces(&first, turn, step(masks, age));
    }
}

/// Puts the pawn that has just passed `square` back on its second rank.
fn undo_double_push(snapshot: &mut Snapshot, square: Square) {
    let bit = 1u64 << square as u32;
    let is_white = (square as u32) < 32;
    let (now, before) = if is_white { (bit << 8, bit >> 8) } else { (bit >> 8, bit << 8) };
    snapshot.roles[0] = snapshot.roles[0] & !now | before;
    if is_white {
        snapshot.white = snapshot.white & !now | before;
    }
}

fn write_facts(position: &Position, masks: &mut [u64], values: &mut [f32]) {
    let chess = position.chess();
    let rights = [(chess.turn(), CASTLING), (!chess.turn(), CASTLING + 2)];
    for (color, plane) in rights {
        masks[plane] = if chess.castles().has(color, CastlingSide::QueenSide) { ALL } else { 0 };
        masks[plane + 1] = if chess.castles().has(color, CastlingSide::KingSide) { ALL } else { 0 };
    }
    masks[BLACK_MOVES] = if chess.turn().is_black() { ALL } else { 0 };
    masks[HALF_MOVES] = ALL;
    values[HALF_MOVES] = chess.halfmoves() as f32;
    masks[ONES] = ALL;
}
