//! Tic-tac-toe: 3x3, three in a row wins. Actions 0..9 are squares row by row from the top (a3 b3 c3 ... c1).
//! Features: two planes, the mover's stones and the opponent's.

use std::any::Any;

use super::grid;
use crate::game::{Action, Cells, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "tictactoe";
const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
const FULL: u16 = 0o777;

/// The game of tic-tac-toe.
pub struct TicTacToe {
    info: GameInfo,
}

/// Builds the game; it has no parameters.
pub fn make(args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    args.finish(NAME, &[])?;
    let info =
        GameInfo { name: NAME.into(), spec: NAME.into(), num_actions: 9, feature_shape: [2, 3, 3], max_plies: 9 };
    Ok(Box::new(TicTacToe { info }))
}

impl Game for TicTacToe {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn customs(&self) -> Customs {
        Customs { look: "crosses".into(), ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(Position::default())
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        grid::point_symmetries(3, 3, 0)
    }
}

/// A position: the squares of both players as 9-bit sets, and the moves in order.
#[derive(Clone, Copy, Default)]
struct Position {
    stones: [u16; 2],
    ply: u8,
    moves: [u8; 9],
}

impl Position {
    fn has_line(&self, player: Player) -> bool {
        LINES.iter().any(|line| self.stones[player as usize] & line == *line)
    }

    fn moves(&self) -> &[u8] {
        &self.moves[..usize::from(self.ply)]
    }

    /// The mover's stones and the opponent's.
    fn planes(&self) -> [u64; 2] {
        let mover = self.to_move();
        [mover, mover.other()].map(|player| u64::from(self.stones[player as usize]))
    }
}

/// `a3` for action 0 to `c1` for action 8.
fn square_name(action: usize) -> String {
    format!("{}{}", ["a", "b", "c"][action % 3], 3 - action / 3)
}

impl State for Position {
    fn to_move(&self) -> Player {
        grid::alternating(self.ply)
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        if self.outcome().is_none() {
            let taken = self.stones[0] | self.stones[1];
            out.extend((0..9).filter(|square| taken >> square & 1 == 0));
        }
    }

    fn play(&mut self, action: Action) {
        self.stones[self.to_move() as usize] |= 1 << action;
        self.moves[usize::from(self.ply)] = action as u8;
        self.ply += 1;
    }

    fn outcome(&self) -> Option<Outcome> {
        // Only the player who has just moved can have made a line.
        let last = self.to_move().other();
        if self.has_line(last) {
            return Some(Outcome::Win(last));
        }
        (self.stones[0] | self.stones[1] == FULL).then_some(Outcome::Draw)
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.outcome().map(|outcome| if outcome == Outcome::Draw { "full board" } else { "three in a row" })
    }

    fn ply(&self) -> usize {
        usize::from(self.ply)
    }

    fn encode(&self, row: &mut [f32]) {
        for (plane, bits) in row.chunks_exact_mut(9).zip(self.planes()) {
            grid::write_plane(plane, bits);
        }
    }

    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        masks.copy_from_slice(&self.planes());
        values.fill(1.0);
    }

    fn row_len(&self) -> usize {
        18
    }

    fn key(&self) -> u64 {
        let [own, opponent] = self.planes();
        grid::hash_words(&[own | opponent << 9])
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, 9).map(square_name)
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, NAME, text, |action| vec![square_name(action.into())])
    }

    fn cells(&self) -> Result<Cells, String> {
        let owner = |square| grid::owner(|player| self.stones[player as usize] >> square & 1 == 1);
        Ok(Cells::of_stones(grid::numbers_down(3), grid::letters(3), ['X', 'O'], owner))
    }

    fn sides(&self) -> [String; 2] {
        grid::sides(["X", "O"])
    }

    fn notation(&self) -> String {
        self.moves().iter().map(|&m| square_name(m.into())).collect::<Vec<_>>().join(" ")
    }

    crate::game::plain_copy!();
}
