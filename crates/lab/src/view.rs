//! A position as the board of a page takes it (`python/hauteur/web/static/board.js`).

use std::collections::HashMap;

use hauteur_core::game::Action;
use hauteur_core::picture::{Board, CELL, own_svg};
use serde_json::{Value as Json, json};

use crate::position::Position;

/// Pieces in the order in which a promotion offers them.
const OFFERED: &str = "QRBN";

/// The fields that `hauteur.web.positions.position_view` has, with the same meanings.
pub fn position_view(position: &Position, flip: bool) -> Json {
    let board = position.board();
    let squares = |board: &Board| -> Vec<Json> {
        let square = |number: usize| {
            let (x, y) = board.corner(number, flip);
            json!({ "name": board.square_name(number), "text": board.words(number), "x": x, "y": y })
        };
        (0..board.cells.signs.len()).map(square).collect()
    };
    json!({
        "game": position.spec(),
        "ply": position.state.ply(),
        "to_move": position.to_move(),
        "outcome": position.outcome(),
        "caption": position.caption(),
        "notation": position.state.notation(),
        // A game without a board of cells draws itself, and its moves are buttons.
        "svg": board.as_ref().map_or_else(|| own_svg(position.state.as_ref()), |board| board.svg(flip)),
        "frame": board.as_ref().map(|board| [board.size().0, board.size().1, CELL]),
        "squares": board.as_ref().map_or(Vec::new(), squares),
        "last": board.as_ref().map_or(Vec::new(), |board| board.last.clone()),
        "flip": flip,
        "actions": actions(position, board.as_ref()),
        "stone": board.as_ref().filter(|board| board.look.has_stones()).and_then(|_| stone(position)),
    })
}

/// What the player to move puts on a square; None where no action puts anything.
fn stone(position: &Position) -> Option<Json> {
    let puts = |action: Action| match position.squares(action).as_slice() {
        [square] => Some((action, *square)),
        _ => None,
    };
    // One action is enough: on a board of stones the mover puts the same stone on every square.
    let (action, square) = position.legal().into_iter().find_map(puts)?;
    let standing = standing(position, action, square);
    Some(json!({ "text": standing["text"], "svg": standing["svg"] }))
}

fn actions(position: &Position, board: Option<&Board>) -> Vec<Json> {
    let found: Vec<(Action, Vec<usize>)> = position
        .legal()
        .into_iter()
        .map(|action| (action, board.map_or(Vec::new(), |_| position.squares(action))))
        .collect();
    // Promotions have the same two squares. Only these are played for a view of what stands there after them, since
    // that costs a position and a board for each.
    let mut shared: HashMap<&[usize], usize> = HashMap::new();
    for (_, squares) in &found {
        *shared.entry(squares).or_default() += 1;
    }
    let view = |(action, squares): &(Action, Vec<usize>)| {
        let area = board.map_or(Vec::new(), |board| board.area(squares));
        let mut view = json!({ "a": action, "text": position.text(*action), "squares": squares, "area": area });
        if let Some(last) = squares.last().filter(|_| shared[squares.as_slice()] > 1) {
            view["stands"] = standing(position, *action, *last);
        }
        view
    };
    found.iter().map(view).collect()
}

/// What stands on a square after an action.
fn standing(position: &Position, action: Action, square: usize) -> Json {
    let Ok(after) = position.after(action) else { return Json::Null };
    let Some(board) = after.board() else { return Json::Null };
    let sign = board.cells.signs[square];
    let rank = OFFERED.find(sign.to_ascii_uppercase()).map_or(-1, |rank| rank as i64);
    json!({ "text": board.words(square), "svg": board.look.sign_svg(sign), "rank": rank })
}
