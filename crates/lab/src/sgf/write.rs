//! A game written as SGF.

use hauteur_core::game::{Action, Game, GameInfo};

const DEFAULT_KOMI: &str = "7.5";

/// What is written of a game beside its moves.
pub struct Writing<'a> {
    /// Of the first and the second player.
    pub names: &'a [String; 2],
    /// How it ended for the first player, and why; None: not over.
    pub ending: Option<(i8, &'a str)>,
    /// Year, month and day with hyphens.
    pub date: &'a str,
}

/// The komi of the spec of a game of Go.
pub fn komi_of_spec(spec: &str) -> &str {
    let value = spec.split_once("komi=").map_or(DEFAULT_KOMI, |(_, rest)| rest);
    value.split([',', ')']).next().unwrap_or(DEFAULT_KOMI)
}

/// The value of SZ.
pub fn size_text(rows: usize, columns: usize) -> String {
    if rows == columns { rows.to_string() } else { format!("{columns}:{rows}") }
}

/// A game as SGF.
pub fn written(game: &dyn Game, actions: &[Action], writing: &Writing<'_>) -> String {
    let info = game.info();
    let [_, rows, columns] = info.feature_shape;
    let mut text = first_node(info, writing);
    let mut state = game.initial();
    for &action in actions {
        let point = usize::from(action);
        let letter = |place: usize| char::from(b'a' + place as u8);
        let value: String = match point < rows * columns {
            true => [letter(point % columns), letter(point / columns)].iter().collect(),
            false => String::new(),
        };
        text += &format!("\n;{}[{value}]", ["B", "W"][state.to_move() as usize]);
        state.play(action);
    }
    text + ")\n"
}

fn first_node(info: &GameInfo, writing: &Writing<'_>) -> String {
    let [_, rows, columns] = info.feature_shape;
    let kind = if info.name == "gomoku" { "4" } else { "1" };
    let size = size_text(rows, columns);
    let mut text = format!("(;FF[4]CA[UTF-8]AP[hauteur]GM[{kind}]SZ[{size}]");
    match info.name.as_str() {
        "go" => text += &format!("KM[{}]", komi_of_spec(&info.spec)),
        "nogo" => text += "RU[NoGo]",
        _ => {}
    }
    let escaped = |text: &str| text.replace('\\', "\\\\").replace(']', "\\]");
    let [black, white] = writing.names;
    text += &format!("EV[hauteur]DT[{}]PB[{}]PW[{}]", writing.date, escaped(black), escaped(white));
    if let Some((outcome, reason)) = writing.ending {
        text += &format!("RE[{}]", result_text(outcome, reason));
    }
    text
}

fn result_text(outcome: i8, reason: &str) -> &'static str {
    match (outcome, reason) {
        (1, "resignation") => "B+R",
        (1, "time") => "B+T",
        (1, _) => "B+",
        (-1, "resignation") => "W+R",
        (-1, "time") => "W+T",
        (-1, _) => "W+",
        _ => "0",
    }
}
