//! Othello (Reversi) on 8x8, or on 4x4 and 6x6: a disc must flip others, which it encloses in a line with one of its own;
//! who cannot move passes, and the game is over when neither can. Most discs win.
//!
//! Actions are the squares row by row from the top (a1 is the upper left one, as the game writes them), then the pass, which is
//! legal where no other move is. Features: four planes, own discs, the opponent's, own legal squares, the opponent's.

use std::cmp::Ordering;

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::{GridGame, Moves};
use crate::game::{Action, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "othello";
const DEFAULT_SIZE: usize = 8;
const ALLOWED: &str = "4, 6 or 8";
/// A game has at most a move for every free square, and a pass before each.
const MAX_PLIES: usize = 2 * 60;

/// The game of Othello on one board.
pub struct Othello {
    info: GameInfo,
    start: Position,
}

/// Builds the game: `othello` is 8x8, `othello(size=6)` 6x6.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = args.take::<usize>(NAME, "size", ALLOWED)?.unwrap_or(DEFAULT_SIZE);
    args.finish(NAME, &["size"])?;
    if ![4, 6, 8].contains(&size) {
        return Err(GameError(format!("{NAME}(size={size}): size must be {ALLOWED}")));
    }
    let info = GameInfo {
        name: NAME.into(),
        spec: grid::spec(NAME, [(size != DEFAULT_SIZE).then(|| format!("size={size}"))]),
        num_actions: size * size + 1,
        feature_shape: [4, size, size],
        max_plies: 2 * (size * size - 4),
    };
    Ok(Box::new(Othello { info, start: Position::new(size) }))
}

impl Game for Othello {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn customs(&self) -> Customs {
        Customs { look: "reversi".into(), ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start)
    }

    /// The board's, in which the start looks the same or with colours exchanged: features do not tell who has which.
    fn symmetries(&self) -> Vec<Symmetry> {
        let [_, rows, columns] = self.info.feature_shape;
        grid::point_symmetries(rows, columns, 1)
    }

    fn initial_seen(&self, symmetry: usize) -> Box<dyn State> {
        let squares = &grid::grid_symmetries(self.start.size(), self.start.size())[symmetry];
        let seen = |discs: u64| {
            squares
                .iter()
                .enumerate()
                .filter(|(_, old)| discs >> **old & 1 == 1)
                .fold(0, |set, (new, _)| set | 1 << new)
        };
        Box::new(Position { discs: self.start.discs.map(seen), ..self.start })
    }
}

/// A position.
#[derive(Clone, Copy)]
struct Position {
    /// The squares of both players.
    discs: [u64; 2],
    to_move: Player,
    size: u8,
    moves: Moves<MAX_PLIES>,
}

impl Position {
    fn new(size: usize) -> Self {
        let half = size / 2;
        let square = |row: usize, column: usize| 1u64 << (row * size + column);
        let white = square(half - 1, half - 1) | square(half, half);
        let black = square(half - 1, half) | square(half, half - 1);
        Position { discs: [black, white], to_move: Player::First, size: size as u8, moves: Moves::NONE }
    }

    #[inline]
    fn size(&self) -> usize {
        usize::from(self.size)
    }

    #[inline]
    fn squares(&self) -> usize {
        self.size() * self.size()
    }

    #[inline]
    fn board(&self) -> u64 {
        u64::MAX >> (64 - self.squares())
    }

    /// The eight directions as functions of sets: every square one step on, without those that leave the board.
    #[inline]
    fn step(&self, set: u64, direction: usize) -> u64 {
        let size = self.size();
        let first = (0..size).fold(0, |column, row| column | 1u64 << (row * size));
        let not_first = !first;
        let not_last = !(first << (size - 1));
        // Rows need no mask of their own: what leaves at the top falls out of the word or, on small boards, of the
        // board's mask below.
        let moved = match direction {
            0 => (set & not_last) << 1,
            1 => (set & not_first) >> 1,
            2 => set << size,
            3 => set >> size,
            4 => (set & not_last) << (size + 1),
            5 => (set & not_first) << (size - 1),
            6 => (set & not_last) >> (size - 1),
            _ => (set & not_first) >> (size + 1),
        };
        moved & self.board()
    }

    /// The squares where a disc of this player flips others.
    fn legal(&self, player: Player) -> u64 {
        let own = self.discs[player as usize];
        let other = self.discs[player.other() as usize];
        let free = self.board() & !(own | other);
        (0..8).fold(0, |legal, direction| {
            // Kogge and Stone's flood in one direction: all runs of the board grow by a step together, and the
            // longest run is as long as the board without its two ends.
            let mut run = self.step(own, direction) & other;
            for _ in 0..self.size() - 3 {
                run |= self.step(run, direction) & other;
            }
            legal | self.step(run, direction) & free
        })
    }

    /// The discs that a disc of this player on a square flips.
    fn flipped(&self, square: u64, player: Player) -> u64 {
        let own = self.discs[player as usize];
        let other = self.discs[player.other() as usize];
        (0..8).fold(0, |flipped, direction| {
            let mut run = 0;
            let mut next = self.step(square, direction);
            while next & other != 0 {
                run |= next;
                next = self.step(next, direction);
            }
            // A run counts only when an own disc ends it.
            if next & own == 0 { flipped } else { flipped | run }
        })
    }

    fn pass(&self) -> Action {
        self.squares() as Action
    }
}

impl GridGame for Position {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["Black", "White"];
    const COORDINATES: Coordinates = Coordinates::FromTop;
    const LAST_ACTION: &'static str = "pass";
    type Planes = [Bits<1>; 4];

    #[inline]
    fn mover(&self) -> Player {
        self.to_move
    }

    fn shape(&self) -> (usize, usize) {
        (self.size(), self.size())
    }

    fn moves(&self) -> &[u8] {
        self.moves.as_slice()
    }

    fn owner(&self, square: usize) -> Option<Player> {
        grid::owner(|player| self.discs[player as usize] >> square & 1 == 1)
    }

    fn add_legal(&self, actions: &mut Vec<Action>) {
        let mut legal = self.legal(self.to_move);
        // A pass exists only where the opponent can move: otherwise the game is over.
        if legal == 0 && self.legal(self.to_move.other()) != 0 {
            actions.push(self.pass());
        }
        while legal != 0 {
            actions.push(legal.trailing_zeros() as Action);
            legal &= legal - 1;
        }
    }

    fn make_move(&mut self, action: Action) {
        let mover = self.to_move;
        let other = self.to_move.other();
        if action != self.pass() {
            let square = 1u64 << action;
            let flipped = self.flipped(square, mover);
            self.discs[mover as usize] |= square | flipped;
            self.discs[other as usize] &= !flipped;
        }
        self.moves.push(action);
        self.to_move = other;
    }

    fn result(&self) -> Option<(Outcome, &'static str)> {
        // A player without a move passes; only where neither has one the game is over.
        if self.legal(self.to_move) != 0 || self.legal(self.to_move.other()) != 0 {
            return None;
        }
        let [first, second] = self.discs.map(u64::count_ones);
        Some(match first.cmp(&second) {
            Ordering::Greater => (Outcome::Win(Player::First), "more discs"),
            Ordering::Less => (Outcome::Win(Player::Second), "more discs"),
            Ordering::Equal => (Outcome::Draw, "equal discs"),
        })
    }

    fn lead(&self) -> Option<f32> {
        let [first, second] = self.discs.map(u64::count_ones);
        Some(first as f32 - second as f32)
    }

    fn points(&self) -> Option<Vec<i8>> {
        let [first, second] = self.discs.map(|discs| Bits([discs]));
        let (rows, columns) = self.shape();
        Some(grid::signed(rows * columns, first.squares(), second.squares()))
    }

    fn planes(&self) -> Self::Planes {
        let mover = self.to_move;
        let other = self.to_move.other();
        let [own, opponent] = [mover, other].map(|player| self.discs[player as usize]);
        [own, opponent, self.legal(mover), self.legal(other)].map(|squares| Bits([squares]))
    }

    /// The discs decide the legal squares, so they are all that counts.
    fn position_hash(&self) -> u64 {
        let [own, opponent] = [self.to_move, self.to_move.other()].map(|player| self.discs[player as usize]);
        grid::hash_words(&[own, opponent])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::perft;
    use crate::games::make_game;

    #[test]
    fn counts_of_games_are_the_published_ones() {
        let start = make_game(NAME).unwrap().initial();
        let counts: Vec<u64> = (1..=7).map(|depth| perft(start.as_ref(), depth)).collect();
        assert_eq!(counts, [4, 12, 56, 244, 1396, 8200, 55092]);
    }

    /// The rules read literally, on a list of squares.
    fn flips(board: &[Option<Player>], size: usize, square: usize, mover: Player) -> Vec<usize> {
        let row = (square / size) as i32;
        let column = (square % size) as i32;
        let at = |r: i32, c: i32| {
            let inside = (0..size as i32).contains(&r) && (0..size as i32).contains(&c);
            inside.then(|| (r * size as i32 + c) as usize)
        };
        let mut all = Vec::new();
        if board[square].is_some() {
            return all;
        }
        for (dr, dc) in [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let mut run = Vec::new();
            let mut step = 1;
            while let Some(here) = at(row + step * dr, column + step * dc) {
                match board[here] {
                    Some(player) if player != mover => run.push(here),
                    Some(_) => {
                        all.append(&mut run);
                        break;
                    }
                    None => break,
                }
                step += 1;
            }
        }
        all
    }

    /// Whose disc is on each square.
    fn owners(position: &Position) -> Vec<Option<Player>> {
        let owner = |square| grid::owner(|player| position.discs[player as usize] >> square & 1 == 1);
        (0..position.squares()).map(owner).collect()
    }

    proptest::proptest! {
        #[test]
        fn games_agree_with_the_rules_read_literally(
            size in proptest::sample::select(vec![4usize, 6, 8]), choices in proptest::collection::vec(0..64usize, MAX_PLIES)
        ) {
            let mut position = Position::new(size);
            for choice in choices {
                let board = owners(&position);
                let mut legal = Vec::new();
                position.legal_actions(&mut legal);
                for player in [Player::First, Player::Second] {
                    let expected: Vec<usize> =
                        (0..size * size).filter(|&s| !flips(&board, size, s, player).is_empty()).collect();
                    let found: Vec<usize> = (0..size * size).filter(|&s| position.legal(player) >> s & 1 == 1).collect();
                    proptest::prop_assert_eq!(found, expected);
                }
                if legal.is_empty() {
                    proptest::prop_assert!(position.outcome().is_some());
                    break;
                }
                let action = legal[choice % legal.len()];
                let mover = position.to_move();
                let flipped = if action == position.pass() { vec![] } else { flips(&board, size, action.into(), mover) };
                position.play(action);
                let after = owners(&position);
                for square in 0..size * size {
                    let expected = match square == usize::from(action) || flipped.contains(&square) {
                        true => Some(mover),
                        false => board[square],
                    };
                    proptest::prop_assert_eq!(after[square], expected);
                }
            }
        }
    }
}
