//! The 1858-move policy of lc0's networks: which action index is which move, from the mover's view.
//!
//! For every square `from` (a1, b1 ... h8) and every square `to` that a queen or a knight could reach from it on an empty
//! board, ascending, there is one action (1792 of them). After these follow, for every file of a pawn on its seventh rank
//! and every file it can arrive on, promotion to queen, rook and bishop (66). Promotion to a knight is the plain move, and
//! castling is written as the king taking its own rook. When Black moves, the board is mirrored (a1 <-> a8).

use shakmaty::{File, Rank, Role, Square};

use crate::game::Action;

/// Length of the policy vector.
pub const NUM_ACTIONS: usize = 1858;
/// Actions below this are plain moves, those from here on promotions to queen, rook or bishop.
const FIRST_PROMOTION: usize = 1792;
const NO_ACTION: u16 = u16::MAX;
const PROMOTIONS: [Role; 3] = [Role::Queen, Role::Rook, Role::Bishop];

/// A move from the mover's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// Origin.
    pub from: Square,
    /// Destination; of castling, the square of the own rook.
    pub to: Square,
    /// Queen, rook or bishop; `None` for plain moves and promotions to a knight.
    pub promotion: Option<Role>,
}

struct Table {
    moves: [Coded; NUM_ACTIONS],
    index: [[u16; 64]; 64],
}

// Made by the compiler, so that the asserts in `build` are checked before anything runs.
static TABLE: Table = build();

/// The move of an action; `action` must be below `NUM_ACTIONS`.
#[inline]
pub fn decode(action: Action) -> Coded {
    TABLE.moves[usize::from(action)]
}

/// The action of a plain move (from the mover's view); the squares must be a queen's or a knight's move apart.
#[inline]
pub fn plain(from: Square, to: Square) -> Action {
    TABLE.index[from as usize][to as usize]
}

/// The first of the three actions (queen, rook, bishop) of a promotion between these files.
#[inline]
pub fn promotions(from: File, to: File) -> Action {
    let from = from as usize;
    let to = to as usize;
    // Files b to h have the a-file's two arrivals and three of every file between before them.
    let pairs_before = if from == 0 { to } else { 3 * from - 1 + to - (from - 1) };
    (FIRST_PROMOTION + 3 * pairs_before) as Action
}

/// The action of any move from the mover's view; `None` if no piece moves like that.
pub fn encode(coded: Coded) -> Option<Action> {
    match coded.promotion.and_then(|role| PROMOTIONS.iter().position(|known| *known == role)) {
        Some(offset) => Some(promotions(coded.from.file(), coded.to.file()) + offset as Action),
        None => Some(plain(coded.from, coded.to)).filter(|action| *action != NO_ACTION),
    }
}

const fn build() -> Table {
    let nothing = Coded { from: Square::A1, to: Square::A1, promotion: None };
    let mut table = Table { moves: [nothing; NUM_ACTIONS], index: [[NO_ACTION; 64]; 64] };
    let next = add_plain_moves(&mut table);
    assert!(next == FIRST_PROMOTION);
    let next = add_promotions(&mut table, next);
    assert!(next == NUM_ACTIONS);
    table
}

const fn add_plain_moves(table: &mut Table) -> usize {
    // `while`, because a constant is computed without `for`.
    let mut next = 0;
    let mut pair: u32 = 0;
    while pair < 64 * 64 {
        let from = pair / 64;
        let to = pair % 64;
        if is_geometric(from, to) {
            table.moves[next] = Coded { from: Square::new(from), to: Square::new(to), promotion: None };
            table.index[from as usize][to as usize] = next as u16;
            next += 1;
        }
        pair += 1;
    }
    next
}

const fn add_promotions(table: &mut Table, first: usize) -> usize {
    let mut next = first;
    let mut pair: u32 = 0;
    while pair < 64 {
        let from = pair / 8;
        let to = pair % 8;
        let mut piece = 0;
        while from.abs_diff(to) <= 1 && piece < PROMOTIONS.len() {
            table.moves[next] = Coded {
                from: Square::from_coords(File::new(from), Rank::Seventh),
                to: Square::from_coords(File::new(to), Rank::Eighth),
                promotion: Some(PROMOTIONS[piece]),
            };
            next += 1;
            piece += 1;
        }
        pair += 1;
    }
    next
}

/// Whether a queen or a knight could go from one square to the other on an empty board.
const fn is_geometric(from: u32, to: u32) -> bool {
    let files = (from % 8).abs_diff(to % 8);
    let ranks = (from / 8).abs_diff(to / 8);
    from != to && (files == 0 || ranks == 0 || files == ranks || files * ranks == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(from: &str, to: &str, promotion: Option<Role>) -> Action {
        let coded = Coded { from: from.parse().unwrap(), to: to.parse().unwrap(), promotion };
        encode(coded).unwrap()
    }

    #[test]
    fn every_action_comes_back() {
        for action in 0..NUM_ACTIONS as Action {
            assert_eq!(encode(decode(action)), Some(action));
        }
    }

    #[test]
    fn known_indices() {
        assert_eq!(index("a1", "b1", None), 0);
        assert_eq!(index("b1", "a3", None), 34);
        assert_eq!(index("g1", "f3", None), 159);
        assert_eq!(index("e2", "e4", None), 322);
        assert_eq!(index("h2", "h4", None), 403);
        assert_eq!(index("a7", "a8", Some(Role::Queen)), 1792);
        assert_eq!(index("b7", "a8", Some(Role::Rook)), 1799);
        assert_eq!(index("h7", "h8", Some(Role::Bishop)), 1857);
    }

    #[test]
    fn a_promotion_to_a_knight_is_the_plain_move() {
        assert_eq!(index("e7", "e8", Some(Role::Knight)), index("e7", "e8", None));
    }

    #[test]
    fn squares_no_piece_connects_have_no_action() {
        assert_eq!(encode(Coded { from: Square::A1, to: Square::B4, promotion: None }), None);
        assert_eq!(encode(Coded { from: Square::A1, to: Square::A1, promotion: None }), None);
    }
}
