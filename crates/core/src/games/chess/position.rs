//! A chess position with the past that the rules and the network need, built to be copied and played on cheaply: the
//! search replays the moves from its root at every visit.

use shakmaty::{Bitboard, Chess, Color, Move, Position as _, Rank, Role, Square, attacks};

use super::legal::{self, View};
use super::policy::{self, Coded};
use super::zobrist;
use crate::game::{Action, Outcome, Player, Repeat};
use crate::games::grid;

/// Positions that the network sees.
pub const HISTORY: usize = 8;
/// Plies without capture or pawn move that end the game.
const MOST_QUIET: u32 = 100;
/// Fewer positions than this since the last capture or pawn move have no position twice that could come a third time.
const FIRST_THIRD: usize = 8;

/// One position as the planes and the evaluation cache's key need it.
#[derive(Clone, Copy, Default)]
pub struct Snapshot {
    /// Pawns, knights, bishops, rooks, queens, kings of both players.
    pub roles: [u64; 6],
    /// White's pieces.
    pub white: u64,
    /// Zobrist hash, with `zobrist::REPEATED` mixed in if the position had occurred before.
    pub hash: u64,
}

/// What becomes of the planes of positions before the first one that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum HistoryFill {
    /// The first known position is repeated, unless it is the start position.
    #[default]
    FenOnly,
    /// They stay empty, but for one step if the first known position has an en passant square.
    No,
    /// The first known position is repeated.
    Always,
}

/// The small facts, copied as one.
#[derive(Clone, Copy)]
struct Facts {
    /// Bit `slot` is set if the position in that slot of the ring had occurred before.
    repeated: u8,
    /// How often the present position has occurred before.
    repetitions: u8,
    fill: HistoryFill,
    /// The en passant square that counts: literal in the first position, later only if a pawn attacks it.
    en_passant: Option<Square>,
    first_en_passant: Option<Square>,
    first_is_start: bool,
    ply: u32,
}

/// A position and its past.
#[derive(Clone)]
pub struct Position {
    chess: Chess,
    /// Ring of the last positions; slot `ply % HISTORY` holds the present one.
    past: [Snapshot; HISTORY],
    /// Hashes since the last capture or pawn move, the present one last: only these can be repeated.
    hashes: Vec<u64>,
    facts: Facts,
}

impl Position {
    /// Begins at a position; its en passant square is taken literally.
    pub fn new(chess: Chess, fill: HistoryFill) -> Position {
        // A FEN may name a square that no pawn attacks: the first position takes it as given, later ones only
        // what a pawn attacks.
        let en_passant = chess.maybe_ep_square();
        let hash = zobrist::full(&chess, en_passant);
        let first_is_start = hash == zobrist::full(&Chess::default(), None);
        let facts = Facts {
            repeated: 0,
            repetitions: 0,
            fill,
            en_passant,
            first_en_passant: en_passant,
            first_is_start,
            ply: 0,
        };
        let mut position = Position { chess, past: [Snapshot::default(); HISTORY], hashes: vec![hash], facts };
        position.past[0] = position.snapshot(hash);
        position
    }

    /// Becomes a copy of `other` without allocating.
    #[inline]
    pub fn assign(&mut self, other: &Position) {
        self.chess.clone_from(&other.chess);
        self.past = other.past;
        self.hashes.clone_from(&other.hashes);
        self.facts = other.facts;
    }

    /// The board, castling rights and counters.
    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    /// Whether castling follows the rules of Chess960.
    pub fn is_chess960(&self) -> bool {
        self.chess.castles().mode().is_chess960()
    }

    /// Plies played since the first position.
    pub fn ply(&self) -> usize {
        self.facts.ply as usize
    }

    /// How the planes before the first position are filled.
    pub fn history_fill(&self) -> HistoryFill {
        self.facts.fill
    }

    /// The en passant square that counts for repetition and notation.
    pub fn en_passant(&self) -> Option<Square> {
        self.facts.en_passant
    }

    /// The en passant square of the first position.
    pub fn first_en_passant(&self) -> Option<Square> {
        self.facts.first_en_passant
    }

    /// Whether the first position is the normal start position.
    pub fn first_is_start(&self) -> bool {
        self.facts.first_is_start
    }

    /// Number of positions in the ring, the present one included.
    #[inline]
    pub fn known(&self) -> usize {
        HISTORY.min(self.facts.ply as usize + 1)
    }

    /// The position `age` plies ago and whether it had occurred before; `age` below `known()`.
    #[inline]
    pub fn earlier(&self, age: usize) -> (&Snapshot, bool) {
        let slot = (self.facts.ply as usize).wrapping_sub(age) % HISTORY;
        (&self.past[slot], self.facts.repeated >> slot & 1 == 1)
    }

    /// Hash of all that the network sees.
    #[inline]
    pub fn key(&self) -> u64 {
        // All that the planes are made from: two positions that differ in nothing here have the same features. The
        // number of known positions counts, because those before are filled in.
        let counters = u64::from(self.chess.halfmoves()) << 8 | (self.known() as u64) << 4 | self.facts.fill as u64;
        (0..self.known()).fold(counters, |key, age| zobrist::mix(key, self.earlier(age).0.hash))
    }

    /// Hash of the present position and of how far it is from the fifty-move rule; of all that the network sees where a
    /// position that it sees since the last capture or pawn move has been repeated.
    pub fn position_key(&self) -> u64 {
        // Positions before the last capture or pawn move cannot come again, so only repeats since then change
        // what a search may find here.
        let quiet = self.chess.halfmoves() as usize;
        let repeats = (0..self.known().min(quiet + 1)).any(|age| self.earlier(age).1);
        if repeats {
            return self.key().max(1);
        }
        zobrist::mix(self.earlier(0).0.hash, grid::quiet_bucket(quiet)).max(1)
    }

    /// The move that an action means here; `None` if the mover has no piece on its origin.
    pub fn decode(&self, action: Action) -> Option<Move> {
        let view = View::of(self.chess.turn());
        let Coded { from, to, promotion } = policy::decode(action);
        let from = view.square(from);
        let to = view.square(to);
        let board = self.chess.board();
        let role = board.role_at(from).filter(|_| self.chess.us().contains(from))?;
        Some(match role {
            // The policy writes castling as the king taking its own rook, which covers Chess960 too.
            Role::King if self.chess.us().contains(to) => Move::Castle { king: from, rook: to },
            Role::Pawn if Some(to) == self.chess.maybe_ep_square() && from.file() != to.file() => {
                Move::EnPassant { from, to }
            }
            Role::Pawn if matches!(to.rank(), Rank::First | Rank::Eighth) => {
                // The policy has no action for a knight: a pawn's plain move to the last rank is one.
                let promotion = promotion.or(Some(Role::Knight));
                Move::Normal { role, from, capture: board.role_at(to), to, promotion }
            }
            _ => Move::Normal { role, from, capture: board.role_at(to), to, promotion: None },
        })
    }

    /// The action of a legal move.
    pub fn encode(&self, legal: Move) -> Option<Action> {
        let view = View::of(self.chess.turn());
        let from = view.square(legal.from()?);
        let promotion = legal.promotion().filter(|role| *role != Role::Knight);
        policy::encode(Coded { from, to: view.square(legal.to()), promotion })
    }

    /// Plays a legal action; does nothing if there is no such piece.
    #[inline]
    pub fn play(&mut self, action: Action) {
        let Some(played) = self.decode(action) else { return };
        // Before the move is played: it takes out what belongs to the position as it was, its mover and its en passant
        // square.
        let mut hash = self.hash_without_rights(played);
        let rights = self.chess.castles().castling_rights();
        self.chess.play_unchecked(played);
        self.facts.en_passant = attacked_en_passant(&self.chess);
        hash ^= rights_changes(rights, &self.chess, self.facts.en_passant);
        self.record(hash);
    }

    /// Number of legal actions after an action, 0 where the game is over then; `None` if there is no such piece. The past is not
    /// copied, which takes longer than to count.
    pub fn replies_after(&self, action: Action) -> Option<usize> {
        let played = self.decode(action)?;
        let mut next = self.chess.clone();
        next.play_unchecked(played);
        let is_drawn = is_drawn_now(&next) || self.repeats_twice(played, &next);
        Some(if is_drawn { 0 } else { legal::count(&next) })
    }

    /// Whether the position that a move leads to has occurred twice before.
    #[inline]
    fn repeats_twice(&self, played: Move, next: &Chess) -> bool {
        if next.halfmoves() == 0 || self.hashes.len() < FIRST_THIRD {
            return false;
        }
        let rights = self.chess.castles().castling_rights();
        let changes = rights_changes(rights, next, attacked_en_passant(next));
        self.count_repetitions(self.hash_without_rights(played) ^ changes) >= 2
    }

    /// Hash after a move that is not played yet, as if castling rights stayed and no pawn could be taken en passant.
    #[inline]
    fn hash_without_rights(&self, played: Move) -> u64 {
        let mut hash = self.now().hash ^ zobrist::BLACK_TO_MOVE ^ zobrist::en_passant(self.facts.en_passant);
        if self.facts.repeated >> self.slot() & 1 == 1 {
            // The snapshot's hash has the flag mixed in, which is not part of the position itself.
            hash ^= zobrist::REPEATED;
        }
        hash ^ self.piece_changes(played)
    }

    /// Hashes since the last capture or pawn move, the present one last.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Whether any position since the last capture or pawn move has occurred twice.
    pub fn has_repetition(&self) -> bool {
        let seen_before = |(index, hash): (usize, &u64)| self.hashes[..index].contains(hash);
        self.hashes.iter().enumerate().any(seen_before)
    }

    /// The result, if the game is over.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        if !legal::any(&self.chess) {
            let winner = if self.chess.turn().is_white() { Player::Second } else { Player::First };
            return Some(if self.chess.is_check() { Outcome::Win(winner) } else { Outcome::Draw });
        }
        self.draw_rule().map(|_| Outcome::Draw)
    }

    /// How often the position has occurred before (2 stands for any more), and how long ago.
    pub fn repetition(&self) -> Option<Repeat> {
        let count = u32::from(self.facts.repetitions);
        let (present, earlier) = self.hashes.split_last().filter(|_| count > 0)?;
        let between = earlier.iter().rev().position(|hash| hash == present)?;
        Some(Repeat { count, plies_since: between as u32 + 1, outcome: Outcome::Draw })
    }

    /// Why the game is over.
    pub fn end_reason(&self) -> Option<&'static str> {
        match self.outcome()? {
            Outcome::Win(_) => Some("checkmate"),
            Outcome::Draw if !legal::any(&self.chess) => Some("stalemate"),
            Outcome::Draw => self.draw_rule(),
        }
    }

    /// The rule by which the game is drawn although moves remain.
    #[inline]
    fn draw_rule(&self) -> Option<&'static str> {
        if self.facts.repetitions >= 2 {
            Some("threefold repetition")
        } else if self.chess.halfmoves() >= MOST_QUIET {
            Some("fifty-move rule")
        } else if is_insufficient(&self.chess) {
            Some("insufficient material")
        } else {
            None
        }
    }

    /// Drawn by repetition or by the fifty-move rule.
    pub fn is_drawn_by_history(&self) -> bool {
        matches!(self.end_reason(), Some("threefold repetition" | "fifty-move rule"))
    }

    #[inline]
    fn slot(&self) -> usize {
        self.facts.ply as usize % HISTORY
    }

    #[inline]
    fn now(&self) -> &Snapshot {
        &self.past[self.slot()]
    }

    /// Files the present position, which has this hash, into the history.
    #[inline]
    fn record(&mut self, hash: u64) {
        if self.chess.halfmoves() == 0 {
            // A capture or a pawn move cannot be undone: nothing before it can be repeated, and copies stay small.
            self.hashes.clear();
        }
        self.facts.repetitions = self.count_repetitions(hash);
        self.hashes.push(hash);
        self.facts.ply += 1;
        let slot = self.slot();
        let repeated = self.facts.repetitions > 0;
        self.facts.repeated = self.facts.repeated & !(1 << slot) | u8::from(repeated) << slot;
        self.past[slot] = self.snapshot(if repeated { hash ^ zobrist::REPEATED } else { hash });
    }

    /// Earlier occurrences among the known positions: the same player moved 4, 6, 8 ... plies ago.
    #[inline]
    fn count_repetitions(&self, hash: u64) -> u8 {
        if self.hashes.len() < 4 {
            return 0;
        }
        // A position can come again after four plies at the earliest, and only with the same player to move.
        let same_mover = self.hashes.iter().rev().skip(3).step_by(2);
        // From the second on the game is drawn: more need not be told apart.
        same_mover.filter(|earlier| **earlier == hash).count().min(2) as u8
    }

    #[inline]
    fn snapshot(&self, hash: u64) -> Snapshot {
        let board = self.chess.board();
        let roles = [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()];
        Snapshot { roles: roles.map(|squares| squares.0), white: board.white().0, hash }
    }

    /// Zobrist numbers of all pieces that leave or reach a square by this move, which is not played yet.
    #[inline]
    fn piece_changes(&self, played: Move) -> u64 {
        let us = self.chess.turn();
        match played {
            Move::Normal { role, from, capture, to, promotion } => {
                let arrives = promotion.unwrap_or(role);
                let taken = capture.map_or(0, |taken| zobrist::piece(taken.of(!us), to));
                zobrist::piece(role.of(us), from) ^ zobrist::piece(arrives.of(us), to) ^ taken
            }
            Move::EnPassant { from, to } => {
                // Taken en passant, a pawn does not stand where the move ends.
                let captured = Square::from_coords(to.file(), from.rank());
                zobrist::piece(us.pawn(), from) ^ zobrist::piece(us.pawn(), to) ^ zobrist::piece((!us).pawn(), captured)
            }
            Move::Castle { king, rook } => castling_changes(us, king, rook),
            Move::Put { .. } => 0,
        }
    }
}

/// The en passant square after a double push, if a pawn of the player to move attacks it.
#[inline]
fn attacked_en_passant(chess: &Chess) -> Option<Square> {
    let square = chess.maybe_ep_square()?;
    let attackers = attacks::pawn_attacks(!chess.turn(), square) & chess.our(Role::Pawn);
    attackers.any().then_some(square)
}

/// Changes of the hash by castling rights, which were `before`, and by the en passant square of the position after a move.
#[inline]
fn rights_changes(before: Bitboard, after: &Chess, en_passant: Option<Square>) -> u64 {
    zobrist::castling(before ^ after.castles().castling_rights()) ^ zobrist::en_passant(en_passant)
}

fn castling_changes(us: Color, king: Square, rook: Square) -> u64 {
    // In Chess960 king and rook may stand anywhere on the rank, and even stay: what counts is where they arrive, which
    // is always the same.
    let side = shakmaty::CastlingSide::from_queen_side(rook < king);
    zobrist::piece(us.king(), king)
        ^ zobrist::piece(us.rook(), rook)
        ^ zobrist::piece(us.king(), side.king_to(us))
        ^ zobrist::piece(us.rook(), side.rook_to(us))
}

/// Drawn by the fifty-move rule or for want of pieces, where it is not mate.
#[inline]
pub fn is_drawn_now(chess: &Chess) -> bool {
    chess.halfmoves() >= MOST_QUIET || is_insufficient(chess)
}

/// No side can mate: bare kings, one knight or bishop, or nothing but bishops of one square colour.
#[inline]
fn is_insufficient(chess: &Chess) -> bool {
    let board = chess.board();
    if (board.pawns() | board.rooks_and_queens()).any() {
        return false;
    }
    // Here there are no pawns, rooks or queens: two kings and at most one minor piece.
    if board.occupied().count() <= 3 {
        return true;
    }
    let bishops = board.bishops();
    board.knights().is_empty()
        && ((bishops & Bitboard::LIGHT_SQUARES).is_empty() || (bishops & Bitboard::DARK_SQUARES).is_empty())
}
