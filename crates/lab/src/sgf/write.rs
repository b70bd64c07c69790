//! A game written as SGF.

use std::collections::BTreeMap;

use hauteur_core::game::{Action, Game};

const DEFAULT_KOMI: &str = "7.5";
/// Nodes of a line.
const LINE_NODES: usize = 10;

/// The komi of the spec of a game of Go.
pub fn komi_of_spec(spec: &str) -> &str {
    // Specs leave out what is usual.
    let value = spec.split_once("komi=").map_or(DEFAULT_KOMI, |(_, rest)| rest);
    value.split([',', ')']).next().unwrap_or(DEFAULT_KOMI)
}

/// The value of SZ.
pub fn size_text(rows: usize, columns: usize) -> String {
    if rows == columns { rows.to_string() } else { format!("{columns}:{rows}") }
}

/// A game as SGF. `root`: further properties of the first node; `comments`: text after a move, by ply.
pub fn written(
    game: &dyn Game,
    root: &[(String, String)],
    actions: &[Action],
    comments: &BTreeMap<usize, String>,
) -> String {
    let info = game.info();
    let [_, rows, columns] = info.feature_shape;
    let letter = |place: usize| char::from(b'a' + place as u8);
    let own = root.iter().map(|(name, value)| format!("{name}[{}]", escaped(value)));
    let mut nodes = vec![format_properties(game) + &own.collect::<String>()];
    for (ply, &action) in actions.iter().enumerate() {
        let point = usize::from(action);
        let value = match point < rows * columns {
            true => format!("{}{}", letter(point % columns), letter(point / columns)),
            // FF[4]; readers of FF[3] alone want tt, which FF[4] reads as a point on larger boards.
            false => String::new(),
        };
        let comment = comments.get(&ply).filter(|comment| !comment.is_empty());
        let comment = comment.map_or(String::new(), |comment| format!("C[{}]", escaped(comment)));
        // By the ply: in the games that are written as SGF the players alternate, and a pass is a move.
        nodes.push(format!(";{}[{value}]{comment}", ["B", "W"][ply % 2]));
    }
    let lines: Vec<String> = nodes.chunks(LINE_NODES).map(|nodes| nodes.concat()).collect();
    format!("({})\n", lines.join("\n"))
}

/// The beginning of the first node. NoGo has no number of its own: it is written as Go with the rules (RU) NoGo.
fn format_properties(game: &dyn Game) -> String {
    let info = game.info();
    let [_, rows, columns] = info.feature_shape;
    let kind = if info.name == "gomoku" { "4" } else { "1" };
    let more = match info.name.as_str() {
        "go" => format!("KM[{}]", komi_of_spec(&info.spec)),
        "nogo" => "RU[NoGo]".into(),
        _ => String::new(),
    };
    // Without CA readers take Latin-1, and names have letters beyond it.
    format!(";FF[4]GM[{kind}]CA[UTF-8]AP[hauteur]SZ[{}]{more}", size_text(rows, columns))
}

fn escaped(text: &str) -> String {
    // One line: FF[4] reads names so in any case (SimpleText). A comment loses its line breaks by it.
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('\\', "\\\\").replace(']', "\\]")
}

/// The value of RE.
pub fn result_text(outcome: i8, reason: &str) -> String {
    // FF[4] allows B+ alone where a score is not known or, as in Gomoku, there is none.
    let how = match reason {
        "resignation" => "R",
        "time" => "T",
        "forfeit" => "F",
        _ => "",
    };
    match outcome {
        0 => "0".into(),
        1 => format!("B+{how}"),
        _ => format!("W+{how}"),
    }
}
