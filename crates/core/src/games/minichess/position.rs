//! A position with the past that the rules need, built to be copied and played on cheaply.

use super::attacks::LAST_RANK;
use super::board::Board;
use super::policy::{self, Coded};
use super::role::Role;
use super::zobrist;
use crate::game::{Action, Outcome, Player, Repeat};
use crate::games::grid;

/// Plies without a capture or a pawn's move after which the game is drawn.
pub const DRAWN_AFTER: u16 = 100;

/// The small facts, copied as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    mover: Player,
    /// How often the present position has occurred before; 2 stands for any more.
    repetitions: u8,
    /// Plies since the last capture or pawn move.
    quiet_plies: u16,
    ply: u32,
    /// Number of the move, as in a FEN.
    number: u32,
}

/// A position and its past.
#[derive(Clone)]
pub struct Position {
    board: Board,
    /// Hashes since the last capture or pawn move, the present one last: only these can be repeated.
    hashes: Vec<u64>,
    facts: Facts,
}

impl Position {
    /// Begins at a position. `board` is as `mover` sees it, with one king a side; `number` counts the moves as a FEN does.
    pub fn new(board: Board, mover: Player, quiet_plies: u16, number: u32) -> Position {
        let facts = Facts { mover, repetitions: 0, quiet_plies, ply: 0, number };
        Position { board, hashes: vec![zobrist::full(&board, mover)], facts }
    }

    /// The same beginning with left and right exchanged.
    pub fn mirrored_start(&self) -> Position {
        Position::new(self.board.mirrored(), self.facts.mover, self.facts.quiet_plies, self.facts.number)
    }

    /// Becomes a copy of `other`, re-using the allocation.
    #[inline]
    pub fn assign(&mut self, other: &Position) {
        self.board = other.board;
        self.hashes.clone_from(&other.hashes);
        self.facts = other.facts;
    }

    /// The pieces as the mover sees them.
    #[inline]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The pieces as White sees them: `own` are White's.
    pub fn white_board(&self) -> Board {
        if self.facts.mover == Player::First { self.board } else { self.board.turned() }
    }

    /// The player to move.
    #[inline]
    pub fn mover(&self) -> Player {
        self.facts.mover
    }

    /// Plies played since the first position.
    pub fn ply(&self) -> usize {
        self.facts.ply as usize
    }

    /// Plies since the last capture or pawn move.
    #[inline]
    pub fn quiet_plies(&self) -> u16 {
        self.facts.quiet_plies
    }

    /// Number of the move, as in a FEN.
    pub fn number(&self) -> u32 {
        self.facts.number
    }

    /// Whether the position has occurred before.
    #[inline]
    pub fn is_repeated(&self) -> bool {
        self.facts.repetitions > 0
    }

    /// Hashes since the last capture or pawn move, the present one last.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Hash of all that the network sees, and of the mover.
    #[inline]
    pub fn key(&self) -> u64 {
        let counters = u64::from(self.facts.quiet_plies) << 1 | u64::from(self.is_repeated());
        grid::hash_words(&[self.present(), counters])
    }

    /// Hash of the present position and of how far it is from the draw by moves without progress; of all that the network
    /// sees where the position is a repeated one.
    pub fn position_key(&self) -> u64 {
        if self.is_repeated() {
            return self.key().max(1);
        }
        grid::hash_words(&[self.present(), grid::quiet_bucket(self.facts.quiet_plies.into())]).max(1)
    }

    /// Plays a legal action; does nothing if there is no piece on its origin.
    #[inline]
    pub fn play(&mut self, action: Action) {
        let Coded { from, to, promotion } = policy::decode(action);
        let Some(role) = self.board.role_at(from) else { return };
        let becomes = if is_promotion(role, to) { promotion.unwrap_or(Role::Knight) } else { role };
        let captured = self.board.carry(role, from, to, becomes);
        let hash = self.present() ^ zobrist::change(self.facts.mover, (role, from), (becomes, to), captured);
        // The board is kept as the player to move sees it, so that no rule asks for the colour.
        self.board = self.board.turned();
        self.record(hash, role == Role::Pawn || captured.is_some());
        self.finish_turn();
    }

    /// Whether the action promotes a pawn here.
    pub fn promotes(&self, action: Action) -> bool {
        let Coded { from, to, .. } = policy::decode(action);
        self.board.role_at(from).is_some_and(|role| is_promotion(role, to))
    }

    /// The result, if the game is over.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        if !self.board.any_legal() {
            return Some(if self.board.is_check() { Outcome::Win(self.facts.mover.other()) } else { Outcome::Draw });
        }
        self.draw_rule().map(|_| Outcome::Draw)
    }

    /// Why the game is over.
    pub fn end_reason(&self) -> Option<&'static str> {
        match self.outcome()? {
            Outcome::Win(_) => Some("checkmate"),
            Outcome::Draw if !self.board.any_legal() => Some("stalemate"),
            Outcome::Draw => self.draw_rule(),
        }
    }

    /// Drawn by repetition or by the fifty-move rule.
    pub fn is_drawn_by_history(&self) -> bool {
        matches!(self.end_reason(), Some("threefold repetition" | "fifty-move rule"))
    }

    /// How often the position has occurred before (2 stands for any more), and how long ago.
    pub fn repetition(&self) -> Option<Repeat> {
        let count = u32::from(self.facts.repetitions);
        let (present, earlier) = self.hashes.split_last().filter(|_| count > 0)?;
        let between = earlier.iter().rev().position(|hash| hash == present)?;
        Some(Repeat { count, plies_since: between as u32 + 1, outcome: Outcome::Draw })
    }

    /// The rule by which the game is drawn although moves remain.
    #[inline]
    fn draw_rule(&self) -> Option<&'static str> {
        if self.facts.repetitions >= 2 {
            Some("threefold repetition")
        } else if self.facts.quiet_plies >= DRAWN_AFTER {
            Some("fifty-move rule")
        } else if self.board.is_insufficient() {
            Some("insufficient material")
        } else {
            None
        }
    }

    #[inline]
    fn present(&self) -> u64 {
        *self.hashes.last().expect("a position has its hash")
    }

    /// Files the hash of the new position into the history.
    #[inline]
    fn record(&mut self, hash: u64, is_irreversible: bool) {
        if is_irreversible {
            self.hashes.clear();
            self.facts.quiet_plies = 0;
        } else {
            // A FEN may begin anywhere in these 16 bits.
            self.facts.quiet_plies = self.facts.quiet_plies.saturating_add(1);
        }
        self.facts.repetitions = self.count_repetitions(hash);
        self.hashes.push(hash);
    }

    /// Earlier occurrences among the known positions: the same player moved 4, 6, 8 ... plies ago.
    #[inline]
    fn count_repetitions(&self, hash: u64) -> u8 {
        if self.hashes.len() < 4 {
            return 0;
        }
        // As in chess: four plies at the earliest, and the same player to move.
        let same_mover = self.hashes.iter().rev().skip(3).step_by(2);
        same_mover.filter(|earlier| **earlier == hash).count().min(2) as u8
    }

    /// Hands the move over.
    #[inline]
    fn finish_turn(&mut self) {
        let is_black = self.facts.mover == Player::Second;
        self.facts.number = self.facts.number.saturating_add(u32::from(is_black));
        self.facts.mover = self.facts.mover.other();
        self.facts.ply += 1;
    }
}

#[inline]
fn is_promotion(role: Role, to: usize) -> bool {
    role == Role::Pawn && LAST_RANK >> to & 1 == 1
}
