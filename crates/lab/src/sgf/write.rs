//! A game written as SGF.

use std::collections::BTreeMap;

use hauteur_core::game::{Action, Game, Player};
use hauteur_core::games::go::setup::Setup;

use super::setup;

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
    let first = first_of(game);
    let own = root.iter().map(|(name, value)| format!("{name}[{}]", escaped(value)));
    let mut nodes = vec![format_properties(game) + &own.collect::<String>()];
    for (ply, &action) in actions.iter().enumerate() {
        let (colour, value) = move_text(game, action, first + ply);
        let comment = comments.get(&ply).filter(|comment| !comment.is_empty());
        let comment = comment.map_or(String::new(), |comment| format!("C[{}]", escaped(comment)));
        nodes.push(format!(";{colour}[{value}]{comment}"));
    }
    let lines: Vec<String> = nodes.chunks(LINE_NODES).map(|nodes| nodes.concat()).collect();
    format!("({})\n", lines.join("\n"))
}

/// Who moves first: 0 Black, 1 White.
pub fn first_of(game: &dyn Game) -> usize {
    begins_of(game).first as usize
}

/// The property and the value of a move. `ply`: plies before it since Black would have moved first.
pub fn move_text(game: &dyn Game, action: Action, ply: usize) -> (&'static str, String) {
    let [_, rows, columns] = game.info().feature_shape;
    let point = usize::from(action);
    let value = match point < rows * columns {
        true => point_text(point, columns),
        // FF[4]; readers of FF[3] alone want tt, which FF[4] reads as a point on larger boards.
        false => String::new(),
    };
    // By the ply: in the games that are written as SGF the players alternate, and a pass is a move.
    (["B", "W"][ply % 2], value)
}

/// The beginning of the first node. NoGo has no number of its own: it is written as Go with the rules (RU) NoGo.
fn format_properties(game: &dyn Game) -> String {
    let info = game.info();
    let [_, rows, columns] = info.feature_shape;
    let kind = if info.name == "gomoku" { "4" } else { "1" };
    let more = match info.name.as_str() {
        "go" => format!("KM[{}]{}", komi_of_spec(&info.spec), setup_properties(&begins_of(game), columns)),
        "nogo" => "RU[NoGo]".into(),
        _ => String::new(),
    };
    // Without CA readers take Latin-1, and names have letters beyond it.
    format!(";FF[4]GM[{kind}]CA[UTF-8]AP[hauteur]SZ[{}]{more}", size_text(rows, columns))
}

/// The position that a game begins from.
fn begins_of(game: &dyn Game) -> Setup {
    let info = game.info();
    if info.name == "go" { setup::of_spec(&info.spec, info.feature_shape[1]) } else { Setup::empty() }
}

/// The stones that a game begins with, and whose turn it is; nothing for the empty board with Black to move.
fn setup_properties(begins: &Setup, columns: usize) -> String {
    let mut text = String::new();
    for (name, stones) in ["AB", "AW"].into_iter().zip(&begins.stones) {
        if !stones.is_empty() {
            text += name;
        }
        for &point in stones {
            text += &format!("[{}]", point_text(point, columns));
        }
    }
    if *begins != Setup::empty() {
        text += if begins.first == Player::First { "PL[B]" } else { "PL[W]" };
    }
    let [black, white] = &begins.stones;
    let is_handicap = black.len() > 1 && white.is_empty() && begins.first == Player::Second;
    if is_handicap { format!("HA[{}]{text}", black.len()) } else { text }
}

/// A point as two letters, for the column and for the row from the top.
fn point_text(point: usize, columns: usize) -> String {
    let letter = |place: usize| char::from(b'a' + place as u8);
    format!("{}{}", letter(point % columns), letter(point / columns))
}

/// A text in a form valid inside of the brackets of a value, in a line.
pub fn escaped(text: &str) -> String {
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
