//! Pictures of a position: as text, and as a stand-alone SVG whose pieces are plain paths (no fonts, no files).

use std::fmt::Write;

use shakmaty::{Color, Piece, Position as _, Rank, Role, Square};

use super::position::Position;

const CELL: usize = 45;
const MARGIN: usize = 22;
const CAPTION: usize = 26;
const BOARD: usize = 8 * CELL;

/// The board as text with coordinates, White below; capitals are White's pieces.
pub fn text(position: &Position, caption: &str) -> String {
    let mut out = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        let _ = write!(out, "{}", rank.char());
        for square in squares_of(rank) {
            let piece = position.chess().board().piece_at(square);
            let _ = write!(out, " {}", piece.map_or('.', Piece::char));
        }
        out.push('\n');
    }
    let _ = write!(out, "  a b c d e f g h\n{caption}");
    out
}

/// The board as an SVG document: squares, coordinates, the last move and a checked king marked, pieces, caption.
pub fn svg(position: &Position, caption: &str) -> String {
    let (width, height) = (BOARD + 2 * MARGIN, BOARD + 2 * MARGIN + CAPTION);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\">\n<title>{caption}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#f6f3ee\"/>\n"
    );
    for rank in Rank::ALL.into_iter().rev() {
        for square in squares_of(rank) {
            draw_square(&mut out, position, square);
        }
    }
    draw_coordinates(&mut out);
    for (square, piece) in position.chess().board().iter() {
        draw_piece(&mut out, square, piece);
    }
    let (x, y) = (width / 2, height - 14);
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" {TEXT} font-size=\"14\">{caption}</text>\n</svg>");
    out
}

const TEXT: &str = "text-anchor=\"middle\" font-family=\"sans-serif\" fill=\"#4a4038\"";

fn squares_of(rank: Rank) -> impl Iterator<Item = Square> {
    shakmaty::File::ALL.into_iter().map(move |file| Square::from_coords(file, rank))
}

/// The upper left corner of a square.
fn corner(square: Square) -> (usize, usize) {
    (MARGIN + CELL * square.file() as usize, MARGIN + CELL * (7 - square.rank() as usize))
}

fn draw_square(out: &mut String, position: &Position, square: Square) {
    let (x, y) = corner(square);
    let is_last = position.last_move().is_some_and(|(from, to)| square == from || square == to);
    let chess = position.chess();
    let is_checked = chess.is_check() && chess.board().king_of(chess.turn()) == Some(square);
    let colour = match (is_checked, is_last, square.is_light()) {
        (true, _, _) => "#e0705f",
        (_, true, true) => "#f2e394",
        (_, true, false) => "#d6bd5a",
        (_, _, true) => "#efe2cc",
        (_, _, false) => "#b58a66",
    };
    let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{colour}\"/>");
}

fn draw_coordinates(out: &mut String) {
    for (index, file) in shakmaty::File::ALL.into_iter().enumerate() {
        let (along, edge) = (MARGIN + CELL * index + CELL / 2, MARGIN + BOARD + 15);
        let _ = writeln!(out, "<text x=\"{along}\" y=\"{edge}\" {TEXT} font-size=\"12\">{}</text>", file.char());
        let (rank, along) = (8 - index, along + 4);
        let _ = writeln!(out, "<text x=\"{}\" y=\"{along}\" {TEXT} font-size=\"12\">{rank}</text>", MARGIN / 2);
    }
}

fn draw_piece(out: &mut String, square: Square, piece: Piece) {
    let (x, y) = corner(square);
    let (fill, line, inner) = match piece.color {
        Color::White => ("#fffdf8", "#2b2622", "#2b2622"),
        Color::Black => ("#3a332e", "#14110f", "#e9dfd2"),
    };
    let (body, details) = shape(piece.role);
    let scale = CELL as f32 / 100.0;
    let _ = writeln!(
        out,
        "<g transform=\"translate({x} {y}) scale({scale})\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\
         <path d=\"{body}{BASE}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"4\"/>\
         <path d=\"{details}\" fill=\"none\" stroke=\"{inner}\" stroke-width=\"4\"/></g>"
    );
}

const BASE: &str = "M24 92V86Q24 80 30 80H70Q76 80 76 86V92Z";

/// Outline and inner lines of a piece in a square of 100 units.
fn shape(role: Role) -> (&'static str, &'static str) {
    match role {
        Role::Pawn => ("M50 22A13 13 0 0 1 58 45Q60 66 68 80H32Q40 66 42 45A13 13 0 0 1 50 22Z", "M42 47H58"),
        Role::Knight => (
            "M33 80C34 66 49 60 51 47C45 53 38 54 33 61C29 65 23 60 22 54C26 45 30 35 36 28L37 14L47 21C66 24 76 44 72 80Z",
            "M40 35L42 36M58 32C65 42 67 56 66 72",
        ),
        Role::Bishop => (
            "M50 8A6 6 0 0 1 54 19C69 32 70 46 60 58L65 80H35L40 58C30 46 31 32 46 19A6 6 0 0 1 50 8Z",
            "M50 29V45M42 37H58M40 60H60",
        ),
        Role::Rook => ("M26 18H37V26H45V18H55V26H63V18H74V35L65 42V68L70 80H30L35 68V42L26 35Z", "M35 43H65M35 67H65"),
        Role::Queen => (
            "M18 30A5 5 0 1 1 25 30L34 52L35 24A5 5 0 1 1 42 24L50 50L58 24A5 5 0 1 1 65 24L66 52L75 30A5 5 0 1 1 82 30L70 \
             68L72 80H28L30 68Z",
            "M31 68Q50 61 69 68",
        ),
        Role::King => (
            "M50 30V8M42 15H58M50 34C56 26 74 26 79 40C81 52 72 60 70 68L72 80H28L30 68C28 60 19 52 21 40C26 26 44 26 50 34Z",
            "M50 36V60M31 68Q50 61 69 68",
        ),
    }
}
