//! Chess, also from any position and Chess960, with the input planes and the policy of lc0's networks.
//!
//! Spec: `chess(fen=..., chess960=true, history_fill=fen_only|no|always)`; a FEN's fields are separated by spaces. A FEN is
//! cleaned (`clean_fen`), and castling rights that only Chess960 has make it Chess960. The first player is White. A position
//! drawn by threefold repetition, the fifty-move rule or insufficient material keeps its legal moves: the game is over, but a
//! search can start there.

mod checks;
mod fen;
mod legal;
mod mates;
mod notation;
mod people;
mod planes;
mod policy;
mod position;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timing;
mod zobrist;

use std::any::Any;
use std::ops::Range;

use shakmaty::fen::Fen;
use shakmaty::{Chess, Piece, Position as _, Square};

use super::grid::{self, Coordinates};
use crate::game::{
    Action, Cells, Customs, ForcedLoss, ForcedWin, Game, GameError, GameInfo, Outcome, Player, Repeat, SpecArgs, State,
    Symmetry,
};

pub use fen::{CleanFen, clean_fen};
pub use policy::NUM_ACTIONS;
pub use position::{HistoryFill, Position};

const NAME: &str = "chess";
const PARAMETERS: [&str; 3] = ["fen", "chess960", "history_fill"];
const FILLS: [(&str, HistoryFill); 3] =
    [("fen_only", HistoryFill::FenOnly), ("no", HistoryFill::No), ("always", HistoryFill::Always)];
const SQUARES: usize = 64;
/// A game has at most 96 pawn moves and 30 captures, and 100 plies without either end it.
const MAX_PLIES: usize = (96 + 30 + 1) * 100;

/// The game of chess from a start position.
pub struct ChessGame {
    info: GameInfo,
    start: Position,
}

/// Builds the game.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let text: Option<String> = args.take(NAME, "fen", "a position in FEN")?;
    let chess960 = args.take(NAME, "chess960", "true or false")?.unwrap_or(false);
    let fill = take_fill(&mut args)?;
    args.finish(NAME, &PARAMETERS)?;
    let mode = fen::castling_mode(chess960);
    let chess = match text {
        Some(text) => fen::parse(&text, mode)?.chess,
        None => Chess::default(),
    };
    // Rights of a FEN may make it Chess960; the spec has to say so, because castling is written differently there.
    let chess960 = chess960 || chess.castles().mode().is_chess960();
    let start = Position::new(chess, fill);
    let info = GameInfo {
        name: NAME.into(),
        spec: spec(&start, chess960),
        num_actions: NUM_ACTIONS,
        feature_shape: [planes::NUM_PLANES, 8, 8],
        max_plies: MAX_PLIES,
    };
    Ok(Box::new(ChessGame { info, start }))
}

fn take_fill(args: &mut SpecArgs) -> Result<HistoryFill, GameError> {
    let allowed = "fen_only, no or always";
    let Some(name) = args.take::<String>(NAME, "history_fill", allowed)? else {
        return Ok(HistoryFill::default());
    };
    let found = FILLS.iter().find(|(known, _)| *known == name).map(|(_, fill)| *fill);
    found.ok_or_else(|| GameError(format!("{NAME}(history_fill={name}): history_fill must be {allowed}")))
}

/// The spec with the parameters that are not the default.
fn spec(start: &Position, chess960: bool) -> String {
    let mut parts = Vec::new();
    let fen = fen::write(start);
    if fen != Fen::default().to_string() {
        parts.push(format!("fen={fen}"));
    }
    if chess960 {
        parts.push("chess960=true".into());
    }
    if start.history_fill() != HistoryFill::default() {
        let name = FILLS.iter().find(|(_, fill)| *fill == start.history_fill()).map_or("", |(name, _)| name);
        parts.push(format!("history_fill={name}"));
    }
    if parts.is_empty() { NAME.into() } else { format!("{NAME}({})", parts.join(", ")) }
}

impl Game for ChessGame {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn past_matters(&self) -> Option<&'static str> {
        Some("repetitions and the moves without progress")
    }

    fn customs(&self) -> Customs {
        Customs {
            look: "pieces".into(),
            record_form: "pgn".into(),
            move_notation: "san".into(),
            has_fen: true,
            has_draws: true,
        }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start.clone())
    }

    /// Identity only: castling and pawns know left from right and up from down.
    fn symmetries(&self) -> Vec<Symmetry> {
        vec![Symmetry { squares: (0..SQUARES as u32).collect(), actions: (0..NUM_ACTIONS as Action).collect() }]
    }
}

impl Position {
    /// Reads a legal move given as UCI or SAN.
    pub fn read_move(&self, text: &str) -> Result<Action, GameError> {
        notation::read(self, text)
    }

    /// The text of a legal action as UCI.
    pub fn uci(&self, action: Action) -> String {
        notation::uci(self, action)
    }
}

/// The squares as a board shows them: a8 first, h1 last.
fn shown_squares() -> impl Iterator<Item = Square> {
    (0..8).rev().flat_map(|rank| (0..8).map(move |file| Square::new(8 * rank + file)))
}

impl State for Position {
    #[inline]
    fn to_move(&self) -> Player {
        if self.chess().turn().is_white() { Player::First } else { Player::Second }
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        legal::actions(self.chess(), out);
    }

    fn num_legal(&self) -> usize {
        legal::count(self.chess())
    }

    fn replies_after(&self, action: Action) -> Option<usize> {
        self.replies_after(action)
    }

    #[inline]
    fn play(&mut self, action: Action) {
        self.play(action);
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome()
    }

    fn win_at_once(&self) -> Option<Action> {
        mates::mate_at_once(self)
    }

    fn forced_win(&self, nodes: u32) -> Option<ForcedWin> {
        checks::forced_win(self, nodes)
    }

    fn lost_moves(&self, nodes: u32) -> Vec<ForcedLoss> {
        checks::lost_moves(self, nodes)
    }

    fn repetition(&self) -> Option<Repeat> {
        self.repetition()
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.end_reason()
    }

    fn outcome_depends_on_path(&self) -> bool {
        self.is_drawn_by_history()
    }

    fn ply(&self) -> usize {
        self.ply()
    }

    fn repeatable(&self) -> &[u64] {
        self.hashes()
    }

    fn encode(&self, row: &mut [f32]) {
        planes::encode(self, row);
    }

    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        planes::encode_packed(self, masks, values);
    }

    fn colour_plane(&self) -> Option<Range<usize>> {
        Some(planes::BLACK_MOVES * SQUARES..(planes::BLACK_MOVES + 1) * SQUARES)
    }

    fn row_len(&self) -> usize {
        planes::NUM_PLANES * SQUARES
    }

    #[inline]
    fn key(&self) -> u64 {
        self.key()
    }

    fn position_key(&self) -> u64 {
        self.position_key()
    }

    fn clone_box(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }

    #[inline]
    fn copy_from(&mut self, other: &dyn State) {
        self.assign(other.as_any().downcast_ref().expect("a position of the same game"));
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// `notation`: `uci` (default), `san`, or `lc0` (castling e1h1, promotion to a knight without suffix).
    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        notation::write(self, action, notation)
    }

    fn squares(&self, action: Action, info: &GameInfo) -> Vec<usize> {
        // By the text and not by the action, whose castling goes to the rook's square: people point at the king's.
        let text = notation::write(self, action, Some("uci")).unwrap_or_default();
        grid::named_squares(&text, info.feature_shape[1], info.feature_shape[2])
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        notation::read(self, text)
    }

    fn cells(&self) -> Result<Cells, String> {
        let chess = self.chess();
        let signs = shown_squares().map(|square| chess.board().piece_at(square).map_or('.', Piece::char)).collect();
        let checked = chess.board().king_of(chess.turn()).filter(|_| chess.is_check());
        let checked = checked.and_then(|king| shown_squares().position(|square| square == king));
        let (row_labels, column_labels) = Coordinates::Chess.labels(8, 8);
        Ok(Cells { signs, row_labels, column_labels, checked })
    }

    fn sides(&self) -> [String; 2] {
        grid::sides(["White", "Black"])
    }

    /// The FEN.
    fn notation(&self) -> String {
        fen::write(self)
    }
}
