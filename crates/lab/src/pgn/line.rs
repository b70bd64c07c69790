//! The main line of a game, played from its start.

use std::sync::Arc;

use hauteur_core::game::{Action, Game, State};
use hauteur_core::games::chess::{Position, clean_fen};
use hauteur_core::games::make_game;

use super::languages::{ENGLISH, Language, OTHERS};
use super::tokens::{Part, RawGame, Token, shortened};
use super::words::{self, Outcome};

// The standard has no tag Variant; servers and programs write it in all of these ways.
/// Names of Chess960 in the tag Variant, in small letters.
const CHESS960: [&str; 7] =
    ["chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random", "freestyle", "fischer random chess"];
// `From Position` is what Lichess writes for chess from another start.
const STANDARD: [&str; 6] = ["", "standard", "chess", "normal", "from position", "?"];
// No game of chess is so long: the rule of 75 moves ends each one before 17,700 plies.
/// Plies of a game.
pub const MAX_PLIES: usize = 20_000;

/// Where a game begins.
#[derive(Clone)]
pub struct Start {
    /// Chess, with its FEN and whether it is Chess960.
    pub game: Arc<dyn Game>,
    /// The FEN; None: the usual start of chess.
    pub fen: Option<String>,
    /// What was changed to read it, a line each.
    pub notes: Vec<String>,
}

impl Start {
    /// The usual start of chess.
    pub fn usual() -> Self {
        let game = make_game("chess").expect("chess is a game");
        Start { game: Arc::from(game), fen: None, notes: Vec::new() }
    }

    /// The position.
    pub fn position(&self) -> Position {
        position_of(self.game.initial().as_ref())
    }
}

fn position_of(state: &dyn State) -> Position {
    state.as_any().downcast_ref::<Position>().expect("a position of chess").clone()
}

/// A game that was read and played.
#[derive(Clone)]
pub struct GameLine {
    /// Where it begins.
    pub start: Start,
    /// Its moves.
    pub actions: Vec<Action>,
    /// Its moves as UCI, separated by spaces.
    pub uci: String,
    /// How it ended, by the result after the moves or by the tag; None where nothing says so.
    pub outcome: Outcome,
    /// Why it ended by the rules; None where it did not.
    pub ended: Option<&'static str>,
    /// What a user should know, a line each.
    pub notes: Vec<String>,
    /// The language of its words.
    pub language: &'static Language,
}

/// Plays games; the usual start is made once.
pub struct Lines {
    usual: Start,
    usual_position: Position,
}

impl Default for Lines {
    fn default() -> Self {
        let usual = Start::usual();
        Lines { usual_position: usual.position(), usual }
    }
}

impl Lines {
    /// The main line of a game. An error says in one line why it cannot be read.
    pub fn play(&self, raw: &RawGame) -> Result<GameLine, String> {
        if let Some(problem) = &raw.problem {
            return Err(problem.clone());
        }
        let start = self.start_of(raw)?;
        let outcome = outcome_of(raw)?;
        // Nearly all games of a file begin at the usual start, so it is not made again for each of them.
        let begin = if start.fen.is_some() { start.position() } else { self.usual_position.clone() };
        let (played, language) = play_in_any_language(&begin, raw)?;
        let mut notes = start.notes.clone();
        notes.extend(played.note);
        if *language != ENGLISH && !has_foreign_letter(raw) {
            // All its letters are of English pieces too, so it may be an English game with a move that is wrong.
            notes.push(format!("is read in {}, since its moves are not legal in English", language.name));
        }
        let ended = played.position.end_reason();
        Ok(GameLine { start, actions: played.actions, uci: played.uci, outcome, ended, notes, language })
    }

    /// Where a game begins by its tags FEN, SetUp and Variant.
    pub fn start_of(&self, raw: &RawGame) -> Result<Start, String> {
        let variant = raw.tag("Variant").trim().to_lowercase();
        let is_960 = CHESS960.contains(&variant.as_str());
        if !is_960 && !STANDARD.contains(&variant.as_str()) {
            return Err(format!("is of the variant '{}', not of chess", shortened(raw.tag("Variant"))));
        }
        let fens = raw.tags.iter().filter(|(name, _)| name == "FEN").map(|(_, fen)| fen.trim());
        // Programs write these where they know no value, as they do in all tags.
        let fens: Vec<&str> = fens.filter(|fen| !matches!(*fen, "" | "?" | "-")).collect();
        match fens[..] {
            // The tag says that the game does not begin at the usual start. Played from there, its moves may well
            // be legal and make a game that nobody played.
            [] if raw.tag("SetUp").trim() == "1" => {
                Err("has the tag SetUp, but no tag FEN that says where it begins".into())
            }
            // The usual start is one of the 960 and the only guess; the note says that it is one.
            [] if is_960 => {
                let note = "is Chess960 without a tag FEN, so it is read from the usual start".to_string();
                Ok(Start { notes: vec![note], ..self.usual.clone() })
            }
            [] => Ok(self.usual.clone()),
            [fen] => self.start_at(fen, is_960),
            // Of a tag that is there twice it matters which one counts only where they differ.
            [first, ..] if fens.iter().all(|fen| *fen == first) => self.start_at(first, is_960),
            _ => Err("has several tags FEN that differ".into()),
        }
    }

    fn start_at(&self, fen: &str, is_960: bool) -> Result<Start, String> {
        // The FEN becomes part of a spec, where these signs divide parameters: a file must not set others than the
        // position.
        if fen.contains([',', '(', ')', '=']) {
            return Err(format!("no FEN has commas, brackets or equals signs: {:?}", shortened(fen)));
        }
        let clean = clean_fen(fen, is_960).map_err(|error| error.0)?;
        let chess960 = if clean.chess960 { ", chess960=true" } else { "" };
        let game = make_game(&format!("chess(fen={}{chess960})", clean.fen)).map_err(|error| error.0)?;
        // Whoever asks for games of "chess" compares specs: a tag with the FEN of the usual start does not make
        // another game.
        if !clean.chess960 && game.info().spec == "chess" {
            return Ok(Start { notes: clean.notes, ..self.usual.clone() });
        }
        // Whoever wrote a game of Chess960 without the tag Variant knows that it is one.
        let is_no_news = clean.chess960 && !is_960 && clean.notes.len() == 1;
        let notes = if is_no_news { Vec::new() } else { clean.notes };
        Ok(Start { game: Arc::from(game), fen: Some(clean.fen), notes })
    }
}

/// The outcome that the result after the moves and the tag agree on; an error where they differ.
pub fn outcome_of(raw: &RawGame) -> Result<Outcome, String> {
    let tagged = words::result(raw.tag("Result").trim()).flatten();
    let written = raw.result.flatten();
    // Nothing tells which is right, and people learn nets from these results: better no game than the wrong winner.
    if let (Some(first), Some(second)) = (tagged, written)
        && first != second
    {
        let first = result_text(tagged);
        let second = result_text(written);
        return Err(format!("its result is {first} in the tags and {second} after the moves"));
    }
    Ok(written.or(tagged))
}

/// `1-0`, `1/2-1/2`, `0-1`, or `*` where nothing is known.
pub fn result_text(outcome: Outcome) -> &'static str {
    match outcome {
        Some(1) => "1-0",
        Some(0) => "1/2-1/2",
        Some(_) => "0-1",
        None => "*",
    }
}

struct Played {
    position: Position,
    actions: Vec<Action>,
    uci: String,
    note: Option<String>,
}

/// A word that could not be played: how many moves before it were, and what is wrong.
struct Wrong {
    ply: usize,
    what: String,
}

/// Plays a main line as English, else in a language whose letters it has; several that fit must agree.
fn play_in_any_language(begin: &Position, raw: &RawGame) -> Result<(Played, &'static Language), String> {
    // The standard's files are in English, and so are nearly all: one pass is enough for these.
    let first_wrong = match play(begin, raw, &ENGLISH) {
        Ok(played) => return Ok((played, &ENGLISH)),
        Err(wrong) => wrong,
    };
    let mut farthest: Option<(Wrong, &'static Language)> = None;
    for group in OTHERS {
        let mut found: Option<(Played, &'static Language)> = None;
        for language in group {
            // From the start each time: a letter means another piece in each language, so no move is read in two of
            // them.
            match (play(begin, raw, language), &found) {
                (Ok(played), None) => found = Some((played, language)),
                (Ok(played), Some((first, of))) if played.actions != first.actions => {
                    return Err(format!("may be {} or {}, which differ in its moves", of.name, language.name));
                }
                // The language that got farthest is most likely the one that was meant; what stopped it is what a
                // reader can mend.
                (Err(wrong), _) if wrong.ply > farthest.as_ref().map_or(first_wrong.ply, |(other, _)| other.ply) => {
                    farthest = Some((wrong, language));
                }
                _ => {}
            }
        }
        // The rarer languages are asked only now, or a game would be refused as ambiguous for a language that
        // nobody thought of.
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(match farthest {
        None => first_wrong.what,
        Some((wrong, language)) => format!("{}; in {}: {}", first_wrong.what, language.name, wrong.what),
    })
}

/// Whether a word of the main line has a capital letter that no piece has in English.
fn has_foreign_letter(raw: &RawGame) -> bool {
    let mut depth = 0usize;
    for token in &raw.tokens {
        match *token {
            Token::Begin => depth += 1,
            Token::End => depth = depth.saturating_sub(1),
            Token::Move(part, _) if depth == 0 => {
                let is_foreign = |sign: char| sign.is_uppercase() && !matches!(sign, 'K' | 'Q' | 'R' | 'B' | 'N' | 'O');
                if raw.text(part).contains(is_foreign) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn play(begin: &Position, raw: &RawGame, language: &'static Language) -> Result<Played, Wrong> {
    let mut played = Played { position: begin.clone(), actions: Vec::new(), uci: String::new(), note: None };
    let mut depth = 0usize;
    for (index, token) in raw.tokens.iter().enumerate() {
        match *token {
            Token::Begin => depth += 1,
            Token::End => depth = depth.saturating_sub(1),
            // The rules of chess have no null move. What follows was not played in the game, so the moves end here,
            // with a note.
            Token::Null(part, line) if depth == 0 => {
                let ply = played.actions.len() + 1;
                let word = raw.text(part);
                played.note = Some(format!("line {line}, ply {ply}: {word:?} is a null move, where its moves end"));
                return Ok(played);
            }
            // A glyph follows a move, so the first word is a piece's letter.
            Token::Move(part, _)
                if depth == 0 && !played.actions.is_empty() && is_glyph(&played.position, raw, part, index) => {}
            Token::Move(part, line) if depth == 0 => {
                let ply = played.actions.len();
                // The bytes of a game allow a million moves, each of which costs a search for legal ones.
                if ply == MAX_PLIES {
                    return Err(Wrong { ply, what: format!("has more than {MAX_PLIES} plies") });
                }
                let word = raw.text(part);
                let action = read_word(&played.position, word, language)
                    .map_err(|what| Wrong { ply, what: format!("line {line}, ply {}: {what}", ply + 1) })?;
                if ply > 0 {
                    played.uci.push(' ');
                }
                played.uci.push_str(&played.position.uci(action));
                played.position.play(action);
                played.actions.push(action);
            }
            _ => {}
        }
    }
    Ok(played)
}

/// Whether a letter before a square is a glyph after all, `e4 N e5`: no knight (for D no queen) can go to that square.
pub fn is_glyph(position: &Position, raw: &RawGame, part: Part, index: usize) -> bool {
    let piece = match raw.text(part) {
        "N" => 'N',
        "D" => 'Q',
        _ => return false,
    };
    let Some(Token::Move(next, _)) = raw.tokens.get(index + 1) else { return false };
    // Legal or not decides, and not how near the letter stands: a piece that can go there was meant, `N f3`, and a
    // game must not get the pawn's move instead.
    position.read_move(&format!("{piece}{}", raw.text(*next))).is_err()
}

/// The move that a word means in a language, glyphs at its end aside.
pub fn read_word(position: &Position, word: &str, language: &Language) -> Result<Action, String> {
    if *language == ENGLISH { read_english(position, word) } else { read_foreign(position, word, language) }
}

fn read_english(position: &Position, word: &str) -> Result<Action, String> {
    // The whole word first: the core reads endings of its own, and `=` may belong to a promotion or be a glyph.
    position.read_move(word).or_else(|error| {
        let (bare, _) = words::split_glyphs(word);
        if let Some(uci) = words::squares_of(bare) {
            // The core names the move as it was given to it; the file has digits.
            return position.read_move(&uci).map_err(|error| error.0.replacen(&uci, word, 1));
        }
        if bare == word {
            return Err(error.0);
        }
        // The error of the whole word, which the reader finds in the file.
        position.read_move(bare).map_err(|_| error.0)
    })
}

fn read_foreign(position: &Position, word: &str, language: &Language) -> Result<Action, String> {
    let (bare, _) = words::split_glyphs(word);
    let unknown = || format!("{:?} is no move in {}", shortened(word), language.name);
    let english = language.to_english(bare).ok_or_else(unknown)?;
    // The core names the English word; the file has the other one.
    let wrong =
        |error: hauteur_core::game::GameError| error.0.replacen(&format!("{english:?}"), &format!("{word:?}"), 1);
    position.read_move(&english).map_err(wrong)
}
