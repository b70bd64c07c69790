//! What is drawn on an empty board: dark squares, lines, hexagons.

use std::fmt::Write;

use super::look::{BLUE, RED};
use super::{Board, CELL, LEFT, Look, TOP};

const HEXAGON: &str = "#f0e6d2";

impl Board {
    /// Dark squares, hexagons, or the lines of a grid.
    pub(super) fn pattern(&self) -> String {
        match self.look {
            Look::Discs => String::new(),
            Look::Hexagons => self.hexagons(),
            Look::Pieces => self.dark_squares(),
            Look::Stones => self.lines(CELL as f64 / 2.0, 0),
            Look::Reversi | Look::Crosses | Look::Letters => self.lines(0.0, 1),
        }
    }

    fn dark_squares(&self) -> String {
        let columns = self.columns();
        let is_dark = |square: &usize| (square / columns + square % columns + self.rows()) % 2 == 1;
        let mut path = String::new();
        for square in (0..self.cells.signs.len()).filter(is_dark) {
            let (x, y) = self.corner(square, false);
            let _ = write!(path, "M{x} {y}h{CELL}v{CELL}h-{CELL}z");
        }
        format!("<path fill=\"#b58a66\" d=\"{path}\"/>")
    }

    /// Lines `inset` units within the borders of the cells, from the row and the column `first` on.
    fn lines(&self, inset: f64, first: usize) -> String {
        let number = |value: usize, inset: f64| {
            let value = value as f64 + inset;
            if inset == 0.0 { format!("{value}") } else { format!("{value:?}") }
        };
        let left = number(LEFT, inset);
        let top = number(TOP, inset);
        let right = number(LEFT + self.columns() * CELL, -inset);
        let below = number(TOP + self.rows() * CELL, -inset);
        let mut path = String::new();
        for row in first..self.rows() {
            let _ = write!(path, "M{left} {}H{right}", number(TOP + CELL * row, inset));
        }
        for column in first..self.columns() {
            let _ = write!(path, "M{} {top}V{below}", number(LEFT + CELL * column, inset));
        }
        format!("<path stroke=\"#444\" stroke-width=\"1.5\" d=\"{path}\"/>")
    }

    /// The cells of a slanted board, in half units, and its sides in the colours of who connects them.
    fn hexagons(&self) -> String {
        let side = 2 * CELL;
        let bottom = self.rows() - 1;
        let right = self.columns() - 1;
        let half = side / 2;
        let third = side / 3;
        let at = |row: usize, column: usize| {
            format!("M{} {}", 2 * LEFT + side * column + half * row, 2 * TOP + side * row + third / 2)
        };
        let upper = format!("l{half}-{third} {half} {third}");
        let down = format!("v{}", 2 * third);
        let [mut cells, mut red, mut low, mut blue, mut far, mut slopes]: [String; 6] = Default::default();
        for row in 0..=bottom {
            for column in 0..=right {
                cells += &format!("{}{upper}{down}l-{half} {third}-{half}-{third}z", at(row, column));
            }
            let slope = if row < bottom { format!("l{half} {third}") } else { String::new() };
            blue += &format!("{}{down}{slope}", at(row, 0));
            far += &format!("{}m{side} {}v-{}", at(row, right), 2 * third, 2 * third);
            if row > 0 {
                slopes += &format!("{}m{side} 0l-{half}-{third}", at(row, right));
            }
        }
        for column in 0..=right {
            red += &format!("{}{upper}", at(0, column));
            low += &format!("{}m0 {}l{half} {third} {half}-{third}", at(bottom, column), 2 * third);
        }
        format!(
            "<g transform=\"scale(.5)\" fill=\"none\"><path fill=\"{HEXAGON}\" stroke=\"#444\" stroke-width=\"3\" d=\"{cells}\"/>\
             <g stroke-width=\"10\" stroke-linejoin=\"round\"><path stroke=\"{BLUE}\" d=\"{blue}{far}{slopes}\"/>\
             <path stroke=\"{RED}\" d=\"{red}{low}\"/></g></g>"
        )
    }
}
