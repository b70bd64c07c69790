//! Boards as pictures, from the signs of a position's text; how signs are drawn is decided by the package (`facts.looks`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hauteur_core::game::Action;
use serde::Deserialize;

use crate::position::Position;

/// Side of a square in the units of the drawing.
pub const CELL: usize = 45;
/// Margin for the labels of rows.
const LEFT: usize = 24;
/// Margin above the board.
const TOP: usize = 12;
/// Margin for the labels of columns and the caption.
const BOTTOM: usize = 44;
/// Squares of a board that is drawn from the letters of a text.
const MOST_SIGNS: usize = 1000;
/// Looks of games whose moves put one stone of the mover on a square.
const OF_STONES: [&str; 5] = ["stones", "reversi", "hexagons", "discs", "crosses"];
const LAST_MOVE: &str = "#e8c63c";
const RED: &str = "#d8432f";
const BLUE: &str = "#2f5fa8";
const HEXAGON: &str = "#f0e6d2";
const LABELS: &str = r##"font-family="sans-serif" text-anchor="middle" fill="#4a4038""##;

/// A look of boards, as the package has it.
#[derive(Debug, Deserialize)]
pub struct Look {
    /// Colour of the board.
    pub ground: String,
    /// Signs in words.
    pub names: BTreeMap<String, String>,
    /// Signs as SVG, in a square of `CELL` units.
    pub signs: BTreeMap<String, String>,
}

/// Looks by name.
pub type Looks = BTreeMap<String, Look>;

/// The look of a position on a rectangular board.
pub struct Board<'a> {
    name: String,
    look: &'a Look,
    /// One sign a square, row by row from the top; `.` where it is empty.
    pub cells: Vec<char>,
    row_labels: Vec<String>,
    column_labels: Vec<String>,
    caption: String,
    /// Squares of the last move.
    pub last: Vec<usize>,
}

/// The board of a position; None where its game has no board of cells.
pub fn board_of<'a>(position: &Position, looks: &'a Looks) -> Option<Board<'a>> {
    let name = position.game.customs().look;
    let [_, rows, columns] = position.game.info().feature_shape;
    let look = looks.get(&name)?;
    let text = position.state.text();
    let lines: Vec<&str> = text.lines().collect();
    let grid: Vec<Vec<&str>> = lines.iter().take(rows).map(|line| line.split_whitespace().collect()).collect();
    let width = grid.first().map_or(0, Vec::len);
    let fits = grid.len() == rows && (width == columns || width == columns + 1);
    let of_signs =
        |line: &Vec<&str>| line.len() == width && line[width - columns..].iter().all(|sign| sign.chars().count() == 1);
    if !fits || !grid.iter().all(of_signs) || (name == "letters" && !(2..=MOST_SIGNS).contains(&(rows * columns))) {
        return None;
    }
    let labelled = width > columns;
    let has_end = labelled && lines.len() > rows + 1;
    let below: Vec<&str> = if has_end { lines[rows].split_whitespace().collect() } else { Vec::new() };
    Some(Board {
        look,
        cells: grid.iter().flat_map(|line| &line[width - columns..]).flat_map(|sign| sign.chars()).collect(),
        row_labels: grid.iter().map(|line| if labelled { line[0].into() } else { String::new() }).collect(),
        column_labels: match below.len() == columns {
            true => below.into_iter().map(String::from).collect(),
            false => vec![String::new(); columns],
        },
        caption: match has_end {
            true => lines[lines.len() - 1].to_string(),
            false => position.caption(),
        },
        last: last_squares(position),
        name,
    })
}

/// Squares of the move that led to a position.
fn last_squares(position: &Position) -> Vec<usize> {
    let Some((&last, before)) = position.moves.split_last() else { return Vec::new() };
    action_squares(&position.back_to(before.len()), last)
}

/// Squares of a legal action: from and to, or one, or none.
pub fn action_squares(position: &Position, action: Action) -> Vec<usize> {
    position.state.squares(action, position.game.info())
}

/// A position as a stand-alone SVG document, the last move marked; `flip`: seen from the second player's side.
pub fn board_svg(position: &Position, board: Option<&Board>, flip: bool) -> String {
    let Some(board) = board else { return position.state.svg() };
    let (width, height) = board.size();
    let middle = LEFT as f64 + (board.columns() * CELL + board.slant(board.rows() - 1)) as f64 / 2.0;
    let caption = escape(&board.caption);
    let signs: BTreeSet<char> = board.cells.iter().copied().collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         class=\"board\" role=\"img\"><title>{caption}</title><defs>"
    );
    for sign in signs {
        let _ = write!(svg, "<g id=\"{}\">{}</g>", board.symbol_id(sign), board.sign_svg(sign));
    }
    svg += "</defs>";
    svg += &board.ground(flip);
    for &square in &board.last {
        let (x, y) = board.corner(square, flip);
        let round = if board.has_hexagons() { format!(" rx=\"{}\"", CELL / 2) } else { String::new() };
        let place = format!("x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\"{round}");
        let _ = write!(svg, "<rect {place} fill=\"{LAST_MOVE}\" opacity=\".75\"/>");
    }
    for (square, &sign) in board.cells.iter().enumerate() {
        if sign != '.' || board.name == "discs" {
            let (x, y) = board.corner(square, flip);
            let _ = write!(svg, "<use href=\"#{}\" x=\"{x}\" y=\"{y}\"/>", board.symbol_id(sign));
        }
    }
    let _ =
        writeln!(svg, "<text x=\"{middle:?}\" y=\"{}\" {LABELS} font-size=\"14\">{caption}</text></svg>", height - 8);
    svg
}

impl Board<'_> {
    fn rows(&self) -> usize {
        self.row_labels.len()
    }

    fn columns(&self) -> usize {
        self.column_labels.len()
    }

    /// Width and height of the drawing.
    pub fn size(&self) -> (usize, usize) {
        (LEFT + self.columns() * CELL + self.slant(self.rows() - 1) + 12, TOP + self.rows() * CELL + BOTTOM)
    }

    fn has_hexagons(&self) -> bool {
        self.name == "hexagons"
    }

    /// Whether a move puts one stone of the mover on a square.
    pub fn has_stones(&self) -> bool {
        OF_STONES.contains(&self.name.as_str())
    }

    /// How far a row lies to the right of the top one: hexagons half a cell a row.
    fn slant(&self, row: usize) -> usize {
        if self.has_hexagons() { row * CELL / 2 } else { 0 }
    }

    /// Upper left corner of a square.
    pub fn corner(&self, square: usize, flip: bool) -> (usize, usize) {
        let seen = if flip { self.cells.len() - 1 - square } else { square };
        let row = seen / self.columns();
        (LEFT + seen % self.columns() * CELL + self.slant(row), TOP + row * CELL)
    }

    /// Name of a square, such as e4; row and column where there are no labels.
    pub fn square_name(&self, square: usize) -> String {
        let (row, column) = (square / self.columns(), square % self.columns());
        match format!("{}{}", self.column_labels[column], self.row_labels[row]) {
            name if name.is_empty() => format!("row {} column {}", row + 1, column + 1),
            name => name,
        }
    }

    /// What stands on a square, in words.
    pub fn words(&self, square: usize) -> String {
        match self.cells[square] {
            '.' => "empty".into(),
            sign => self.look.names.get(&sign.to_string()).cloned().unwrap_or_else(|| sign.to_string()),
        }
    }

    /// Squares that choose an action with these squares first: of discs all of the column.
    pub fn area(&self, squares: &[usize]) -> Vec<usize> {
        match (squares.first(), self.name.as_str()) {
            (None, _) => Vec::new(),
            (Some(first), "discs") => (first % self.columns()..self.cells.len()).step_by(self.columns()).collect(),
            (Some(first), _) => vec![*first],
        }
    }

    /// Whether pieces of chess are drawn on it.
    pub fn has_pieces(&self) -> bool {
        self.name == "pieces"
    }

    /// A sign as SVG.
    pub fn sign_svg(&self, sign: char) -> String {
        if let Some(drawn) = self.look.signs.get(&sign.to_string()) {
            return drawn.clone();
        }
        if sign == '.' || self.name != "letters" {
            return String::new();
        }
        let text = escape(&sign.to_string());
        format!(
            "<text x=\"22.5\" y=\"31\" font-family=\"sans-serif\" font-size=\"24\" text-anchor=\"middle\">{text}</text>"
        )
    }

    fn symbol_id(&self, sign: char) -> String {
        match sign {
            _ if self.name == "letters" => format!("letters-{}", sign as u32),
            '.' => format!("{}-e", self.name),
            _ => format!("{}-{}{}", self.name, sign.to_lowercase(), if sign.is_uppercase() { 1 } else { 2 }),
        }
    }

    fn ground(&self, flip: bool) -> String {
        let (width, height) = self.size();
        let (wide, high) = (self.columns() * CELL, self.rows() * CELL);
        let mut labels = String::new();
        let mut label = |x: f64, y: String, text: &str| {
            let _ = write!(labels, "<text x=\"{x:?}\" y=\"{y}\">{}</text>", escape(text));
        };
        for row in 0..self.rows() {
            let text = &self.row_labels[if flip { self.rows() - 1 - row } else { row }];
            let y = (TOP + CELL * row) as f64 + CELL as f64 / 2.0 + 5.0;
            label(LEFT as f64 / 2.0 + self.slant(row) as f64, format!("{y:?}"), text);
        }
        for column in 0..self.columns() {
            let text = &self.column_labels[if flip { self.columns() - 1 - column } else { column }];
            let x = (LEFT + self.slant(self.rows() - 1) + CELL * column) as f64 + CELL as f64 / 2.0;
            label(x, (TOP + high + if self.has_hexagons() { 22 } else { 16 }).to_string(), text);
        }
        format!(
            "<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#f6f3ee\"/>\
             <rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{wide}\" height=\"{high}\" fill=\"{}\"/>{}\
             <g {LABELS} font-size=\"12\">{labels}</g>",
            self.look.ground,
            self.pattern()
        )
    }

    /// The cells of a slanted board, in half units, and its sides in the colours of who connects them.
    fn hexagons(&self) -> String {
        let (side, bottom, right) = (2 * CELL, self.rows() - 1, self.columns() - 1);
        let (half, third) = (side / 2, side / 3);
        let at = |row: usize, column: usize| {
            format!("M{} {}", 2 * LEFT + side * column + half * row, 2 * TOP + side * row + third / 2)
        };
        let (upper, down) = (format!("l{half}-{third} {half} {third}"), format!("v{}", 2 * third));
        let [mut cells, mut red, mut low, mut blue, mut far, mut slopes]: [String; 6] = Default::default();
        let add = |path: &mut String, text: String| path.push_str(&text);
        for row in 0..=bottom {
            for column in 0..=right {
                add(&mut cells, format!("{}{upper}{down}l-{half} {third}-{half}-{third}z", at(row, column)));
            }
            let slope = if row < bottom { format!("l{half} {third}") } else { String::new() };
            add(&mut blue, format!("{}{down}{slope}", at(row, 0)));
            add(&mut far, format!("{}m{side} {}v-{}", at(row, right), 2 * third, 2 * third));
            if row > 0 {
                add(&mut slopes, format!("{}m{side} 0l-{half}-{third}", at(row, right)));
            }
        }
        for column in 0..=right {
            add(&mut red, format!("{}{upper}", at(0, column)));
            add(&mut low, format!("{}m0 {}l{half} {third} {half}-{third}", at(bottom, column), 2 * third));
        }
        format!(
            "<g transform=\"scale(.5)\" fill=\"none\"><path fill=\"{HEXAGON}\" stroke=\"#444\" stroke-width=\"3\" d=\"{cells}\"/>\
             <g stroke-width=\"10\" stroke-linejoin=\"round\"><path stroke=\"{BLUE}\" d=\"{blue}{far}{slopes}\"/>\
             <path stroke=\"{RED}\" d=\"{red}{low}\"/></g></g>"
        )
    }

    /// Dark squares, or the lines of a grid.
    fn pattern(&self) -> String {
        let mut path = String::new();
        match self.name.as_str() {
            "discs" => return path,
            "hexagons" => return self.hexagons(),
            "pieces" => {
                let columns = self.columns();
                let is_dark = |square: &usize| (square / columns + square % columns + self.rows()) % 2 == 1;
                for square in (0..self.cells.len()).filter(is_dark) {
                    let (x, y) = self.corner(square, false);
                    let _ = write!(path, "M{x} {y}h{CELL}v{CELL}h-{CELL}z");
                }
                return format!("<path fill=\"#b58a66\" d=\"{path}\"/>");
            }
            _ => {}
        }
        let on_points = self.name == "stones";
        let number = |value: f64| if on_points { format!("{value:?}") } else { format!("{value}") };
        let (inset, first) = if on_points { (CELL as f64 / 2.0, 0) } else { (0.0, 1) };
        let (left, top) = (LEFT as f64 + inset, TOP as f64 + inset);
        let right = (LEFT + self.columns() * CELL) as f64 - inset;
        let below = (TOP + self.rows() * CELL) as f64 - inset;
        for row in first..self.rows() {
            let _ = write!(path, "M{} {}H{}", number(left), number(top + (CELL * row) as f64), number(right));
        }
        for column in first..self.columns() {
            let _ = write!(path, "M{} {}V{}", number(left + (CELL * column) as f64), number(top), number(below));
        }
        format!("<path stroke=\"#444\" stroke-width=\"1.5\" d=\"{path}\"/>")
    }
}

/// A text in which HTML's signs are written out.
pub fn escape(text: &str) -> String {
    let pairs = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#x27;")];
    pairs.iter().fold(text.to_string(), |text, (sign, written)| text.replace(*sign, written))
}
