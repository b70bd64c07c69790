//! Gardner's minichess (1969): chess on the first five files and five ranks, `rnbqk/ppppp/5/PPPPP/RNBQK`.
//!
//! Spec: `minichess(fen=...)`; a FEN's fields are separated by spaces. The first player is White. Pawns walk one square,
//! so there is no en passant; there is no castling; a pawn on the last rank becomes a queen, rook, bishop or knight.
//! Checkmate wins. Drawn are stalemate, the third occurrence of a position, 100 plies without a capture or a pawn move,
//! and insufficient material as in our chess: bare kings, a king and a knight or a bishop against a king, or nothing but
//! bishops of one square colour. A position drawn by one of the last three keeps its legal moves: the game is over, but a
//! search can start there.

mod attacks;
mod board;
mod checks;
mod fen;
mod planes;
mod policy;
mod position;
#[cfg(test)]
mod random_tests;
mod role;
#[cfg(test)]
mod tests;
mod zobrist;

use std::any::Any;

use super::grid::{self, Coordinates};
use crate::game::{
    Action, Cells, Customs, ForcedLoss, ForcedWin, Game, GameError, GameInfo, Outcome, Player, Repeat, SpecArgs, State,
    Symmetry,
};
use attacks::{SIDE, SQUARES, flip_square, mirror_square};

pub use policy::NUM_ACTIONS;
pub use position::Position;

const NAME: &str = "minichess";
/// A game has at most 30 pawn moves and 18 captures, and 100 plies without either end it.
const MAX_PLIES: usize = (30 + 18 + 1) * 100;

/// The game from a start position.
pub struct Minichess {
    info: GameInfo,
    start: Position,
}

/// Builds the game.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let text: Option<String> = args.take(NAME, "fen", "a position in FEN")?;
    args.finish(NAME, &["fen"])?;
    let start = fen::parse(text.as_deref().unwrap_or(fen::START))?;
    let written = fen::write(&start);
    let info = GameInfo {
        name: NAME.into(),
        spec: if written == fen::START { NAME.into() } else { format!("{NAME}(fen={written})") },
        num_actions: NUM_ACTIONS,
        feature_shape: [planes::NUM_PLANES, SIDE, SIDE],
        max_plies: MAX_PLIES,
    };
    Ok(Box::new(Minichess { info, start }))
}

impl Game for Minichess {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn past_matters(&self) -> Option<&'static str> {
        Some("repetitions and the moves without progress")
    }

    fn customs(&self) -> Customs {
        Customs { look: "pieces".into(), has_fen: true, ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start.clone())
    }

    /// Identity, and left and right exchanged: without castling no rule tells them apart.
    fn symmetries(&self) -> Vec<Symmetry> {
        let actions = 0..NUM_ACTIONS as Action;
        let identity = Symmetry { squares: (0..SQUARES as u32).collect(), actions: actions.clone().collect() };
        let squares = (0..SQUARES).map(|square| mirror_square(square) as u32).collect();
        vec![identity, Symmetry { squares, actions: actions.map(policy::mirrored).collect() }]
    }

    fn initial_seen(&self, symmetry: usize) -> Box<dyn State> {
        Box::new(if symmetry == 0 { self.start.clone() } else { self.start.mirrored_start() })
    }
}

impl Position {
    fn action_name(&self, action: Action) -> String {
        policy::name(action, self.mover(), self.promotes(action))
    }
}

impl State for Position {
    #[inline]
    fn to_move(&self) -> Player {
        self.mover()
    }

    #[inline]
    fn legal_actions(&self, out: &mut Vec<Action>) {
        self.board().legal_actions(out);
    }

    #[inline]
    fn play(&mut self, action: Action) {
        self.play(action);
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        self.outcome()
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

    /// Coordinates, as UCI has them: `a2a3`, `b4b5q`.
    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, NUM_ACTIONS)?;
        Ok(self.action_name(action))
    }

    fn squares(&self, action: Action, info: &GameInfo) -> Vec<usize> {
        grid::named_squares(&self.action_name(action), info.feature_shape[1], info.feature_shape[2])
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, NAME, text, |action| vec![self.action_name(action)])
    }

    fn cells(&self) -> Result<Cells, String> {
        let white = self.white_board();
        let shown: Vec<usize> = (0..SIDE).rev().flat_map(|rank| rank * SIDE..(rank + 1) * SIDE).collect();
        let signs = shown.iter().map(|&square| fen::piece_letter(&white, square).unwrap_or('.')).collect();
        let king = self.board().king();
        let is_white = self.mover() == Player::First;
        let king = if is_white { king } else { flip_square(king) };
        let checked = shown.iter().position(|&square| square == king).filter(|_| self.board().is_check());
        let (row_labels, column_labels) = Coordinates::Chess.labels(SIDE, SIDE);
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
