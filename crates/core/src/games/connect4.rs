//! Connect Four: seven columns, six rows, or fewer; a stone falls to the lowest free square, four in a row wins.
//! Actions 0..7 are the columns from the left. Features: three planes of 6x7, rows from top to bottom: the mover's
//! stones, the opponent's, and all ones where the mover is the first player, because who must give way when the columns
//! fill up depends on it, and a convolution cannot count stones. Moves are written as column digits `1` to `7`; letters `a` to `g` are read too.
//! A smaller board is the left top part of the usual one, and has the numbers of its own size everywhere else.

use std::any::Any;

use super::grid;
use crate::game::{Action, Cells, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "connect4";
/// Number of columns of the usual board, which is the largest.
pub const COLUMNS: usize = 7;
/// Number of rows of the usual board.
pub const ROWS: usize = 6;
/// Fewest columns and rows: a line fits.
const LEAST: usize = 4;
const SQUARES: usize = ROWS * COLUMNS;
const FULL: u64 = (1 << SQUARES) - 1;
/// All squares of column 0 on the usual board.
const COLUMN: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35;
/// Squares in the columns 0 to 3, from which a line can run to the right, and in the columns 3 to 6.
const LEFT: u64 = COLUMN * 0b000_1111;
const RIGHT: u64 = COLUMN * 0b111_1000;

/// The size of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    columns: u8,
    rows: u8,
}

impl Default for Board {
    fn default() -> Self {
        Board { columns: COLUMNS as u8, rows: ROWS as u8 }
    }
}

impl Board {
    /// A board of 4 to 7 columns and 4 to 6 rows.
    pub fn new(columns: usize, rows: usize) -> Result<Self, GameError> {
        for (name, value, most) in [("columns", columns, COLUMNS), ("rows", rows, ROWS)] {
            if !(LEAST..=most).contains(&value) {
                return Err(GameError(format!("{NAME}({name}={value}): {name} must be {}", allowed(most))));
            }
        }
        Ok(Board { columns: columns as u8, rows: rows as u8 })
    }

    /// Number of columns.
    #[inline]
    pub fn columns(self) -> usize {
        usize::from(self.columns)
    }

    /// Number of rows.
    #[inline]
    pub fn rows(self) -> usize {
        usize::from(self.rows)
    }

    /// Number of squares.
    #[inline]
    pub fn squares(self) -> usize {
        self.columns() * self.rows()
    }

    /// The squares of the top row, in the bits of a position.
    #[inline]
    fn top_row(self) -> u64 {
        (1 << self.columns) - 1
    }

    /// All squares of column 0, in the bits of a position.
    #[inline]
    fn column(self) -> u64 {
        COLUMN & ((1 << (COLUMNS * self.rows())) - 1)
    }

    /// From the bits of a position to bit = row * columns + column.
    #[inline]
    fn packed(self, bits: u64) -> u64 {
        if self.columns() == COLUMNS {
            return bits;
        }
        (0..self.rows()).fold(0, |out, row| out | (bits >> (row * COLUMNS) & self.top_row()) << (row * self.columns()))
    }
}

/// The game of Connect Four.
pub struct Connect4 {
    info: GameInfo,
    board: Board,
}

fn allowed(most: usize) -> String {
    format!("a whole number from {LEAST} to {most}")
}

/// Builds the game, `connect4` or `connect4(columns=C,rows=R)`.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let columns = args.take(NAME, "columns", &allowed(COLUMNS))?.unwrap_or(COLUMNS);
    let rows = args.take(NAME, "rows", &allowed(ROWS))?.unwrap_or(ROWS);
    args.finish(NAME, &["columns", "rows"])?;
    let board = Board::new(columns, rows)?;
    let spec = match board == Board::default() {
        true => NAME.into(),
        false => format!("{NAME}(columns={columns},rows={rows})"),
    };
    let info = GameInfo {
        name: NAME.into(),
        spec,
        num_actions: columns,
        feature_shape: [3, rows, columns],
        max_plies: board.squares(),
    };
    Ok(Box::new(Connect4 { info, board }))
}

impl Game for Connect4 {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn customs(&self) -> Customs {
        Customs { look: "discs".into(), ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(Position::new(self.board))
    }

    /// Identity and left-right reflection.
    fn symmetries(&self) -> Vec<Symmetry> {
        let (columns, squares) = (self.board.columns(), self.board.squares());
        let reflected = |square: usize| square / columns * columns + (columns - 1 - square % columns);
        vec![
            Symmetry { squares: (0..squares as u32).collect(), actions: (0..columns as Action).collect() },
            Symmetry {
                squares: (0..squares).map(|square| reflected(square) as u32).collect(),
                actions: (0..columns as Action).rev().collect(),
            },
        ]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Status {
    #[default]
    Open,
    Line,
    Full,
}

/// A position: the squares of both players as 42-bit sets (bit = row * 7 + column, rows from the top, on every board),
/// and the moves.
#[derive(Clone, Copy)]
pub struct Position {
    stones: [u64; 2],
    ply: u8,
    status: Status,
    board: Board,
    moves: [u8; SQUARES],
}

/// Four squares in a row, in any of the four directions.
#[inline]
fn has_line(stones: u64) -> bool {
    let run = |step: u32, starts: u64| stones & stones >> step & stones >> (2 * step) & stones >> (3 * step) & starts;
    // The start sets keep a line from running over the edge into the next row.
    run(1, LEFT) | run(7, FULL) | run(8, LEFT) | run(6, RIGHT) != 0
}

impl Position {
    /// The empty board.
    pub fn new(board: Board) -> Self {
        Position { stones: [0; 2], ply: 0, status: Status::Open, board, moves: [0; SQUARES] }
    }

    /// The size of the board.
    pub fn board(&self) -> Board {
        self.board
    }

    /// The stones of the mover and of the opponent: bit = row * 7 + column, rows from the top.
    #[inline]
    pub fn planes(&self) -> [u64; 2] {
        let mover = usize::from(self.ply % 2);
        [self.stones[mover], self.stones[1 - mover]]
    }

    fn moves(&self) -> &[u8] {
        &self.moves[..usize::from(self.ply)]
    }
}

/// A column as digit and as letter.
fn column_names(action: Action) -> Vec<String> {
    vec![(action + 1).to_string(), char::from(b'a' + action as u8).to_string()]
}

impl State for Position {
    #[inline]
    fn to_move(&self) -> Player {
        grid::alternating(self.ply)
    }

    #[inline]
    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        if self.status == Status::Open {
            let mut free = !(self.stones[0] | self.stones[1]) & self.board.top_row();
            while free != 0 {
                out.push(free.trailing_zeros() as Action);
                free &= free - 1;
            }
        }
    }

    #[inline]
    fn play(&mut self, action: Action) {
        let mover = usize::from(self.ply % 2);
        // Rows are counted from the top, so the highest free bit of the column is where a stone comes to rest.
        let free = !(self.stones[0] | self.stones[1]) & self.board.column() << action;
        self.stones[mover] |= (1 << 63) >> free.leading_zeros();
        self.moves[usize::from(self.ply)] = action as u8;
        self.ply += 1;
        if has_line(self.stones[mover]) {
            self.status = Status::Line;
        } else if usize::from(self.ply) == self.board.squares() {
            self.status = Status::Full;
        }
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        match self.status {
            Status::Open => None,
            Status::Line => Some(Outcome::Win(self.to_move().other())),
            Status::Full => Some(Outcome::Draw),
        }
    }

    fn end_reason(&self) -> Option<&'static str> {
        match self.status {
            Status::Open => None,
            Status::Line => Some("four in a row"),
            Status::Full => Some("full board"),
        }
    }

    fn ply(&self) -> usize {
        usize::from(self.ply)
    }

    fn encode(&self, row: &mut [f32]) {
        let squares = self.board.squares();
        for (plane, bits) in row.chunks_exact_mut(squares).zip(self.planes()) {
            grid::write_plane(plane, self.board.packed(bits));
        }
        row[2 * squares..].fill(f32::from(self.ply.is_multiple_of(2)));
    }

    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        let [own, other] = self.planes().map(|bits| self.board.packed(bits));
        let first = if self.ply.is_multiple_of(2) { (1 << self.board.squares()) - 1 } else { 0 };
        masks.copy_from_slice(&[own, other, first]);
        values.fill(1.0);
    }

    fn row_len(&self) -> usize {
        3 * self.board.squares()
    }

    #[inline]
    fn key(&self) -> u64 {
        grid::hash_words(&self.planes())
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, self.board.columns()).map(|column| (column + 1).to_string())
    }

    /// Where the disc comes to lie.
    fn squares(&self, action: Action, info: &GameInfo) -> Vec<usize> {
        let [_, rows, columns] = info.feature_shape;
        let stones = self.board.packed(self.stones[0] | self.stones[1]);
        let column = (0..rows).rev().map(|row| row * columns + usize::from(action));
        column.filter(|&square| stones >> square & 1 == 0).take(1).collect()
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, NAME, text, column_names)
    }

    fn cells(&self) -> Result<Cells, String> {
        let (rows, columns) = (self.board.rows(), self.board.columns());
        let owner = |square| grid::owner(|player| self.board.packed(self.stones[player as usize]) >> square & 1 == 1);
        Ok(Cells::of_stones(grid::numbers_down(rows), grid::numbers(columns), ['Y', 'R'], owner))
    }

    fn sides(&self) -> [String; 2] {
        grid::sides(["Yellow", "Red"])
    }

    /// The columns played so far, e.g. `4453`.
    fn notation(&self) -> String {
        self.moves().iter().map(|&column| char::from(b'1' + column)).collect()
    }

    crate::game::plain_copy!();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the longest row through each square, found by walking.
    fn naive_line(stones: u64) -> bool {
        let at = |r: i32, c: i32| {
            (0..ROWS as i32).contains(&r) && (0..COLUMNS as i32).contains(&c) && stones >> (r * 7 + c) & 1 == 1
        };
        let runs = |r, c, dr, dc| (0..4).all(|i| at(r + i * dr, c + i * dc));
        (0..6).any(|r| (0..7).any(|c| [(0, 1), (1, 0), (1, 1), (1, -1)].iter().any(|&(dr, dc)| runs(r, c, dr, dc))))
    }

    proptest::proptest! {
        #[test]
        fn lines_agree_with_a_walk_over_the_board(a: u64, b: u64) {
            for stones in [a & FULL, a & b & FULL, (a | b) & FULL] {
                proptest::prop_assert_eq!(has_line(stones), naive_line(stones));
            }
        }
    }

    #[test]
    fn every_single_line_is_found() {
        let mut lines = 0;
        for (dr, dc) in [(0, 1), (1, 0), (1, 1), (1, -1i32)] {
            for r in 0..ROWS as i32 {
                for c in 0..COLUMNS as i32 {
                    let (end_r, end_c) = (r + 3 * dr, c + 3 * dc);
                    if (0..6).contains(&end_r) && (0..7).contains(&end_c) {
                        lines += 1;
                        let line = (0..4).fold(0, |set, i| set | 1u64 << ((r + i * dr) * 7 + c + i * dc));
                        assert!(has_line(line));
                    }
                }
            }
        }
        assert_eq!(lines, 69);
    }
}
