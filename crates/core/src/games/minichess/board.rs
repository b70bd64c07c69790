//! The pieces as the player to move sees them, and his legal moves: the order in which the policy numbers them.
//!
//! After every move the board is turned round, so that own pawns always walk towards higher squares and nothing here asks
//! whose turn it is.

use std::ops::ControlFlow;

use super::attacks::{self, DARK, FOURTH_RANK, SIDE, squares};
use super::policy;
use super::role::Role;
use crate::game::Action;

/// The pieces, seen by the player to move: sets of squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// The mover's pieces.
    pub own: u32,
    /// The opponent's pieces.
    pub other: u32,
    /// Pawns, knights, bishops, rooks, queens, kings of both players.
    pub roles: [u32; 6],
}

impl Board {
    /// The same pieces as the opponent sees them: he is the mover then.
    #[inline]
    pub fn turned(&self) -> Board {
        Board { own: attacks::flip(self.other), other: attacks::flip(self.own), roles: self.roles.map(attacks::flip) }
    }

    /// Left and right exchanged.
    pub fn mirrored(&self) -> Board {
        let mirror = |set: u32| squares(set).fold(0, |out, square| out | 1 << attacks::mirror_square(square));
        Board { own: mirror(self.own), other: mirror(self.other), roles: self.roles.map(mirror) }
    }

    /// The pieces of a kind, of both players.
    #[inline]
    pub fn role(&self, role: Role) -> u32 {
        self.roles[role as usize]
    }

    /// What stands on a square.
    #[inline]
    pub fn role_at(&self, square: usize) -> Option<Role> {
        // No branch: which piece stands on a square cannot be predicted, and six shifts are cheaper than a
        // wrong guess.
        let found = (0..6).fold(0u32, |set, i| set | (self.roles[i] >> square & 1) << i);
        Role::ALL.get(found.trailing_zeros() as usize).copied()
    }

    /// Adds a piece to an empty square.
    pub fn put(&mut self, role: Role, square: usize, is_own: bool) {
        self.roles[role as usize] |= 1 << square;
        *(if is_own { &mut self.own } else { &mut self.other }) |= 1 << square;
    }

    /// Moves an own piece, which arrives as `becomes`; tells what was captured. The board is not turned.
    #[inline]
    pub fn carry(&mut self, role: Role, from: usize, to: usize, becomes: Role) -> Option<Role> {
        let captured = self.role_at(to);
        if let Some(taken) = captured {
            self.roles[taken as usize] &= !(1 << to);
            self.other &= !(1 << to);
        }
        self.roles[role as usize] &= !(1 << from);
        self.roles[becomes as usize] |= 1 << to;
        self.own ^= 1 << from | 1 << to;
        captured
    }

    /// All pieces.
    #[inline]
    pub fn occupied(&self) -> u32 {
        self.own | self.other
    }

    /// The square of the mover's king.
    #[inline]
    pub fn king(&self) -> usize {
        (self.own & self.role(Role::King)).trailing_zeros() as usize
    }

    /// Whether the mover's king is attacked.
    #[inline]
    pub fn is_check(&self) -> bool {
        self.attackers(self.king(), self.occupied()) != 0
    }

    /// No side can mate: bare kings, one knight or bishop, or nothing but bishops of one square colour.
    #[inline]
    pub fn is_insufficient(&self) -> bool {
        if self.role(Role::Pawn) | self.role(Role::Rook) | self.role(Role::Queen) != 0 {
            return false;
        }
        let bishops = self.role(Role::Bishop);
        let one_colour = bishops & DARK == 0 || bishops & !DARK == 0;
        self.occupied().count_ones() <= 3 || self.role(Role::Knight) == 0 && one_colour
    }

    /// Whether the mover has a legal move.
    #[inline]
    pub fn any_legal(&self) -> bool {
        let found = |_, targets| if targets == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        Mover::new(self).visit(found).is_break()
    }

    /// Clears `out` and fills it with the legal actions, ascending.
    #[inline]
    pub fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        let mover = Mover::new(self);
        let _ = mover.visit(|from, targets| {
            out.extend(squares(targets).map(|to| policy::plain(from, to)));
            ControlFlow::<()>::Continue(())
        });
        // Promotions to other pieces than a knight are numbered after all plain moves.
        for from in squares(self.own & self.role(Role::Pawn) & FOURTH_RANK) {
            for to in squares(mover.pawn_targets(from)) {
                let first = policy::first_promotion(from % SIDE, to % SIDE);
                out.extend(first..first + policy::PROMOTIONS.len() as Action);
            }
        }
    }

    /// The opponent's pieces that attack a square when these squares are occupied.
    #[inline]
    fn attackers(&self, square: usize, occupied: u32) -> u32 {
        let [pawns, knights, bishops, rooks, queens, kings] = self.roles;
        let attackers = attacks::pawn(square) & pawns
            | attacks::knight(square) & knights
            | attacks::king(square) & kings
            | attacks::bishop(square, occupied) & (bishops | queens)
            | attacks::rook(square, occupied) & (rooks | queens);
        attackers & self.other
    }

    /// The mover's pieces that stand alone between their king and an enemy slider.
    #[inline]
    fn pinned(&self, king: usize) -> u32 {
        let [_, _, bishops, rooks, queens, _] = self.roles;
        let sliders =
            // Own pieces are left out of the blockers: a slider that sees the king through one of them pins it.
            attacks::rook(king, self.other) & (rooks | queens) | attacks::bishop(king, self.other) & (bishops | queens);
        squares(sliders & self.other).fold(0, |pinned, slider| {
            let between = attacks::between(king, slider) & self.own;
            if between & between.wrapping_sub(1) == 0 { pinned | between } else { pinned }
        })
    }
}

/// The player to move, with what restricts his pieces.
struct Mover<'a> {
    board: &'a Board,
    king: usize,
    /// Where a piece other than the king may go: everywhere, or where it ends a check.
    allowed: u32,
    /// Pieces that shield the king from a slider: they may move on the line only.
    pinned: u32,
}

impl<'a> Mover<'a> {
    #[inline]
    fn new(board: &'a Board) -> Mover<'a> {
        let king = board.king();
        let checkers = board.attackers(king, board.occupied());
        // As in chess: one checker can be captured or blocked; against two only the king moves.
        let answers = match checkers.count_ones() {
            0 => attacks::ALL,
            1 => attacks::between(king, checkers.trailing_zeros() as usize) | checkers,
            _ => 0,
        };
        Mover { board, king, allowed: answers & !board.own, pinned: board.pinned(king) }
    }

    /// Calls `found(from, targets)` for every piece of the mover, a1 to e5, until it breaks.
    #[inline]
    fn visit<B>(&self, mut found: impl FnMut(usize, u32) -> ControlFlow<B>) -> ControlFlow<B> {
        for from in squares(self.board.own) {
            found(from, self.targets(from))?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn targets(&self, from: usize) -> u32 {
        let occupied = self.board.occupied();
        let reach = match self.board.role_at(from) {
            Some(Role::Pawn) => return self.pawn_targets(from),
            Some(Role::King) => return self.king_targets(),
            Some(Role::Knight) => attacks::knight(from),
            Some(Role::Bishop) => attacks::bishop(from, occupied),
            Some(Role::Rook) => attacks::rook(from, occupied),
            Some(Role::Queen) => attacks::rook(from, occupied) | attacks::bishop(from, occupied),
            None => 0,
        };
        reach & self.allowed & self.unpinned_line(from)
    }

    /// The squares that a piece may use without uncovering its king.
    #[inline]
    fn unpinned_line(&self, from: usize) -> u32 {
        if self.pinned >> from & 1 == 1 { attacks::line(self.king, from) } else { attacks::ALL }
    }

    #[inline]
    fn pawn_targets(&self, from: usize) -> u32 {
        let ahead = 1 << (from + SIDE) & !self.board.occupied();
        let captures = attacks::pawn(from) & self.board.other;
        (ahead | captures) & self.allowed & self.unpinned_line(from)
    }

    #[inline]
    fn king_targets(&self) -> u32 {
        // A slider that gives check also attacks the squares beyond the king.
        let without_king = self.board.occupied() & !(1 << self.king);
        let steps = squares(attacks::king(self.king) & !self.board.own);
        steps.filter(|&to| self.board.attackers(to, without_king) == 0).fold(0, |targets, to| targets | 1 << to)
    }
}
