//! A position of a game with the moves that led to it.

use std::sync::Arc;

use hauteur_core::game::{Action, Game, Outcome, Player, State};
use hauteur_core::games::make_game;
use hauteur_core::picture::{self, Board};

use crate::odds;

/// A position. Games begin where their spec says, so the moves since are all that is kept.
pub struct Position {
    /// Its game.
    pub game: Arc<dyn Game>,
    /// The position itself.
    pub state: Box<dyn State>,
    /// The moves since the start of the game.
    pub moves: Vec<Action>,
    /// The symmetry that the start is seen through; 0: none.
    pub symmetry: usize,
}

impl Clone for Position {
    fn clone(&self) -> Self {
        Position {
            // Written out, since a state is copied by `clone_box`.
            game: self.game.clone(),
            state: self.state.clone_box(),
            moves: self.moves.clone(),
            symmetry: self.symmetry,
        }
    }
}

/// The game of a spec, `chess(odds=queen d1)` among them; an error names what is allowed.
pub fn load_game(spec: &str) -> Result<Arc<dyn Game>, String> {
    let own = odds::game_of_spec(spec)?;
    make_game(own.as_deref().unwrap_or(spec)).map(Arc::from).map_err(|error| error.0)
}

/// The spec of a game that begins at a FEN, whatever it began at before; the spec itself for an empty FEN.
pub fn with_fen(spec: &str, fen: &str) -> Result<String, String> {
    if fen.is_empty() {
        return Ok(spec.to_string());
    }
    // The same line as for files: a FEN must not bring further parameters into the spec.
    if fen.contains([',', '(', ')', '=']) {
        return Err(format!("no FEN has commas, brackets or equals signs: {fen:?}"));
    }
    let (name, rest) = spec.split_once('(').unwrap_or((spec, ""));
    let others = rest.trim_end_matches(')').split(',').map(str::trim);
    let mut parts: Vec<String> =
        others.filter(|part| !part.is_empty() && !part.starts_with("fen=")).map(String::from).collect();
    parts.push(format!("fen={fen}"));
    Ok(format!("{name}({})", parts.join(", ")))
}

/// The outcome as a number: 1 the first player has won, 0 a draw, -1 the second one has.
pub fn outcome_number(outcome: Outcome) -> i8 {
    match outcome {
        Outcome::Win(Player::First) => 1,
        Outcome::Draw => 0,
        Outcome::Win(Player::Second) => -1,
    }
}

/// `1-0`, `1/2-1/2` or `0-1`.
pub fn result_text(outcome: i8) -> &'static str {
    match outcome {
        1 => "1-0",
        0 => "1/2-1/2",
        _ => "0-1",
    }
}

impl Position {
    /// The start of a game.
    pub fn start(game: Arc<dyn Game>) -> Self {
        Position { state: game.initial(), game, moves: Vec::new(), symmetry: 0 }
    }

    /// The spec of its game.
    pub fn spec(&self) -> &str {
        &self.game.info().spec
    }

    /// The player to move, 0 or 1.
    pub fn to_move(&self) -> usize {
        self.state.to_move() as usize
    }

    /// Outcome for the first player, once the game is over.
    pub fn outcome(&self) -> Option<i8> {
        self.state.outcome().map(outcome_number)
    }

    /// The legal actions, ascending.
    pub fn legal(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.state.legal_actions(&mut actions);
        actions
    }

    /// Plays an action; an error for one that is not legal.
    pub fn play(&mut self, action: Action) -> Result<(), String> {
        // Actions come from pages, and what `State::play` does with an illegal one is undefined.
        let legal = self.legal();
        if !legal.contains(&action) {
            return Err(format!("action {action} is not legal here; legal: {legal:?}"));
        }
        self.state.play(action);
        self.moves.push(action);
        Ok(())
    }

    /// The position after an action, which must be legal.
    pub fn after(&self, action: Action) -> Result<Position, String> {
        let mut next = self.clone();
        next.play(action)?;
        Ok(next)
    }

    /// The position after the first `plies` moves.
    pub fn back_to(&self, plies: usize) -> Position {
        let game = self.game.clone();
        let symmetry = self.symmetry;
        // Some starts look different through a symmetry, so the game begins as it was seen.
        let mut state = game.initial_seen(symmetry);
        let moves = self.moves[..plies].to_vec();
        moves.iter().for_each(|&action| state.play(action));
        Position { game, state, moves, symmetry }
    }

    /// The action that a text means here; an error for none.
    pub fn parse(&self, text: &str) -> Result<Action, String> {
        self.state.action_from_text(text).map_err(|error| error.0)
    }

    /// A legal action as people write it: in chess SAN.
    pub fn text(&self, action: Action) -> String {
        let notation = self.game.customs().move_notation;
        self.in_notation(action, Some(notation.as_str()).filter(|name| !name.is_empty()))
    }

    /// A legal action in the game's usual notation.
    pub fn plain_text(&self, action: Action) -> String {
        self.in_notation(action, None)
    }

    fn in_notation(&self, action: Action, notation: Option<&str>) -> String {
        self.state.action_to_text(action, notation).unwrap_or_else(|_| action.to_string())
    }

    /// The moves of a line from here as people write them; it ends before a move that is not legal.
    pub fn line_texts(&self, line: &[Action]) -> Vec<String> {
        let mut place = self.clone();
        let mut texts = Vec::new();
        for &action in line {
            if !place.legal().contains(&action) {
                break;
            }
            texts.push(place.text(action));
            place.state.play(action);
        }
        texts
    }

    /// What the two players are called, as captions call them: `White` and `Black`.
    pub fn side_names(&self) -> [String; 2] {
        // At the start: games in Python tell the names in captions after a move, and a game that is over has none.
        self.back_to(0).state.sides()
    }

    /// Whose turn it is, or how the game ended.
    pub fn caption(&self) -> String {
        picture::status(self.state.as_ref())
    }

    /// Squares of a legal action: from and to, or one, or none.
    pub fn squares(&self, action: Action) -> Vec<usize> {
        self.state.squares(action, self.game.info())
    }

    /// Its board; None where its game has no board of cells.
    pub fn board(&self) -> Option<Board> {
        picture::board_of(self.game.as_ref(), self.state.as_ref(), self.last_squares()).ok()
    }

    /// Squares of the move that led here.
    pub fn last_squares(&self) -> Vec<usize> {
        // Played again without it: the squares of a move are those of the position in which it was legal.
        let Some((&last, before)) = self.moves.split_last() else { return Vec::new() };
        self.back_to(before.len()).squares(last)
    }
}
