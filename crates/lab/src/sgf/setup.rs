//! Positions that games of SGF begin from: handicap stones and other stones before the first move, in Go. Elsewhere they are
//! refused.

use std::ops::Range;

use hauteur_core::game::{Game, Player};
use hauteur_core::games::go::setup::{self, Setup};
use hauteur_core::games::parse_spec;

use super::{Node, point_of, short, value};

/// Properties with the stones of both players.
const STONES: [&str; 2] = ["AB", "AW"];
/// Those that change stones.
const CHANGES: [&str; 3] = ["AB", "AW", "AE"];
const COLOURS: [&str; 2] = ["B", "W"];
const PARAMETER: &str = "position";

/// The parameter of a game's spec that gives it this position.
pub fn parameter(begins: &Setup, size: usize) -> String {
    format!("{PARAMETER}={}", setup::written(begins, size))
}

/// The position of the spec of a game of Go.
pub fn of_spec(spec: &str, size: usize) -> Setup {
    let given = parse_spec(spec).ok().and_then(|(_, mut args)| args.0.remove(PARAMETER));
    given.and_then(|text| setup::read(&text, size).ok()).unwrap_or_else(Setup::empty)
}

/// The nodes that say where a game begins.
pub struct Opening {
    /// How many come before the first move, the first one included; they set up the position.
    pub nodes: usize,
    /// The nodes after them whose moves are the stones of a handicap.
    pub stones: Range<usize>,
}

impl Opening {
    /// That of a game that begins from an empty board, but for what its first node says.
    pub fn usual() -> Self {
        Opening { nodes: 1, stones: 1..1 }
    }

    /// That of a game of Go.
    pub fn of(nodes: &[Node]) -> Self {
        // Fox writes the stones of a handicap into a node of their own.
        let before = nodes.iter().position(moves).unwrap_or(nodes.len()).max(1).min(nodes.len());
        // Where Black chooses the points of a handicap, by Chinese rules, KGS and OGS write them as moves in a row.
        let handicap = nodes[..before].iter().filter(|node| has_handicap(node)).find_map(|node| number_of(node, "HA"));
        let end = before.saturating_add(handicap.unwrap_or(0));
        let is_placed =
            nodes[..before].iter().any(|node| moves(node) || CHANGES.iter().any(|name| changes(node, name)));
        let in_a_row = end <= nodes.len() && nodes[before..end].iter().all(is_black_alone);
        let goes_on = nodes.get(end).is_some_and(is_black_alone);
        let stones = if is_placed || !in_a_row || goes_on { before..before } else { before..end };
        Opening { nodes: before, stones }
    }
}

fn moves(node: &Node) -> bool {
    COLOURS.iter().any(|&colour| node.contains_key(colour))
}

fn is_black_alone(node: &Node) -> bool {
    let is_stone = node.get("B").is_some_and(|values| values.len() == 1 && !values[0].trim().is_empty());
    is_stone && !node.contains_key("W") && !CHANGES.iter().any(|name| changes(node, name))
}

fn number_of(node: &Node, name: &str) -> Option<usize> {
    value(node, name, "").parse().ok()
}

/// The position that a game of Go begins from: what the nodes before its first move set up. Whose turn it is PL says; where it
/// does not and there are stones, the first move, and without one it is White's after stones of Black alone.
pub fn begins(nodes: &[Node], size: usize) -> Result<Setup, String> {
    let root = nodes.first().ok_or("has no nodes")?;
    if changes(root, "AE") {
        return sets_up("AE");
    }
    let opening = Opening::of(nodes);
    let first = &nodes[..opening.nodes];
    let mut found = Setup::empty();
    for node in first {
        set_up(node, size, &mut found)?;
    }
    for node in &nodes[opening.stones.clone()] {
        let stone = stones_of(node, "B", size)?;
        if found.stones[0].contains(&stone[0]) {
            return Err("has two stones of its handicap on one point".into());
        }
        found.stones[0].extend(stone);
    }
    for stones in &mut found.stones {
        stones.sort_unstable();
    }
    let [black, white] = &found.stones;
    let has_stones = !black.is_empty() || !white.is_empty();
    if !has_stones && first.iter().any(has_handicap) {
        return Err("sets up a position (HA) without its stones (AB)".into());
    }
    let mut told = None;
    // With the stones as moves it is Black's turn, who places them.
    for node in first.iter().filter(|_| opening.stones.is_empty()) {
        told = mover_of(node)?.or(told);
    }
    let later = nodes[..opening.nodes].iter().chain(&nodes[opening.stones.end..]);
    let moved = later.into_iter().find_map(|node| COLOURS.iter().position(|&colour| node.contains_key(colour)));
    let usual = if white.is_empty() { Player::Second } else { Player::First };
    found.first = match (told, moved) {
        (Some(player), _) => player,
        (None, _) if !has_stones => Player::First,
        (None, Some(0)) => Player::First,
        (None, Some(_)) => Player::Second,
        (None, None) => usual,
    };
    Ok(found)
}

/// Puts the stones of a node on the board and takes away those that it takes away.
fn set_up(node: &Node, size: usize, board: &mut Setup) -> Result<(), String> {
    let [black, white, emptied] = ["AB", "AW", "AE"].map(|name| stones_of(node, name, size));
    let added = [black?, white?];
    let emptied = emptied?;
    if added[0].iter().any(|point| added[1].contains(point)) {
        return Err("has two stones on one point (AB, AW)".into());
    }
    // A later node may put a stone in the place of another one.
    let replaced: Vec<usize> = added.iter().flatten().chain(&emptied).copied().collect();
    for (stones, more) in board.stones.iter_mut().zip(added) {
        stones.retain(|point| !replaced.contains(point));
        stones.extend(more);
    }
    Ok(())
}

/// The points of a property, each once.
fn stones_of(node: &Node, name: &str, size: usize) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    for text in node.get(name).into_iter().flatten().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let points = points_of(text, size);
        found.extend(points.ok_or_else(|| format!("{name}: '{}' is no point of the board", short(text)))?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// An error unless the nodes before the first move set up the position that the game begins from.
pub fn check(game: &dyn Game, nodes: &[Node]) -> Result<(), String> {
    let root = nodes.first().ok_or("has no nodes")?;
    let info = game.info();
    if info.name != "go" {
        return check_later(root, Player::First);
    }
    let [_, size, _] = info.feature_shape;
    let found = begins(nodes, size)?;
    let expected = of_spec(&info.spec, size);
    if found == expected {
        return Ok(());
    }
    if expected != Setup::empty() {
        return Err(format!("begins from another position than {}", info.spec));
    }
    let first = &nodes[..Opening::of(nodes).nodes];
    let name = STONES.into_iter().find(|name| first.iter().any(|node| changes(node, name))).unwrap_or("PL");
    Err(format!("sets up a position ({name}), expected a game from the empty board"))
}

/// An error where a node changes the position or whose turn it is; HA[0], HA[1] and the PL of whose turn it is change nothing.
pub fn check_later(node: &Node, to_move: Player) -> Result<(), String> {
    if let Some(name) = CHANGES.into_iter().find(|name| changes(node, name)) {
        return sets_up(name);
    }
    if has_handicap(node) {
        return sets_up("HA");
    }
    match mover_of(node) {
        Ok(None) => Ok(()),
        Ok(Some(player)) if player == to_move => Ok(()),
        _ => sets_up("PL"),
    }
}

fn sets_up<T>(name: &str) -> Result<T, String> {
    Err(format!(
        "sets up a position ({name}), only games of Go from stones before the first move (AB, AW, PL) can be read"
    ))
}

fn changes(node: &Node, name: &str) -> bool {
    // Files have the properties without a point too, which set nothing up.
    node.get(name).is_some_and(|values| values.iter().any(|value| !value.trim().is_empty()))
}

fn has_handicap(node: &Node) -> bool {
    // Files of even games have HA[0] or HA[1]. From two on, stones stand on the board before the first move.
    !matches!(value(node, "HA", "0"), "" | "0" | "1")
}

/// Whose turn it is by PL; None where nothing says so.
fn mover_of(node: &Node) -> Result<Option<Player>, String> {
    // FF[4] has B and W. The digits and words are of older files.
    match value(node, "PL", "").to_lowercase().as_str() {
        "" => Ok(None),
        "b" | "black" | "1" => Ok(Some(Player::First)),
        "w" | "white" | "2" => Ok(Some(Player::Second)),
        other => Err(format!("PL[{}] is neither B nor W", short(other))),
    }
}

/// The points of a value: one, or a rectangle by two of its corners, `aa:cc`.
fn points_of(text: &str, size: usize) -> Option<Vec<usize>> {
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    let [from, to] = [from, to].map(|corner| point_of(corner.trim(), size, size));
    let from = from?;
    let to = to?;
    let rows = (from / size).min(to / size)..=(from / size).max(to / size);
    let columns = (from % size).min(to % size)..=(from % size).max(to % size);
    Some(rows.flat_map(|row| columns.clone().map(move |column| row * size + column)).collect())
}
