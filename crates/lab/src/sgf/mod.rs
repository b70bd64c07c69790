//! Games on the points of a board as SGF (FF[4] and older): main lines are read, variations and comments are passed over; a review
//! is written into the text of a game (`annotate.rs`), which keeps them.

mod annotate;
mod nodes;
mod setup;
mod write;

use std::sync::Arc;

use hauteur_core::game::{Action, Game, Player};
use hauteur_core::games::go::setup::Setup;
use hauteur_core::games::make_game;

use self::setup::Opening;
use crate::pgn::words;
pub use annotate::{MoveNote, annotated};
use nodes::{Node, begin_of_tree, next_tree};
pub use write::{result_text, written};

/// Plies of a game.
const MAX_PLIES: usize = 20_000;
/// Points of the largest board of Go, 13x13.
const MAX_POINTS: f64 = 169.0;
const DRAWS: [&str; 8] = ["0", "draw", "d", "drawn", "jigo", "tie", "remis", "draw game"];
/// Of a game of which nothing more is known.
pub const RECORDED: &str = "recorded result";

/// A game that was read and played.
pub struct GameLine {
    /// Its game.
    pub game: Arc<dyn Game>,
    /// Its moves.
    pub actions: Vec<Action>,
    /// Its moves as the game writes them.
    pub moves: Vec<String>,
    /// How it ended for the first player; None where nothing says so.
    pub outcome: Option<i8>,
    /// Why it ended: by the rules, else as its result says.
    pub reason: String,
}

/// A game of a file: its tags, and its main line or why it cannot be used.
pub struct GameRead {
    /// From 1.
    pub number: usize,
    /// The properties of its first node, the first value of each.
    pub tags: Vec<(String, String)>,
    /// Its tree as it stands in the text; empty where brackets do not match.
    pub text: String,
    /// Its main line; an error is one line.
    pub played: Result<GameLine, String>,
}

/// The spec of the first game of a text. `wanted`: the name of the game that is expected, which decides between Go and NoGo
/// where the text does not. An error where it has none that can be read.
pub fn spec_of_text(text: &str, wanted: &str) -> Result<String, String> {
    let nodes = next_tree(text, 0).ok_or("no SGF: it has no (")??.1;
    spec_of(&nodes, wanted)
}

/// The games of a text. `game`: which they must be of; None: each says so itself.
pub fn read(text: &str, game: Option<&Arc<dyn Game>>) -> Vec<GameRead> {
    let mut games = Vec::new();
    let mut at = 0;
    while let Some(tree) = next_tree(text, at) {
        let number = games.len() + 1;
        let begins = begin_of_tree(text, at).unwrap_or(at);
        let nodes = match tree {
            Ok((end, nodes)) => {
                at = end;
                nodes
            }
            // Where brackets do not match nobody knows where the next game begins: to guess would make games of
            // variations.
            Err(error) => {
                let played = Err(format!("{error}; the file is not read further"));
                games.push(GameRead { number, tags: Vec::new(), text: String::new(), played });
                return games;
            }
        };
        let root = nodes.first().cloned().unwrap_or_default();
        let tags = root.into_iter().map(|(name, values)| (name, values.into_iter().next().unwrap_or_default()));
        let text = text[begins..at].to_string();
        games.push(GameRead { number, tags: tags.collect(), text, played: play(&nodes, game) });
    }
    games
}

fn value<'a>(root: &'a Node, name: &str, usual: &'a str) -> &'a str {
    root.get(name).and_then(|values| values.first()).map_or(usual, |value| value.trim())
}

/// The spec of the game that a first node describes, with the position that it sets up.
fn spec_of(nodes: &[Node], wanted: &str) -> Result<String, String> {
    let root = nodes.first().ok_or("has no nodes")?;
    // Defaults of FF[4]: Go, and 19 lines.
    let size = value(root, "SZ", "19");
    let (columns, rows) = size_of(size)?;
    // SGF has no number for NoGo, so other programs write it as Go. A komi would say that points are counted, as
    // they never are in NoGo.
    let is_nogo = is_nogo(root) || (wanted == "nogo" && value(root, "KM", "").is_empty());
    let kind = value(root, "GM", "1");
    if rows != columns && !is_nogo && matches!(kind, "1" | "4") {
        return Err(format!("is on a board SZ[{}], only NoGo is played on boards that are not square", short(size)));
    }
    match kind {
        "4" => Ok(format!("gomoku(size={rows})")),
        "1" if is_nogo && rows == columns => Ok(format!("nogo(size={rows})")),
        "1" if is_nogo => Ok(format!("nogo(rows={rows}, cols={columns})")),
        "1" => {
            let komi = komi_of(root).map_or(String::new(), |komi| format!(", komi={komi}"));
            let begins = setup::begins(nodes, rows)?;
            let position = (begins != Setup::empty()).then(|| setup::parameter(&begins, rows));
            Ok(format!("go(size={rows}{komi}{})", position.map_or(String::new(), |text| format!(", {text}"))))
        }
        kind => Err(format!("is of the game GM[{}], expected GM[1] (Go, NoGo) or GM[4] (Gomoku)", short(kind))),
    }
}

/// NoGo has no number of its own: hauteur writes it as Go with the rules NoGo, and before that without a komi.
fn is_nogo(root: &Node) -> bool {
    let is_named = ["RU", "GN"].into_iter().any(|name| value(root, name, "").eq_ignore_ascii_case("nogo"));
    let is_own = ["AP", "EV"].into_iter().any(|name| value(root, name, "").starts_with("hauteur"));
    is_named || (is_own && value(root, "KM", "").is_empty())
}

/// The komi in points, as a number is written here: `6,5` is 6.5, `375` and `3.75` are 7.5. None where there is none.
fn komi_of(root: &Node) -> Option<String> {
    // FF[4] has a dot; programs in Europe write as they count.
    let text = Some(value(root, "KM", "").replace(',', ".")).filter(|komi| !komi.is_empty())?;
    let points = text.parse().ok().and_then(points_of);
    Some(points.map_or(text, |points| points.to_string()))
}

/// Points of a komi that is written in hundredths, as Fox does, or in stones, as Chinese rules count. None where it is in
/// points.
fn points_of(komi: f64) -> Option<f64> {
    // More than the points of the largest board, so it cannot be in points.
    let has_hundredths = komi.abs() > MAX_POINTS && komi % 25.0 == 0.0;
    let given = if has_hundredths { komi / 100.0 } else { komi };
    // Points come in halves. A quarter can only be of stones, of which each counts two points: 3.75 is half of 7.5.
    let has_quarters = given * 2.0 % 1.0 != 0.0 && given * 4.0 % 1.0 == 0.0;
    match (has_hundredths, has_quarters) {
        (_, true) => Some(given * 2.0),
        (true, false) => Some(given),
        (false, false) => None,
    }
}

/// Columns and rows that SZ names.
fn size_of(text: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("is on a board SZ[{}], expected a size such as SZ[9] or SZ[4:3]", short(text));
    let number = |text: &str| {
        let digits = text.trim();
        // Digits alone: `parse` would read +9 as well, and no board has a hundred lines.
        let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().map_err(|_| wrong()) } else { Err(wrong()) }
    };
    match text.split_once(':') {
        None => number(text).map(|size: usize| (size, size)),
        Some((columns, rows)) => Ok((number(columns)?, number(rows)?)),
    }
}

fn short(text: &str) -> String {
    text.chars().take(20).collect()
}

fn play(nodes: &[Node], game: Option<&Arc<dyn Game>>) -> Result<GameLine, String> {
    let root = nodes.first().ok_or("has no nodes")?;
    let game = match game {
        Some(game) => game.clone(),
        None => Arc::from(make_game(&spec_of(nodes, "")?).map_err(|error| error.0)?),
    };
    check_root(game.as_ref(), root)?;
    setup::check(game.as_ref(), nodes)?;
    // Read before the moves: resignation or time is not seen from the board.
    let (outcome, told) = result_of(value(root, "RE", ""));
    let mut state = game.initial();
    let mut actions = Vec::new();
    let mut moves = Vec::new();
    let mut legal = Vec::new();
    // Only in Go the nodes before the first move are where the game begins.
    let opening = if game.info().name == "go" { Opening::of(nodes) } else { Opening::usual() };
    'moves: for (number, node) in nodes.iter().enumerate() {
        // Stones may be set up in the middle of a game too; a game from there would be replayed as another one.
        if opening.stones.contains(&number) {
            continue;
        }
        if number >= opening.nodes {
            setup::check_later(node, state.to_move())?;
        }
        // FF[4] forbids two moves in one node, and old files have them: they are read in the order in which the
        // players begin.
        for (player, colour) in [(Player::First, "B"), (Player::Second, "W")] {
            let Some(values) = node.get(colour) else { continue };
            let number = actions.len() + 1;
            // `B[aa]B[bb]`: nothing says which of the two was played.
            if values.len() > 1 {
                return Err(format!("has two moves in one {colour}"));
            }
            if number > MAX_PLIES {
                return Err(format!("has more than {MAX_PLIES} plies"));
            }
            if state.outcome().is_some() {
                // Two passes end a game here. Servers and rules that want three, or White's as the last one, write more.
                if nodes[number..].iter().all(|node| has_passes_alone(game.as_ref(), node)) {
                    break 'moves;
                }
                let reason = state.end_reason().unwrap_or_default();
                return Err(format!("move {number}: the game is over ({reason})"));
            }
            if state.to_move() != player {
                return Err(format!("move {number}: it is not the turn of {colour}"));
            }
            let action = action_of(game.as_ref(), values[0].trim(), number)?;
            // Nothing keeps illegal moves out of a file, and what `play` does with one is undefined.
            state.legal_actions(&mut legal);
            if !legal.contains(&action) {
                return Err(format!("move {number}: '{}' is not legal here", short(values[0].trim())));
            }
            moves.push(state.action_to_text(action, None).map_err(|error| error.0)?);
            state.play(action);
            actions.push(action);
        }
    }
    // The rules know it for sure, and RE may say no more than B+. But area counts dead stones, so that a game which
    // people have scored, or one that was given up after passes, may have another winner there.
    let agrees = outcome.is_none() || outcome == state.outcome().map(crate::position::outcome_number);
    let reason = state.end_reason().filter(|_| agrees).map_or(told, str::to_string);
    Ok(GameLine { game, actions, moves, outcome, reason })
}

/// An error unless the game is of this kind, on a board of this size and with this komi.
fn check_root(game: &dyn Game, root: &Node) -> Result<(), String> {
    let info = game.info();
    let expected = match info.name.as_str() {
        "gomoku" => "4",
        "go" | "nogo" => "1",
        name => return Err(format!("SGF is read for nogo, go, gomoku, not for {name}")),
    };
    let kind = value(root, "GM", "1");
    // The game is given by whoever reads; the file must not be read as another one on the same board.
    if kind != expected {
        return Err(format!("is of the game GM[{}], expected GM[{expected}]", short(kind)));
    }
    if info.name == "go" && is_nogo(root) {
        return Err(format!("is a game of NoGo, not of {}", info.spec));
    }
    if let ("go", Some(komi)) = (info.name.as_str(), komi_of(root)) {
        let own = write::komi_of_spec(&info.spec);
        // As numbers: 6.5 and 6.50 are one komi.
        if komi.parse::<f64>().ok() != own.parse::<f64>().ok() {
            return Err(format!("has a komi of KM[{}], expected KM[{own}]", short(value(root, "KM", ""))));
        }
    }
    let [_, rows, columns] = info.feature_shape;
    let size = value(root, "SZ", "19");
    if size_of(size)? != (columns, rows) {
        let own = write::size_text(rows, columns);
        return Err(format!("is on a board SZ[{}], expected SZ[{own}]", short(size)));
    }
    Ok(())
}

/// The point of two letters, for the column and for the row from the top; None for another text.
fn point_of(value: &str, rows: usize, columns: usize) -> Option<usize> {
    let [column, row] = value.as_bytes() else { return None };
    // A letter before `a` wraps to a number beyond every board, as capitals do, which FF[4] has for lines above
    // 26.
    let column = usize::from(column.wrapping_sub(b'a'));
    let row = usize::from(row.wrapping_sub(b'a'));
    (column < columns && row < rows).then(|| row * columns + column)
}

/// Whether all moves of a node are passes; true where it has none.
fn has_passes_alone(game: &dyn Game, node: &Node) -> bool {
    ["B", "W"].iter().filter_map(|&colour| node.get(colour)).flatten().all(|value| is_pass(game, value.trim()))
}

/// A pass is empty in FF[4]; before, it was tt on boards of at most 19 lines, where no such point is.
fn is_pass(game: &dyn Game, value: &str) -> bool {
    let info = game.info();
    let [_, rows, columns] = info.feature_shape;
    info.num_actions > rows * columns && (value.is_empty() || (value == "tt" && rows <= 19 && columns <= 19))
}

/// The action of a move: a letter for the column, one for the row from the top.
fn action_of(game: &dyn Game, value: &str, number: usize) -> Result<Action, String> {
    let info = game.info();
    let [_, rows, columns] = info.feature_shape;
    let passes = info.num_actions > rows * columns;
    if is_pass(game, value) {
        return Ok((rows * columns) as Action);
    }
    if let Some(point) = point_of(value, rows, columns) {
        return Ok(point as Action);
    }
    let why = if passes { String::new() } else { format!(" ({} has no pass)", info.name) };
    Err(format!("move {number}: '{}' is no point of the board{why}", short(value)))
}

/// Outcome and reason by RE; None where there is no winner and no draw.
fn result_of(text: &str) -> (Option<i8>, String) {
    let lower = text.trim().to_lowercase();
    if DRAWS.contains(&lower.as_str()) {
        return (Some(0), RECORDED.into());
    }
    // Not in the standard, but files of Gomoku and of converters have `1-0` and `1/2`.
    if let Some(outcome) = words::result(&lower) {
        return (outcome, RECORDED.into());
    }
    // The whole word first: `b` is the beginning of `black` as well, and no + would follow.
    for (names, outcome) in [(["black", "b"], 1), (["white", "w"], -1)] {
        let after = names.iter().find_map(|name| lower.strip_prefix(name));
        if let Some(how) = after.and_then(|rest| rest.trim_start().strip_prefix('+')) {
            return (Some(outcome), reason_of(how.trim()).into());
        }
    }
    // Void, ?, and what nobody has heard of: a game without a result can still be learned from and shown.
    (None, RECORDED.into())
}

fn reason_of(how: &str) -> &'static str {
    match how {
        "r" | "resign" | "resignation" => "resignation",
        "t" | "time" => "time",
        "f" | "forfeit" => "forfeit",
        _ => RECORDED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_line(root: &str, moves: &str) -> GameLine {
        read(&format!("(;GM[1]FF[4]SZ[9]{root};{moves})"), None).remove(0).played.unwrap()
    }

    #[test]
    fn a_komi_in_hundredths_or_in_stones_is_read_in_points() {
        for (komi, points) in [("375", "7.5"), ("3.75", "7.5"), ("3,75", "7.5"), ("650", "6.5"), ("2.75", "5.5")] {
            let line = only_line(&format!("KM[{komi}]"), "B[ee];W[cc]");
            assert_eq!(write::komi_of_spec(&line.game.info().spec).parse::<f64>(), points.parse::<f64>(), "{komi}");
        }
        for (komi, points) in
            [("6.5", None), ("0", None), ("-7", None), ("100", None), ("6.3", None), ("900", Some(9.0))]
        {
            assert_eq!(points_of(komi.parse().unwrap()), points, "{komi}");
        }
        assert!(points_of(f64::NAN).is_none() && points_of(f64::INFINITY).is_none());
    }

    #[test]
    fn why_a_game_ended_agrees_with_its_result() {
        // White wins by area and komi.
        for (result, reason) in [("W+5.5", "more area"), ("B+R", "resignation"), ("B+3.5", RECORDED), ("", "more area")]
        {
            assert_eq!(only_line(&format!("KM[5.5]RE[{result}]"), "B[ee];W[cc];B[];W[]").reason, reason, "{result}");
        }
    }
}
