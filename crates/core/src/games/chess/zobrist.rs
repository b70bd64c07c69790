//! Hash of a position that can be kept up to date move by move (Zobrist 1970): the exclusive or of one random number for
//! each piece on its square, castling right, en passant file and for Black to move.

use shakmaty::{Bitboard, Chess, Color, Piece, Position, Square};

use crate::games::grid::splitmix;

struct Keys {
    pieces: [[u64; 64]; 12],
    castling_rooks: [u64; 64],
    en_passant: [u64; 8],
}

static KEYS: Keys = build();
/// Added when Black is to move.
pub const BLACK_TO_MOVE: u64 = splitmix(1);
/// Mixed into the hash of a position that has occurred before.
pub const REPEATED: u64 = splitmix(2);

/// The number of a piece on its square.
#[inline]
pub fn piece(piece: Piece, square: Square) -> u64 {
    let row = piece.role as usize - 1 + if piece.color.is_white() { 0 } else { 6 };
    KEYS.pieces[row][square as usize]
}

/// The number of the castling rights, given as the squares of the rooks that may castle.
#[inline]
pub fn castling(rooks: Bitboard) -> u64 {
    // By the rook's square and not by the wing, which does not tell two rights of Chess960 apart.
    rooks.into_iter().fold(0, |hash, square| hash ^ KEYS.castling_rooks[square as usize])
}

/// The number of an en passant square.
#[inline]
pub fn en_passant(square: Option<Square>) -> u64 {
    square.map_or(0, |square| KEYS.en_passant[square.file() as usize])
}

/// The hash of a whole position, with the en passant square that counts.
pub fn full(position: &Chess, en_passant_square: Option<Square>) -> u64 {
    let pieces = position.board().iter().fold(0, |hash, (square, what)| hash ^ piece(what, square));
    let turn = if position.turn() == Color::Black { BLACK_TO_MOVE } else { 0 };
    pieces ^ turn ^ castling(position.castles().castling_rights()) ^ en_passant(en_passant_square)
}

/// Puts the hashes of several positions together; the order matters.
#[inline]
pub fn mix(hash: u64, next: u64) -> u64 {
    let mixed = (hash ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

const fn build() -> Keys {
    let mut keys = Keys { pieces: [[0; 64]; 12], castling_rooks: [0; 64], en_passant: [0; 8] };
    let mut square = 0;
    while square < 64 {
        let mut kind = 0;
        while kind < 12 {
            // Computed and not drawn: hashes are the same in every process. The kinds of numbers begin far enough apart
            // that none is used twice.
            keys.pieces[kind][square] = splitmix(1000 + 64 * kind as u64 + square as u64);
            kind += 1;
        }
        keys.castling_rooks[square] = splitmix(2000 + square as u64);
        keys.en_passant[square % 8] = splitmix(3000 + square as u64 % 8);
        square += 1;
    }
    keys
}
