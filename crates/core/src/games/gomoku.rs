//! Gomoku without restrictions: five or more stones in a line win, on a board of 5x5 to 15x15; a full board is a draw.
//!
//! Actions are the points row by row from the top. Features: two planes, own stones and the opponent's. Moves are written as
//! in GTP: `A1` is the lower left point and there is no column I.

mod fours;

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::{GridGame, Moves};
use crate::game::{
    Action, Customs, ForcedLoss, ForcedWin, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry,
};

const NAME: &str = "gomoku";
const SIZES: std::ops::RangeInclusive<usize> = 5..=15;
const DEFAULT_SIZE: usize = 15;
const LINE: usize = 5;
const MAX_POINTS: usize = 15 * 15;

type Points = Bits<4>;

/// The game of Gomoku on one board.
pub struct Gomoku {
    info: GameInfo,
    start: Position,
}

/// Builds the game: `gomoku` is 15x15, `gomoku(size=9)` 9x9.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = grid::take_length(&mut args, NAME, "size", SIZES)?.unwrap_or(DEFAULT_SIZE);
    args.finish(NAME, &["size"])?;
    let info = GameInfo {
        name: NAME.into(),
        spec: grid::spec(NAME, [(size != DEFAULT_SIZE).then(|| format!("size={size}"))]),
        num_actions: size * size,
        feature_shape: [2, size, size],
        max_plies: size * size,
    };
    let start = Position { stones: [Points::EMPTY; 2], size: size as u8, has_line: false, moves: Moves::NONE };
    Ok(Box::new(Gomoku { info, start }))
}

impl Game for Gomoku {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn customs(&self) -> Customs {
        Customs { look: "stones".into(), record_form: "sgf".into(), ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start)
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        let [_, rows, columns] = self.info.feature_shape;
        grid::point_symmetries(rows, columns, 0)
    }
}

/// A position.
#[derive(Clone, Copy)]
struct Position {
    /// The stones of both players.
    stones: [Points; 2],
    size: u8,
    /// The last stone has made a line.
    has_line: bool,
    moves: Moves<MAX_POINTS>,
}

impl Position {
    fn size(&self) -> usize {
        usize::from(self.size)
    }

    fn points(&self) -> usize {
        self.size() * self.size()
    }

    /// Whether the stone of a player on a point stands in a line of at least five.
    fn makes_line(&self, point: usize, player: Player) -> bool {
        let size = self.size() as i32;
        let stones = self.stones[player as usize];
        let row = point as i32 / size;
        let column = point as i32 % size;
        let run = |dr: i32, dc: i32| {
            // Four steps are enough: with the stone they are a line, and a longer one counts no more.
            (1..LINE as i32)
                .take_while(|step| {
                    let r = row + step * dr;
                    let c = column + step * dc;
                    (0..size).contains(&r) && (0..size).contains(&c) && stones.has((r * size + c) as usize)
                })
                .count()
        };
        // Only lines through the last stone can be new.
        [(0, 1), (1, 0), (1, 1), (1, -1)].into_iter().any(|(dr, dc)| run(dr, dc) + 1 + run(-dr, -dc) >= LINE)
    }

    /// The mover's stones and the opponent's.
    fn own_and_other(&self) -> [Points; 2] {
        let mover = self.mover();
        [mover, mover.other()].map(|player| self.stones[player as usize])
    }
}

impl GridGame for Position {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["Black", "White"];
    const COORDINATES: Coordinates = Coordinates::Gtp;
    type Planes = [Points; 2];

    fn shape(&self) -> (usize, usize) {
        (self.size(), self.size())
    }

    fn moves(&self) -> &[u8] {
        self.moves.as_slice()
    }

    fn owner(&self, point: usize) -> Option<Player> {
        grid::owner(|player| self.stones[player as usize].has(point))
    }

    fn add_legal(&self, actions: &mut Vec<Action>) {
        if !self.has_line {
            let taken = self.stones[0] | self.stones[1];
            actions.extend((0..self.points()).filter(|&point| !taken.has(point)).map(|point| point as Action));
        }
    }

    fn make_move(&mut self, action: Action) {
        let mover = self.mover();
        self.stones[mover as usize] |= Points::square(action.into());
        self.moves.push(action);
        // Kept, because the result is asked for several times at each visit.
        self.has_line = self.makes_line(action.into(), mover);
    }

    fn result(&self) -> Option<(Outcome, &'static str)> {
        if self.has_line {
            return Some((Outcome::Win(self.mover().other()), "five in a row"));
        }
        (self.moves.count() == self.points()).then_some((Outcome::Draw, "full board"))
    }

    fn win_by_threats(&self, nodes: u32) -> Option<ForcedWin> {
        if self.result().is_some() {
            return None;
        }
        fours::forced_win(self.size(), self.own_and_other(), nodes)
    }

    fn losses_by_threats(&self, nodes: u32) -> Vec<ForcedLoss> {
        if self.result().is_some() {
            return Vec::new();
        }
        fours::lost_moves(self.size(), self.own_and_other(), nodes)
    }

    fn planes(&self) -> Self::Planes {
        self.own_and_other()
    }

    fn position_hash(&self) -> u64 {
        let [own, other] = self.own_and_other();
        grid::hash_words(&[grid::hash_words(&own.0), grid::hash_words(&other.0), u64::from(self.has_line)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::perft;
    use crate::games::make_game;

    fn after(spec: &str, moves: &str) -> Box<dyn State> {
        let mut state = make_game(spec).unwrap().initial();
        for text in moves.split_whitespace() {
            assert_eq!(state.outcome(), None, "{text}");
            state.play(state.action_from_text(text).unwrap());
        }
        state
    }

    #[test]
    fn every_point_is_a_move() {
        assert_eq!(perft(make_game("gomoku(size=9)").unwrap().initial().as_ref(), 2), 81 * 80);
    }

    #[test]
    fn lines_win_in_every_direction_and_more_than_five_too() {
        for moves in [
            "A1 A9 B1 B9 C1 C9 D1 D9 E1",
            "A1 J1 A2 J2 A3 J3 A4 J4 A5",
            "A1 J1 B2 J2 C3 J3 D4 J4 E5",
            "A5 J1 B4 J2 C3 J3 D2 J4 E1",
            "A1 A9 B1 B9 C1 C9 E1 E9 F1 F9 D1",
        ] {
            assert_eq!(after("gomoku(size=9)", moves).outcome(), Some(Outcome::Win(Player::First)), "{moves}");
        }
    }

    #[test]
    fn no_line_goes_round_the_edge() {
        assert_eq!(after("gomoku(size=9)", "G5 A1 H5 B1 J5 D1 A4 E1 B4").outcome(), None);
    }

    #[test]
    fn a_full_board_is_a_draw() {
        let first = "A5 B5 D5 E5 C4 A3 B3 D3 E3 C2 A1 B1 D1".split_whitespace();
        let second = "C5 A4 B4 D4 E4 C3 A2 B2 D2 E2 C1 E1".split_whitespace();
        let mut moves: Vec<&str> = first.clone().zip(second).flat_map(|(one, other)| [one, other]).collect();
        moves.extend(first.last());
        assert_eq!(after("gomoku(size=5)", &moves.join(" ")).outcome(), Some(Outcome::Draw));
    }
}
