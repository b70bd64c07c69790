//! Legal moves as sets of target squares, one set a piece: the order in which the policy numbers its moves.
//!
//! The search needs sorted action indices and, before them, only whether there is any legal move at all. Walking the
//! mover's pieces from a1 to h8 (from the mover's view) gives both without a move list and without sorting.

use std::ops::ControlFlow;

use shakmaty::{Bitboard, CastlingSide, Chess, Color, File, Move, Position, Rank, Role, Square, attacks};

use super::policy;
use crate::game::Action;

/// Whether the mover has a legal move.
pub fn any(position: &Chess) -> bool {
    let found = |_, targets: Bitboard| if targets.any() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    Mover::new(position).visit(found).is_break()
}

/// Clears `out` and fills it with the legal actions, ascending.
pub fn actions(position: &Chess, out: &mut Vec<Action>) {
    out.clear();
    let view = View::of(position.turn());
    // The policy numbers promotions to queen, rook and bishop after all plain moves (a knight is the plain
    // one), so they are kept back until every piece has been visited.
    let promoting = position.our(Role::Pawn) & view.bitboard(Bitboard::from_rank(Rank::Seventh));
    let mut promotions = Promotions::default();
    let _ = Mover::new(position).visit(|from, targets| {
        let origin = view.square(from);
        view.bitboard(targets).for_each(|to| {
            out.push(policy::plain(origin, to));
            if promoting.contains(from) {
                promotions.push(policy::promotions(origin.file(), to.file()));
            }
        });
        ControlFlow::<()>::Continue(())
    });
    out.extend(promotions.actions());
}

/// Number of legal actions.
#[inline]
pub fn count(position: &Chess) -> usize {
    let mover = Mover::new(position);
    mover.king_targets().count() + mover.count_piece_moves() + mover.count_pawn_moves() + mover.count_pinned_moves()
}

/// The squares to which the piece on `from` can legally go; the own rook's square for castling.
pub fn targets(position: &Chess, from: Square) -> Bitboard {
    if position.us().contains(from) { Mover::new(position).targets(from) } else { Bitboard::EMPTY }
}

/// Castling of a king to `to`, where it comes to stand: `e1g1`, also in Chess960 where it really goes two squares or more.
pub fn castling_by_king_square(position: &Chess, king: Square, to: Square) -> Option<Move> {
    let side = CastlingSide::from_king_side(king < to);
    let rook = position.castles().rook(position.turn(), side)?;
    let goes_there = side.king_to(position.turn()) == to && king.distance(to) >= 2;
    let is_legal = targets(position, king).contains(rook);
    (goes_there && is_legal).then_some(Move::Castle { king, rook })
}

/// The mover's view: Black sees the board mirrored, a8 as a1.
#[derive(Clone, Copy)]
pub struct View {
    flipped: bool,
}

impl View {
    /// The view of this player.
    #[inline]
    pub fn of(color: Color) -> View {
        View { flipped: color.is_black() }
    }

    /// The square as the mover sees it, and back.
    #[inline]
    pub fn square(self, square: Square) -> Square {
        if self.flipped { square.flip_vertical() } else { square }
    }

    /// The squares as the mover sees them, and back.
    #[inline]
    pub fn bitboard(self, squares: Bitboard) -> Bitboard {
        if self.flipped { squares.flip_vertical() } else { squares }
    }
}

/// The promotions of a position, at most 22 pairs of files: they come after all plain moves.
#[derive(Default)]
struct Promotions {
    first_of_three: [Action; 22],
    len: usize,
}

impl Promotions {
    #[inline]
    fn push(&mut self, action: Action) {
        self.first_of_three[self.len] = action;
        self.len += 1;
    }

    fn actions(&self) -> impl Iterator<Item = Action> + '_ {
        self.first_of_three[..self.len].iter().flat_map(|first| *first..*first + 3)
    }
}

/// The player to move, with what restricts his pieces.
struct Mover<'a> {
    position: &'a Chess,
    king: Square,
    /// Where a piece other than the king may go: everywhere, or where it ends a check.
    allowed: Bitboard,
    /// Pieces that shield the king from a slider: they may move on the line only.
    pinned: Bitboard,
    in_check: bool,
}

impl<'a> Mover<'a> {
    #[inline]
    fn new(position: &'a Chess) -> Mover<'a> {
        let king = position.our(Role::King).first().expect("a chess position has both kings");
        let checkers = position.king_attackers(king, !position.turn(), position.board().occupied());
        // One checker can be captured or blocked; against two only the king moves.
        let answers = match checkers.single_square() {
            Some(checker) => attacks::between(king, checker).with(checker),
            None if checkers.is_empty() => Bitboard::FULL,
            None => Bitboard::EMPTY,
        };
        Mover {
            position,
            king,
            allowed: answers & !position.us(),
            pinned: pinned(position, king),
            in_check: checkers.any(),
        }
    }

    /// Calls `found(from, targets)` for every piece of the mover, a1 to h8 from his view, until it breaks.
    #[inline]
    fn visit<B>(&self, mut found: impl FnMut(Square, Bitboard) -> ControlFlow<B>) -> ControlFlow<B> {
        let view = View::of(self.position.turn());
        for seen in view.bitboard(self.position.us()) {
            let from = view.square(seen);
            found(from, self.targets(from))?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn targets(&self, from: Square) -> Bitboard {
        let board = self.position.board();
        let occupied = board.occupied();
        let reach = match board.role_at(from) {
            Some(Role::Pawn) => return self.pawn_targets(from),
            Some(Role::King) => return self.king_targets(),
            Some(Role::Knight) => attacks::knight_attacks(from),
            Some(Role::Bishop) => attacks::bishop_attacks(from, occupied),
            Some(Role::Rook) => attacks::rook_attacks(from, occupied),
            Some(Role::Queen) => attacks::queen_attacks(from, occupied),
            None => Bitboard::EMPTY,
        };
        reach & self.allowed & self.unpinned_line(from)
    }

    /// The squares that a piece may use without uncovering its king.
    #[inline]
    fn unpinned_line(&self, from: Square) -> Bitboard {
        if self.pinned.contains(from) { attacks::ray(self.king, from) } else { Bitboard::FULL }
    }

    #[inline]
    fn pawn_targets(&self, from: Square) -> Bitboard {
        let turn = self.position.turn();
        let empty = !self.position.board().occupied();
        let forward = turn.fold_wb(8, -8);
        let double_rank = Bitboard::from_rank(turn.fold_wb(Rank::Fourth, Rank::Fifth));
        let one = Bitboard::from_square(from).shift(forward) & empty;
        let two = one.shift(forward) & empty & double_rank;
        let attacked = attacks::pawn_attacks(turn, from);
        let captures = attacked & self.position.them();
        let plain = (one | two | captures) & self.allowed & self.unpinned_line(from);
        match self.position.maybe_ep_square() {
            Some(to) if attacked.contains(to) && self.en_passant_is_safe(from, to) => plain.with(to),
            _ => plain,
        }
    }

    /// Number of moves of the pieces that shield nothing, without king and pawns.
    #[inline]
    fn count_piece_moves(&self) -> usize {
        let board = self.position.board();
        let occupied = board.occupied();
        let free = self.position.us() & !self.pinned;
        let mut count = 0;
        (board.knights() & free).for_each(|from| count += (attacks::knight_attacks(from) & self.allowed).count());
        (board.bishops_and_queens() & free)
            .for_each(|from| count += (attacks::bishop_attacks(from, occupied) & self.allowed).count());
        (board.rooks_and_queens() & free)
            .for_each(|from| count += (attacks::rook_attacks(from, occupied) & self.allowed).count());
        count
    }

    /// Number of moves of the pawns that shield nothing, all of them at once.
    #[inline]
    fn count_pawn_moves(&self) -> usize {
        let turn = self.position.turn();
        let board = self.position.board();
        let pawns = board.pawns() & self.position.us() & !self.pinned;
        let forward = turn.fold_wb(8, -8);
        let empty = !board.occupied();
        let double_rank = Bitboard::from_rank(turn.fold_wb(Rank::Fourth, Rank::Fifth));
        let one = pawns.shift(forward) & empty;
        let two = one.shift(forward) & empty & double_rank;
        // To the left and to the right; a pawn on the edge has one side alone.
        let left = (pawns & !Bitboard::from_file(File::A)).shift(forward - 1) & self.position.them();
        let right = (pawns & !Bitboard::from_file(File::H)).shift(forward + 1) & self.position.them();
        let mut count = (two & self.allowed).count();
        for targets in [one, left, right] {
            count += with_promotions(targets & self.allowed);
        }
        if let Some(to) = self.position.maybe_ep_square() {
            let capturing = attacks::pawn_attacks(!turn, to) & pawns;
            capturing.for_each(|from| count += usize::from(self.en_passant_is_safe(from, to)));
        }
        count
    }

    /// Number of moves of the pieces that shield the king.
    #[inline]
    fn count_pinned_moves(&self) -> usize {
        let pawns = self.position.board().pawns();
        let mut count = 0;
        self.pinned.for_each(|from| {
            let targets = self.targets(from);
            count += if pawns.contains(from) { with_promotions(targets) } else { targets.count() };
        });
        count
    }

    /// Two pawns leave their squares at once, so the king is looked at on the board after the capture.
    fn en_passant_is_safe(&self, from: Square, to: Square) -> bool {
        let captured = Square::from_coords(to.file(), from.rank());
        let board = self.position.board();
        let after = board.occupied().without(from).without(captured).with(to);
        board.attacks_to(self.king, !self.position.turn(), after).without(captured).is_empty()
    }

    #[inline]
    fn king_targets(&self) -> Bitboard {
        let board = self.position.board();
        // The king must not hide behind itself: a slider that gives check also attacks the squares beyond.
        let without_king = board.occupied().without(self.king);
        let mut targets = Bitboard::EMPTY;
        (attacks::king_attacks(self.king) & !self.position.us()).for_each(|to| {
            if board.attacks_to(to, !self.position.turn(), without_king).is_empty() {
                targets.add(to);
            }
        });
        // Castling out of check is illegal, and the paths need not be looked at.
        if self.in_check { targets } else { targets | self.castling_rooks() }
    }

    /// The squares of the rooks with which the king may castle now.
    #[inline]
    fn castling_rooks(&self) -> Bitboard {
        let castles = self.position.castles();
        let turn = self.position.turn();
        let occupied = self.position.board().occupied();
        let mut rooks = Bitboard::EMPTY;
        for side in CastlingSide::ALL {
            if let Some(rook) = castles.rook(turn, side)
                && (castles.path(turn, side) & occupied).is_empty()
                && !self.position.castling_moves(side).is_empty()
            {
                rooks.add(rook);
            }
        }
        rooks
    }
}

/// Number of moves of pawns to these squares: a promotion has three more than its plain one.
#[inline]
fn with_promotions(targets: Bitboard) -> usize {
    targets.count() + 3 * (targets & Bitboard::BACKRANKS).count()
}

/// The mover's pieces that stand alone between their king and an enemy slider.
#[inline]
fn pinned(position: &Chess, king: Square) -> Bitboard {
    let board = position.board();
    // On an empty board, because own pieces in between are what is looked for.
    let sliders = (attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens())
        | (attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens());
    let mut pinned = Bitboard::EMPTY;
    (sliders & position.them()).for_each(|slider| {
        let between = attacks::between(king, slider) & board.occupied();
        if !between.more_than_one() {
            pinned |= between & position.us();
        }
    });
    pinned
}
