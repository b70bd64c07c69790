//! Games as text: PGN, SGF, a FEN, or moves; read, and one game written (`hauteur.games.game_texts`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::texts::{Form, form_of};
use crate::{pgn, sgf};
use hauteur_core::game::{Action, Game};
use hauteur_core::games::chess::clean_fen;

use crate::messages::thousands;
use crate::played::Played;
use crate::position::{Position, load_game, with_fen};

const MAX_CHARACTERS: usize = 1 << 20;
/// Moves of a game that is read.
pub const MAX_PLIES: usize = 5000;

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

/// The game of a text. `game`: that moves and FENs are of. An error says what is wrong.
pub fn read(text: &str, game: &Arc<dyn Game>) -> Result<ReadGame, String> {
    let count = text.chars().count();
    if count > MAX_CHARACTERS {
        let allowed = thousands(MAX_CHARACTERS);
        return Err(format!("the text has {} characters, allowed are {allowed}", thousands(count)));
    }
    // Pasted texts bring the mark and the blank lines of their file, and the form is told by the first sign.
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if begins.is_empty() {
        return Err("the text is empty; it may be PGN, SGF, a FEN or moves".into());
    }
    let read = match form_of(begins) {
        Form::Pgn => read_pgn(begins)?,
        Form::Sgf => read_sgf(begins, &game.info().name)?,
        Form::Fen => read_fen(begins, game.as_ref())?,
        Form::Moves => read_moves(begins, game)?,
    };
    // Pages replay a game at every step of it, and positions before the end are computed from the start.
    if read.actions.len() > MAX_PLIES {
        let count = thousands(read.actions.len());
        let allowed = thousands(MAX_PLIES);
        return Err(format!("the game has {count} plies, allowed are {allowed}"));
    }
    Ok(read)
}

fn read_fen(text: &str, game: &dyn Game) -> Result<ReadGame, String> {
    let spec = &game.info().spec;
    if !game.customs().has_fen {
        return Err(format!("{spec} has no FEN; positions of it are given by moves"));
    }
    let fen = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The spec decides, as for every other FEN; what was cleaned is asked for after it, since a spec has no notes.
    let found = load_game(&with_fen(spec, &fen)?)?;
    let clean = (game.info().name == "chess").then(|| clean_fen(&fen, spec.contains("chess960=true")));
    let notes = clean.and_then(Result::ok).map_or_else(Vec::new, |clean| clean.notes);
    Ok(ReadGame { game: found, actions: Vec::new(), names: Default::default(), ending: None, notes })
}

/// The first game that has moves or begins from a position of its own, else the first one.
pub fn read_pgn(text: &str) -> Result<ReadGame, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut reader = pgn::Reader::new(text.as_bytes(), true).map_err(failed)?;
    let mut first = None;
    while let Some(read) = reader.next_game().map_err(failed)? {
        let where_ = format!("PGN, game {} (line {})", read.number, read.line);
        let played = read.played.unwrap_or_else(|| Err("was not read".into()));
        // A game that cannot be read ends the search: to show the next one in its place would be another game.
        let line = played.map_err(|error| format!("{where_}: {error}"))?;
        // Tags without moves show the start of the game alone, so the games after them are looked at first.
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
    // The standard's words for this tag have none for a resignation, which is `normal`; servers write `White won by
    // resignation`.
    let reason = if tag("Termination").to_lowercase().contains("resign") { "resignation" } else { "" };
    // What the rules say comes first: `1-0` of a mate is no resignation, whatever the tag says.
    let ending = line.outcome.map(|outcome| (outcome, line.ended.unwrap_or(reason).to_string()));
    let names = [tag("White"), tag("Black")].map(shown_name);
    Ok(ReadGame { game: line.start.game, actions: line.actions, names, ending, notes: line.notes })
}

/// The first game of SGF. `wanted`: the name of the game that is expected.
pub fn read_sgf(text: &str, wanted: &str) -> Result<ReadGame, String> {
    let own = sgf::spec_of_text(text, wanted).map_err(|error| format!("SGF: {error}"))?;
    let game = load_game(&own).map_err(|error| format!("SGF: {error}"))?;
    let first = sgf::read(text, Some(&game)).into_iter().next().ok_or("SGF: no SGF: it has no (")?;
    let line = first.played.map_err(|error| format!("SGF, game 1: {error}"))?;
    let tag = |name: &str| first.tags.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    // Pages show a reason in brackets, and that the result was recorded is no reason.
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

/// A line of moves, which may be broken; what follows # in a line is a comment.
fn read_moves(text: &str, game: &Arc<dyn Game>) -> Result<ReadGame, String> {
    let mut played = Played::new(game.clone(), &[])?;
    // Files with a game a line have comments behind this sign, as Python reads them too. The # of a mate is at the
    // last move, so that nothing is lost with it.
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    if words.is_empty() {
        return Err("the text: has no game".into());
    }
    words.retain(|word| !is_number(word));
    // Before they are played: each word costs the legal moves of its position.
    if words.len() > MAX_PLIES {
        let count = thousands(words.len());
        let allowed = thousands(MAX_PLIES);
        return Err(format!("the text: the game has {count} plies, allowed are {allowed}"));
    }
    for (ply, word) in words.into_iter().enumerate() {
        let action = played.position.parse(word).map_err(|error| format!("the text: ply {}: {error}", ply + 1))?;
        played.play(action)?;
    }
    let ending = played.ending().map(|ending| (ending.outcome, ending.reason));
    let game = game.clone();
    let notes = Vec::new();
    Ok(ReadGame { game, actions: played.position.moves, names: Default::default(), ending, notes })
}

/// What is written of a game besides its moves.
pub struct Writing<'a> {
    /// Of the first and the second player.
    pub names: &'a [String; 2],
    /// How it ended for the first player, and why; None: not over.
    pub ending: Option<(i8, &'a str)>,
    /// What it was played for.
    pub event: &'a str,
    /// Year, month and day with hyphens.
    pub date: &'a str,
}

/// A game as text; an error for a form that it has not. `start`, `actions`: its moves from its start on.
pub fn written(start: &Position, actions: &[Action], form: &str, writing: &Writing) -> Result<String, String> {
    let game = start.game.as_ref();
    let forms = forms_of(game);
    if !forms.iter().any(|known| known == form) {
        return Err(format!("{} is written as {}, not as {form}", game.info().name, forms.join(" or ")));
    }
    Ok(match form {
        "pgn" => as_pgn(start, actions, writing)?,
        "sgf" => as_sgf(game, actions, writing),
        "fen" => {
            // A FEN is of the last position, where other forms have the game from its start.
            let mut state = start.state.clone_box();
            actions.iter().for_each(|&action| state.play(action));
            format!("{}\n", state.notation())
        }
        _ => format!("{}\n", plain_moves(start, actions).join(" ")),
    })
}

fn as_pgn(start: &Position, actions: &[Action], writing: &Writing) -> Result<String, String> {
    let [white, black] = writing.names;
    let result = pgn::result_text(writing.ending.map(|(outcome, _)| outcome));
    let date = writing.date.replace('-', ".");
    let known = [("Event", writing.event), ("Site", "?"), ("Date", &date), ("Round", "-")];
    let players = [("White", white.as_str()), ("Black", black), ("Result", result)];
    let mut tags = pairs(known.into_iter().chain(players));
    tags.extend(pgn::position_tags(start.game.as_ref(), start.state.as_ref(), true));
    let reason = writing.ending.map(|(_, reason)| reason).filter(|reason| !reason.is_empty());
    tags.extend(pairs(reason.map(|reason| ("Termination", reason))));
    pgn::written(&tags, start.state.clone_box(), actions, result, &BTreeMap::new()).map_err(|error| error.0)
}

fn as_sgf(game: &dyn Game, actions: &[Action], writing: &Writing) -> String {
    let [black, white] = writing.names;
    let known = [("EV", writing.event), ("DT", writing.date), ("PB", black), ("PW", white)];
    let mut root = pairs(known);
    let result = writing.ending.map(|(outcome, reason)| sgf::result_text(outcome, reason));
    root.extend(result.map(|result| ("RE".to_string(), result)));
    sgf::written(game, &root, actions, &BTreeMap::new())
}

fn pairs<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    given.into_iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// The moves in the game's own notation, which every reader knows.
fn plain_moves(start: &Position, actions: &[Action]) -> Vec<String> {
    let mut place = start.clone();
    let text = |&action: &Action| {
        let text = place.plain_text(action);
        place.state.play(action);
        text
    };
    actions.iter().map(text).collect()
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
        let writing = Writing { names: &names, ending: None, event: "a test", date: "2026-11-26" };
        let text_of = |played: &Played, form| {
            written(&played.position.back_to(0), &played.position.moves, form, &writing).unwrap()
        };
        let chess = load_game("chess").unwrap();
        for form in ["pgn", "moves"] {
            let text = text_of(&played, form);
            let again = read(&text, &chess).unwrap();
            assert_eq!(again.actions, played.position.moves, "{text}");
        }
        let fen = text_of(&played, "fen");
        assert!(read(&fen, &chess).unwrap().game.info().spec.contains("fen="));
        let mut stones = Played::new(load_game("nogo(size=5)").unwrap(), &[]).unwrap();
        for action in [3, 17] {
            stones.play(action).unwrap();
        }
        let text = text_of(&stones, "sgf");
        let again = read(&text, &load_game("nogo").unwrap()).unwrap();
        assert_eq!((again.actions, again.game.info().spec.as_str()), (vec![3, 17], "nogo(size=5)"));
    }

    #[test]
    fn comments_and_variations_are_passed_over() {
        let text = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 {good (very)} e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 $1 ; all\nNc6 1-0";
        let chess = load_game("chess").unwrap();
        let game = read(text, &chess).unwrap();
        assert_eq!((game.actions.len(), game.ending.map(|ending| ending.0)), (4, Some(1)));
        for text in ["1. e4 e9", "", "# nothing", "(;GM[9])"] {
            assert!(read(text, &chess).is_err(), "{text}");
        }
        let lines = read("# an opening\ne4 e5 # the usual answer\nNf3", &chess).unwrap();
        assert_eq!(lines.actions.len(), 3);
    }
}
