//! The 15 input planes, from the mover's view (rank 1 of the mover comes first; squares count a1, b1 ... e5).
//!
//! | planes | what |
//! |---|---|
//! | 0 to 5 | the mover's pawns, knights, bishops, rooks, queens, king |
//! | 6 to 11 | the opponent's |
//! | 12 | all ones if the position has occurred before: once more and the game is drawn |
//! | 13 | plies since the last capture or pawn move, divided by the 100 that end the game |
//! | 14 | all ones, by which the first layer finds the edges |
//!
//! The rules are the same for both colours and know nothing of the past but repetition and the counter, so neither the
//! colour of the mover nor earlier positions are shown.

use super::attacks::{ALL, SQUARES};
use super::position::{DRAWN_AFTER, Position};
use crate::games::grid;

/// Number of planes.
pub const NUM_PLANES: usize = 15;
const REPEATED: usize = 12;
const QUIET_PLIES: usize = 13;
const ONES: usize = 14;

/// Writes the planes in packed form: `values[c]` where bit `square` of `masks[c]` is set, 0 elsewhere.
pub fn encode_packed(position: &Position, masks: &mut [u64], values: &mut [f32]) {
    masks[..NUM_PLANES].copy_from_slice(&sets(position).map(u64::from));
    values[..NUM_PLANES].fill(1.0);
    values[QUIET_PLIES] = counter(position);
}

/// Writes the planes as floats: `row` holds 15 * 25 of them.
pub fn encode(position: &Position, row: &mut [f32]) {
    for (plane, set) in row.chunks_exact_mut(SQUARES).zip(sets(position)) {
        grid::write_plane(plane, u64::from(set));
    }
    row[QUIET_PLIES * SQUARES..][..SQUARES].fill(counter(position));
}

/// The squares of every plane.
#[inline]
fn sets(position: &Position) -> [u32; NUM_PLANES] {
    let board = position.board();
    let mut sets = [0; NUM_PLANES];
    for (index, role) in board.roles.into_iter().enumerate() {
        sets[index] = role & board.own;
        sets[index + 6] = role & board.other;
    }
    sets[REPEATED] = if position.is_repeated() { ALL } else { 0 };
    sets[QUIET_PLIES] = ALL;
    sets[ONES] = ALL;
    sets
}

#[inline]
fn counter(position: &Position) -> f32 {
    // Not lc0's raw counter, which its trained networks expect in chess: of this game there was no network before.
    f32::from(position.quiet_plies()) / f32::from(DRAWN_AFTER)
}
