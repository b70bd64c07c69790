//! Positions as pages name them.

use serde::Deserialize;

use crate::played::Played;
use crate::position::{load_game, with_fen};

const MAX_MOVES: usize = 5000;

/// A game by its spec, a FEN, moves as text; `flip`: drawn from the second player's side.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct Place {
    /// The spec.
    pub game: String,
    /// Empty: the start of the game.
    pub fen: String,
    /// As text.
    pub moves: Vec<String>,
    /// Drawn from the other side.
    pub flip: bool,
}

impl Default for Place {
    fn default() -> Self {
        Place { game: "chess".into(), fen: String::new(), moves: Vec::new(), flip: false }
    }
}

impl Place {
    /// The game up to its position; an error for an unknown game, a bad FEN or move.
    pub fn played(&self) -> Result<Played, String> {
        // Before any is played: each costs the legal moves of its position, and the page sends all of them at every
        // step.
        if self.moves.len() > MAX_MOVES {
            return Err(format!("position: at most {MAX_MOVES} moves, got {}", self.moves.len()));
        }
        let mut played = Played::new(load_game(&with_fen(&self.game, &self.fen)?)?, &[])?;
        for text in &self.moves {
            let action = played.position.parse(text)?;
            played.play(action)?;
        }
        Ok(played)
    }
}
