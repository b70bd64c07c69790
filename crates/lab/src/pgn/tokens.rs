//! A file of PGN as games of tokens. Tokens decide where a game ends: its result, a tag after its moves, or a line that
//! begins with the first move of another game.

use std::io::{self, Read};

use super::source::{LOOK_AHEAD, MAX_GAME_BYTES, Source, is_filling};
use super::words::{self, Meaning, Outcome};

/// Variations within variations.
pub const MAX_DEPTH: usize = 100;
/// Bytes between the two halves of a result such as `1 - 0`.
const RESULT_REACH: usize = 12;

/// A part of the text of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    // Half the bytes of `usize`: a game has at most MAX_GAME_BYTES, and an annotated one has a token for each
    // comment.
    begin: u32,
    end: u32,
}

/// A token of the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word that should be a move, without its number; the line that it stands in.
    Move(Part, u32),
    /// A null move; the line that it stands in.
    Null(Part, u32),
    /// A comment.
    Comment(Part),
    /// A glyph by its number.
    Nag(u8),
    /// A variation begins.
    Begin,
    /// A variation ends.
    End,
}

/// A game as it stands in the file; nothing has been played.
#[derive(Clone, Debug, Default)]
pub struct RawGame {
    /// The line that it begins in.
    pub line: usize,
    /// Names and values in the order of the file; names that are known have their usual form.
    pub tags: Vec<(String, String)>,
    /// The moves and what stands among them.
    pub tokens: Vec<Token>,
    /// The result after the moves; None where there is none.
    pub result: Option<Outcome>,
    /// Why it cannot be read, with its line.
    pub problem: Option<String>,
    /// How many moves its main line has.
    pub plies: usize,
    text: String,
}

impl RawGame {
    /// The text of a token.
    pub fn text(&self, part: Part) -> &str {
        &self.text[part.begin as usize..part.end as usize]
    }

    /// The value of a tag, empty where there is none; of several the first.
    pub fn tag(&self, name: &str) -> &str {
        self.tags.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Whether there is a tag of this name.
    pub fn has_tag(&self, name: &str) -> bool {
        self.tags.iter().any(|(known, _)| known == name)
    }

    fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.plies == 0 && self.problem.is_none()
    }

    fn keep(&mut self, text: &str) -> Part {
        let begin = self.text.len() as u32;
        self.text.push_str(text);
        Part { begin, end: self.text.len() as u32 }
    }

    fn fail(&mut self, line: usize, what: &str) {
        // The first one is the cause; what goes wrong later in the game often follows from it.
        self.problem.get_or_insert_with(|| format!("line {line}: {what}"));
    }
}

/// Which tokens are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The moves of the main line.
    MainLine,
    /// Variations, comments and glyphs too.
    All,
}

/// Reads the games of a file one after another.
pub struct Games<R> {
    pub(super) source: Source<R>,
    keep: Keep,
    pub(super) word: Vec<u8>,
}

impl<R: Read> Games<R> {
    /// Begins at the start of a file.
    pub fn new(reader: R, keep: Keep) -> io::Result<Self> {
        Ok(Games { source: Source::new(reader)?, keep, word: Vec::new() })
    }

    /// The next game; None at the end of the file. A game that cannot be read says why, and reading goes on at the next tag.
    pub fn next_game(&mut self) -> io::Result<Option<RawGame>> {
        loop {
            let game = self.read_game()?;
            if !game.is_empty() {
                return Ok(Some(game));
            }
            // Nothing was kept, so it was a result or a comment between two games: no game is counted, and others
            // may follow.
            if self.source.peek()?.is_none() {
                return Ok(None);
            }
        }
    }

    fn read_game(&mut self) -> io::Result<RawGame> {
        let mut game = RawGame::default();
        self.source.begin_count();
        let mut open: Vec<usize> = Vec::new();
        loop {
            let line = self.source.line();
            self.source.skip_spaces()?;
            let starts_line = self.source.line() > line || self.source.starts_line();
            // Blank lines and comments before a game are of none; messages name the line of its first tag or move.
            if game.is_empty() {
                game.line = self.source.line();
            }
            if self.source.used() > MAX_GAME_BYTES {
                game.fail(self.source.line(), &format!("is longer than {MAX_GAME_BYTES} bytes"));
            }
            // Words after an error may be of this game or of the next one; a tag at the start of a line is surely
            // the next one's.
            if game.problem.is_some() {
                self.skip_to_tag()?;
                return Ok(game);
            }
            let Some(byte) = self.source.peek()? else { break };
            if byte == b'[' && self.is_tag()? {
                // The standard ends a game by its result. Where that was forgotten, tags after moves can only be
                // the next game's.
                if game.plies > 0 || !self.read_tag(&mut game)? {
                    break;
                }
            } else if game.plies > 0 && open.is_empty() && starts_line && self.is_first_move()? {
                // A list of lines, `1. e4 e5` above `1. d4 d5`, has neither tags nor results. As one game its moves
                // may well be legal.
                break;
            } else if self.read_token(byte, &mut game, &mut open)? {
                break;
            }
        }
        // Of several the outermost: the others are open because their brackets closed the wrong one.
        if let Some(line) = open.first() {
            game.fail(*line, "a variation is not closed");
        }
        Ok(game)
    }

    /// Whether the number of a first move of White comes next: `1.`, but neither `1...` nor a result.
    fn is_first_move(&mut self) -> io::Result<bool> {
        if !self.source.begins_with(b"1.")? {
            return Ok(false);
        }
        let mut ahead = 2;
        while self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_whitespace()) && ahead < LOOK_AHEAD {
            ahead += 1;
        }
        // `1. ... e5` and `1. … e5` are Black's.
        let follows = self.source.peek_at(ahead)?;
        let is_ellipsis = follows == Some(0xe2) && self.source.peek_at(ahead + 2)? == Some(0xa6);
        Ok(!matches!(follows, None | Some(b'.' | b'*')) && !is_ellipsis)
    }

    /// Reads what is no tag; true where the game ends with it.
    fn read_token(&mut self, byte: u8, game: &mut RawGame, open: &mut Vec<usize>) -> io::Result<bool> {
        let line = self.source.line();
        match byte {
            // An escape only in the first column, as the standard says: elsewhere the sign is of a command or of a
            // comment.
            b'%' if self.source.starts_line() => self.source.skip_line()?,
            b';' => {
                self.word.clear();
                self.source.take()?;
                self.source.take_until(|byte| byte == b'\n' || byte == b'\r', &mut self.word)?;
                self.keep_comment(game);
            }
            b'{' => self.read_comment(game)?,
            // A command whose braces were lost, `e5 [%eval 0.1]`, is no reason to lose the moves.
            b'[' => self.skip_command(game)?,
            b'(' => {
                self.source.take()?;
                open.push(line);
                // Each open variation of a tree keeps a position (`tree.rs`), so `((((...` would fill the memory.
                if open.len() > MAX_DEPTH {
                    game.fail(line, &format!("has more than {MAX_DEPTH} variations within variations"));
                }
                self.keep_all(game, Token::Begin);
            }
            b')' => {
                self.source.take()?;
                if open.pop().is_none() {
                    game.fail(line, "a ) closes no variation");
                }
                self.keep_all(game, Token::End);
            }
            b'}' => {
                self.source.take()?;
                game.fail(line, "a } closes no comment");
            }
            b'$' => self.read_nag(game)?,
            // It ends a word by itself, `2. Nf3*`, so it cannot be left to `read_word`.
            b'*' => {
                self.source.take()?;
                return Ok(self.end_with(None, game, open));
            }
            _ => return self.read_word(game, open),
        }
        Ok(false)
    }

    fn keep_all(&self, game: &mut RawGame, token: Token) {
        if self.keep == Keep::All {
            game.tokens.push(token);
        }
    }

    /// A result ends the game, unless it stands in a variation.
    fn end_with(&self, outcome: Outcome, game: &mut RawGame, open: &[usize]) -> bool {
        // In a variation an annotator says with it how that line ends: `(1. d4 d5 1-0) e5`. The game goes on.
        if open.is_empty() {
            game.result = Some(outcome);
        }
        open.is_empty()
    }

    // Comments, commands and glyphs.

    fn read_comment(&mut self, game: &mut RawGame) -> io::Result<()> {
        let line = self.source.line();
        self.word.clear();
        self.source.take()?;
        loop {
            // To the first brace: comments of PGN do not nest, and a { within one has no meaning. It stops at ends
            // of lines, where a tag shows that the comment was never closed; all games up to the next brace would
            // be lost in it.
            self.source.take_until(|byte| matches!(byte, b'}' | b'\n' | b'\r'), &mut self.word)?;
            match self.source.take()? {
                Some(b'}') => break,
                // Programs break long comments between two words, as lines shall have fewer than 80 signs.
                Some(_) => self.word.push(b' '),
                None => {
                    game.fail(line, "a comment is not closed");
                    return Ok(());
                }
            }
            let is_open = self.source.used() > MAX_GAME_BYTES
                || (self.source.peek()? == Some(b'[') && self.source.starts_line() && self.is_tag_line()?);
            if is_open {
                game.fail(line, "a comment is not closed");
                return Ok(());
            }
        }
        // Legal by the standard, but numbers of moves before a second { say that a brace is missing: the game would
        // go on with other moves than were played.
        if holds_moves_and_a_brace(&self.word) {
            game.fail(line, "a comment is not closed before the next one begins");
        }
        self.keep_comment(game);
        Ok(())
    }

    fn keep_comment(&mut self, game: &mut RawGame) {
        if self.keep == Keep::All {
            let text = decoded(&self.word);
            let part = game.keep(text.trim());
            game.tokens.push(Token::Comment(part));
        }
    }

    /// Passes over a command for programs such as `[%clk 0:01]` that stands in no comment.
    fn skip_command(&mut self, game: &mut RawGame) -> io::Result<()> {
        let line = self.source.line();
        self.word.clear();
        self.source.take_until(|byte| matches!(byte, b']' | b'\n' | b'\r'), &mut self.word)?;
        self.source.take()?;
        // It may be a move in brackets, and a move that is passed over makes another game of the rest.
        if !self.word.starts_with(b"[%") {
            let text = decoded(&self.word);
            game.fail(line, &format!("{:?} is neither a tag nor a move", shortened(&text)));
        }
        Ok(())
    }

    fn read_nag(&mut self, game: &mut RawGame) -> io::Result<()> {
        self.word.clear();
        self.source.take()?;
        self.source.take_until(|byte| !byte.is_ascii_digit(), &mut self.word)?;
        // The standard has 0 to 255. A larger number means nothing to anybody, and says nothing about the moves.
        let number = str::from_utf8(&self.word).ok().and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            self.keep_all(game, Token::Nag(number));
        }
        Ok(())
    }

    // Words.

    fn read_word(&mut self, game: &mut RawGame, open: &mut [usize]) -> io::Result<bool> {
        let line = self.source.line();
        self.word.clear();
        self.source.take_word(ends_word, &mut self.word)?;
        // A bracket ends a word, since variations need no blank before them: `1.e4(1.d4)e5`. These belong to the
        // move.
        if self.source.peek()? == Some(b'(') && !self.word.is_empty() {
            self.take_brackets()?;
        }
        self.take_second_half()?;
        if self.word.is_empty() {
            self.word.extend(self.source.take()?); // no word begins with it
        }
        // Asked before the word has a meaning: `N` means novelty or knight, and only what follows tells which.
        let is_piece = self.word.len() == 1 && self.square_follows()?;
        let word = decoded(&self.word);
        match words::meaning(&word) {
            Meaning::Glyph(_) if is_piece && words::is_letter(&word) => {
                // `N f3` is no novelty before the pawn's move f3.
                self.keep_move(game, &word, open.is_empty(), |part| Token::Move(part, line as u32));
            }
            Meaning::Number => {}
            // Without a number are checks and `e.p.`: the position tells them, so that a tree need not keep them.
            Meaning::Glyph(nag) if nag > 0 => self.keep_all(game, Token::Nag(nag)),
            Meaning::Glyph(_) => {}
            Meaning::Result(outcome) => return Ok(self.end_with(outcome, game, open)),
            Meaning::Null => self.keep_move(game, &word, open.is_empty(), |part| Token::Null(part, line as u32)),
            Meaning::Move(text) => self.keep_move(game, text, open.is_empty(), |part| Token::Move(part, line as u32)),
        }
        Ok(false)
    }

    fn keep_move(&self, game: &mut RawGame, text: &str, in_main_line: bool, token: impl Fn(Part) -> Token) {
        // Counted here, whatever is kept: a game without moves is told from one with moves by it, and so is where
        // tags begin the next game.
        game.plies += usize::from(in_main_line);
        if in_main_line || self.keep == Keep::All {
            let part = game.keep(text);
            game.tokens.push(token(part));
        }
    }

    /// Takes the brackets of `a8(Q)` and `N(g1)f3`, which are glued to the word before and have a letter or two.
    fn take_brackets(&mut self) -> io::Result<()> {
        let mut ahead = 1;
        while self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80) && ahead < 6
        {
            ahead += 1;
        }
        // Behind other words the bracket begins a variation. A move to the last rank may go on with the promotion,
        // the letter of a piece with its square.
        let is_square = self.word.last().is_some_and(|byte| matches!(byte, b'1' | b'8' | b'='));
        let is_piece =
            decoded(&self.word).chars().next_back().is_some_and(|sign| !sign.is_ascii() || sign.is_uppercase());
        if !(is_square || is_piece) || ahead == 1 || self.source.peek_at(ahead)? != Some(b')') {
            return Ok(());
        }
        for _ in 0..=ahead {
            self.word.extend(self.source.take()?);
        }
        self.source.take_word(ends_word, &mut self.word)
    }

    /// Whether a square follows, perhaps after blanks: then a letter before it is a piece's.
    fn square_follows(&mut self) -> io::Result<bool> {
        let mut ahead = 0;
        while self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_whitespace()) && ahead < LOOK_AHEAD {
            ahead += 1;
        }
        Ok(matches!(self.source.peek_at(ahead)?, Some(b'a'..=b'h' | b'x' | b':')))
    }

    /// Takes the second half of a result that is written with blanks, `1 - 0`.
    fn take_second_half(&mut self) -> io::Result<()> {
        // `1` may be the number of a move as well. Nothing is taken before both halves are a result: `1 e4` stays
        // two words.
        if !matches!(&*self.word, b"1" | b"0" | b"1/2" | b"0.5" | b"\xc2\xbd") {
            return Ok(());
        }
        let mut ahead = Vec::new();
        while let Some(byte) = self.source.peek_at(ahead.len())? {
            // Halves on two lines are no result: the line may have ended with the number of a move.
            if matches!(byte, b'\n' | b'\r') || ahead.len() == RESULT_REACH {
                break;
            }
            ahead.push(byte);
        }
        let text = String::from_utf8_lossy(&ahead).into_owned();
        let after = text.trim_start();
        let Some(dash) = after.chars().next().filter(|sign| words::is_dash(*sign) || *sign == ':') else {
            return Ok(());
        };
        let second = after[dash.len_utf8()..].trim_start();
        let half = second.split(char::is_whitespace).next().unwrap_or("");
        let joined = format!("{}-{half}", String::from_utf8_lossy(&self.word));
        if words::result(&joined).is_none() {
            return Ok(());
        }
        for _ in 0..text.len() - second.len() + half.len() {
            self.source.take()?;
        }
        self.word = joined.into_bytes();
        Ok(())
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || is_filling(byte)
        || matches!(byte, b'{' | b'}' | b'(' | b')' | b'[' | b']' | b';' | b'$' | b'*')
}

/// Whether a comment swallowed moves: another `{` stands in it, and numbers of moves before that.
fn holds_moves_and_a_brace(comment: &[u8]) -> bool {
    let Some(brace) = comment.iter().position(|&byte| byte == b'{') else { return false };
    let before = &comment[..brace];
    before.windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1] == b'.')
}

/// Bytes as text: UTF-8, else Latin-1 as Windows has it, which older programs write.
pub(super) fn decoded(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    // The standard has Latin-1, most programs write UTF-8 today. Text in Latin-1 with a letter beyond ASCII is
    // hardly ever valid UTF-8, so that trying this first tells the two apart. Windows adds signs where Latin-1 has
    // none.
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The beginning of a text, for messages.
pub fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
