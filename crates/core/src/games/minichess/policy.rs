//! The 455 actions: which number is which move, from the mover's view.
//!
//! For every square `from` (a1, b1 ... e5) and every square `to` that a queen or a knight could reach from it on an empty
//! board, ascending, there is one action (416 of them). After these follow, for every file of a pawn on its fourth rank
//! and every file it can arrive on, promotion to queen, rook and bishop (39). Promotion to a knight is the plain move, as
//! in lc0's list of the moves of chess. When Black moves, the board is turned (a1 <-> a5).

use super::attacks::{self, SIDE, SQUARES, flip_square, mirror_square};
use super::role::Role;
use crate::game::{Action, Player};

/// Length of the policy vector.
pub const NUM_ACTIONS: usize = 455;
/// Actions below this are plain moves, those from here on promotions to queen, rook or bishop.
const FIRST_PROMOTION: usize = 416;
const NO_ACTION: Action = Action::MAX;
/// The promotions that have an action of their own, in order.
pub const PROMOTIONS: [Role; 3] = [Role::Queen, Role::Rook, Role::Bishop];

/// A move from the mover's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// Origin.
    pub from: usize,
    /// Destination.
    pub to: usize,
    /// Queen, rook or bishop; `None` for plain moves and promotions to a knight.
    pub promotion: Option<Role>,
}

struct Table {
    moves: [Coded; NUM_ACTIONS],
    index: [[Action; SQUARES]; SQUARES],
}

// As in chess, by the compiler: a numbering that does not come out at its length does not compile.
static TABLE: Table = build();

/// The move of an action; `action` must be below `NUM_ACTIONS`.
#[inline]
pub fn decode(action: Action) -> Coded {
    TABLE.moves[usize::from(action)]
}

/// The action of a plain move; the squares must be a queen's or a knight's move apart.
#[inline]
pub fn plain(from: usize, to: usize) -> Action {
    TABLE.index[from][to]
}

/// The first of the three actions (queen, rook, bishop) of a promotion between these files.
#[inline]
pub fn first_promotion(from: usize, to: usize) -> Action {
    // Files b to e have the a-file's two arrivals and three of every file between before them.
    let pairs_before = if from == 0 { to } else { 3 * from - 1 + to - (from - 1) };
    (FIRST_PROMOTION + PROMOTIONS.len() * pairs_before) as Action
}

/// The action of any move; `None` if no piece moves like that.
pub fn encode(coded: Coded) -> Option<Action> {
    match coded.promotion.and_then(|role| PROMOTIONS.iter().position(|known| *known == role)) {
        Some(offset) => Some(first_promotion(coded.from % SIDE, coded.to % SIDE) + offset as Action),
        None => Some(plain(coded.from, coded.to)).filter(|action| *action != NO_ACTION),
    }
}

/// The same move with left and right exchanged.
pub fn mirrored(action: Action) -> Action {
    let Coded { from, to, promotion } = decode(action);
    let twin = Coded { from: mirror_square(from), to: mirror_square(to), promotion };
    encode(twin).expect("the mirror image of a move is a move")
}

/// Origin and destination as White sees them.
pub fn squares_of(action: Action, mover: Player) -> (usize, usize) {
    let Coded { from, to, .. } = decode(action);
    if mover == Player::First { (from, to) } else { (flip_square(from), flip_square(to)) }
}

/// Coordinates of origin and destination, and the letter of the new piece if the move promotes: `a2a3`, `b4b5q`.
pub fn name(action: Action, mover: Player, is_promotion: bool) -> String {
    let (from, to) = squares_of(action, mover);
    let becomes = decode(action).promotion.unwrap_or(Role::Knight);
    let suffix = if is_promotion { becomes.letter().to_string() } else { String::new() };
    format!("{}{}{suffix}", attacks::name(from), attacks::name(to))
}

const fn build() -> Table {
    let nothing = Coded { from: 0, to: 0, promotion: None };
    let mut table = Table { moves: [nothing; NUM_ACTIONS], index: [[NO_ACTION; SQUARES]; SQUARES] };
    let next = add_plain_moves(&mut table);
    assert!(next == FIRST_PROMOTION);
    let next = add_promotions(&mut table, next);
    assert!(next == NUM_ACTIONS);
    table
}

const fn add_plain_moves(table: &mut Table) -> usize {
    let mut next = 0;
    let mut pair = 0;
    while pair < SQUARES * SQUARES {
        let from = pair / SQUARES;
        let to = pair % SQUARES;
        if is_geometric(from, to) {
            table.moves[next] = Coded { from, to, promotion: None };
            table.index[from][to] = next as Action;
            next += 1;
        }
        pair += 1;
    }
    next
}

const fn add_promotions(table: &mut Table, first: usize) -> usize {
    let mut next = first;
    let mut pair = 0;
    while pair < SIDE * SIDE {
        let from = pair / SIDE;
        let to = pair % SIDE;
        let mut piece = 0;
        while from.abs_diff(to) <= 1 && piece < PROMOTIONS.len() {
            let promotion = Some(PROMOTIONS[piece]);
            table.moves[next] = Coded { from: 3 * SIDE + from, to: 4 * SIDE + to, promotion };
            next += 1;
            piece += 1;
        }
        pair += 1;
    }
    next
}

/// Whether a queen or a knight could go from one square to the other on an empty board.
const fn is_geometric(from: usize, to: usize) -> bool {
    let files = (from % SIDE).abs_diff(to % SIDE);
    let ranks = (from / SIDE).abs_diff(to / SIDE);
    from != to && (files == 0 || ranks == 0 || files == ranks || files * ranks == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_comes_back() {
        for action in 0..NUM_ACTIONS as Action {
            assert_eq!(encode(decode(action)), Some(action));
            assert_eq!(mirrored(mirrored(action)), action);
        }
    }

    /// Training runs rest on this numbering: it must never change.
    #[test]
    fn known_indices() {
        let promotion = |from, to, piece| encode(Coded { from, to, promotion: Some(piece) });
        assert_eq!((plain(0, 1), plain(0, 24), plain(24, 23)), (0, 13, 415));
        assert_eq!((plain(5, 10), plain(12, 0)), (81, 196));
        assert_eq!(promotion(15, 20, Role::Queen), Some(416));
        assert_eq!(promotion(16, 20, Role::Rook), Some(423));
        assert_eq!(promotion(19, 24, Role::Bishop), Some(454));
    }

    #[test]
    fn squares_no_piece_connects_have_no_action() {
        assert_eq!(encode(Coded { from: 0, to: 16, promotion: None }), None);
        assert_eq!(encode(Coded { from: 0, to: 0, promotion: None }), None);
    }
}
