//! Gomoku without restrictions: five or more stones in a line win, on a board of 5x5 to 15x15; a full board is a draw.
//!
//! Actions are the points row by row from the top. Features: two planes, own stones and the opponent's. Moves are written as
//! in GTP: `A1` is the lower left point and there is no column I.

mod fours;

use std::any::Any;

use super::bits::Bits;
use super::grid;
use crate::game::{
    Action, Cells, Customs, ForcedWin, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry,
};

const NAME: &str = "gomoku";
const SIZES: std::ops::RangeInclusive<usize> = 5..=15;
const ALLOWED: &str = "a whole number from 5 to 15";
const DEFAULT_SIZE: usize = 15;
const LINE: usize = 5;
const MOST_POINTS: usize = 15 * 15;

type Points = Bits<4>;

/// The game of Gomoku on one board.
pub struct Gomoku {
    info: GameInfo,
    start: Position,
}

/// Builds the game: `gomoku` is 15x15, `gomoku(size=9)` 9x9.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = args.take::<usize>(NAME, "size", ALLOWED)?.unwrap_or(DEFAULT_SIZE);
    args.finish(NAME, &["size"])?;
    if !SIZES.contains(&size) {
        return Err(GameError(format!("{NAME}(size={size}): size must be {ALLOWED}")));
    }
    let info = GameInfo {
        name: NAME.into(),
        spec: if size == DEFAULT_SIZE { NAME.into() } else { format!("{NAME}(size={size})") },
        num_actions: size * size,
        feature_shape: [2, size, size],
        max_plies: size * size,
    };
    let start =
        Position { stones: [Points::EMPTY; 2], size: size as u8, ply: 0, has_line: false, moves: [0; MOST_POINTS] };
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

/// A position: the stones of both players, whether the last one made a line, and the moves in order.
#[derive(Clone, Copy)]
struct Position {
    stones: [Points; 2],
    size: u8,
    ply: u8,
    has_line: bool,
    moves: [u8; MOST_POINTS],
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
        let (size, stones) = (self.size() as i32, self.stones[player as usize]);
        let (row, column) = (point as i32 / size, point as i32 % size);
        let run = |dr: i32, dc: i32| {
            (1..LINE as i32)
                .take_while(|step| {
                    let (r, c) = (row + step * dr, column + step * dc);
                    (0..size).contains(&r) && (0..size).contains(&c) && stones.has((r * size + c) as usize)
                })
                .count()
        };
        // Only lines through the last stone can be new.
        [(0, 1), (1, 0), (1, 1), (1, -1)].into_iter().any(|(dr, dc)| run(dr, dc) + 1 + run(-dr, -dc) >= LINE)
    }

    fn moves(&self) -> &[u8] {
        &self.moves[..usize::from(self.ply)]
    }

    fn planes(&self) -> [Points; 2] {
        let mover = self.to_move();
        [mover, mover.other()].map(|player| self.stones[player as usize])
    }

    fn name(&self, point: usize) -> String {
        grid::gtp_name(point, self.size(), self.size())
    }
}

impl State for Position {
    #[inline]
    fn to_move(&self) -> Player {
        grid::alternating(self.ply)
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        if !self.has_line {
            let taken = self.stones[0] | self.stones[1];
            out.extend((0..self.points()).filter(|&point| !taken.has(point)).map(|point| point as Action));
        }
    }

    fn play(&mut self, action: Action) {
        let mover = self.to_move();
        self.stones[mover as usize] |= Points::square(action.into());
        self.moves[usize::from(self.ply)] = action as u8;
        self.ply += 1;
        self.has_line = self.makes_line(action.into(), mover);
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.has_line {
            return Some(Outcome::Win(self.to_move().other()));
        }
        (usize::from(self.ply) == self.points()).then_some(Outcome::Draw)
    }

    fn forced_win(&self, nodes: u32) -> Option<ForcedWin> {
        if self.outcome().is_some() {
            return None;
        }
        fours::forced_win(self.size(), self.planes(), nodes)
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.outcome().map(|outcome| if outcome == Outcome::Draw { "full board" } else { "five in a row" })
    }

    fn ply(&self) -> usize {
        usize::from(self.ply)
    }

    fn encode(&self, row: &mut [f32]) {
        grid::write_sets(row, self.points(), &self.planes());
    }

    fn row_len(&self) -> usize {
        2 * self.points()
    }

    fn key(&self) -> u64 {
        let [own, opponent] = self.planes();
        grid::hash_words(&[grid::hash_words(&own.0), grid::hash_words(&opponent.0), u64::from(self.has_line)])
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, self.points()).map(|point| self.name(point))
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, NAME, text, |action| vec![self.name(action.into())])
    }

    fn cells(&self) -> Result<Cells, String> {
        let owner = |point| grid::owner(|player| self.stones[player as usize].has(point));
        Ok(Cells::of_stones(grid::numbers_down(self.size()), grid::gtp_letters(self.size()), ['X', 'O'], owner))
    }

    fn sides(&self) -> [String; 2] {
        grid::sides(["Black", "White"])
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
