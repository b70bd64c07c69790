//! A game written as PGN.

use hauteur_core::game::{Action, Game, State};

use super::line::result_text;

const LINE_WIDTH: usize = 80;

/// What is written of a game beside its moves.
pub struct Writing<'a> {
    /// Of White and Black.
    pub names: &'a [String; 2],
    /// How it ended for White, and why; None: not over.
    pub ending: Option<(i8, &'a str)>,
    /// Year, month and day with hyphens.
    pub date: &'a str,
}

/// A game of chess as PGN, from the start that its spec names.
pub fn written(game: &dyn Game, actions: &[Action], writing: &Writing<'_>) -> String {
    let (mut state, result) = (game.initial(), result_text(writing.ending.map(|(outcome, _)| outcome)));
    let tags: String = tags(game, state.as_ref(), writing, result)
        .iter()
        .map(|(name, value)| format!("[{name} \"{}\"]\n", tag_value(value)))
        .collect();
    let mut words = Vec::new();
    for (ply, &action) in actions.iter().enumerate() {
        let is_first_player = state.to_move() as usize == 0;
        if is_first_player || ply == 0 {
            let notation = state.notation();
            let number = notation.split_whitespace().nth(5).unwrap_or("1");
            words.push(format!("{number}.{}", if is_first_player { "" } else { ".." }));
        }
        words.push(state.action_to_text(action, Some("san")).unwrap_or_else(|_| action.to_string()));
        state.play(action);
    }
    words.push(result.into());
    format!("{tags}\n{}\n\n", wrapped(&words))
}

fn tags(game: &dyn Game, start: &dyn State, writing: &Writing<'_>, result: &str) -> Vec<(&'static str, String)> {
    let [white, black] = writing.names;
    let mut tags = vec![
        ("Event", "hauteur".to_string()),
        ("Site", "?".into()),
        ("Date", writing.date.replace('-', ".")),
        ("Round", "-".into()),
        ("White", white.clone()),
        ("Black", black.clone()),
        ("Result", result.into()),
    ];
    let spec = &game.info().spec;
    let is_960 = spec.contains("chess960=true");
    if is_960 {
        tags.push(("Variant", "Chess960".into()));
    }
    if is_960 || spec.contains("fen=") {
        tags.extend([("SetUp", "1".to_string()), ("FEN", start.notation())]);
    }
    if let Some((_, reason)) = writing.ending.filter(|(_, reason)| !reason.is_empty()) {
        tags.push(("Termination", reason.to_string()));
    }
    tags
}

/// A value that needs no escapes inside of its quotes, which few programs read back.
fn tag_value(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('\\', "/").replace('"', "'")
}

fn wrapped(words: &[String]) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in words {
        if !line.is_empty() && line.len() + 1 + word.len() > LINE_WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines.join("\n")
}
