//! Games on the points of a board as SGF (FF[4]): the main line is read, variations and comments are passed over.

use std::collections::BTreeMap;

use crate::played::Played;
use crate::position::load_game;
use crate::texts::{MOST_PLIES, ReadGame};

/// Properties that change the position, or whose turn it is.
const SETUP: [&str; 4] = ["AB", "AW", "AE", "PL"];

type Node = BTreeMap<String, Vec<String>>;

/// The nodes of the main line of the first tree.
fn main_line(text: &str) -> Result<Vec<Node>, String> {
    let (mut nodes, mut depth, mut in_line, mut name) = (Vec::<Node>::new(), 0usize, true, String::new());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '(' => depth += 1,
            ')' => {
                in_line = false;
                depth = depth.checked_sub(1).ok_or("the SGF has a ) before any (")?;
                if depth == 0 {
                    return Ok(nodes);
                }
            }
            ';' if in_line => nodes.push(Node::new()),
            '[' => {
                let mut value = String::new();
                loop {
                    match signs.next().ok_or("the SGF has a value that is not closed")? {
                        ']' => break,
                        '\\' => value.extend(signs.next()),
                        sign => value.push(sign),
                    }
                }
                if in_line {
                    let node = nodes.last_mut().ok_or("the SGF has a property before the first ;")?;
                    node.entry(name.clone()).or_default().push(value);
                }
                if signs.clone().find(|sign| !sign.is_whitespace()) != Some('[') {
                    name.clear();
                }
            }
            sign if sign.is_ascii_uppercase() => name.push(sign),
            sign if sign.is_whitespace() || sign == ';' => {}
            sign => return Err(format!("the SGF has {sign:?} where a property such as B[aa] is expected")),
        }
    }
    Err("the SGF's tree is not closed: a ) is missing".into())
}

fn spec_of(root: &Node) -> Result<String, String> {
    let value = |name: &str, usual: &str| root.get(name).map_or(usual, |values| values[0].trim()).to_string();
    let (kind, size, komi) = (value("GM", "1"), value("SZ", "19"), value("KM", ""));
    let wrong = || format!("the SGF is on a board SZ[{size}], expected a size such as SZ[9]");
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    let (columns, rows) = match size.split_once(':') {
        Some((columns, rows)) => (number(columns)?, number(rows)?),
        None => (number(&size)?, number(&size)?),
    };
    Ok(match kind.as_str() {
        "4" => format!("gomoku(size={rows})"),
        "1" if !komi.is_empty() => format!("go(size={rows}, komi={komi})"),
        "1" if rows == columns => format!("nogo(size={rows})"),
        "1" => format!("nogo(rows={rows}, cols={columns})"),
        kind => return Err(format!("the SGF is of the game GM[{kind}], expected GM[1] (Go, NoGo) or GM[4] (Gomoku)")),
    })
}

/// The first game of a text.
pub fn read(text: &str) -> Result<ReadGame, String> {
    let nodes = main_line(text)?;
    let root = nodes.first().ok_or("the SGF has no nodes")?;
    let game = load_game(&spec_of(root)?)?;
    let [_, rows, columns] = game.info().feature_shape;
    let passes = game.info().num_actions > rows * columns;
    let mut played = Played::new(game.clone(), &[])?;
    for node in &nodes {
        if let Some(name) = SETUP.iter().find(|name| node.contains_key(**name)) {
            return Err(format!("the SGF sets up a position ({name}), only games from the empty board can be read"));
        }
        for (side, colour) in ["B", "W"].into_iter().enumerate() {
            let Some(value) = node.get(colour).map(|values| values[0].trim()) else { continue };
            let number = played.position.moves.len() + 1;
            if played.position.to_move() != side || number > MOST_PLIES {
                return Err(format!("the SGF, move {number}: it is not the turn of {colour}"));
            }
            let letters: Vec<usize> = value.bytes().map(|byte| usize::from(byte.wrapping_sub(b'a'))).collect();
            let action = match letters[..] {
                _ if passes && (value.is_empty() || value == "tt") => rows * columns,
                [column, row] if column < columns && row < rows => row * columns + column,
                _ => return Err(format!("the SGF, move {number}: {value:?} is no point of the board")),
            };
            played.play(action as u16).map_err(|error| format!("the SGF, move {number}: {error}"))?;
        }
    }
    let name = |key: &str| root.get(key).map_or("", |values| values[0].as_str()).chars().take(60).collect::<String>();
    let result = match root.get("RE").map_or("", |values| values[0].trim()) {
        text if text.starts_with("B+") => Some((1, String::new())),
        text if text.starts_with("W+") => Some((-1, String::new())),
        _ => None,
    };
    let ending = played.ending().map(|ending| (ending.outcome, ending.reason)).or(result);
    Ok(ReadGame { game, names: [name("PB"), name("PW")], actions: played.position.moves, ending })
}

/// A game as SGF. `date`: year, month and day with hyphens.
pub fn written(played: &Played, names: &[String; 2], date: &str) -> String {
    let info = played.position.game.info();
    let [_, rows, columns] = info.feature_shape;
    let kind = if info.name == "gomoku" { "4" } else { "1" };
    let size = if rows == columns { rows.to_string() } else { format!("{columns}:{rows}") };
    let escaped = |text: &str| text.replace('\\', "\\\\").replace(']', "\\]");
    let mut text = format!("(;FF[4]CA[UTF-8]GM[{kind}]SZ[{size}]");
    if info.name == "go" {
        let komi = info.spec.split_once("komi=").map_or("7.5", |(_, rest)| rest.trim_end_matches(')'));
        text += &format!("KM[{}]", komi.split(',').next().unwrap_or("7.5"));
    }
    text += &format!("EV[hauteur]DT[{date}]PB[{}]PW[{}]", escaped(&names[0]), escaped(&names[1]));
    if let Some(ending) = played.ending() {
        let result = match ending.outcome {
            1 => "B+",
            -1 => "W+",
            _ => "0",
        };
        let how = match ending.reason.as_str() {
            _ if ending.outcome == 0 => "",
            "resignation" => "R",
            "time" => "T",
            _ => "",
        };
        text += &format!("RE[{result}{how}]");
    }
    for (ply, &action) in played.position.moves.iter().enumerate() {
        let point = usize::from(action);
        let letter = |place: usize| char::from(b'a' + place as u8);
        let value = match point < rows * columns {
            true => [letter(point % columns), letter(point / columns)].iter().collect(),
            false => String::new(),
        };
        text += &format!("\n;{}[{value}]", ["B", "W"][played.movers[ply]]);
    }
    text + ")\n"
}
