//! Hex on a rhombus of 3x3 to 13x13 hexagons: Red, who begins, connects top and bottom, Blue left and right. One of them does.
//!
//! Actions are the cells row by row from the top; with `swap=true` one more, with which Blue takes Red's first stone over, to the
//! mirrored cell, instead of a first move. Features: three planes, own stones, the opponent's, ones where Red is to move.
//! Moves are written as `a1` for the upper left cell: column letter, row from the top.

use std::any::Any;

use super::bits::Bits;
use super::grid;
use crate::game::{Action, Cells, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "hex";
const SIZES: std::ops::RangeInclusive<usize> = 3..=13;
const ALLOWED: &str = "a whole number from 3 to 13";
const DEFAULT_SIZE: usize = 11;
const MOST_CELLS: usize = 13 * 13;

type Stones = Bits<3>;

/// The game of Hex on one board.
pub struct Hex {
    info: GameInfo,
    start: Position,
}

/// Builds the game: `hex` is 11x11, `hex(size=7)` 7x7, `hex(size=7,swap=true)` with the swap rule.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = args.take::<usize>(NAME, "size", ALLOWED)?.unwrap_or(DEFAULT_SIZE);
    let swap = args.take::<bool>(NAME, "swap", "true or false")?.unwrap_or(false);
    args.finish(NAME, &["size", "swap"])?;
    if !SIZES.contains(&size) {
        return Err(GameError(format!("{NAME}(size={size}): size must be {ALLOWED}")));
    }
    let parameters: Vec<String> =
        [(size != DEFAULT_SIZE).then(|| format!("size={size}")), swap.then(|| "swap=true".into())]
            .into_iter()
            .flatten()
            .collect();
    let info = GameInfo {
        name: NAME.into(),
        spec: if parameters.is_empty() { NAME.into() } else { format!("{NAME}({})", parameters.join(",")) },
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
        let (cells, more) = (self.start.num_cells(), usize::from(self.start.has_swap));
        let squares = 0..cells as u32;
        [squares.clone().collect(), squares.rev().collect()].map(|squares| grid::symmetry_of(squares, more)).into()
    }
}

/// A position: the stones of both players, who has connected, and the moves in order.
#[derive(Clone, Copy)]
struct Position {
    stones: [Stones; 2],
    not_first: Stones,
    not_last: Stones,
    winner: Option<Player>,
    size: u8,
    has_swap: bool,
    ply: u8,
    moves: [u8; MOST_CELLS + 1],
}

impl Position {
    fn new(size: usize, has_swap: bool) -> Self {
        let cells = |holds: &dyn Fn(usize) -> bool| {
            (0..size * size).filter(|&c| holds(c)).fold(Stones::EMPTY, |set, cell| set | Stones::square(cell))
        };
        Position {
            stones: [Stones::EMPTY; 2],
            not_first: cells(&|cell| cell % size != 0),
            not_last: cells(&|cell| cell % size != size - 1),
            winner: None,
            size: size as u8,
            has_swap,
            ply: 0,
            moves: [0; MOST_CELLS + 1],
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
        let (size, stones) = (self.size(), self.stones[player as usize]);
        let mut chain = Stones::square(cell);
        loop {
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

    fn moves(&self) -> &[u8] {
        &self.moves[..usize::from(self.ply)]
    }

    fn can_swap(&self) -> bool {
        self.has_swap && self.ply == 1
    }

    /// `a1` for the upper left cell, `swap`.
    fn name(&self, action: usize) -> String {
        if action == self.num_cells() {
            return "swap".into();
        }
        format!("{}{}", char::from(b'a' + (action % self.size()) as u8), action / self.size() + 1)
    }

    fn owner(&self, cell: usize) -> Option<Player> {
        [Player::First, Player::Second].into_iter().find(|&player| self.stones[player as usize].has(cell))
    }
}

impl State for Position {
    #[inline]
    fn to_move(&self) -> Player {
        grid::alternating(self.ply)
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        if self.winner.is_none() {
            let taken = self.stones[0] | self.stones[1];
            out.extend((0..self.num_cells()).filter(|&cell| !taken.has(cell)).map(|cell| cell as Action));
            out.extend(self.can_swap().then(|| self.swap()));
        }
    }

    fn play(&mut self, action: Action) {
        let mover = self.to_move();
        self.moves[usize::from(self.ply)] = action as u8;
        if action == self.swap() {
            // Mirrored at the long diagonal, where Blue's sides become Red's: the stone is worth to Blue what it
            // was worth to Red.
            let (row, column) = (usize::from(self.moves[0]) / self.size(), usize::from(self.moves[0]) % self.size());
            self.stones = [Stones::EMPTY, Stones::square(column * self.size() + row)];
        } else {
            self.stones[mover as usize] |= Stones::square(action.into());
            self.winner = self.connects(action.into(), mover).then_some(mover);
        }
        self.ply += 1;
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        self.winner.map(Outcome::Win)
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.winner.map(|_| "sides connected")
    }

    fn ply(&self) -> usize {
        usize::from(self.ply)
    }

    fn encode(&self, row: &mut [f32]) {
        let mover = self.to_move();
        let (stones, colour) = row.split_at_mut(2 * self.num_cells());
        grid::write_sets(stones, self.num_cells(), &[mover, mover.other()].map(|player| self.stones[player as usize]));
        colour.fill(if mover == Player::First { 1.0 } else { 0.0 });
    }

    fn row_len(&self) -> usize {
        3 * self.num_cells()
    }

    fn key(&self) -> u64 {
        let [red, blue] = self.stones.map(|set| grid::hash_words(&set.0));
        // Stones alone do not say whose turn it is, since a swap changes the parity of their numbers.
        grid::hash_words(&[red, blue, u64::from(self.ply & 1), u64::from(self.can_swap())])
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, self.num_cells() + usize::from(self.has_swap)).map(|action| self.name(action))
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, NAME, text, |action| vec![self.name(action.into())])
    }

    fn cells(&self) -> Result<Cells, String> {
        let size = self.size();
        Ok(Cells::of_stones(grid::numbers(size), grid::letters(size), ['X', 'O'], |cell| self.owner(cell)))
    }

    fn sides(&self) -> [String; 2] {
        grid::sides(["Red", "Blue"])
    }

    /// Each row half a cell further to the right than the one above.
    fn text(&self) -> String {
        let board = self.cells().map_or_else(|_| String::new(), |cells| cells.text());
        let slanted = board.lines().enumerate().map(|(row, line)| format!("{}{line}\n", " ".repeat(row)));
        slanted.collect::<String>() + &self.caption()
    }

    fn notation(&self) -> String {
        self.moves().iter().map(|&m| self.name(m.into())).collect::<Vec<_>>().join(" ")
    }

    crate::game::plain_copy!();
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
            let (row, column) = ((cell / size) as i32, (cell % size) as i32);
            for (dr, dc) in [(0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)] {
                let (r, c) = (row + dr, column + dc);
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
            size in 3..=13usize, choices in proptest::collection::vec(proptest::prelude::any::<u16>(), MOST_CELLS)
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
