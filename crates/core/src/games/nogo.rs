//! NoGo: Go on an empty board in which capture, suicide and passing are illegal; who has no legal move loses.
//!
//! Actions are the points row by row from the top. Features: four planes, own stones, the opponent's stones, own legal
//! points, the opponent's legal points, rows from top to bottom. Moves are written as in GTP: `A1` is the lower left
//! point and there is no column I.

use std::any::Any;

use super::bits::Bits;
use super::grid;
use crate::game::{Action, Cells, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};

const NAME: &str = "nogo";
const SIZES: std::ops::RangeInclusive<usize> = 2..=13;
const ALLOWED: &str = "a whole number from 2 to 13";
const DEFAULT_SIZE: usize = 9;
const MAX_POINTS: usize = 13 * 13;

/// The game of NoGo on one board; positions are sets of `W` words.
pub struct NoGo<const W: usize> {
    info: GameInfo,
    start: Position<W>,
}

/// Builds the game: `nogo` is 9x9, `nogo(size=7)` square, `nogo(rows=3,cols=4)` rectangular.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let [size, rows, columns] = ["size", "rows", "cols"].map(|name| length(&mut args, name));
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

/// One of the parameters that are a length of the board.
fn length(args: &mut SpecArgs, name: &str) -> Result<Option<usize>, GameError> {
    match args.take::<usize>(NAME, name, ALLOWED)? {
        Some(value) if !SIZES.contains(&value) => {
            Err(GameError(format!("{NAME}({name}={value}): {name} must be {ALLOWED}")))
        }
        value => Ok(value),
    }
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
    /// All points; those not in the first column; those not in the last one.
    board: Bits<W>,
    not_first: Bits<W>,
    not_last: Bits<W>,
    rows: u8,
    columns: u8,
    ply: u8,
    moves: [u8; MAX_POINTS],
}

impl<const W: usize> Position<W> {
    /// The empty board.
    fn new(rows: usize, columns: usize) -> Self {
        let points = |holds: &dyn Fn(usize) -> bool| {
            (0..rows * columns).filter(|&p| holds(p)).fold(Bits::EMPTY, |set, point| set | Bits::square(point))
        };
        Position {
            stones: [Bits::EMPTY; 2],
            banned: [Bits::EMPTY; 2],
            board: points(&|_| true),
            not_first: points(&|point| point % columns != 0),
            not_last: points(&|point| point % columns != columns - 1),
            rows: rows as u8,
            columns: columns as u8,
            ply: 0,
            moves: [0; MAX_POINTS],
        }
    }

    /// The position with these stones; sides of 1 point are allowed. What led to it is not known, so `notation` is empty.
    /// Fails where a point has two stones, and where a chain has no liberty.
    pub fn from_stones(rows: usize, columns: usize, stones: [Bits<W>; 2], to_move: Player) -> Result<Self, GameError> {
        let mut position = Position { stones, ply: to_move as u8, ..Position::new(rows, columns) };
        if !(stones[0] & stones[1]).is_empty() {
            return Err(GameError("two stones on one point".into()));
        }
        for (player, set) in [Player::First, Player::Second].into_iter().zip(stones) {
            for point in set.squares().map(Bits::square) {
                if (position.next_to(position.chain(point, set)) & position.empty()).is_empty() {
                    return Err(GameError("a chain has no liberty".into()));
                }
                position.ban(point, player);
            }
        }
        // an empty point without neighbours is suicide from the beginning
        position.empty().squares().for_each(|point| position.ban_suicides(Bits::square(point)));
        Ok(position)
    }

    /// The stones of the first and of the second player.
    pub fn stones(&self) -> [Bits<W>; 2] {
        self.stones
    }

    /// Rows and columns of the board.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows.into(), self.columns.into())
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
    /// or changed a liberty, and points beside them or beside the stone that would now be suicide.
    fn ban(&mut self, point: Bits<W>, mover: Player) {
        // Only chains that touch the new stone have lost a liberty or grown, so only near them a point can
        // have become illegal.
        let mut suspects = self.next_to(point) & self.empty();
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
        for colour in 0..2 {
            let chain = self.chain(point, self.stones[colour] | point);
            if (self.next_to(chain) & self.empty() & !point).is_empty() {
                self.banned[colour] |= point;
            }
        }
    }

    fn moves(&self) -> &[u8] {
        &self.moves[..usize::from(self.ply)]
    }

    /// Own stones, the opponent's, own legal points, the opponent's.
    fn planes(&self) -> [Bits<W>; 4] {
        let (mover, other) = (self.to_move(), self.to_move().other());
        [self.stones[mover as usize], self.stones[other as usize], self.legal(mover), self.legal(other)]
    }

    fn num_points(&self) -> usize {
        usize::from(self.rows) * usize::from(self.columns)
    }

    /// GTP name of a point.
    fn point_name(&self, point: usize) -> String {
        grid::gtp_name(point, self.rows.into(), self.columns.into())
    }
}

impl<const W: usize> State for Position<W> {
    #[inline]
    fn to_move(&self) -> Player {
        grid::alternating(self.ply)
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        out.extend(self.legal(self.to_move()).squares().map(|point| point as Action));
    }

    fn play(&mut self, action: Action) {
        let mover = self.to_move();
        let point = Bits::square(action.into());
        self.stones[mover as usize] |= point;
        self.moves[usize::from(self.ply)] = action as u8;
        self.ply += 1;
        self.ban(point, mover);
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        let mover = self.to_move();
        self.legal(mover).is_empty().then(|| Outcome::Win(mover.other()))
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.outcome().map(|_| "no legal move")
    }

    fn ply(&self) -> usize {
        usize::from(self.ply)
    }

    fn encode(&self, row: &mut [f32]) {
        grid::write_sets(row, self.num_points(), &self.planes());
    }

    /// Panics on boards of more than 64 points, which have no packed form.
    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        assert!(W == 1, "boards of more than 64 squares have no packed form");
        for (mask, set) in masks.iter_mut().zip(self.planes()) {
            *mask = set.0[0];
        }
        values.fill(1.0);
    }

    fn row_len(&self) -> usize {
        4 * self.num_points()
    }

    /// The stones decide the legal points, so they are all that counts.
    fn key(&self) -> u64 {
        let [own, opponent, ..] = self.planes();
        grid::hash_words(&[grid::hash_words(&own.0), grid::hash_words(&opponent.0)])
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, self.num_points()).map(|point| self.point_name(point))
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, NAME, text, |action| vec![self.point_name(action.into())])
    }

    fn cells(&self) -> Result<Cells, String> {
        let owner = |point| grid::owner(|player| self.stones[player as usize].has(point));
        Ok(Cells::of_stones(
            grid::numbers_down(usize::from(self.rows)),
            grid::gtp_letters(usize::from(self.columns)),
            ['X', 'O'],
            owner,
        ))
    }

    fn sides(&self) -> [String; 2] {
        grid::sides(["Black", "White"])
    }

    fn notation(&self) -> String {
        self.moves().iter().map(|&point| self.point_name(point.into())).collect::<Vec<_>>().join(" ")
    }

    crate::game::plain_copy!();
}

#[cfg(test)]
mod tests;
