//! Hex on a rhombus of 3x3 to 13x13 hexagons: Red, who begins, connects top and bottom, Blue left and right. One of them does.
//!
//! Actions are the cells row by row from the top; with `swap=true` one more, with which Blue takes Red's first stone over, to the
//! mirrored cell, instead of a first move. Features: three planes, own stones, the opponent's, ones where Red is to move.
//! Moves are written as `a1` for the upper left cell: column letter, row from the top.

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::{GridGame, Moves};
use crate::game::{Action, Cells, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "hex";
const SIZES: std::ops::RangeInclusive<usize> = 3..=13;
const DEFAULT_SIZE: usize = 11;
const MAX_CELLS: usize = 13 * 13;

type Stones = Bits<3>;

/// The game of Hex on one board.
pub struct Hex {
    info: GameInfo,
    start: Position,
}

/// Builds the game: `hex` is 11x11, `hex(size=7)` 7x7, `hex(size=7,swap=true)` with the swap rule.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = grid::take_length(&mut args, NAME, "size", SIZES)?.unwrap_or(DEFAULT_SIZE);
    let swap = args.take::<bool>(NAME, "swap", "true or false")?.unwrap_or(false);
    args.finish(NAME, &["size", "swap"])?;
    let parameters = [(size != DEFAULT_SIZE).then(|| format!("size={size}")), swap.then(|| "swap=true".to_string())];
    let info = GameInfo {
        name: NAME.into(),
        spec: grid::spec(NAME, parameters),
        num_actions: size * size + usize::from(swap),
        feature_shape: [3, size, size],
        max_plies: size * size + usize::from(swap),
    };
    Ok(Box::new(Hex { info, start: Position::new(size, swap) }))
}

impl Game for Hex {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn customs(&self) -> Customs {
        Customs { look: "hexagons".into(), has_draws: false, ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start)
    }

    /// The board as it is, and turned by half: the sides of both players stay theirs.
    fn symmetries(&self) -> Vec<Symmetry> {
        let cells = self.start.num_cells();
        let more = usize::from(self.start.has_swap);
        let squares = 0..cells as u32;
        [squares.clone().collect(), squares.rev().collect()].map(|squares| grid::symmetry_of(squares, more)).into()
    }
}

/// A position.
#[derive(Clone, Copy)]
struct Position {
    /// The stones of both players.
    stones: [Stones; 2],
    /// Cells that are not in the first column.
    not_first: Stones,
    /// Cells that are not in the last column.
    not_last: Stones,
    /// Who has connected their sides.
    winner: Option<Player>,
    size: u8,
    has_swap: bool,
    moves: Moves<{ MAX_CELLS + 1 }>,
}

impl Position {
    fn new(size: usize, has_swap: bool) -> Self {
        Position {
            stones: [Stones::EMPTY; 2],
            not_first: Stones::filter(size * size, |cell| cell % size != 0),
            not_last: Stones::filter(size * size, |cell| cell % size != size - 1),
            winner: None,
            size: size as u8,
            has_swap,
            moves: Moves::NONE,
        }
    }

    fn size(&self) -> usize {
        usize::from(self.size)
    }

    fn num_cells(&self) -> usize {
        self.size() * self.size()
    }

    fn swap(&self) -> Action {
        self.num_cells() as Action
    }

    /// The cells next to those of a set, some of them beyond the last row.
    #[inline]
    fn next_to(&self, set: Stones) -> Stones {
        let size = self.size();
        let across = (set.up(1) & self.not_first) | (set.down(1) & self.not_last);
        // The two neighbours of a hexagon that are not in its row or column: one row down to the left, one row
        // up to the right.
        let slanted = (set & self.not_first).up(size - 1) | (set & self.not_last).down(size - 1);
        across | slanted | set.up(size) | set.down(size)
    }

    /// Whether the chain of a player's stone reaches both of the player's sides.
    fn connects(&self, cell: usize, player: Player) -> bool {
        let size = self.size();
        let stones = self.stones[player as usize];
        let mut chain = Stones::square(cell);
        loop {
            // Only stones stay, so that neighbours beyond the last row fall away.
            let grown = chain | (self.next_to(chain) & stones);
            if grown == chain {
                break;
            }
            chain = grown;
        }
        let along = |cell: usize| if player == Player::First { cell / size } else { cell % size };
        // Only the chain of the last stone can have made the connection.
        chain.squares().any(|cell| along(cell) == 0) && chain.squares().any(|cell| along(cell) == size - 1)
    }

    fn can_swap(&self) -> bool {
        self.has_swap && self.moves.count() == 1
    }
}

impl GridGame for Position {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["Red", "Blue"];
    const COORDINATES: Coordinates = Coordinates::FromTop;
    const LAST_ACTION: &'static str = "swap";
    type Planes = [Stones; 3];

    fn shape(&self) -> (usize, usize) {
        (self.size(), self.size())
    }

    fn moves(&self) -> &[u8] {
        self.moves.as_slice()
    }

    fn owner(&self, cell: usize) -> Option<Player> {
        grid::owner(|player| self.stones[player as usize].has(cell))
    }

    fn add_legal(&self, actions: &mut Vec<Action>) {
        if self.winner.is_some() {
            return;
        }
        let taken = self.stones[0] | self.stones[1];
        actions.extend((0..self.num_cells()).filter(|&cell| !taken.has(cell)).map(|cell| cell as Action));
        if self.can_swap() {
            actions.push(self.swap());
        }
    }

    fn make_move(&mut self, action: Action) {
        let mover = self.mover();
        if action == self.swap() {
            // Mirrored at the long diagonal, where Blue's sides become Red's: the stone is worth to Blue what it
            // was worth to Red.
            let stone = usize::from(self.moves.as_slice()[0]);
            let row = stone / self.size();
            let column = stone % self.size();
            self.stones = [Stones::EMPTY, Stones::square(column * self.size() + row)];
        } else {
            self.stones[mover as usize] |= Stones::square(action.into());
            self.winner = self.connects(action.into(), mover).then_some(mover);
        }
        self.moves.push(action);
    }

    #[inline]
    fn result(&self) -> Option<(Outcome, &'static str)> {
        self.winner.map(|player| (Outcome::Win(player), "sides connected"))
    }

    fn planes(&self) -> Self::Planes {
        let mover = self.mover();
        let [own, other] = [mover, mover.other()].map(|player| self.stones[player as usize]);
        let red = if mover == Player::First { Stones::first(self.num_cells()) } else { Stones::EMPTY };
        [own, other, red]
    }

    fn position_hash(&self) -> u64 {
        let [red, blue] = self.stones.map(|set| grid::hash_words(&set.0));
        // Stones alone do not say whose turn it is, since a swap changes the parity of their numbers.
        grid::hash_words(&[red, blue, self.mover() as u64, u64::from(self.can_swap())])
    }

    fn num_actions(&self) -> usize {
        self.num_cells() + usize::from(self.has_swap)
    }

    /// Each row half a cell further to the right than the one above.
    fn board_text(&self, cells: &Cells) -> String {
        let board = cells.text();
        let slanted = board.lines().enumerate().map(|(row, line)| format!("{}{line}\n", " ".repeat(row)));
        slanted.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::perft;
    use crate::games::make_game;

    #[test]
    fn every_cell_is_a_move_and_swap_one_more() {
        assert_eq!(perft(make_game("hex(size=5)").unwrap().initial().as_ref(), 2), 25 * 24);
        assert_eq!(perft(make_game("hex(size=5,swap=true)").unwrap().initial().as_ref(), 2), 25 * 25);
    }

    #[test]
    fn swap_takes_the_mirrored_cell() {
        let mut state = make_game("hex(size=5,swap=true)").unwrap().initial();
        state.play(state.action_from_text("b4").unwrap());
        state.play(state.action_from_text("swap").unwrap());
        assert_eq!(state.to_move(), Player::First);
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        assert_eq!(legal.len(), 24);
        assert!(state.action_from_text("d2").is_err(), "Blue stands there");
        assert!(state.action_from_text("b4").is_ok());
    }

    /// The rules read literally: whether a player's stones connect the player's sides.
    fn connected(board: &[Option<Player>], size: usize, player: Player) -> bool {
        let along = |cell: usize| if player == Player::First { cell / size } else { cell % size };
        let mut stack: Vec<usize> =
            (0..size * size).filter(|&cell| along(cell) == 0 && board[cell] == Some(player)).collect();
        let mut seen = stack.clone();
        while let Some(cell) = stack.pop() {
            if along(cell) == size - 1 {
                return true;
            }
            let row = (cell / size) as i32;
            let column = (cell % size) as i32;
            for (dr, dc) in [(0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)] {
                let r = row + dr;
                let c = column + dc;
                if (0..size as i32).contains(&r) && (0..size as i32).contains(&c) {
                    let next = (r * size as i32 + c) as usize;
                    if board[next] == Some(player) && !seen.contains(&next) {
                        seen.push(next);
                        stack.push(next);
                    }
                }
            }
        }
        false
    }

    proptest::proptest! {
        #[test]
        fn somebody_connects_in_every_game(
            size in 3..=13usize, choices in proptest::collection::vec(proptest::prelude::any::<u16>(), MAX_CELLS)
        ) {
            let mut position = Position::new(size, false);
            for choice in choices {
                let mut legal = Vec::new();
                position.legal_actions(&mut legal);
                let board: Vec<_> = (0..position.num_cells()).map(|cell| position.owner(cell)).collect();
                let winner = [Player::First, Player::Second].into_iter().find(|&p| connected(&board, size, p));
                proptest::prop_assert_eq!(position.outcome(), winner.map(Outcome::Win));
                if legal.is_empty() {
                    return Ok(());
                }
                position.play(legal[usize::from(choice) % legal.len()]);
            }
            proptest::prop_assert!(position.outcome().is_some(), "no board is full without a connection");
        }
    }
}
