//! Games as text: PGN, SGF, a FEN, or moves; read, and one game written (`hauteur.games.game_texts`).

use std::sync::Arc;

use hauteur_core::game::{Action, Game};

use crate::pgn;
use crate::played::Played;
use crate::position::{load_game, with_fen};
use crate::sgf;

const MOST_CHARACTERS: usize = 1 << 20;
/// Moves of a game that is read.
pub const MOST_PLIES: usize = 5000;

/// A game that was read.
pub struct ReadGame {
    /// With its start.
    pub game: Arc<dyn Game>,
    /// The moves.
    pub actions: Vec<Action>,
    /// Of the players; empty where the text has none.
    pub names: [String; 2],
    /// How it ended, off the board too.
    pub ending: Option<(i8, String)>,
}

/// The forms in which a game can be written, the fullest first.
pub fn forms_of(game: &dyn Game) -> Vec<String> {
    let customs = game.customs();
    let own = Some(customs.record_form).filter(|form| !form.is_empty());
    let fen = customs.has_fen.then(|| "fen".to_string());
    own.into_iter().chain(fen).chain(["moves".to_string()]).collect()
}

fn is_fen(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next().is_some_and(|board| board.contains('/'))
        && words.next().is_some_and(|mover| mover == "w" || mover == "b")
}

/// Whether a text begins as PGN does: with a tag, a comment, or the number of the first move.
fn is_pgn(text: &str) -> bool {
    let after_one = text.strip_prefix('1').map(str::trim_start);
    text.starts_with(['[', '%', ';', '{']) || after_one.is_some_and(|rest| rest.starts_with('.'))
}

/// The game of a text. `spec`: of the game that moves and FENs are of. An error says what is wrong.
pub fn read(text: &str, spec: &str) -> Result<ReadGame, String> {
    if text.len() > MOST_CHARACTERS {
        return Err(format!("the text has {} characters, allowed are {MOST_CHARACTERS}", text.len()));
    }
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if begins.is_empty() {
        return Err("the text is empty; it may be PGN, SGF, a FEN or moves".into());
    }
    let read = if begins.starts_with('(') {
        sgf::read(begins)?
    } else if is_fen(begins) {
        let game = load_game(spec)?;
        if !game.customs().has_fen {
            return Err(format!("{spec} has no FEN; positions of it are given by moves"));
        }
        let fen = begins.split_whitespace().collect::<Vec<_>>().join(" ");
        ReadGame {
            game: load_game(&with_fen(spec, &fen)?)?,
            actions: Vec::new(),
            names: Default::default(),
            ending: None,
        }
    } else if is_pgn(begins) {
        pgn::read(begins)?
    } else {
        read_moves(begins, spec)?
    };
    if read.actions.len() > MOST_PLIES {
        return Err(format!("the game has {} plies, allowed are {MOST_PLIES}", read.actions.len()));
    }
    Ok(read)
}

/// Whether a word is the number of a move.
pub fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches('.');
    digits.len() < word.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn read_moves(text: &str, spec: &str) -> Result<ReadGame, String> {
    let game = load_game(spec)?;
    let mut played = Played::new(game.clone(), &[])?;
    let words = text.split_whitespace().filter(|word| !is_number(word));
    for (ply, word) in words.take(MOST_PLIES + 1).enumerate() {
        let action = played.position.parse(word).map_err(|error| format!("the text: ply {}: {error}", ply + 1))?;
        played.play(action)?;
    }
    let ending = played.ending().map(|ending| (ending.outcome, ending.reason));
    Ok(ReadGame { game, actions: played.position.moves, names: Default::default(), ending })
}

/// A game as text; an error for a form that it has not. `date`: year, month and day with hyphens.
pub fn written(played: &Played, form: &str, names: &[String; 2], date: &str) -> Result<String, String> {
    let forms = forms_of(played.position.game.as_ref());
    if !forms.iter().any(|known| known == form) {
        let name = &played.position.game.info().name;
        return Err(format!("{name} is written as {}, not as {form}", forms.join(" or ")));
    }
    Ok(match form {
        "pgn" => pgn::written(played, names, date),
        "sgf" => sgf::written(played, names, date),
        "fen" => format!("{}\n", played.position.state.notation()),
        _ => format!("{}\n", plain_moves(played).join(" ")),
    })
}

/// The moves in the game's own notation, which every reader knows.
fn plain_moves(played: &Played) -> Vec<String> {
    let mut place = played.position.back_to(0);
    let text = |&action: &Action| {
        let text = place.plain_text(action);
        place.state.play(action);
        text
    };
    played.position.moves.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_read_as_they_were_written() {
        let mut played = Played::new(load_game("chess").unwrap(), &[]).unwrap();
        for text in ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"] {
            played.play(played.position.parse(text).unwrap()).unwrap();
        }
        let names = ["A".to_string(), "B".to_string()];
        for form in ["pgn", "moves"] {
            let text = written(&played, form, &names, "2026-11-26").unwrap();
            let again = read(&text, "chess").unwrap();
            assert_eq!(again.actions, played.position.moves, "{text}");
        }
        let fen = written(&played, "fen", &names, "").unwrap();
        assert!(read(&fen, "chess").unwrap().game.info().spec.contains("fen="));
        let mut stones = Played::new(load_game("nogo(size=5)").unwrap(), &[]).unwrap();
        for action in [3, 17] {
            stones.play(action).unwrap();
        }
        let text = written(&stones, "sgf", &names, "2026-11-26").unwrap();
        let again = read(&text, "nogo").unwrap();
        assert_eq!((again.actions, again.game.info().spec.as_str()), (vec![3, 17], "nogo(size=5)"));
    }

    #[test]
    fn comments_and_variations_are_passed_over() {
        let text = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 {good (very)} e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 $1 ; all\nNc6 1-0";
        let game = read(text, "chess").unwrap();
        assert_eq!((game.actions.len(), game.ending.map(|ending| ending.0)), (4, Some(1)));
        assert!(read("1. e4 e9", "chess").is_err() && read("", "chess").is_err() && read("(;GM[9])", "chess").is_err());
    }
}
