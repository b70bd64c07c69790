//! The one drawing of a board: the cells of a position as a stand-alone SVG document, and where its squares lie.

mod look;
mod pattern;

use std::collections::BTreeSet;
use std::fmt::Write;

pub use look::Look;

use crate::game::{Cells, Game, Outcome, Player, State};

/// Side of a square in the units of the drawing.
pub const CELL: usize = 45;
/// Margin for the labels of rows.
pub const LEFT: usize = 24;
/// Margin above the board.
pub const TOP: usize = 12;
/// Margin for the labels of columns and the caption.
const BOTTOM: usize = 44;
/// Margin at the right.
const RIGHT: usize = 12;
const LAST_MOVE: &str = "#e8c63c";
const IN_CHECK: &str = "#e0705f";
const LABELS: &str = r##"font-family="sans-serif" text-anchor="middle" fill="#4a4038""##;

/// The look of a position on a rectangular board.
#[derive(Clone, Debug)]
pub struct Board {
    /// How its squares are drawn.
    pub look: Look,
    /// What stands on them.
    pub cells: Cells,
    /// The line below: whose turn it is, or how the game ended.
    pub caption: String,
    /// Squares of the last move.
    pub last: Vec<usize>,
}

/// The board of a position; an error says, in words that follow "because", why it has none. `last`: squares of the last move.
pub fn board_of(game: &dyn Game, state: &dyn State, last: Vec<usize>) -> Result<Board, String> {
    let look = Look::named(&game.customs().look).ok_or("the game has a drawing of its own, svg()")?;
    let cells = state.cells()?;
    Ok(Board { look, cells, caption: state.caption(), last })
}

/// A position as a stand-alone SVG document; a game without a board of cells is drawn by itself. `flip`: seen from the second player's
/// side.
pub fn svg(game: &dyn Game, state: &dyn State, last: Vec<usize>, flip: bool) -> String {
    board_of(game, state, last).map_or_else(|_| own_svg(state), |board| board.svg(flip))
}

/// The drawing of a game without a board of cells: its own one, or its text.
pub fn own_svg(state: &dyn State) -> String {
    state.own_svg().unwrap_or_else(|| text_as_svg(&state.text()))
}

/// `1-0`, `1/2-1/2` or `0-1`.
pub fn result_text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Player::First) => "1-0",
        Outcome::Draw => "1/2-1/2",
        Outcome::Win(Player::Second) => "0-1",
    }
}

/// The result with its reason, `1-0 (checkmate)`; None while the game goes on.
pub fn result(state: &dyn State) -> Option<String> {
    let text = result_text(state.outcome()?);
    Some(state.end_reason().map_or_else(|| text.to_string(), |reason| format!("{text} ({reason})")))
}

/// Whose turn it is, or the result with its reason: `White to move`, `1-0 (checkmate)`.
pub fn status(state: &dyn State) -> String {
    let turn = || {
        let caption = Some(state.caption()).filter(|caption| caption.ends_with("to move"));
        caption.unwrap_or_else(|| format!("{} player to move", ["first", "second"][state.to_move() as usize]))
    };
    result(state).unwrap_or_else(turn)
}

impl Board {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.cells.row_labels.len()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.cells.column_labels.len()
    }

    /// Width and height of the drawing.
    pub fn size(&self) -> (usize, usize) {
        let width = LEFT + self.columns() * CELL + self.slant(self.rows() - 1) + RIGHT;
        (width, TOP + self.rows() * CELL + BOTTOM)
    }

    /// How far a row lies to the right of the top one: hexagons half a cell a row.
    pub fn slant(&self, row: usize) -> usize {
        if self.look == Look::Hexagons { row * CELL / 2 } else { 0 }
    }

    /// Upper left corner of a square; `flip`: the board seen from the other side.
    pub fn corner(&self, square: usize, flip: bool) -> (usize, usize) {
        let seen = if flip { self.cells.signs.len() - 1 - square } else { square };
        let row = seen / self.columns();
        (LEFT + seen % self.columns() * CELL + self.slant(row), TOP + row * CELL)
    }

    /// Name of a square, such as e4; row and column where there are no labels.
    pub fn square_name(&self, square: usize) -> String {
        let row = square / self.columns();
        let column = square % self.columns();
        let name = format!("{}{}", self.cells.column_labels[column], self.cells.row_labels[row]);
        if name.is_empty() { format!("row {} column {}", row + 1, column + 1) } else { name }
    }

    /// What stands on a square, in words.
    pub fn words(&self, square: usize) -> String {
        self.look.words(self.cells.signs[square])
    }

    /// Squares that choose an action with these squares first: for discs all of the column, else the first one.
    pub fn area(&self, squares: &[usize]) -> Vec<usize> {
        match (squares.first(), self.look) {
            (None, _) => Vec::new(),
            (Some(first), Look::Discs) => {
                (first % self.columns()..self.cells.signs.len()).step_by(self.columns()).collect()
            }
            (Some(first), _) => vec![*first],
        }
    }

    /// The board as a stand-alone SVG document: the last move and a king in check marked, pieces, caption.
    pub fn svg(&self, flip: bool) -> String {
        let (width, height) = self.size();
        let middle = LEFT as f64 + (self.columns() * CELL + self.slant(self.rows() - 1)) as f64 / 2.0;
        let caption = escape(&self.caption);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             class=\"board\" role=\"img\"><title>{caption}</title><defs>"
        );
        // Each sign is drawn once and used by its id. In order, so that equal positions are equal documents.
        let signs: BTreeSet<char> = self.cells.signs.iter().copied().collect();
        signs.into_iter().for_each(|sign| out += &self.look.symbol(sign));
        out += "</defs>";
        out += &self.ground(flip);
        self.last.iter().for_each(|square| out += &self.mark(*square, LAST_MOVE, flip));
        self.cells.checked.iter().for_each(|square| out += &self.mark(*square, IN_CHECK, flip));
        for (square, &sign) in self.cells.signs.iter().enumerate() {
            if sign != '.' || self.look == Look::Discs {
                let (x, y) = self.corner(square, flip);
                let _ = write!(out, "<use href=\"#{}\" x=\"{x}\" y=\"{y}\"/>", self.look.symbol_id(sign));
            }
        }
        let below = height - 8;
        let _ = writeln!(out, "<text x=\"{middle:?}\" y=\"{below}\" {LABELS} font-size=\"14\">{caption}</text></svg>");
        out
    }

    /// A square in a colour.
    fn mark(&self, square: usize, colour: &str, flip: bool) -> String {
        let (x, y) = self.corner(square, flip);
        let round = if self.look == Look::Hexagons { format!(" rx=\"{}\"", CELL / 2) } else { String::new() };
        let place = format!("x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\"{round}");
        format!("<rect {place} fill=\"{colour}\" opacity=\".75\"/>")
    }

    /// The empty board with its labels.
    pub fn ground(&self, flip: bool) -> String {
        let (width, height) = self.size();
        let wide = self.columns() * CELL;
        let high = self.rows() * CELL;
        let ground = self.look.ground();
        let pattern = self.pattern();
        let labels = self.labels(flip);
        format!(
            "<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#f6f3ee\"/>\
             <rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{wide}\" height=\"{high}\" fill=\"{ground}\"/>{pattern}\
             <g {LABELS} font-size=\"12\">{labels}</g>"
        )
    }

    fn labels(&self, flip: bool) -> String {
        let half = CELL as f64 / 2.0;
        let rows = self.rows();
        let columns = self.columns();
        let mut out = String::new();
        for row in 0..rows {
            let text = escape(&self.cells.row_labels[if flip { rows - 1 - row } else { row }]);
            let x = LEFT as f64 / 2.0 + self.slant(row) as f64;
            let y = (TOP + CELL * row) as f64 + half + 5.0;
            let _ = write!(out, "<text x=\"{x:?}\" y=\"{y:?}\">{text}</text>");
        }
        let y = TOP + rows * CELL + if self.look == Look::Hexagons { 22 } else { 16 };
        for column in 0..columns {
            let text = escape(&self.cells.column_labels[if flip { columns - 1 - column } else { column }]);
            let x = (LEFT + self.slant(rows - 1) + CELL * column) as f64 + half;
            let _ = write!(out, "<text x=\"{x:?}\" y=\"{y}\">{text}</text>");
        }
        out
    }
}

/// A text in which HTML's signs are written out.
pub fn escape(text: &str) -> String {
    let pairs = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#x27;")];
    pairs.iter().fold(text.to_string(), |text, (sign, written)| text.replace(*sign, written))
}

/// Lines of text as an SVG document: the drawing of a game that has nothing else.
pub fn text_as_svg(text: &str) -> String {
    let width = 20 + 9 * text.lines().map(|line| line.chars().count()).max().unwrap_or(1);
    let height = 20 + 18 * text.lines().count();
    let mut spans = String::new();
    for (number, line) in text.lines().enumerate() {
        let _ = writeln!(spans, "<text x=\"10\" y=\"{}\">{}</text>", 24 + 18 * number, escape(line));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"15\" xml:space=\"preserve\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{spans}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;

    #[test]
    fn pieces_the_last_move_and_a_king_in_check_are_drawn() {
        let game = make_game("chess").unwrap();
        let mut state = game.initial();
        state.play(state.action_from_text("e2e4").unwrap());
        let drawn = svg(game.as_ref(), state.as_ref(), vec![52, 36], true);
        let count = |part: &str| drawn.matches(part).count();
        assert_eq!((count("<use "), count(LAST_MOVE), count(IN_CHECK)), (32, 2, 0));
        let game = make_game("minichess(fen=k4/5/5/5/R3K b - - 0 1)").unwrap();
        let drawn = svg(game.as_ref(), game.initial().as_ref(), Vec::new(), false);
        let king = format!("<rect x=\"24\" y=\"12\" width=\"45\" height=\"45\" fill=\"{IN_CHECK}\" opacity=\".75\"/>");
        assert!(drawn.contains(&king), "{drawn}");
    }

    #[test]
    fn every_sign_of_a_look_is_drawn_and_has_words() {
        for look in Look::ALL {
            assert_eq!(Look::named(look.name()), Some(look));
            for sign in look.signs().chars().filter(|sign| *sign != '.') {
                assert!(
                    look.sign_svg(sign).starts_with('<') && look.words(sign).contains(char::is_alphabetic),
                    "{sign}"
                );
            }
        }
    }
}
