//! What a word between the moves is: a move, the number of one, a result, a glyph, a null move.

use std::borrow::Cow;

/// A result as a file gives it: outcome for the first player (1, 0, -1), None for `*`.
pub type Outcome = Option<i8>;

/// What a word means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// The number of a move, or dots.
    Number,
    /// How the game ended.
    Result(Outcome),
    /// A glyph by its number (NAG), 0 for one without: a check or `e.p.` that stands apart from its move.
    Glyph(u8),
    /// A move that leaves the turn to the opponent.
    Null,
    /// Anything else, without the number before it.
    Move(&'a str),
}

// The standard has no null move, and each program its own: `--` of ChessBase, `0000` of UCI, `@@@@` of xboard.
const NULL_MOVES: [&str; 7] = ["--", "Z0", "z0", "0000", "@@@@", "null", "pass"];

/// Glyphs that stand apart from a move or are glued to it, the longest first where one begins another; by NAG.
const GLYPHS: [(&str, u8); 34] = [
    ("!!", 3),
    ("??", 4),
    ("!?", 5),
    ("?!", 6),
    ("!", 1),
    ("?", 2),
    ("+/-", 16),
    ("-/+", 17),
    ("+/=", 14),
    ("=/+", 15),
    ("+--", 20),
    ("--+", 21),
    ("+-", 18),
    ("-+", 19),
    ("+=", 14),
    ("=+", 15),
    ("±", 16),
    ("∓", 17),
    ("⩲", 14),
    ("⩱", 15),
    ("∞", 13),
    ("=", 10),
    ("□", 7),
    ("⟳", 32),
    ("↑", 36),
    ("→", 40),
    ("⇆", 132),
    ("⇄", 132),
    ("⊕", 138),
    ("∆", 140),
    ("Δ", 140),
    ("⌓", 142),
    ("⨀", 22),
    ("⊙", 22),
];

/// Words of letters that stand apart from a move.
// The standard's glyphs end at 139; novelty and diagram have these numbers in the programs that show them.
const WORDS: [(&str, u8); 17] = [
    ("N", 146),
    ("TN", 146),
    ("D", 220),
    ("e.p.", 0),
    ("ep", 0),
    ("e.p", 0),
    ("ep.", 0),
    ("+", 0),
    ("#", 0),
    ("++", 0),
    ("mate", 0),
    ("ch", 0),
    ("ch.", 0),
    ("dis.ch", 0),
    ("dis.ch.", 0),
    ("dbl.ch", 0),
    ("dbl.ch.", 0),
];

/// Whether a word is a glyph that could be the letter of a piece too: novelty or knight, diagram or queen.
pub fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.as_bytes()[0].is_ascii_uppercase()
}

const DASHES: [char; 7] = ['-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

/// Whether a sign is a hyphen or a dash.
pub fn is_dash(sign: char) -> bool {
    DASHES.contains(&sign)
}

/// What a word means.
pub fn meaning(word: &str) -> Meaning<'_> {
    let first = word.as_bytes().first().copied().unwrap_or(b' ');
    // Nearly every word is a move by its first letter; results and numbers need not be tried for these.
    if first.is_ascii_alphabetic() && word.len() > 2 && !WORDS.iter().any(|(text, _)| *text == word) {
        return if NULL_MOVES.contains(&word) { Meaning::Null } else { Meaning::Move(word) };
    }
    // Before numbers of moves, as `1-0` and `1/2` begin like one.
    if let Some(outcome) = result(word) {
        return Meaning::Result(outcome);
    }
    // Before numbers too: `0000` has digits alone.
    if NULL_MOVES.contains(&word) {
        return Meaning::Null;
    }
    // Before numbers once more, which have dots or fewer digits in all but games of a thousand moves.
    if squares_of(word).is_some() {
        return Meaning::Move(word);
    }
    let rest = without_number(word);
    if rest.is_empty() {
        return Meaning::Number;
    }
    if rest.len() < word.len() {
        return meaning_of_rest(rest);
    }
    let known = GLYPHS.iter().chain(&WORDS).find(|(text, _)| *text == word);
    known.map_or(Meaning::Move(word), |(_, nag)| Meaning::Glyph(*nag))
}

/// What follows the number of a move: a move, or none.
fn meaning_of_rest(rest: &str) -> Meaning<'_> {
    if NULL_MOVES.contains(&rest) { Meaning::Null } else { Meaning::Move(rest) }
}

/// A word without the number and the dots before it: `12...Nf6` is Nf6, `12.` nothing; other words stay.
fn without_number(word: &str) -> &str {
    let digits = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let rest = digits.trim_start_matches(['.', '\u{2026}']);
    let has_number = digits.len() < word.len();
    let has_dots = rest.len() < digits.len();
    let is_figurine = |sign: char| ('\u{2654}'..='\u{265f}').contains(&sign);
    let begins_move = rest.chars().next().is_none_or(|sign| sign.is_alphabetic() || is_figurine(sign));
    // Castling and numeric moves begin with a digit where the number ends with one: without dots between them,
    // `10-0`, nobody can tell where it begins.
    let begins_with_a_sign = rest.starts_with("--") || is_castling_with_zeros(rest) || squares_of(rest).is_some();
    let needs_dots = has_dots && begins_with_a_sign;
    if (has_number || has_dots) && (begins_move || needs_dots) { rest } else { word }
}

/// A move in the numeric notation of correspondence chess as UCI writes it: 5254 is e2e4, 27183 b7a8b.
///
/// File and rank of both squares are digits; a fifth is what a pawn becomes: 1 queen, 2 rook, 3 bishop, 4 knight (ICCF).
/// None for any other text.
pub fn squares_of(text: &str) -> Option<String> {
    let digits = text.as_bytes();
    let (squares, promotion) = digits.split_at_checked(4)?;
    let mut uci = String::new();
    for (place, digit) in squares.iter().enumerate() {
        if !(b'1'..=b'8').contains(digit) {
            return None;
        }
        let is_file = place % 2 == 0;
        uci.push(char::from(if is_file { digit - b'1' + b'a' } else { *digit }));
    }
    match promotion {
        [] => {}
        [piece @ b'1'..=b'4'] => uci.push(char::from(b"qrbn"[usize::from(piece - b'1')])),
        _ => return None,
    }
    Some(uci)
}

fn is_castling_with_zeros(text: &str) -> bool {
    text.strip_prefix('0').is_some_and(|rest| rest.starts_with(is_dash))
}

/// The outcome that a text gives (`1-0`, `1/2`, `½-½`, `0.5:0.5`, `0–1`, `*`); None where it is no result.
pub fn result(text: &str) -> Option<Outcome> {
    let first = text.chars().next()?;
    // Every word of a file comes here, and few begin like a result.
    if !(first.is_ascii_digit() || first == '.' || first == '½' || first == '*') || text.len() > 24 {
        return None;
    }
    let plain = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.replace('½', "1/2")) };
    let is_separator = |sign: char| is_dash(sign) || sign == ':';
    let trimmed = plain.trim().trim_end_matches(',');
    let mut sides = trimmed.splitn(2, is_separator).map(str::trim);
    let first = sides.next().unwrap_or("");
    let second = sides.next();
    match (score(first), second.map(score)) {
        // `0-0` is castling and `1` the number of a move, so two zeros and a lone 1 are no results; a lone `1/2`
        // can be nothing else.
        _ if first == "*" && second.is_none() => Some(None),
        (Some(2), Some(Some(0))) => Some(Some(1)),
        (Some(0), Some(Some(2))) => Some(Some(-1)),
        (Some(1), Some(Some(1)) | None) => Some(Some(0)),
        _ => None,
    }
}

/// Half points of a side.
fn score(text: &str) -> Option<u8> {
    match text {
        "1" => Some(2),
        "0" => Some(0),
        "1/2" | "0.5" | "0,5" | ".5" => Some(1),
        _ => None,
    }
}

/// A move and the glyphs that are glued to its end: `Nf3!?`, `dxc6∓`, `Bxc6+-`.
pub fn split_glyphs(word: &str) -> (&str, Vec<u8>) {
    let mut bare = word;
    let mut nags = Vec::new();
    // A move is left over at least: a word of glyphs alone is no move with glyphs.
    while let Some((text, nag)) = GLYPHS.iter().find(|(text, _)| bare.len() > text.len() && bare.ends_with(text)) {
        bare = &bare[..bare.len() - text.len()];
        // They are taken off from the end, and kept in the order of the text.
        nags.insert(0, *nag);
    }
    (bare, nags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_as_people_write_them() {
        for text in ["1-0", "1:0", "1–0", "1 - 0", "1−0"] {
            assert_eq!(result(text), Some(Some(1)), "{text}");
        }
        for text in ["1/2", "1/2-1/2", "½-½", "½", "0.5-0.5", "0,5:0,5", "½–½", "1/2:1/2"] {
            assert_eq!(result(text), Some(Some(0)), "{text}");
        }
        assert_eq!((result("0-1"), result("*")), (Some(Some(-1)), Some(None)));
        for text in ["0-0", "1-1", "1", "0", "1.", "e4", "", "2-0"] {
            assert_eq!(result(text), None, "{text}");
        }
    }

    #[test]
    fn words_are_numbers_moves_or_glyphs() {
        for text in ["1.", "12...", "3", "...", "…", "7…", "1234.", "120", "1900"] {
            assert_eq!(meaning(text), Meaning::Number, "{text}");
        }
        for (text, of) in [
            ("1.e4", "e4"),
            ("2...Nf6", "Nf6"),
            ("3e4", "e4"),
            ("…Nf6", "Nf6"),
            ("1.0-0", "0-0"),
            ("4.0–0", "0–0"),
            ("1.5254", "5254"),
        ] {
            assert_eq!(meaning(text), Meaning::Move(of), "{text}");
        }
        for text in ["0-0", "0-0-0", "0–0", "e4", "e8", "2.5", "foo", "Кf3", "♘f3", "5254", "27183"] {
            assert_eq!(meaning(text), Meaning::Move(text), "{text}");
        }
        for (text, nag) in [("=", 10), ("±", 16), ("N", 146), ("e.p.", 0), ("!?", 5), ("+-", 18), ("dis.ch", 0)] {
            assert_eq!(meaning(text), Meaning::Glyph(nag), "{text}");
        }
        assert_eq!((meaning("--"), meaning("Z0"), meaning("4.--")), (Meaning::Null, Meaning::Null, Meaning::Null));
        assert_eq!(squares_of("5254").as_deref(), Some("e2e4"));
        assert_eq!(squares_of("27183").as_deref(), Some("b7a8b"));
        for text in ["525", "525412", "5259", "0254", "52545", "e2e4", "52é"] {
            assert_eq!(squares_of(text), None, "{text}");
        }
        assert_eq!(split_glyphs("Bxc6+-"), ("Bxc6", vec![18]));
        assert_eq!(split_glyphs("Qh7+!?"), ("Qh7+", vec![5]));
        assert_eq!(split_glyphs("dxc6∓"), ("dxc6", vec![17]));
        assert_eq!(split_glyphs("e5="), ("e5", vec![10]));
    }
}
