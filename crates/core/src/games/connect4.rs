//! Connect Four: seven columns, six rows, or fewer; a stone falls to the lowest free square, four in a row wins.
//! Actions 0..7 are the columns from the left. Features: three planes of 6x7, rows from top to bottom: the mover's
//! stones, the opponent's, and all ones where the mover is the first player, because who must give way when the columns
//! fill up depends on it, and a convolution cannot count stones. Moves are written as column digits `1` to `7`; letters `a` to `g` are read too.
//! A smaller board is the left top part of the usual one, and has the numbers of its own size everywhere else.

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::{GridGame, Moves};
use crate::game::{Action, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "connect4";
/// Number of columns of the usual board, which is the largest.
pub const COLUMNS: usize = 7;
/// Number of rows of the usual board.
pub const ROWS: usize = 6;
/// Fewest columns and rows: a line fits.
const MIN_LENGTH: usize = 4;
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
        for (name, value, max) in [("columns", columns, COLUMNS), ("rows", rows, ROWS)] {
            if !(MIN_LENGTH..=max).contains(&value) {
                return Err(GameError(format!(
                    "{NAME}({name}={value}): {name} must be a whole number from {MIN_LENGTH} to {max}"
                )));
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
        // On the usual board both are the same bits, and this is asked at every row of features.
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

/// Builds the game, `connect4` or `connect4(columns=C,rows=R)`.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let columns = grid::take_length(&mut args, NAME, "columns", MIN_LENGTH..=COLUMNS)?.unwrap_or(COLUMNS);
    let rows = grid::take_length(&mut args, NAME, "rows", MIN_LENGTH..=ROWS)?.unwrap_or(ROWS);
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
        let columns = self.board.columns();
        let squares = self.board.squares();
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

/// A position.
#[derive(Clone, Copy)]
pub struct Position {
    /// The squares of both players as 42-bit sets: bit = row * 7 + column, rows from the top, on every board.
    // In the order of the planes, so that features are these very bits; the solver, which wants gaps between columns,
    // turns them round.
    stones: [u64; 2],
    // Kept, because the result is asked for several times at each visit.
    status: Status,
    board: Board,
    moves: Moves<SQUARES>,
}

/// Four squares in a row, in any of the four directions.
#[inline]
fn has_line(stones: u64) -> bool {
    // One stride of seven on every board, so that the masks of lines are constants.
    let run = |step: u32, starts: u64| stones & stones >> step & stones >> (2 * step) & stones >> (3 * step) & starts;
    // The start sets keep a line from running over the edge into the next row.
    run(1, LEFT) | run(7, FULL) | run(8, LEFT) | run(6, RIGHT) != 0
}

impl Position {
    /// The empty board.
    pub fn new(board: Board) -> Self {
        Position { stones: [0; 2], status: Status::Open, board, moves: Moves::NONE }
    }

    /// The size of the board.
    pub fn board(&self) -> Board {
        self.board
    }

    /// The stones of the mover and of the opponent: bit = row * 7 + column, rows from the top.
    #[inline]
    pub fn own_and_other(&self) -> [u64; 2] {
        let mover = self.moves.count() % 2;
        [self.stones[mover], self.stones[1 - mover]]
    }

    #[inline]
    fn taken(&self) -> u64 {
        self.stones[0] | self.stones[1]
    }
}

impl GridGame for Position {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["Yellow", "Red"];
    const SIGNS: [char; 2] = ['Y', 'R'];
    const COORDINATES: Coordinates = Coordinates::ColumnNumbers;
    /// The notation is the columns played, e.g. `4453`.
    const SEPARATOR: &'static str = "";
    type Planes = [Bits<1>; 3];

    fn shape(&self) -> (usize, usize) {
        (self.board.rows(), self.board.columns())
    }

    #[inline]
    fn moves(&self) -> &[u8] {
        self.moves.as_slice()
    }

    fn owner(&self, square: usize) -> Option<Player> {
        grid::owner(|player| self.board.packed(self.stones[player as usize]) >> square & 1 == 1)
    }

    #[inline]
    fn mover(&self) -> Player {
        self.moves.mover()
    }

    #[inline]
    fn add_legal(&self, actions: &mut Vec<Action>) {
        if self.status != Status::Open {
            return;
        }
        let mut free = !self.taken() & self.board.top_row();
        while free != 0 {
            actions.push(free.trailing_zeros() as Action);
            free &= free - 1;
        }
    }

    #[inline]
    fn make_move(&mut self, action: Action) {
        let mover = self.moves.count() % 2;
        // Rows are counted from the top, so the highest free bit of the column is where a stone comes to rest.
        let free = !self.taken() & self.board.column() << action;
        self.stones[mover] |= (1 << 63) >> free.leading_zeros();
        self.moves.push(action);
        if has_line(self.stones[mover]) {
            self.status = Status::Line;
        } else if self.moves.count() == self.board.squares() {
            self.status = Status::Full;
        }
    }

    #[inline]
    fn result(&self) -> Option<(Outcome, &'static str)> {
        match self.status {
            Status::Open => None,
            Status::Line => Some((Outcome::Win(self.mover().other()), "four in a row")),
            Status::Full => Some((Outcome::Draw, "full board")),
        }
    }

    #[inline]
    fn planes(&self) -> Self::Planes {
        let [own, other] = self.own_and_other().map(|stones| Bits([self.board.packed(stones)]));
        let first = if self.mover() == Player::First { Bits::first(self.board.squares()) } else { Bits::EMPTY };
        [own, other, first]
    }

    #[inline]
    fn position_hash(&self) -> u64 {
        // The plane of the first player follows from the number of stones.
        grid::hash_words(&self.own_and_other())
    }

    fn num_actions(&self) -> usize {
        self.board.columns()
    }

    /// A column as digit and as letter.
    fn names(&self, action: Action) -> Vec<String> {
        vec![(action + 1).to_string(), char::from(b'a' + action as u8).to_string()]
    }

    /// Where the disc comes to rest.
    fn squares_of(&self, action: Action) -> Vec<usize> {
        let (rows, columns) = self.shape();
        let taken = self.board.packed(self.taken());
        let column = (0..rows).rev().map(|row| row * columns + usize::from(action));
        column.filter(|&square| taken >> square & 1 == 0).take(1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there are four in a row, found by walking.
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
                    let end_r = r + 3 * dr;
                    let end_c = c + 3 * dc;
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
