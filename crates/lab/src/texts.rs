//! What a text of games is, as it begins.

/// The forms of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Games of chess with tags, comments or numbers of moves.
    Pgn,
    /// Trees of nodes.
    Sgf,
    /// A position.
    Fen,
    /// Moves in the notation of a game.
    Moves,
}

impl Form {
    /// The name of the form.
    pub fn name(self) -> &'static str {
        match self {
            Form::Pgn => "pgn",
            Form::Sgf => "sgf",
            Form::Fen => "fen",
            Form::Moves => "moves",
        }
    }
}

/// What a text is: PGN begins with a tag, a comment or the number of a move, SGF has a `(;` before its first game, a FEN
/// begins with its board; everything else are moves.
pub fn form_of(text: &str) -> Form {
    let begins = text.trim_start_matches(|sign: char| sign == '\u{feff}' || sign.is_whitespace());
    // Before SGF: a PGN may have `(;` in it, a variation that begins with a comment, and SGF never begins like a
    // PGN.
    if is_pgn(begins) {
        Form::Pgn
    } else if begins.starts_with('(') || holds_sgf(begins) {
        Form::Sgf
    } else if is_fen(begins) {
        Form::Fen
    } else {
        Form::Moves
    }
}

fn is_pgn(text: &str) -> bool {
    // The dot decides: `1 2` are two moves of Connect Four.
    let after_one = text.strip_prefix('1').map(str::trim_start);
    text.starts_with(['[', '%', ';', '{']) || after_one.is_some_and(|rest| rest.starts_with(['.', '\u{2026}']))
}

/// Whether a tree of SGF begins anywhere: `(;` and the name of a property.
// FF[4] allows any text before the first tree, so the form is not told by the first sign alone. A letter has to
// follow: `(;` in a line of moves is a comment.
fn holds_sgf(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let after = text[at + 1..].trim_start().strip_prefix(';').map(str::trim_start);
        after.is_some_and(|node| node.starts_with(|sign: char| sign.is_ascii_alphabetic()))
    })
}

fn is_fen(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let has_board = words.next().is_some_and(|board| board.contains('/'));
    has_board && words.next().is_some_and(|mover| mover == "w" || mover == "b")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_known_by_their_beginning() {
        for text in ["[Event \"x\"]\n\n1. e4", "1.e4", "\u{feff}\n[ FEN \"x\"]", "{c} e4", "1. e4 (; c\n d4)", "; x"] {
            assert_eq!(form_of(text), Form::Pgn, "{text}");
        }
        for text in ["(;GM[1])", "saved by a program\n(;GM[1];B[aa])", " ( ; FF[3])", "(("] {
            assert_eq!(form_of(text), Form::Sgf, "{text}");
        }
        assert_eq!(form_of("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), Form::Fen);
        for text in ["e2e4 e7e5", "4 4 3", "1 2", "", "a1 (b2)"] {
            assert_eq!(form_of(text), Form::Moves, "{text}");
        }
    }
}
