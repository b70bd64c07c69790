//! Letters of the pieces in other languages. A game is read in one language as a whole: `S` alone may be a knight or a bishop.

/// A language and its letters of king, queen, rook, bishop and knight.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// In messages.
    pub name: &'static str,
    letters: [&'static str; 5],
}

const PIECES: [char; 5] = ['K', 'Q', 'R', 'B', 'N'];

/// What a game is read in where no other language is needed.
pub const ENGLISH: Language = Language { name: "English", letters: ["K", "Q", "R", "B", "N"] };

/// Languages in groups: the rarer ones are tried where none of the others fits, so that they make no game ambiguous.
pub const OTHERS: [&[Language]; 2] = [
    &[
        Language { name: "German", letters: ["K", "D", "T", "L", "S"] }, // also Danish, Swedish, Norwegian, Croatian
        Language { name: "French", letters: ["R", "D", "T", "F", "C"] },
        Language { name: "Spanish", letters: ["R", "D", "T", "A", "C"] }, // also Italian, Catalan
        Language { name: "Portuguese", letters: ["R", "D", "T", "B", "C"] },
        Language { name: "Dutch", letters: ["K", "D", "T", "L", "P"] },
        Language { name: "Russian", letters: ["Кр", "Ф", "Л", "С", "К"] },
        Language { name: "Polish", letters: ["K", "H", "W", "G", "S"] },
        Language { name: "Czech", letters: ["K", "D", "V", "S", "J"] }, // also Slovak
    ],
    &[
        Language { name: "Ukrainian", letters: ["Кр", "Ф", "Т", "С", "К"] },
        Language { name: "Bulgarian", letters: ["Ц", "Д", "Т", "О", "К"] },
        Language { name: "Serbian", letters: ["К", "Д", "Т", "Л", "С"] },
        Language { name: "Greek", letters: ["Ρ", "Β", "Π", "Α", "Ι"] },
        Language { name: "Hungarian", letters: ["K", "V", "B", "F", "H"] },
        Language { name: "Romanian", letters: ["R", "D", "T", "N", "C"] },
        Language { name: "Finnish", letters: ["K", "D", "T", "L", "R"] }, // also Afrikaans
        Language { name: "Icelandic", letters: ["K", "D", "H", "B", "R"] },
        Language { name: "Estonian", letters: ["K", "L", "V", "O", "R"] },
        Language { name: "Latvian", letters: ["K", "D", "T", "L", "Z"] },
        Language { name: "Lithuanian", letters: ["K", "V", "B", "R", "Ž"] },
        Language { name: "Turkish", letters: ["Ş", "V", "K", "F", "A"] },
        Language { name: "Indonesian", letters: ["R", "M", "B", "G", "K"] },
        Language { name: "Esperanto", letters: ["R", "D", "T", "K", "Ĉ"] },
    ],
];

impl Language {
    /// A word with the letters of English; None where a letter is of no piece in this language.
    pub fn to_english(&self, word: &str) -> Option<String> {
        let first = word.chars().next()?;
        // First, because the Cyrillic O is also the letter of the bishop in Bulgarian.
        if is_castling_letter(first) && is_castling(word) {
            return Some(word.to_string());
        }
        // A capital letter that is no piece here means that the game is in another language, and not that it is a
        // pawn.
        let (piece, rest) = match first.is_uppercase() && first.is_alphabetic() {
            true => self.piece_at_start(word)?,
            false => (None, word),
        };
        let rest = self.promotion_in_english(rest)?;
        Some(piece.into_iter().collect::<String>() + &rest)
    }

    /// The piece whose letters begin a word, and the rest of it.
    fn piece_at_start<'a>(&self, word: &'a str) -> Option<(Option<char>, &'a str)> {
        let fitting = self
            .letters
            .iter()
            .zip(PIECES)
            .filter_map(|(letters, piece)| word.strip_prefix(letters).map(|rest| (letters.len(), piece, rest)));
        // The longer letters count: in Russian К is the knight and Кр the king.
        fitting.max_by_key(|(length, _, _)| *length).map(|(_, piece, rest)| (Some(piece), rest))
    }

    /// The part of a word after its piece, with the letter of a promotion as in English.
    fn promotion_in_english(&self, rest: &str) -> Option<String> {
        // The only capital letter after the piece is a promotion's; files and the sign of a capture are small.
        let Some(at) = rest.find(char::is_uppercase) else { return Some(rest.to_string()) };
        let (before, letters) = rest.split_at(at);
        let (piece, after) = self.piece_at_start(letters)?;
        Some(format!("{before}{}{after}", piece?))
    }
}

fn is_castling_letter(sign: char) -> bool {
    matches!(sign, 'O' | 'o' | '0' | 'О' | 'о')
}

fn is_castling(word: &str) -> bool {
    word.trim_end_matches(['+', '#', '!', '?'])
        .chars()
        .all(|sign| is_castling_letter(sign) || super::words::is_dash(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(language: &str, word: &str) -> Option<String> {
        let found = OTHERS.iter().copied().flatten().chain([&ENGLISH]).find(|known| known.name == language).unwrap();
        found.to_english(word)
    }

    #[test]
    fn words_are_put_into_english() {
        for (language, word, expected) in [
            ("German", "Sf3", "Nf3"),
            ("German", "e8D+", "e8Q+"),
            ("German", "a8(T)", "a8(R)"),
            ("German", "0-0", "0-0"),
            ("German", "exd6", "exd6"),
            ("French", "Rg1", "Kg1"),
            ("French", "e8=D", "e8=Q"),
            ("Russian", "Крf1", "Kf1"),
            ("Russian", "Кf3", "Nf3"),
            ("Russian", "О-О", "О-О"),
            ("Dutch", "Pf3", "Nf3"),
        ] {
            assert_eq!(english(language, word).as_deref(), Some(expected), "{language} {word}");
        }
        assert_eq!(english("German", "Nf3"), None);
        assert_eq!(english("English", "Sf3"), None);
    }
}
