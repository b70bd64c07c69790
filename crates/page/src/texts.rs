//! Games as text: PGN, SGF, a FEN, or moves; read, and one game written (`hauteur.games.game_texts`).

use std::sync::Arc;

use hauteur_core::game::{Action, Game};
use hauteur_core::games::chess::clean_fen;
use hauteur_lab::texts::{Form, form_of};
use hauteur_lab::{pgn, sgf};

use crate::played::Played;
use crate::position::{load_game, with_fen};

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
    /// What was changed to read it, a line each: a FEN that was cleaned, a null move that ends it.
    pub notes: Vec<String>,
}

/// The forms in which a game can be written, the fullest first.
pub fn forms_of(game: &dyn Game) -> Vec<String> {
    let customs = game.customs();
    let own = Some(customs.record_form).filter(|form| !form.is_empty());
    let fen = customs.has_fen.then(|| "fen".to_string());
    own.into_iter().chain(fen).chain(["moves".to_string()]).collect()
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
    let read = match form_of(begins) {
        Form::Pgn => read_pgn(begins)?,
        Form::Sgf => read_sgf(begins, spec)?,
        Form::Fen => read_fen(begins, spec)?,
        Form::Moves => read_moves(begins, spec)?,
    };
    if read.actions.len() > MOST_PLIES {
        return Err(format!("the game has {} plies, allowed are {MOST_PLIES}", read.actions.len()));
    }
    Ok(read)
}

fn read_fen(text: &str, spec: &str) -> Result<ReadGame, String> {
    if !load_game(spec)?.customs().has_fen {
        return Err(format!("{spec} has no FEN; positions of it are given by moves"));
    }
    let fen = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let game = load_game(&with_fen(spec, &fen)?)?;
    let info = game.info();
    let clean = (info.name == "chess").then(|| clean_fen(&fen, load_game(spec).is_ok_and(is_chess960)));
    let notes = clean.and_then(Result::ok).map_or_else(Vec::new, |clean| clean.notes);
    Ok(ReadGame { game, actions: Vec::new(), names: Default::default(), ending: None, notes })
}

fn is_chess960(game: Arc<dyn Game>) -> bool {
    game.info().spec.contains("chess960=true")
}

/// The first game that has moves or begins from a position of its own, else the first one.
pub fn read_pgn(text: &str) -> Result<ReadGame, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut reader = pgn::Reader::new(text.as_bytes(), true).map_err(failed)?;
    let mut first = None;
    while let Some(read) = reader.next_game().map_err(failed)? {
        let where_ = format!("PGN, game {} (line {})", read.number, read.line);
        let played = read.played.unwrap_or_else(|| Err("was not read".into()));
        let line = played.map_err(|error| format!("{where_}: {error}"))?;
        let is_game = !line.actions.is_empty() || line.start.fen.is_some();
        if is_game || first.is_none() {
            first = Some((read.tags, line));
        }
        if is_game {
            break;
        }
    }
    let (tags, line) = first.ok_or("PGN: has no game")?;
    let tag = |name: &str| tags.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let reason = if tag("Termination").to_lowercase().contains("resign") { "resignation" } else { "" };
    let ending = line.outcome.map(|outcome| (outcome, line.ended.unwrap_or(reason).to_string()));
    let names = [tag("White"), tag("Black")].map(shown_name);
    Ok(ReadGame { game: line.start.game, actions: line.actions, names, ending, notes: line.notes })
}

/// The first game of SGF. `spec`: of the game that is expected.
pub fn read_sgf(text: &str, spec: &str) -> Result<ReadGame, String> {
    let wanted = spec.split('(').next().unwrap_or(spec).trim();
    let own = sgf::spec_of_text(text, wanted).map_err(|error| format!("SGF: {error}"))?;
    let game = load_game(&own).map_err(|error| format!("SGF: {error}"))?;
    let first = sgf::read(text, Some(&game)).into_iter().next().ok_or("SGF: no SGF: it has no (")?;
    let line = first.played.map_err(|error| format!("SGF, game 1: {error}"))?;
    let tag = |name: &str| first.tags.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let reason = if line.reason == sgf::RECORDED { String::new() } else { line.reason };
    let ending = line.outcome.map(|outcome| (outcome, reason));
    let names = [tag("PB"), tag("PW")].map(shown_name);
    Ok(ReadGame { game: line.game, actions: line.actions, names, ending, notes: Vec::new() })
}

fn shown_name(name: &str) -> String {
    name.chars().take(60).collect()
}

/// Whether a word is the number of a move.
fn is_number(word: &str) -> bool {
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
    let notes = Vec::new();
    Ok(ReadGame { game, actions: played.position.moves, names: Default::default(), ending, notes })
}

/// A game as text; an error for a form that it has not. `date`: year, month and day with hyphens.
pub fn written(played: &Played, form: &str, names: &[String; 2], date: &str) -> Result<String, String> {
    let forms = forms_of(played.position.game.as_ref());
    if !forms.iter().any(|known| known == form) {
        let name = &played.position.game.info().name;
        return Err(format!("{name} is written as {}, not as {form}", forms.join(" or ")));
    }
    let (game, actions) = (played.position.game.as_ref(), played.position.moves.as_slice());
    let ended = played.ending();
    let ending = ended.as_ref().map(|ending| (ending.outcome, ending.reason.as_str()));
    Ok(match form {
        "pgn" => pgn::written(game, actions, &pgn::Writing { names, ending, date }),
        "sgf" => sgf::written(game, actions, &sgf::Writing { names, ending, date }),
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
