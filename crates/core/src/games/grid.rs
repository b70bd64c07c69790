//! What games on a rectangular grid share: symmetries, squares out of bit sets, drawings as text and as SVG.

use std::fmt::Write;

use super::bits::Bits;
use crate::game::{Action, GameError, Outcome, Player, State, Symmetry};

/// The player to move after this many plies, in games where the players take turns.
#[inline]
pub fn alternating(ply: u8) -> Player {
    if ply & 1 == 0 { Player::First } else { Player::Second }
}

/// Square permutations of a grid, identity first: eight for a square one, four for a rectangle.
///
/// Entry `i` of a permutation is the old square (row * columns + column) that comes to square `i`.
pub fn grid_symmetries(rows: usize, columns: usize) -> Vec<Vec<u32>> {
    let transpose = if rows == columns { &[false, true][..] } else { &[false][..] };
    let mut all = Vec::new();
    for &swap in transpose {
        for flip_rows in [false, true] {
            for flip_columns in [false, true] {
                all.push(permutation(rows, columns, swap, flip_rows, flip_columns));
            }
        }
    }
    all
}

/// The symmetries of a grid in a game with an action a square, then `more` actions that no symmetry changes (to pass).
pub fn point_symmetries(rows: usize, columns: usize, more: usize) -> Vec<Symmetry> {
    grid_symmetries(rows, columns).into_iter().map(|squares| symmetry_of(squares, more)).collect()
}

/// The symmetry of these squares, whose numbers are those of the actions, then `more` actions that stay what they are.
pub fn symmetry_of(squares: Vec<u32>, more: usize) -> Symmetry {
    let others = (squares.len()..squares.len() + more).map(|action| action as Action);
    Symmetry { actions: squares.iter().map(|&s| s as Action).chain(others).collect(), squares }
}

/// Writes sets of squares as planes of zeros and ones, one after another.
pub fn write_sets<const W: usize>(planes: &mut [f32], squares: usize, sets: &[Bits<W>]) {
    for (plane, set) in planes.chunks_exact_mut(squares).zip(sets) {
        for (part, word) in plane.chunks_mut(64).zip(set.0) {
            write_plane(part, word);
        }
    }
}

/// One symmetry: new square (r, c) shows the old one reached by the flips, then by the transposition.
fn permutation(rows: usize, columns: usize, swap: bool, flip_rows: bool, flip_columns: bool) -> Vec<u32> {
    let old_square = |square: usize| {
        let (r, c) = (square / columns, square % columns);
        let r = if flip_rows { rows - 1 - r } else { r };
        let c = if flip_columns { columns - 1 - c } else { c };
        (if swap { c * columns + r } else { r * columns + c }) as u32
    };
    (0..rows * columns).map(old_square).collect()
}

/// The squares that a text names, such as `e2e4` or `B3`: row * columns + column, with rows counted from the bottom in names
/// and from the top in squares.
pub fn named_squares(text: &str, rows: usize, columns: usize) -> Vec<usize> {
    let letters = text.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit());
    letters
        .map(|pair| (usize::from(pair[0].to_ascii_lowercase() - b'a'), usize::from(pair[1] - b'0')))
        .filter(|&(column, row)| column < columns && (1..=rows).contains(&row))
        .map(|(column, row)| (rows - row) * columns + column)
        .collect()
}

/// Writes 1.0 where `bits` is set and 0.0 elsewhere; square `i` of the plane is bit `i`.
#[inline]
pub fn write_plane(plane: &mut [f32], mut bits: u64) {
    plane.fill(0.0);
    while bits != 0 {
        plane[bits.trailing_zeros() as usize] = 1.0;
        bits &= bits - 1;
    }
}

/// How near a game is to the draw by 100 plies without progress, for keys of positions: one bucket up to 39, eight plies each
/// up to 79, then every ply its own.
#[inline]
pub fn quiet_bucket(plies: usize) -> u64 {
    match plies {
        0..40 => 0,
        // Far from the draw the counter changes no evaluation, so positions may share one; close to it every
        // ply matters.
        40..80 => 1 + (plies as u64 - 40) / 8,
        _ => plies as u64,
    }
}

/// A well-mixed 64-bit hash of a few words.
#[inline]
pub fn hash_words(words: &[u64]) -> u64 {
    words.iter().fold(0x243f_6a88_85a3_08d3, |hash, &word| mix(hash ^ word))
}

/// A bijection of 64-bit words in which every input bit changes half of the output bits (two multiply-xor-shift rounds).
#[inline]
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let word = (word ^ (word >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ (word >> 29)
}

/// Output number `index` of the SplitMix64 generator (Steele, Lea, Flood 2014) with seed 0.
pub const fn splitmix(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Finds the legal action that `text` names, by any of the `names` of an action (compared without case).
pub fn find_action(
    state: &dyn State,
    game: &str,
    text: &str,
    names: impl Fn(Action) -> Vec<String>,
) -> Result<Action, GameError> {
    let mut legal = Vec::new();
    state.legal_actions(&mut legal);
    let given = text.trim();
    let named = |action: &&Action| names(**action).iter().any(|name| name.eq_ignore_ascii_case(given));
    legal.iter().find(named).copied().ok_or_else(|| {
        let allowed: Vec<String> = legal.iter().map(|&a| names(a).swap_remove(0)).collect();
        let allowed = if allowed.is_empty() { "none (the game is over)".into() } else { allowed.join(" ") };
        GameError(format!("{text:?} is no legal move of {game} here; legal moves: {allowed}"))
    })
}

/// The action as an index below `count`, or an error that says what is allowed.
pub fn check_action(game: &str, action: Action, count: usize) -> Result<usize, GameError> {
    let index = usize::from(action);
    if index < count {
        return Ok(index);
    }
    Err(GameError(format!("{game} has no action {action}; actions are 0 to {}", count - 1)))
}

/// The notation of a game with only one: fails when another one is asked for.
pub fn only_notation(game: &str, notation: Option<&str>) -> Result<(), GameError> {
    match notation {
        None => Ok(()),
        Some(name) => Err(GameError(format!("{game} has no notation {name:?}; leave it out, it has only one"))),
    }
}

/// Letters of the columns as GTP has them: there is no I.
const GTP_LETTERS: &[u8; 19] = b"ABCDEFGHJKLMNOPQRST";

/// GTP name of a point, counted row by row from the top: `A1` is the lower left one.
pub fn gtp_name(point: usize, rows: usize, columns: usize) -> String {
    format!("{}{}", char::from(GTP_LETTERS[point % columns]), rows - point / columns)
}

/// A position on a grid, ready to be drawn.
pub struct Drawing {
    /// Number of rows, drawn from the top.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Who stands on each square, row by row from the top.
    pub stones: Vec<Option<Player>>,
    /// The square of the last move.
    pub last: Option<usize>,
    /// The labels under the columns.
    pub column_labels: Vec<String>,
    /// The labels left of the rows, from the top.
    pub row_labels: Vec<String>,
    /// Names of the first and the second player.
    pub names: [&'static str; 2],
    /// Signs of the first and the second player in the text drawing.
    pub signs: [char; 2],
    /// The line below the drawing.
    pub caption: String,
}

/// The line below a drawing: whose turn it is, or how the game ended.
pub fn caption(state: &dyn State, names: [&str; 2]) -> String {
    let reason = state.end_reason().unwrap_or_default();
    match state.outcome() {
        None => format!("{} to move", names[state.to_move() as usize]),
        Some(Outcome::Draw) => format!("draw ({reason})"),
        Some(Outcome::Win(player)) => format!("{} wins ({reason})", names[player as usize]),
    }
}

/// How stones and squares look in the SVG.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Crosses and circles in squares.
    Crosses,
    /// Coloured discs in the holes of a blue frame.
    Discs,
    /// Black and white stones on the crossings of lines.
    Stones,
}

const SQUARE: usize = 40;
const MARGIN: usize = 30;

impl Drawing {
    /// An empty board of points with the labels of GTP.
    pub fn of_points(rows: usize, columns: usize) -> Self {
        Drawing {
            rows,
            columns,
            stones: vec![None; rows * columns],
            last: None,
            column_labels: GTP_LETTERS[..columns].iter().map(|&letter| char::from(letter).to_string()).collect(),
            row_labels: (1..=rows).rev().map(|row| row.to_string()).collect(),
            names: ["", ""],
            signs: ['X', 'O'],
            caption: String::new(),
        }
    }

    /// The drawing as text: a row a line, the column labels and the caption last.
    pub fn text(&self) -> String {
        let width = self.row_labels.iter().map(String::len).max().unwrap_or(0);
        let mut out = String::new();
        for (row, label) in self.row_labels.iter().enumerate() {
            let signs = self.stones[row * self.columns..][..self.columns].iter();
            let signs = signs.map(|stone| stone.map_or('.', |player| self.signs[player as usize]).to_string());
            let _ = writeln!(out, "{label:>width$} {}", signs.collect::<Vec<_>>().join(" "));
        }
        let _ = writeln!(out, "{:width$} {}", "", self.column_labels.join(" "));
        out.push_str(&self.caption);
        out
    }

    /// The drawing as a stand-alone SVG document.
    pub fn svg(&self, look: Look) -> String {
        let (width, height) = (MARGIN + self.columns * SQUARE + 10, 10 + self.rows * SQUARE + 2 * MARGIN);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\">\n\
             <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
            self.caption
        );
        self.svg_ground(look, &mut out);
        self.svg_labels(&mut out);
        for (square, stone) in self.stones.iter().enumerate() {
            self.svg_stone(look, square, *stone, &mut out);
        }
        out.push_str("</svg>\n");
        out
    }

    /// Centre of a square in the SVG.
    fn centre(&self, square: usize) -> (usize, usize) {
        let (row, column) = (square / self.columns, square % self.columns);
        (MARGIN + column * SQUARE + SQUARE / 2, 10 + row * SQUARE + SQUARE / 2)
    }

    /// The empty playing field.
    fn svg_ground(&self, look: Look, out: &mut String) {
        let (width, height) = (self.columns * SQUARE, self.rows * SQUARE);
        let fill = match look {
            Look::Crosses => "#f4f1ea",
            Look::Discs => "#2f5fa8",
            Look::Stones => "#e3bd74",
        };
        let _ = writeln!(out, "<rect x=\"{MARGIN}\" y=\"10\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>");
        match look {
            Look::Crosses => self.svg_lines(1..self.rows, 1..self.columns, 0, out),
            Look::Stones => self.svg_lines(0..self.rows, 0..self.columns, SQUARE / 2, out),
            Look::Discs => {}
        }
    }

    /// Straight lines over the field, `inset` away from its border, before (or through) the given rows and columns.
    fn svg_lines(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, inset: usize, out: &mut String) {
        let (left, right) = (MARGIN + inset, MARGIN + self.columns * SQUARE - inset);
        let (top, bottom) = (10 + inset, 10 + self.rows * SQUARE - inset);
        out.push_str("<path stroke=\"#444\" stroke-width=\"1.5\" d=\"");
        for y in rows.map(|row| 10 + row * SQUARE + inset) {
            let _ = write!(out, "M{left} {y}H{right}");
        }
        for x in columns.map(|column| MARGIN + column * SQUARE + inset) {
            let _ = write!(out, "M{x} {top}V{bottom}");
        }
        out.push_str("\"/>\n");
    }

    /// Labels of rows and columns and the caption.
    fn svg_labels(&self, out: &mut String) {
        let below = 10 + self.rows * SQUARE;
        for (row, label) in self.row_labels.iter().enumerate() {
            let (_, y) = self.centre(row * self.columns);
            let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{label}</text>", MARGIN / 2, y + 5);
        }
        for (column, label) in self.column_labels.iter().enumerate() {
            let (x, _) = self.centre(column);
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{}\">{label}</text>", below + 18);
        }
        let x = MARGIN + self.columns * SQUARE / 2;
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{}\" font-size=\"12\">{}</text>", below + 42, self.caption);
    }

    /// What stands on a square; the last move is marked.
    fn svg_stone(&self, look: Look, square: usize, stone: Option<Player>, out: &mut String) {
        let (x, y) = self.centre(square);
        let last = self.last == Some(square);
        let _ = match (look, stone) {
            (Look::Discs, None) => writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"16\" fill=\"#fff\"/>"),
            (_, None) => Ok(()),
            (Look::Crosses, Some(Player::First)) => {
                let colour = if last { "#d03030" } else { "#222" };
                let (left, top) = (x - 12, y - 12);
                writeln!(out, "<path stroke=\"{colour}\" stroke-width=\"4\" d=\"M{left} {top}l24 24m0 -24l-24 24\"/>")
            }
            (Look::Crosses, Some(Player::Second)) => {
                let colour = if last { "#d03030" } else { "#222" };
                writeln!(
                    out,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"13\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"4\"/>"
                )
            }
            (Look::Discs, Some(player)) => {
                let fill = ["#f2cb2e", "#d8432f"][player as usize];
                let ring = if last { "#111" } else { "none" };
                writeln!(
                    out,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"16\" fill=\"{fill}\" stroke=\"{ring}\" stroke-width=\"3\"/>"
                )
            }
            (Look::Stones, Some(player)) => {
                let fill = ["#111", "#fafafa"][player as usize];
                let mark = if last { "<circle cx=\"X\" cy=\"Y\" r=\"5\" fill=\"#d03030\"/>" } else { "" };
                let mark = mark.replace('X', &x.to_string()).replace('Y', &y.to_string());
                writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"17\" fill=\"{fill}\" stroke=\"#111\"/>{mark}")
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetries_are_distinct_permutations_identity_first() {
        for (rows, columns, count) in [(3, 3, 8), (3, 4, 4), (9, 9, 8), (2, 13, 4)] {
            let all = grid_symmetries(rows, columns);
            assert_eq!(all.len(), count);
            assert!(all[0].iter().enumerate().all(|(i, &s)| i == s as usize));
            for (i, squares) in all.iter().enumerate() {
                let mut sorted = squares.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, all[0]);
                assert!(all[..i].iter().all(|other| other != squares));
            }
        }
    }

    #[test]
    fn hashes_of_neighbouring_words_differ_in_about_half_of_the_bits() {
        let mut changed = 0;
        for bit in 0..64 {
            changed += (hash_words(&[5, 9]) ^ hash_words(&[5 ^ (1 << bit), 9])).count_ones();
        }
        assert!((28 * 64..36 * 64).contains(&changed), "{changed}");
    }
}
