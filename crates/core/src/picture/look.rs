//! Looks of boards: their colours, and the signs of their cells in words and as SVG.

use super::escape;

/// Red of what is red: stones, and the sides of Hex that the first player connects.
pub const RED: &str = "#d8432f";
/// Blue of what is blue.
pub const BLUE: &str = "#2f5fa8";

/// The pieces of chess as Colin M. L. Burnett drew them (GPL), a sign and its SVG a line; no styles, which pages with a strict
/// policy ignore.
const PIECES: &str = include_str!("pieces.txt");
const PIECE_NAMES: [(char, &str); 6] =
    [('p', "pawn"), ('n', "knight"), ('b', "bishop"), ('r', "rook"), ('q', "queen"), ('k', "king")];

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
        let piece = PIECE_NAMES.iter().find(|(letter, _)| *letter == sign.to_ascii_lowercase());
        let words = match (self, sign) {
            (_, '.') => "empty",
            (Look::Pieces, _) if piece.is_some() => {
                let colour = if sign.is_ascii_uppercase() { "white" } else { "black" };
                return format!("{colour} {}", piece.map_or("", |(_, name)| name));
            }
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
            (Look::Pieces, _) => piece_svg(sign).to_string(),
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

fn piece_svg(sign: char) -> &'static str {
    let line = PIECES.lines().find(|line| line.starts_with(sign));
    line.and_then(|line| line.split_once(' ')).map_or("", |(_, svg)| svg)
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
