//! Bytes of a file, read in pieces: the reader looks ahead a little and knows the line that it stands in.

use std::io::{self, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Bytes of one game, comments and variations included.
pub const MAX_GAME_BYTES: usize = 1 << 22;
/// Bytes that are looked ahead at; the standard's lines have no more.
pub const LOOK_AHEAD: usize = 255;
const PIECE: usize = 1 << 16;
/// Bytes of a file in UTF-16, which is read as a whole.
// Its bytes cannot be looked at one by one, so it is held in memory twice while it is decoded.
const MAX_UTF16: usize = 1 << 28;

/// What compressed files begin with, and what they are.
const COMPRESSED: [(&[u8], &str); 6] = [
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"7z\xbc\xaf", "7z"),
];

/// Whether a byte only fills a file up: NUL, and Ctrl-Z, with which programs of DOS end their files.
pub fn is_filling(byte: u8) -> bool {
    matches!(byte, 0 | 0x1a)
}

/// Bytes with the number of their line. Lines end with LF, CR LF or CR.
pub struct Source<R> {
    reader: R,
    buffer: Vec<u8>,
    at: usize,
    is_done: bool,
    line: usize,
    starts_line: bool,
    used: usize,
}

impl<R: Read> Source<R> {
    /// Begins before the first byte. A file in UTF-16 is made UTF-8 as a whole; one that is compressed is an error.
    pub fn new(reader: R) -> io::Result<Self> {
        let buffer = Vec::with_capacity(2 * PIECE);
        let mut source = Source { reader, buffer, at: 0, is_done: false, line: 1, starts_line: true, used: 0 };
        // The standard knows no marks of an encoding. Editors of Windows write them, and "Unicode" there is UTF-16; other
        // programs write that without a mark.
        if source.begins_with(b"\xff\xfe")? || source.begins_with(b"[\0")? {
            source.decode_all(UTF_16LE)?;
        } else if source.begins_with(b"\xfe\xff")? || source.begins_with(b"\0[")? {
            source.decode_all(UTF_16BE)?;
        }
        source.refuse_compressed()?;
        Ok(source)
    }

    /// An error where the file is compressed: its bytes would be words that are no moves, or a few games of many.
    fn refuse_compressed(&mut self) -> io::Result<()> {
        for (mark, name) in COMPRESSED {
            if self.begins_with(mark)? {
                let text = format!("the file is compressed ({name}): unpack it first");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        Ok(())
    }

    fn decode_all(&mut self, encoding: &'static Encoding) -> io::Result<()> {
        while !self.is_done {
            if self.buffer.len() > MAX_UTF16 {
                let text = "the file is in UTF-16 and longer than 256 MiB: save it as UTF-8";
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            self.fill()?;
        }
        let (text, _) = encoding.decode_with_bom_removal(&self.buffer);
        self.buffer = text.into_owned().into_bytes();
        Ok(())
    }

    /// The line of the next byte, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Whether the next byte is the first one of its line.
    pub fn starts_line(&self) -> bool {
        self.starts_line
    }

    /// Bytes taken since the last `begin_count`.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Begins to count the bytes of a game.
    pub fn begin_count(&mut self) {
        self.used = 0;
    }

    /// The next byte; None at the end.
    #[inline]
    pub fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.buffer.get(self.at) {
            Some(byte) => Ok(Some(*byte)),
            None => self.peek_at(0),
        }
    }

    /// The byte `ahead` of the next one; None beyond the end.
    pub fn peek_at(&mut self, ahead: usize) -> io::Result<Option<u8>> {
        // The buffer grows as far as is looked ahead; callers limit that, since the file may be one line of
        // gigabytes.
        while self.at + ahead >= self.buffer.len() && !self.is_done {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at + ahead).copied())
    }

    /// Whether the next bytes are these.
    pub fn begins_with(&mut self, bytes: &[u8]) -> io::Result<bool> {
        // For its effect: the bytes are then in the buffer, unless the file ends before.
        self.peek_at(bytes.len())?;
        Ok(self.buffer[self.at..].starts_with(bytes))
    }

    /// Takes the next byte; None at the end.
    #[inline]
    pub fn take(&mut self) -> io::Result<Option<u8>> {
        let Some(byte) = self.peek()? else { return Ok(None) };
        // CR LF is one end of a line and CR alone, of old Macs, one too; a position in a message is only right if
        // both count.
        let ends_line = byte == b'\n' || (byte == b'\r' && self.peek_at(1)? != Some(b'\n'));
        self.at += 1;
        self.used += 1;
        self.line += usize::from(ends_line);
        self.starts_line = ends_line;
        Ok(Some(byte))
    }

    /// Takes all bytes up to the first one of the given kind, which must hold for the ends of lines. Of a game that is too
    /// long `out` gets a part.
    pub fn take_until(&mut self, ends: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let rest = &self.buffer[self.at..];
            let found = rest.iter().position(|&byte| ends(byte));
            let count = found.unwrap_or(rest.len());
            // A file may be one line of gigabytes. The rest of it is passed over; `used` says that the game is too long.
            let room = MAX_GAME_BYTES.saturating_sub(out.len());
            out.extend_from_slice(&rest[..count.min(room)]);
            self.at += count;
            self.used += count;
            // None of the bytes ends a line, as `ends` holds for these, so no lines are counted here.
            self.starts_line &= count == 0;
            if found.is_some() || self.peek()?.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes a word: all bytes up to the first one of the given kind or a blank beyond ASCII.
    pub fn take_word(&mut self, ends: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> io::Result<()> {
        loop {
            // Moves are ASCII but for figurines and other languages, so nearly all words end at the first stop.
            self.take_until(|byte| ends(byte) || byte >= 0x80, out)?;
            if self.peek()?.is_none_or(|byte| byte < 0x80) || self.blank_beyond_ascii()? > 0 {
                return Ok(());
            }
            // With what goes on with it: the second byte of a letter may be the one of a blank in Latin-1.
            self.take_byte(out)?;
            while self.peek()?.is_some_and(|byte| matches!(byte, 0x80..=0xbf)) {
                self.take_byte(out)?;
            }
        }
    }

    /// Takes the next byte; of a game that is too long it is not kept.
    fn take_byte(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let byte = self.take()?;
        if out.len() < MAX_GAME_BYTES {
            out.extend(byte);
        }
        Ok(())
    }

    /// The bytes of the blank beyond ASCII that comes next: a space that does not break, a thin one, the mark of UTF-8; 0 without one.
    fn blank_beyond_ascii(&mut self) -> io::Result<usize> {
        if self.peek()?.is_none_or(|byte| byte < 0x80) {
            return Ok(0);
        }
        self.peek_at(2)?;
        // Pages and word processors write these. The mark begins a file, and stands within one that was put together of
        // several.
        Ok(match self.buffer[self.at..] {
            [0xc2, 0xa0, ..] => 2,
            [0xe2, 0x80, 0x80..=0x8b | 0xaf, ..] | [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => 3,
            [0xef, 0xbb, 0xbf, ..] => 3,
            [0xa0, ..] => 1, // Latin-1
            _ => 0,
        })
    }

    /// Passes over a blank beyond ASCII; false where there is none.
    pub fn skip_blank_beyond_ascii(&mut self) -> io::Result<bool> {
        let count = self.blank_beyond_ascii()?;
        // What follows the mark of UTF-8 still starts its line.
        self.at += count;
        self.used += count;
        Ok(count > 0)
    }

    /// Passes over the rest of the line.
    pub fn skip_line(&mut self) -> io::Result<()> {
        while self.take()?.is_some() && !self.starts_line {}
        Ok(())
    }

    /// Passes over spaces, ends of lines, and what `is_filling` says.
    pub fn skip_spaces(&mut self) -> io::Result<()> {
        loop {
            if self.peek()?.is_some_and(|byte| byte.is_ascii_whitespace() || is_filling(byte)) {
                self.take()?;
            } else if !self.skip_blank_beyond_ascii()? {
                return Ok(());
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        // Moving the rest to the front at each read would cost more than reading does; so it waits until a piece is
        // used up.
        if self.at >= PIECE {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        let before = self.buffer.len();
        self.buffer.resize(before + PIECE, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer[before..]) {
                // A signal, such as the end of a child process, is no error of the file.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        // After an error as well: bytes that were never read must not look like ones of the file.
        self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
        self.is_done = read? == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let endless = io::repeat(b'a').take(3 * MAX_GAME_BYTES as u64);
        let mut source = Source::new(endless.chain(&b"\n[Event \"b\"]"[..])).unwrap();
        let mut word = Vec::new();
        source.take_until(|byte| byte == b'\n', &mut word).unwrap();
        assert_eq!((word.len(), source.used()), (MAX_GAME_BYTES, 3 * MAX_GAME_BYTES));
        source.skip_spaces().unwrap();
        assert!(source.begins_with(b"[Event").unwrap() && source.line() == 2);
        assert!(source.buffer.len() <= 3 * PIECE);
    }
}
