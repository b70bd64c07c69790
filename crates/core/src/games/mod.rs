//! The registry of the built-in games, one file or folder each: rules, features, action numbering, notation, pictures.

pub mod bits;
pub mod checks;
pub mod chess;
pub mod connect4;
pub mod go;
pub mod gomoku;
pub mod grid;
pub mod grid_game;
pub mod hex;
pub mod minichess;
pub mod nogo;
pub mod othello;
pub mod tictactoe;

use std::collections::BTreeMap;

use crate::game::{Game, GameError, SpecArgs};

type Maker = fn(SpecArgs) -> Result<Box<dyn Game>, GameError>;

/// The registry: one line a game.
const GAMES: &[(&str, Maker)] = &[
    ("chess", chess::make),
    ("connect4", connect4::make),
    ("go", go::make),
    ("gomoku", gomoku::make),
    ("hex", hex::make),
    ("minichess", minichess::make),
    ("nogo", nogo::make),
    ("othello", othello::make),
    ("tictactoe", tictactoe::make),
];

/// Names of the built-in games.
pub fn game_names() -> Vec<&'static str> {
    GAMES.iter().map(|(name, _)| *name).collect()
}

/// Builds a game from its spec: `name` or `name(key=value, ...)`.
pub fn make_game(spec: &str) -> Result<Box<dyn Game>, GameError> {
    let (name, args) = parse_spec(spec)?;
    let maker = GAMES.iter().find(|(known, _)| *known == name);
    let (_, make) =
        maker.ok_or_else(|| GameError(format!("no game {name:?}; known games: {}", game_names().join(", "))))?;
    make(args)
}

/// Splits `name(key=value, ...)` into name and parameters. Values may hold anything but commas and the closing bracket.
pub fn parse_spec(spec: &str) -> Result<(String, SpecArgs), GameError> {
    let spec = spec.trim();
    let Some((name, rest)) = spec.split_once('(') else {
        return Ok((spec.to_string(), SpecArgs::default()));
    };
    let inner = rest.strip_suffix(')').ok_or_else(|| GameError(format!("{spec:?}: closing bracket missing")))?;
    let mut args = BTreeMap::new();
    for part in inner.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) =
            part.split_once('=').ok_or_else(|| GameError(format!("{spec:?}: expected key=value, got {part:?}")))?;
        // The second value would silently win.
        if args.insert(key.trim().to_string(), value.trim().to_string()).is_some() {
            return Err(GameError(format!("{spec:?}: {:?} is given twice", key.trim())));
        }
    }
    Ok((name.trim().to_string(), SpecArgs(args)))
}
