//! A game written as PGN.

use std::collections::BTreeMap;

use hauteur_core::game::{Action, Game, GameError, State};
use hauteur_core::games::chess::Position;

/// Signs of a line of moves; the standard wants fewer than 80.
const LINE_WIDTH: usize = 79;

/// A game of chess as PGN. `state`: its start; `comments`: text after a move, by ply; `result`: after the last move. An error for a move that is not legal.
pub fn written(
    tags: &[(String, String)],
    mut state: Box<dyn State>,
    actions: &[Action],
    result: &str,
    comments: &BTreeMap<usize, String>,
) -> Result<String, GameError> {
    let mut words = Vec::new();
    for (ply, &action) in actions.iter().enumerate() {
        let is_white = state.to_move() as usize == 0;
        // The standard repeats the number before a move of Black that follows a comment: `1. e4 {best} 1... e5`.
        let follows_comment = ply > 0 && comments.contains_key(&(ply - 1));
        if is_white || ply == 0 || follows_comment {
            let notation = state.notation();
            // From the FEN and not from the ply: games that begin at a position go on with its numbers.
            let number = notation.split_whitespace().nth(5).unwrap_or("1");
            words.push(format!("{number}.{}", if is_white { "" } else { ".." }));
        }
        words.push(state.action_to_text(action, Some("san"))?);
        if let Some(comment) = comments.get(&ply) {
            // No sign escapes a } in a comment of PGN: the rest of the text would be read as moves.
            let comment = format!("{{{}}}", comment.replace('}', ")"));
            // As words, so that lines of a long comment are broken too.
            words.extend(comment.split_whitespace().map(String::from));
        }
        state.play(action);
    }
    words.push(result.into());
    let tags: String = tags.iter().map(|(name, value)| format!("[{name} \"{}\"]\n", tag_value(value))).collect();
    Ok(format!("{tags}\n{}\n\n", wrapped(&words)))
}

/// The tags of where a game begins: SetUp and FEN unless that is the usual start, in Chess960 always and Variant.
pub fn position_tags(game: &dyn Game, start: &dyn State, is_start_of_game: bool) -> Vec<(String, String)> {
    let spec = &game.info().spec;
    // A game of chess may begin from a position of Chess960, of a book. Readers would lose its castling without the tag.
    let begins_as_960 = start.as_any().downcast_ref::<Position>().is_some_and(Position::is_chess960);
    let is_960 = begins_as_960 || spec.contains("chess960=true");
    let mut tags = Vec::new();
    if is_960 {
        tags.push(("Variant".to_string(), "Chess960".to_string()));
    }
    // In Chess960 also at start 518: readers need a FEN to know which of the 960 it is.
    if is_960 || !is_start_of_game || spec.contains("fen=") {
        tags.extend([("SetUp".to_string(), "1".to_string()), ("FEN".to_string(), start.notation())]);
    }
    tags
}

/// A value in a form valid inside of quotes: one line, its quotes and backslashes replaced. The standard escapes both, which few
/// programs read back.
pub fn tag_value(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('\\', "/").replace('"', "'")
}

fn wrapped(words: &[String]) -> String {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut width = 0;
    for word in words {
        let length = word.chars().count();
        if !line.is_empty() && width + 1 + length > LINE_WIDTH {
            lines.push(std::mem::take(&mut line));
            width = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            width += 1;
        }
        line += word;
        width += length;
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hauteur_core::games::make_game;

    #[test]
    fn a_move_of_black_has_its_number_after_a_comment() {
        let game = make_game("chess").unwrap();
        let state = game.initial();
        let mut actions = Vec::new();
        let mut ahead = game.initial();
        for text in ["e4", "e5", "Nf3", "Nc6"] {
            let action = ahead.action_from_text(text).unwrap();
            ahead.play(action);
            actions.push(action);
        }
        let comments = BTreeMap::from([(0, "best".to_string()), (1, "too".to_string())]);
        let text = written(&[], state, &actions, "*", &comments).unwrap();
        assert_eq!(text.trim(), "1. e4 {best} 1... e5 {too} 2. Nf3 Nc6 *");
    }

    #[test]
    fn lines_of_moves_have_fewer_than_80_signs() {
        let words: Vec<String> = (1..200).map(|length| "x".repeat(length % 12 + 1)).collect();
        let text = wrapped(&words);
        assert!(text.lines().all(|line| line.len() < 80) && text.lines().any(|line| line.len() == 79));
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
    }
}
