//! Looks of boards: their colours, and the signs of their cells in words and as SVG.

use super::escape;

/// Red of what is red: stones, and the sides of Hex that the first player connects.
pub const RED: &str = "#d8432f";
/// Blue of what is blue.
pub const BLUE: &str = "#2f5fa8";

/// A piece of chess in a square of `CELL` units: it stands on `FOOT`.
struct Piece {
    /// Its letter, as Black's.
    sign: char,
    /// What it is called.
    name: &'static str,
    /// Outline, filled in the colour of its side.
    body: &'static str,
    /// Lines on the body, black on a white piece and white on a black one.
    lines: &'static str,
}

/// What every piece stands on.
const FOOT: &str = "M11.5 39.5v-3q0-2 2-2h18q2 0 2 2v3z";

const PIECES: [Piece; 6] = [
    Piece {
        sign: 'p',
        name: "pawn",
        body: "M22.5 8.5a5.5 5.5 0 1 0 .01 0z M19 19h7q.8 9 5.5 15.5h-18q4.7-6.5 5.5-15.5z \
               M16.5 19.5h12q1 0 1-1t-1-1h-12q-1 0-1 1t1 1z",
        lines: "M14.5 34.5h16",
    },
    Piece {
        sign: 'n',
        name: "knight",
        body: "M15.5 34.5c-.5-6.5 6.5-9 6-15-2.5.5-4 2-5.5 4-1.3 1.8-3.3 2.3-4.7.9-1.5-1.5-1-3.3.4-5.1l3.3-4.8c.5-2.5 2-4.3 4-5l.5-3.5 \
               4 3.3c7 1.2 10.5 9.2 9.5 25.2z",
        lines: "M19.3 14.6h.02 M26.5 12.5c4 3.5 5 10 4.5 18.5",
    },
    Piece {
        sign: 'b',
        name: "bishop",
        body: "M22.5 5.5a2.6 2.6 0 1 0 .01 0z \
               M22.5 10.7c5.5 4 8 8 8 11.8 0 3-1.8 5-4.2 6l1.7 6h-11l1.7-6c-2.4-1-4.2-3-4.2-6 0-3.8 2.5-7.8 8-11.8z",
        lines: "M22.5 16v7.5 M18.8 19.7h7.4 M17.7 28.5h9.6",
    },
    Piece {
        sign: 'r',
        name: "rook",
        body: "M12.5 9h4.5v3.5h3.5v-3.5h4v3.5h3.5v-3.5h4.5v7.5l-3.5 3v11.5l2.5 3.5h-18l2.5-3.5v-11.5l-3.5-3z",
        lines: "M16.5 19.5h12 M16.5 31h12",
    },
    Piece {
        sign: 'q',
        name: "queen",
        body: "M22.5 6a2.4 2.4 0 1 0 .01 0z M8.5 11a2.4 2.4 0 1 0 .01 0z M36.5 11a2.4 2.4 0 1 0 .01 0z \
               M22.5 11l4.5 11.5 9-7.5-4.5 14.5v5h-18v-5l-4.5-14.5 9 7.5z",
        lines: "M14 29.5q8.5-3 17 0",
    },
    Piece {
        sign: 'k',
        name: "king",
        body: "M22.5 14.5v-9 M18.8 8.7h7.4 \
               M22.5 14.5c2.5-3.5 11.5-3 11.5 3.7 0 4.8-4.5 7.3-5.5 16.3h-12c-1-9-5.5-11.5-5.5-16.3 0-6.7 9-7.2 11.5-3.7z",
        lines: "M22.5 14.5c-1.8 4-1.8 8 0 13 1.8-5 1.8-9 0-13 M16.8 31h11.4",
    },
];

/// How the squares of a board are drawn; the names are those of `Customs::look`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Pieces of chess on light and dark squares.
    Pieces,
    /// Black and white stones on the crossings of lines.
    Stones,
    /// Black and white discs in green squares.
    Reversi,
    /// Red and blue stones on hexagons, each row half a cell further to the right.
    Hexagons,
    /// Red and yellow discs that fall in a blue frame.
    Discs,
    /// Crosses and noughts in squares.
    Crosses,
    /// The signs themselves.
    Letters,
}

impl Look {
    /// All looks.
    pub const ALL: [Look; 7] =
        [Look::Pieces, Look::Stones, Look::Reversi, Look::Hexagons, Look::Discs, Look::Crosses, Look::Letters];

    /// The look of this name.
    pub fn named(name: &str) -> Option<Look> {
        Look::ALL.into_iter().find(|look| look.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Look::Pieces => "pieces",
            Look::Stones => "stones",
            Look::Reversi => "reversi",
            Look::Hexagons => "hexagons",
            Look::Discs => "discs",
            Look::Crosses => "crosses",
            Look::Letters => "letters",
        }
    }

    /// Whether a move puts one stone of the mover on a square.
    pub fn has_stones(self) -> bool {
        !matches!(self, Look::Pieces | Look::Letters)
    }

    /// Colour of the board.
    pub fn ground(self) -> &'static str {
        match self {
            Look::Pieces => "#efe2cc",
            Look::Stones => "#e3bd74",
            Look::Reversi => "#4a9465",
            Look::Hexagons => "none",
            Look::Discs => BLUE,
            Look::Crosses | Look::Letters => "#f4f1ea",
        }
    }

    /// Every sign that the cells of such a board can have; none where they are any letters.
    pub fn signs(self) -> &'static str {
        match self {
            Look::Pieces => "PNBRQKpnbrqk.",
            Look::Discs => "RY.",
            Look::Letters => "",
            _ => "XO.",
        }
    }

    /// A sign in words, such as `white pawn`; `empty` where nothing stands.
    pub fn words(self, sign: char) -> String {
        if let (Look::Pieces, Some(piece)) = (self, piece_of(sign)) {
            let colour = if sign.is_ascii_uppercase() { "white" } else { "black" };
            return format!("{colour} {}", piece.name);
        }
        let words = match (self, sign) {
            (_, '.') => "empty",
            (Look::Stones, 'X') => "black stone",
            (Look::Stones, 'O') => "white stone",
            (Look::Reversi, 'X') => "black disc",
            (Look::Reversi, 'O') => "white disc",
            (Look::Hexagons, 'X') => "red stone",
            (Look::Hexagons, 'O') => "blue stone",
            (Look::Discs, 'R') => "red disc",
            (Look::Discs, 'Y') => "yellow disc",
            (Look::Crosses, 'X') => "cross",
            (Look::Crosses, 'O') => "nought",
            _ => return sign.to_string(),
        };
        words.to_string()
    }

    /// A sign as SVG, in a square of `CELL` units at the origin; empty for an empty square, which only discs draw, and for a sign that
    /// the look does not know.
    pub fn sign_svg(self, sign: char) -> String {
        let circle = |radius: u32, fill: &str, line: &str| {
            format!("<circle cx=\"22.5\" cy=\"22.5\" r=\"{radius}\" fill=\"{fill}\"{line}/>")
        };
        let ring = " stroke=\"#16140f\"";
        match (self, sign) {
            (Look::Discs, '.') => circle(18, "#f6f3ee", ""),
            (Look::Discs, 'R') => circle(18, RED, ""),
            (Look::Discs, 'Y') => circle(18, "#f2cb2e", ""),
            (Look::Stones | Look::Reversi, 'X') => circle(19, "#16140f", ring),
            (Look::Stones | Look::Reversi, 'O') => circle(19, "#fafafa", ring),
            (Look::Hexagons, 'X') => circle(17, RED, ring),
            (Look::Hexagons, 'O') => circle(17, BLUE, ring),
            (Look::Crosses, 'X') => cross("<path d=\"M9 9l27 27m0-27l-27 27\"/>"),
            (Look::Crosses, 'O') => cross("<circle cx=\"22.5\" cy=\"22.5\" r=\"14\"/>"),
            (Look::Pieces, _) => piece_svg(sign),
            (Look::Letters, sign) if sign != '.' => letter(sign),
            _ => String::new(),
        }
    }

    /// The id of a sign's drawing: capitals and small letters stay apart where ids ignore case.
    pub fn symbol_id(self, sign: char) -> String {
        let name = self.name();
        match sign {
            _ if self == Look::Letters => format!("{name}-{}", u32::from(sign)),
            '.' => format!("{name}-e"),
            _ => format!("{name}-{}{}", sign.to_lowercase(), if sign.is_uppercase() { 1 } else { 2 }),
        }
    }

    /// A `<g>` with the drawing of a sign, to be used by its id.
    pub fn symbol(self, sign: char) -> String {
        format!("<g id=\"{}\">{}</g>", self.symbol_id(sign), self.sign_svg(sign))
    }
}

/// The piece of this sign; None for other signs.
fn piece_of(sign: char) -> Option<&'static Piece> {
    PIECES.iter().find(|piece| piece.sign == sign.to_ascii_lowercase())
}

/// A piece as SVG, without styles, which pages with a strict policy ignore; empty for other signs.
fn piece_svg(sign: char) -> String {
    let Some(Piece { body, lines, .. }) = piece_of(sign) else { return String::new() };
    let (fill, line) = if sign.is_ascii_uppercase() { ("#fff", "#000") } else { ("#1d1a17", "#fff") };
    format!(
        "<g fill=\"{fill}\" stroke=\"#000\" stroke-width=\"1.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\
         <path d=\"{body} {FOOT}\"/><path d=\"{lines}\" fill=\"none\" stroke=\"{line}\"/></g>"
    )
}

fn cross(shape: &str) -> String {
    format!("<g fill=\"none\" stroke=\"#222\" stroke-width=\"4\">{shape}</g>")
}

fn letter(sign: char) -> String {
    let text = escape(&sign.to_string());
    format!(
        "<text x=\"22.5\" y=\"31\" font-family=\"sans-serif\" font-size=\"24\" text-anchor=\"middle\">{text}</text>"
    )
}
