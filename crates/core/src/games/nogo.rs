//! NoGo: Go on an empty board in which capture, suicide and passing are illegal; who has no legal move loses.
//!
//! Actions are the points row by row from the top. Features: four planes, own stones, the opponent's stones, own legal
//! points, the opponent's legal points, rows from top to bottom. Moves are written as in GTP: `A1` is the lower left
//! point and there is no column I.

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::{GridGame, Moves};
use crate::game::{Action, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "nogo";
const SIZES: std::ops::RangeInclusive<usize> = 2..=13;
const DEFAULT_SIZE: usize = 9;
const MAX_POINTS: usize = 13 * 13;

/// The game of NoGo on one board; positions are sets of `W` words.
pub struct NoGo<const W: usize> {
    info: GameInfo,
    start: Position<W>,
}

/// Builds the game: `nogo` is 9x9, `nogo(size=7)` square, `nogo(rows=3,cols=4)` rectangular.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let [size, rows, columns] = ["size", "rows", "cols"].map(|name| grid::take_length(&mut args, NAME, name, SIZES));
    args.finish(NAME, &["size", "rows", "cols"])?;
    let (rows, columns) = match (size?, rows?, columns?) {
        (size, None, None) => (size.unwrap_or(DEFAULT_SIZE), size.unwrap_or(DEFAULT_SIZE)),
        (None, Some(rows), Some(columns)) => (rows, columns),
        _ => return Err(GameError("nogo takes either size, or rows and cols, or nothing (9x9)".into())),
    };
    Ok(match (rows * columns).div_ceil(64) {
        1 => Box::new(NoGo::<1>::new(rows, columns)),
        2 => Box::new(NoGo::<2>::new(rows, columns)),
        _ => Box::new(NoGo::<3>::new(rows, columns)),
    })
}

impl<const W: usize> NoGo<W> {
    fn new(rows: usize, columns: usize) -> Self {
        let spec = match (rows, columns) {
            (DEFAULT_SIZE, DEFAULT_SIZE) => NAME.into(),
            _ if rows == columns => format!("{NAME}(size={rows})"),
            _ => format!("{NAME}(rows={rows},cols={columns})"),
        };
        let info = GameInfo {
            name: NAME.into(),
            spec,
            num_actions: rows * columns,
            feature_shape: [4, rows, columns],
            // every chain keeps a liberty, so one point at least stays empty
            max_plies: rows * columns - 1,
        };
        NoGo { info, start: Position::new(rows, columns) }
    }
}

impl<const W: usize> Game for NoGo<W> {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn customs(&self) -> Customs {
        Customs { look: "stones".into(), record_form: "sgf".into(), has_draws: false, ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start)
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        let [_, rows, columns] = self.info.feature_shape;
        grid::point_symmetries(rows, columns, 0)
    }
}

/// A position. A point that is illegal for a colour stays so for the rest of the game, so `banned` only grows.
#[derive(Clone, Copy)]
pub struct Position<const W: usize> {
    stones: [Bits<W>; 2],
    /// Empty points where a move of this colour would capture or be suicide.
    banned: [Bits<W>; 2],
    /// All points.
    board: Bits<W>,
    /// Points that are not in the first column.
    not_first: Bits<W>,
    /// Points that are not in the last column.
    not_last: Bits<W>,
    rows: u8,
    columns: u8,
    moves: Moves<MAX_POINTS>,
}

impl<const W: usize> Position<W> {
    /// The empty board.
    fn new(rows: usize, columns: usize) -> Self {
        let points = rows * columns;
        Position {
            stones: [Bits::EMPTY; 2],
            banned: [Bits::EMPTY; 2],
            board: Bits::first(points),
            not_first: Bits::filter(points, |point| point % columns != 0),
            not_last: Bits::filter(points, |point| point % columns != columns - 1),
            rows: rows as u8,
            columns: columns as u8,
            moves: Moves::NONE,
        }
    }

    /// The stones of the first and of the second player.
    pub fn stones(&self) -> [Bits<W>; 2] {
        self.stones
    }

    #[inline]
    fn empty(&self) -> Bits<W> {
        self.board & !(self.stones[0] | self.stones[1])
    }

    /// The legal points of a player, whoever is to move.
    #[inline]
    pub fn legal(&self, player: Player) -> Bits<W> {
        self.empty() & !self.banned[player as usize]
    }

    /// The points next to a point of the set.
    #[inline]
    fn next_to(&self, set: Bits<W>) -> Bits<W> {
        let columns = usize::from(self.columns);
        let across = (set.up(1) & self.not_first) | (set.down(1) & self.not_last);
        (across | set.up(columns) | set.down(columns)) & self.board
    }

    /// The points of `within` connected to `seed`, which is part of it.
    #[inline]
    fn chain(&self, seed: Bits<W>, within: Bits<W>) -> Bits<W> {
        let mut chain = seed;
        loop {
            let grown = chain | (self.next_to(chain) & within);
            if grown == chain {
                return chain;
            }
            chain = grown;
        }
    }

    /// Bans the points that became illegal by the stone just put on `point`: last liberties of the chains that lost
    /// or changed a liberty, and points next to them or to the stone that would now be suicide.
    fn ban(&mut self, point: Bits<W>, mover: Player) {
        // Only chains that touch the new stone have lost a liberty or grown, so only near them a point can
        // have become illegal.
        let mut suspects = self.next_to(point) & self.empty();
        // Own chains next to the stone are now part of its chain.
        let mut pending = self.next_to(point) & self.stones[mover.other() as usize] | point;
        while let Some(square) = pending.squares().next() {
            let stone = Bits::square(square);
            if (self.next_to(stone) & self.empty()).count() > 1 {
                // enough liberties at this one stone: no need to look at the rest of its chain
                pending = pending & !stone;
                continue;
            }
            let owner = if self.stones[0].has(square) { Player::First } else { Player::Second };
            let chain = self.chain(stone, self.stones[owner as usize]);
            pending = pending & !chain;
            let liberties = self.next_to(chain) & self.empty();
            if liberties.count() == 1 {
                // The opponent would capture there. For its owner the point stays legal unless it is suicide, which is
                // looked at below.
                self.banned[owner.other() as usize] |= liberties;
                suspects |= liberties;
            }
        }
        for suspect in suspects.squares().map(Bits::square) {
            self.ban_suicides(suspect);
        }
    }

    /// Bans an empty point for the colours that would have no liberty left after playing it.
    fn ban_suicides(&mut self, point: Bits<W>) {
        // A stone with an empty neighbour has a liberty of its own.
        if !(self.next_to(point) & self.empty()).is_empty() {
            return;
        }
        // For both: liberties that one player takes are gone for the other too.
        for colour in 0..2 {
            let chain = self.chain(point, self.stones[colour] | point);
            if (self.next_to(chain) & self.empty() & !point).is_empty() {
                self.banned[colour] |= point;
            }
        }
    }
}

impl<const W: usize> GridGame for Position<W> {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["Black", "White"];
    const COORDINATES: Coordinates = Coordinates::Gtp;
    type Planes = [Bits<W>; 4];

    fn shape(&self) -> (usize, usize) {
        (self.rows.into(), self.columns.into())
    }

    fn moves(&self) -> &[u8] {
        self.moves.as_slice()
    }

    fn owner(&self, point: usize) -> Option<Player> {
        grid::owner(|player| self.stones[player as usize].has(point))
    }

    #[inline]
    fn mover(&self) -> Player {
        self.moves.mover()
    }

    fn add_legal(&self, actions: &mut Vec<Action>) {
        actions.extend(self.legal(self.mover()).squares().map(|point| point as Action));
    }

    fn make_move(&mut self, action: Action) {
        let mover = self.mover();
        let point = Bits::square(action.into());
        self.stones[mover as usize] |= point;
        self.moves.push(action);
        self.ban(point, mover);
    }

    #[inline]
    fn result(&self) -> Option<(Outcome, &'static str)> {
        let mover = self.mover();
        self.legal(mover).is_empty().then(|| (Outcome::Win(mover.other()), "no legal move"))
    }

    fn planes(&self) -> Self::Planes {
        let mover = self.mover();
        let other = self.mover().other();
        [self.stones[mover as usize], self.stones[other as usize], self.legal(mover), self.legal(other)]
    }

    /// The stones decide the legal points, so they are all that counts.
    fn position_hash(&self) -> u64 {
        let mover = self.mover();
        let [own, opponent] = [mover, mover.other()].map(|player| grid::hash_words(&self.stones[player as usize].0));
        grid::hash_words(&[own, opponent])
    }
}

#[cfg(test)]
mod tests;
