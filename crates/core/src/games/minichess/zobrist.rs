//! Hash of a position that is kept up to date move by move (Zobrist 1970): the exclusive or of one random number for each
//! piece on its square, and one for Black to move.

use super::attacks::{SQUARES, flip_square, squares};
use super::board::Board;
use super::role::Role;
use crate::game::Player;
use crate::games::grid::splitmix;

/// The numbers of pieces as their owner sees the board: owner, kind, square.
static PIECES: [[[u64; SQUARES]; 6]; 2] = build();
const BLACK_TO_MOVE: u64 = splitmix(5001);

/// The hash of a whole position; the board is as the mover sees it.
pub fn full(board: &Board, mover: Player) -> u64 {
    let turn = if mover == Player::Second { BLACK_TO_MOVE } else { 0 };
    let of = |player: Player, set: u32| {
        let pieces = Role::ALL.into_iter().flat_map(|role| squares(set & board.role(role)).map(move |s| (role, s)));
        pieces.fold(0, |hash, (role, square)| {
            // Squares as the owner sees them: the board is turned after every move, and a piece that stays keeps its
            // number.
            hash ^ piece(player, role, if player == mover { square } else { flip_square(square) })
        })
    };
    turn ^ of(mover, board.own) ^ of(mover.other(), board.other)
}

/// What changes by a move: a piece leaves a square and arrives, perhaps as another one, perhaps on an enemy piece. Squares
/// are as the mover sees them.
#[inline]
pub fn change(mover: Player, leaves: (Role, usize), arrives: (Role, usize), captured: Option<Role>) -> u64 {
    let taken = captured.map_or(0, |role| piece(mover.other(), role, flip_square(arrives.1)));
    piece(mover, leaves.0, leaves.1) ^ piece(mover, arrives.0, arrives.1) ^ taken ^ BLACK_TO_MOVE
}

/// The number of a piece on its square, as its owner sees it.
#[inline]
fn piece(owner: Player, role: Role, square: usize) -> u64 {
    PIECES[owner as usize][role as usize][square]
}

const fn build() -> [[[u64; SQUARES]; 6]; 2] {
    let mut table = [[[0; SQUARES]; 6]; 2];
    let mut index = 0;
    while index < 2 * 6 * SQUARES {
        table[index / (6 * SQUARES)][index / SQUARES % 6][index % SQUARES] = splitmix(6000 + index as u64);
        index += 1;
    }
    table
}
