//! Tags of PGN: `[White "..."]` as the standard has it, and as files have it.

use std::io::{self, Read};

use super::source::{LOOK_AHEAD, MAX_GAME_BYTES};
use super::tokens::{Games, RawGame, decoded};

// The standard's names are case sensitive. Files have `[Fen` and `[Setup` too, and a start that is not seen makes
// another game of the same moves.
/// Names of tags that are known in any case of their letters.
const KNOWN_TAGS: [&str; 13] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "FEN",
    "SetUp",
    "Variant",
    "Termination",
    "WhiteElo",
    "BlackElo",
];

impl<R: Read> Games<R> {
    /// Whether a `[` begins a tag: a name and a value, perhaps on the next lines; `[%clk 0:01]` does not.
    pub(super) fn is_tag(&mut self) -> io::Result<bool> {
        // `[` also begins what is no tag, so nothing is taken before a name is seen. The look ahead has an end:
        // brackets with megabytes of blanks between them would cost the square of their length.
        let mut ahead = 1;
        while self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_whitespace()) && ahead < LOOK_AHEAD {
            ahead += 1;
        }
        Ok(self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_'))
    }

    /// Reads a tag; false where it begins the next game, whose tags repeat those of a game without moves.
    pub(super) fn read_tag(&mut self, game: &mut RawGame) -> io::Result<bool> {
        // Only peeked: where the tag is the next game's, that game has to read it again.
        let name = self.peek_name()?;
        // Games without moves follow each other without a result between them. Only the first tag and Event count:
        // a second White among the tags is a mistake within one game, of which the first value is taken.
        let repeats =
            game.tags.first().is_some_and(|(first, _)| *first == name) || (name == "Event" && game.has_tag("Event"));
        if repeats {
            return Ok(false);
        }
        self.word.clear();
        self.source.take()?;
        self.source.skip_spaces()?;
        let ends_name = |byte: u8| !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        self.source.take_until(ends_name, &mut self.word)?;
        self.source.skip_spaces()?;
        // `[FEN: "..."]` is no PGN, but people write it, and a FEN that is not seen makes another game of the
        // moves.
        if matches!(self.source.peek()?, Some(b':' | b'=')) {
            self.source.take()?;
            self.source.skip_spaces()?;
        }
        let value = self.read_value()?;
        game.tags.push((name, value));
        Ok(true)
    }

    /// The name of the tag that begins here, in its usual form.
    fn peek_name(&mut self) -> io::Result<String> {
        let mut name = String::new();
        let mut ahead = 1;
        while let Some(byte) = self.source.peek_at(ahead)? {
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
                name.push(char::from(byte));
            } else if !(byte.is_ascii_whitespace() && name.is_empty()) {
                break;
            }
            ahead += 1;
            if ahead > MAX_GAME_BYTES {
                break;
            }
        }
        let known = KNOWN_TAGS.iter().find(|known| known.eq_ignore_ascii_case(&name));
        Ok(known.map_or(name, |known| known.to_string()))
    }

    /// The value of a tag, and the ] after it. Quotes inside of the value need no backslash; one without quotes is read too.
    fn read_value(&mut self) -> io::Result<String> {
        self.word.clear();
        let is_quoted = self.source.peek()? == Some(b'"');
        if !is_quoted {
            // Without quotes, `[FEN rnbqkbnr/...]`, nothing but the bracket or the line can end it.
            self.source.take_until(|byte| matches!(byte, b']' | b'\n' | b'\r'), &mut self.word)?;
        } else {
            self.source.take()?;
            self.read_quoted()?;
        }
        // A ] that is missing costs nothing: the next tag or move shows where this one ended.
        if self.closes_tag()? {
            self.source.skip_spaces()?;
            self.source.take()?;
        }
        let value = decoded(&self.word);
        // Text processors turn quotes into these signs.
        let plain =
            if is_quoted { &*value } else { value.trim().trim_matches(['\u{201c}', '\u{201d}', '\u{201e}', '\'']) };
        Ok(plain.to_string())
    }

    /// Whether a ] comes next, perhaps on a later line.
    fn closes_tag(&mut self) -> io::Result<bool> {
        let mut ahead = 0;
        while self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_whitespace()) && ahead < LOOK_AHEAD {
            ahead += 1;
        }
        Ok(self.source.peek_at(ahead)? == Some(b']'))
    }

    /// Reads up to the quote that ends a value, and takes it. A value that is never closed ends with its line.
    fn read_quoted(&mut self) -> io::Result<()> {
        while let Some(byte) = self.source.peek()? {
            // The standard wants a backslash before a quote within a value; files have `[Annotator "a "b" c"]`. So it
            // is what follows a quote that says whether it is the last one.
            if byte == b'"' && self.ends_value()? {
                self.source.take()?;
                return Ok(());
            }
            let next = self.source.peek_at(1)?;
            // The standard escapes these two signs alone; before any other one a backslash is part of the value.
            if byte == b'\\' && matches!(next, Some(b'"' | b'\\')) {
                self.source.take()?;
            } else if (byte == b'\n' || byte == b'\r') && self.line_ends_value()? {
                // The bracket was read as part of the value, since no quote came before it.
                let closed = self.word.trim_ascii_end().strip_suffix(b"]").map(<[u8]>::len);
                self.word.truncate(closed.unwrap_or(self.word.len()));
                return Ok(());
            } else if self.source.used() > MAX_GAME_BYTES {
                return Ok(());
            }
            // The standard allows no end of a line within a value; files have long FENs that were broken at a blank.
            let taken = self.source.take()?.unwrap_or(b' ');
            self.word.push(if taken.is_ascii_whitespace() { b' ' } else { taken });
        }
        Ok(())
    }

    /// Whether a quote is the last one: a ] or the end of the line follows.
    fn ends_value(&mut self) -> io::Result<bool> {
        let mut ahead = 1;
        while matches!(self.source.peek_at(ahead)?, Some(b' ' | b'\t')) && ahead < LOOK_AHEAD {
            ahead += 1;
        }
        Ok(matches!(self.source.peek_at(ahead)?, None | Some(b']' | b'\n' | b'\r')))
    }

    /// Whether the line after this one is empty or a tag, so that a value was not closed.
    fn line_ends_value(&mut self) -> io::Result<bool> {
        let after = if self.source.begins_with(b"\r\n")? { 2 } else { 1 };
        Ok(matches!(self.source.peek_at(after)?, None | Some(b'[' | b'\n' | b'\r')))
    }

    /// Whether a line that is inside of a comment is a tag, `[Event "..."]`: then the comment was never closed.
    pub(super) fn is_tag_line(&mut self) -> io::Result<bool> {
        let mut ahead = 1;
        while self.source.peek_at(ahead)?.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            ahead += 1;
            if ahead > LOOK_AHEAD {
                return Ok(false);
            }
        }
        let name_end = ahead;
        while matches!(self.source.peek_at(ahead)?, Some(b' ' | b'\t')) && ahead < LOOK_AHEAD {
            ahead += 1;
        }
        // Name, blank and quote: `[%clk 0:01]` or `[see Nf3]` in a comment would otherwise end the game.
        Ok(name_end > 1 && ahead > name_end && self.source.peek_at(ahead)? == Some(b'"'))
    }

    pub(super) fn skip_to_tag(&mut self) -> io::Result<()> {
        while let Some(byte) = self.source.peek()? {
            // Elsewhere in a line a bracket may be in the comment that made the trouble.
            if byte == b'[' && self.source.starts_line() && self.is_tag()? {
                return Ok(());
            }
            // The mark of UTF-8 stands before a tag where several files were put together.
            if !(self.source.starts_line() && self.source.skip_blank_beyond_ascii()?) {
                self.source.skip_line()?;
            }
        }
        Ok(())
    }
}
