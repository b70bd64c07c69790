//! Games of chess as PGN: `tokens` and `tags` take a file apart, `line` plays main lines, `tree` keeps variations and comments.

pub mod languages;
pub mod line;
mod source;
mod tags;
pub mod tokens;
pub mod tree;
pub mod words;
mod write;

use std::io::{self, Read};

pub use line::{GameLine, Lines, result_text};
pub use tokens::{Games, Keep, RawGame};
pub use write::{position_tags, tag_value, written};

/// A game of a file: its number and line, its tags, and its main line or why it cannot be used.
pub struct GameRead {
    /// From 1.
    pub number: usize,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// Names and values in the order of the file.
    pub tags: Vec<(String, String)>,
    /// How many moves its main line has.
    pub plies: usize,
    /// How it ended, by the result after the moves or by the tag; an error where they differ.
    pub outcome: Result<words::Outcome, String>,
    /// How it ended by the tag alone; by the result after the moves where the tag has none.
    pub tagged: words::Outcome,
    /// Its main line; an error is one line. None where it was not asked for.
    pub played: Option<Result<GameLine, String>>,
    /// Its tokens with variations and comments; None where these were not asked for.
    pub raw: Option<RawGame>,
}

/// Reads the main lines of a file of any length, one game after another.
pub struct Reader<R> {
    games: Games<R>,
    lines: Option<Lines>,
    keep: Keep,
    number: usize,
}

impl<R: Read> Reader<R> {
    /// Begins at the start of a file. `plays`: main lines are played; else tags and results alone are read.
    pub fn new(reader: R, plays: bool) -> io::Result<Self> {
        Reader::keeping(reader, plays, Keep::MainLine)
    }

    /// The same, which plays main lines and keeps variations and comments with each game, so that they can be written again.
    pub fn annotated(reader: R) -> io::Result<Self> {
        Reader::keeping(reader, true, Keep::All)
    }

    fn keeping(reader: R, plays: bool, keep: Keep) -> io::Result<Self> {
        let lines = plays.then(Lines::default);
        Ok(Reader { games: Games::new(reader, keep)?, lines, keep, number: 0 })
    }

    /// The next game; None at the end of the file.
    pub fn next_game(&mut self) -> io::Result<Option<GameRead>> {
        let Some(raw) = self.games.next_game()? else { return Ok(None) };
        self.number += 1;
        let played = self.lines.as_ref().map(|lines| self.play(lines, &raw));
        // An error of the result stays apart from that of the moves: the rating list reads tags without playing,
        // and counts a game by its tag alone.
        let outcome = line::outcome_of(&raw);
        let tagged = words::result(raw.tag("Result").trim()).unwrap_or(raw.result.flatten());
        let kept = (self.keep == Keep::All).then(|| raw.clone());
        let RawGame { line, tags, plies, .. } = raw;
        Ok(Some(GameRead { number: self.number, line, tags, plies, outcome, tagged, played, raw: kept }))
    }
}

impl<R> Reader<R> {
    /// The main line of a game; where variations are kept its notes say which of them end early too.
    fn play(&self, lines: &Lines, raw: &RawGame) -> Result<GameLine, String> {
        if self.keep == Keep::MainLine {
            return lines.play(raw);
        }
        let tree = tree::read(lines, raw)?;
        Ok(GameLine { notes: tree.notes, ..tree.line })
    }
}

/// A game with its variations, and its tags: of a text the first one that has moves, else the first one.
pub fn read_tree(text: &str) -> Result<(RawGame, tree::Tree), String> {
    let failed = |error: io::Error| error.to_string();
    let mut games = Games::new(text.as_bytes(), Keep::All).map_err(failed)?;
    let mut first: Option<RawGame> = None;
    while let Some(raw) = games.next_game().map_err(failed)? {
        // A game with a problem ends the search as well: another game of the text must not be shown in its place.
        let has_moves = raw.plies > 0 || raw.problem.is_some();
        if has_moves || first.is_none() {
            first = Some(raw);
        }
        if has_moves {
            break;
        }
    }
    let raw = first.ok_or("has no game")?;
    let tree = tree::read(&Lines::default(), &raw)?;
    Ok((raw, tree))
}
