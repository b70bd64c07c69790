//! Tic-tac-toe: 3x3, three in a row wins. Actions 0..9 are squares row by row from the top (a3 b3 c3 ... c1).

use std::any::Any;

use crate::game::{Action, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
const FULL: u16 = 0o777;

/// The game of tic-tac-toe.
pub struct TicTacToe {
    info: GameInfo,
}

/// Builds the game; it has no parameters.
pub fn make(args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    args.finish("tictactoe", &[])?;
    let info = GameInfo {
        name: "tictactoe".into(),
        spec: "tictactoe".into(),
        num_actions: 9,
        feature_shape: [2, 3, 3],
        max_plies: 9,
    };
    Ok(Box::new(TicTacToe { info }))
}

impl Game for TicTacToe {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(Position::default())
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        super::square_symmetries(3)
            .into_iter()
            .map(|squares| Symmetry { actions: squares.iter().map(|&s| s as Action).collect(), squares })
            .collect()
    }
}

/// A position: the squares of both players as 9-bit sets, and the moves in order.
#[derive(Clone, Default)]
struct Position {
    stones: [u16; 2],
    ply: u8,
    moves: [u8; 9],
}

impl Position {
    fn has_line(&self, player: usize) -> bool {
        LINES.iter().any(|line| self.stones[player] & line == *line)
    }

    fn mover(&self) -> usize {
        usize::from(self.ply % 2)
    }
}
