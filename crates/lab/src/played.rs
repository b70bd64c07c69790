//! A game while it is played: its moves, how it goes back, and how it ended on the board or off it.

use std::sync::Arc;

use hauteur_core::game::{Action, Game};
use hauteur_core::picture::{Board, Look};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::position::{Position, result_text};

/// How a game ended. `outcome`: 1 the first player won, 0 a draw, -1 the second won.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Ending {
    /// For the first player.
    pub outcome: i8,
    /// A few words.
    pub reason: String,
}

impl Ending {
    /// `1-0 (checkmate)`.
    pub fn text(&self) -> String {
        let result = result_text(self.outcome);
        if self.reason.is_empty() { result.into() } else { format!("{result} ({})", self.reason) }
    }

    /// As pages have it.
    pub fn view(&self) -> Json {
        json!({ "outcome": self.outcome, "reason": self.reason })
    }
}

/// A game from its start on.
pub struct Played {
    /// The present position.
    pub position: Position,
    /// The moves as people write them.
    pub texts: Vec<String>,
    /// The side that made each.
    pub movers: Vec<usize>,
    declared: Option<Ending>,
}

impl Played {
    /// A game in which these actions were played; an error for one that is not legal.
    pub fn new(game: Arc<dyn Game>, actions: &[Action]) -> Result<Self, String> {
        let position = Position::start(game);
        let mut played = Played { position, texts: Vec::new(), movers: Vec::new(), declared: None };
        actions.iter().try_for_each(|&action| played.play(action))?;
        Ok(played)
    }

    /// How it ended, by its rules or off the board; None while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        // The rules come first: a resignation in a mated position has changed nothing.
        match self.position.outcome() {
            None => self.declared.clone(),
            Some(outcome) => {
                let reason = self.position.state.end_reason().unwrap_or("").to_string();
                Some(Ending { outcome, reason })
            }
        }
    }

    /// Plays a legal action; an error for another one, and where the game is over.
    pub fn play(&mut self, action: Action) -> Result<(), String> {
        if let Some(ending) = self.ending() {
            return Err(format!("the game is over: {}", ending.text()));
        }
        // Before the move: both are of the position in which it is played.
        let text = self.position.text(action);
        let mover = self.position.to_move();
        self.position.play(action)?;
        self.texts.push(text);
        self.movers.push(mover);
        Ok(())
    }

    /// Goes back to the last turn of one of these sides; the plies taken back, 0 where there is none.
    pub fn take_back(&mut self, is_of: impl Fn(usize) -> bool) -> usize {
        let Some(plies) = self.movers.iter().rposition(|mover| is_of(*mover)) else { return 0 };
        let taken = self.movers.len() - plies;
        // Played again from the start: states have no undo (decision 6).
        self.position = self.position.back_to(plies);
        self.texts.truncate(plies);
        self.movers.truncate(plies);
        self.declared = None;
        taken
    }

    /// Ends the game off the board.
    pub fn end(&mut self, ending: Ending) {
        // A page that sends a game again sends its ending too; what the rules say stays.
        if self.ending().is_none() {
            self.declared = Some(ending);
        }
    }
}

/// The pieces that each side has lost between two positions of a game, as signs, the most valuable first; empty where no pieces are
/// drawn. Pieces that the start lacks were not lost, nor was a promoted pawn.
pub fn captured(start: &Position, now: &Position) -> [String; 2] {
    let (Some(begin), Some(now)) = (start.board(), now.board()) else { return Default::default() };
    // Stones that are taken or turned are no loss in this sense: in Othello they change sides.
    if begin.look != Look::Pieces {
        return Default::default();
    }
    let count = |board: &Board, sign: char| board.cells.signs.iter().filter(|cell| **cell == sign).count() as i64;
    let lost = |sign: char| count(&begin, sign) - count(&now, sign);
    ["QRBNP", "qrbnp"].map(|signs| {
        // A side with more queens than at the start has promoted as many pawns, which are gone and were not taken.
        let promoted: i64 = signs[..4].chars().map(|sign| lost(sign).min(0)).sum();
        let gone = |sign: char| lost(sign) + if "Pp".contains(sign) { promoted } else { 0 };
        signs.chars().flat_map(|sign| std::iter::repeat_n(sign, gone(sign).max(0) as usize)).collect()
    })
}
