//! Tic-tac-toe: 3x3, three in a row wins. Actions 0..9 are squares row by row from the top (a3 b3 c3 ... c1).
//! Features: two planes, the mover's stones and the opponent's.

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::{GridGame, Moves};
use crate::game::{Action, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "tictactoe";
// In octal a row is a digit.
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
        Box::new(Position { stones: [0; 2], moves: Moves::NONE })
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        grid::point_symmetries(3, 3, 0)
    }
}

/// A position.
#[derive(Clone, Copy)]
struct Position {
    /// The squares of both players.
    stones: [u16; 2],
    moves: Moves<9>,
}

impl Position {
    fn has_line(&self, player: Player) -> bool {
        LINES.iter().any(|line| self.stones[player as usize] & line == *line)
    }

    fn taken(&self) -> u16 {
        self.stones[0] | self.stones[1]
    }

    /// The mover's stones and the opponent's.
    fn own_and_other(&self) -> [u64; 2] {
        let mover = self.mover();
        [mover, mover.other()].map(|player| u64::from(self.stones[player as usize]))
    }
}

impl GridGame for Position {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["X", "O"];
    const COORDINATES: Coordinates = Coordinates::Chess;
    type Planes = [Bits<1>; 2];

    fn shape(&self) -> (usize, usize) {
        (3, 3)
    }

    fn moves(&self) -> &[u8] {
        self.moves.as_slice()
    }

    fn owner(&self, square: usize) -> Option<Player> {
        grid::owner(|player| self.stones[player as usize] >> square & 1 == 1)
    }

    fn add_legal(&self, actions: &mut Vec<Action>) {
        if self.result().is_none() {
            actions.extend((0..9).filter(|square| self.taken() >> square & 1 == 0));
        }
    }

    fn make_move(&mut self, action: Action) {
        self.stones[self.mover() as usize] |= 1 << action;
        self.moves.push(action);
    }

    fn result(&self) -> Option<(Outcome, &'static str)> {
        // Only the player who has just moved can have made a line.
        let last = self.mover().other();
        if self.has_line(last) {
            return Some((Outcome::Win(last), "three in a row"));
        }
        (self.taken() == FULL).then_some((Outcome::Draw, "full board"))
    }

    fn planes(&self) -> Self::Planes {
        self.own_and_other().map(|stones| Bits([stones]))
    }

    fn position_hash(&self) -> u64 {
        let [own, other] = self.own_and_other();
        grid::hash_words(&[own | other << 9])
    }
}
