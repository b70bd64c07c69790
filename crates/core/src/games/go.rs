//! Go on 2x2 to 13x13, scored by area: Tromp and Taylor's rules without suicide. A position of the board may not be repeated
//! (positional superko); two passes, or three times as many plies as the board has points, end the game, and all stones count as
//! they stand.
//!
//! Actions are the points row by row from the top, then the pass. Features: six planes, own stones, the opponent's, points
//! where the mover may not play, chains in atari, ones where Black is to move (who gives komi), ones after a pass. Moves are
//! written as in GTP: `A1` is the lower left point and there is no column I.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::bits::Bits;
use super::grid::{self, Coordinates};
use super::grid_game::GridGame;
use crate::game::{Action, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};
use crate::math::rng::Stream;

pub mod setup;

use setup::Setup;

const NAME: &str = "go";
const SIZES: std::ops::RangeInclusive<usize> = 2..=13;
const DEFAULT_SIZE: usize = 9;
const DEFAULT_KOMI: f32 = 7.5;
const KOMI_ALLOWED: &str = "a multiple of 0.5 from -169 to 169";
const PLIES_A_POINT: usize = 3;

/// Words of the sets of the largest board.
const MAX_WORDS: usize = 3;

/// The game of Go on one board; positions are sets of `W` words.
pub struct Go<const W: usize> {
    info: GameInfo,
    start: Position<W>,
}

/// Builds the game: `go` is 9x9 with komi 7.5, `go(size=5)` 5x5, `go(size=7,komi=9)`; `position` is where it begins, as `setup`
/// reads it.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = grid::take_length(&mut args, NAME, "size", SIZES)?.unwrap_or(DEFAULT_SIZE);
    let komi = args.take::<f32>(NAME, "komi", KOMI_ALLOWED)?.unwrap_or(DEFAULT_KOMI);
    let position = args.take::<String>(NAME, "position", "rows of a board")?;
    args.finish(NAME, &["size", "komi", "position"])?;
    if komi.abs() > 169.0 || (2.0 * komi).fract() != 0.0 || komi.is_nan() {
        return Err(GameError(format!("{NAME}(komi={komi}): komi must be {KOMI_ALLOWED}")));
    }
    let begins = match &position {
        None => Setup::empty(),
        Some(text) => setup::read(text, size).map_err(|why| GameError(format!("{NAME}(position={text}): {why}")))?,
    };
    let parameters = [
        (size != DEFAULT_SIZE).then(|| format!("size={size}")),
        (komi != DEFAULT_KOMI).then(|| format!("komi={komi}")),
        (begins != Setup::empty()).then(|| format!("position={}", setup::written(&begins, size))),
    ];
    let info = GameInfo {
        name: NAME.into(),
        spec: grid::spec(NAME, parameters),
        num_actions: size * size + 1,
        feature_shape: [6, size, size],
        max_plies: PLIES_A_POINT * size * size,
    };
    let double_komi = (2.0 * komi) as i32;
    // Compiled for each number of words: up to 8x8 a set of points is one register.
    Ok(match (size * size).div_ceil(64) {
        1 => Box::new(Go::<1> { info, start: Position::new(size, double_komi, &begins)? }),
        2 => Box::new(Go::<2> { info, start: Position::new(size, double_komi, &begins)? }),
        _ => Box::new(Go::<MAX_WORDS> { info, start: Position::new(size, double_komi, &begins)? }),
    })
}

impl<const W: usize> Game for Go<W> {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn past_matters(&self) -> Option<&'static str> {
        Some("the boards that superko forbids")
    }

    fn customs(&self) -> Customs {
        let has_draws = self.start.double_komi % 2 == 0;
        Customs { look: "stones".into(), record_form: "sgf".into(), has_draws, ..Customs::default() }
    }

    fn initial(&self) -> Box<dyn State> {
        Box::new(self.start.clone())
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        let [_, rows, columns] = self.info.feature_shape;
        grid::point_symmetries(rows, columns, 1)
    }

    fn initial_seen(&self, symmetry: usize) -> Box<dyn State> {
        let squares = &self.symmetries()[symmetry].squares;
        let seen = |stones: Bits<W>| {
            let places = squares.iter().enumerate();
            places.filter(|&(_, &old)| stones.has(old as usize)).map(|(new, _)| new).collect()
        };
        let begins = Setup { stones: self.start.stones.map(seen), first: self.start.first };
        let start = Position::<W>::new(self.start.size(), self.start.double_komi, &begins);
        Box::new(start.expect("a chain has its liberties from every side"))
    }
}

/// A position.
#[derive(Clone)]
struct Position<const W: usize> {
    /// The stones of both players.
    stones: [Bits<W>; 2],
    /// All points.
    board: Bits<W>,
    /// Points that are not in the first column.
    not_first: Bits<W>,
    /// Points that are not in the last column.
    not_last: Bits<W>,
    size: u8,
    /// Who moves first, or moved.
    first: Player,
    /// Twice the points that White gets.
    double_komi: i32,
    passes: u8,
    /// Points where the mover may not play, once they were asked for: random games never do.
    // Not a plain cell: a position may be looked at by several threads.
    banned: OnceLock<Bits<W>>,
    /// Hashes of all boards since the start, the present one last.
    boards: Vec<u64>,
    /// How many of them there were at the last capture. Later ones only gained stones, so that none of them comes again
    /// without a capture.
    settled: usize,
    moves: Vec<u8>,
}

impl<const W: usize> Position<W> {
    /// The position that a game begins from; an error where a chain has no liberty.
    fn new(size: usize, double_komi: i32, begins: &Setup) -> Result<Self, GameError> {
        let points = size * size;
        let place = |stones: &Vec<usize>| stones.iter().fold(Bits::EMPTY, |set, &point| set | Bits::square(point));
        let [black, white] = [Player::First, Player::Second].map(|player| {
            let stones = &begins.stones[player as usize];
            stones.iter().fold(0, |hash, &point| hash ^ stone_hash(point, player))
        });
        let found = Position {
            stones: [place(&begins.stones[0]), place(&begins.stones[1])],
            board: Bits::first(points),
            not_first: Bits::filter(points, |point| point % size != 0),
            not_last: Bits::filter(points, |point| point % size != size - 1),
            size: size as u8,
            first: begins.first,
            double_komi,
            passes: 0,
            banned: OnceLock::new(),
            // The first board has been there too: superko forbids to come back to it.
            boards: vec![black ^ white],
            settled: 0,
            moves: Vec::new(),
        };
        for stones in found.stones {
            let open = found.empty();
            let without_liberty =
                stones.squares().find(|&square| found.enclosed(Bits::square(square), stones, open).is_some());
            if let Some(square) = without_liberty {
                let name = Coordinates::Gtp.name(square, size, size);
                return Err(GameError(format!("{NAME}(position=...): the chain of {name} has no liberty")));
            }
        }
        Ok(found)
    }

    #[inline]
    fn size(&self) -> usize {
        usize::from(self.size)
    }

    #[inline]
    fn points(&self) -> usize {
        self.size() * self.size()
    }

    fn pass(&self) -> Action {
        self.points() as Action
    }

    #[inline]
    fn empty(&self) -> Bits<W> {
        self.board & !(self.stones[0] | self.stones[1])
    }

    /// The points next to a point of the set.
    #[inline]
    fn next_to(&self, set: Bits<W>) -> Bits<W> {
        let across = (set.up(1) & self.not_first) | (set.down(1) & self.not_last);
        (across | set.up(self.size()) | set.down(self.size())) & self.board
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

    /// The chain of a seed among stones of one player, if none of the `open` points is next to it.
    #[inline]
    fn enclosed(&self, seed: Bits<W>, stones: Bits<W>, open: Bits<W>) -> Option<Bits<W>> {
        let mut chain = seed;
        loop {
            let around = self.next_to(chain);
            // Most chains have a liberty near the seed, and need not be walked to their end.
            if !(around & open).is_empty() {
                return None;
            }
            let grown = chain | (around & stones);
            if grown == chain {
                return Some(chain);
            }
            chain = grown;
        }
    }

    /// The opponent's stones that a stone of a player on an empty point takes.
    fn captured(&self, point: Bits<W>, player: Player) -> Bits<W> {
        // Captures come before suicide: liberties are counted with the new stone on the board.
        let theirs = self.stones[player.other() as usize];
        let open = self.empty() & !point;
        let mut touched = self.next_to(point) & theirs;
        let mut taken = Bits::EMPTY;
        if touched.is_empty() {
            return taken;
        }
        // stones with a liberty of their own need no look at their chain
        touched = touched & !self.next_to(open);
        while let Some(square) = touched.squares().next() {
            let seed = Bits::square(square);
            let chain = self.enclosed(seed, theirs, open);
            taken |= chain.unwrap_or(Bits::EMPTY);
            touched = touched & !chain.unwrap_or(seed);
        }
        taken
    }

    /// Whether a player may put a stone on an empty point: it or its chain keeps a liberty, and the board is a new one.
    fn may_play(&self, point: Bits<W>, player: Player) -> bool {
        let taken = self.captured(point, player);
        let open = self.empty() & !point;
        if taken.is_empty() && self.enclosed(point, self.stones[player as usize], open).is_some() {
            return false;
        }
        // Without a capture the board only gains a stone, and all boards since the last capture have fewer
        // stones.
        let past = if taken.is_empty() { &self.boards[..self.settled] } else { &self.boards[..] };
        past.is_empty() || !past.contains(&self.hash_after(point, taken, player))
    }

    /// Hash of the board after a stone was put on a point and others were taken.
    // Of the board alone, without the player to move: the superko is positional, as in Tromp and Taylor's rules.
    fn hash_after(&self, point: Bits<W>, taken: Bits<W>, player: Player) -> u64 {
        let now = *self.boards.last().expect("the present board");
        let with = point.squares().fold(now, |hash, square| hash ^ stone_hash(square, player));
        taken.squares().fold(with, |hash, square| hash ^ stone_hash(square, player.other()))
    }

    /// Points of both players by area: stones, and empty regions that only one of them borders.
    fn areas(&self) -> [Bits<W>; 2] {
        let mut areas = self.stones;
        let mut left = self.empty();
        while let Some(square) = left.squares().next() {
            let region = self.chain(Bits::square(square), self.empty());
            left = left & !region;
            let border = self.next_to(region);
            let [black, white] = self.stones.map(|stones| !(border & stones).is_empty());
            // A region that both border belongs to nobody: Tromp and Taylor's area.
            if black != white {
                areas[usize::from(white)] |= region;
            }
        }
        areas
    }

    /// Twice Black's lead by area, komi counted.
    fn double_lead(&self) -> i32 {
        let [black, white] = self.areas().map(|area| area.count());
        2 * (black as i32 - white as i32) - self.double_komi
    }

    /// Stones of chains with one liberty.
    fn in_atari(&self) -> Bits<W> {
        let mut found = Bits::EMPTY;
        for stones in self.stones {
            let mut left = stones;
            while let Some(square) = left.squares().next() {
                let chain = self.chain(Bits::square(square), stones);
                left = left & !chain;
                if (self.next_to(chain) & self.empty()).is_single() {
                    found |= chain;
                }
            }
        }
        found
    }

    /// Points where the mover may not play.
    fn banned(&self) -> Bits<W> {
        *self.banned.get_or_init(|| {
            let mover = self.mover();
            let open = self.empty().squares().map(Bits::square);
            open.filter(|&point| !self.may_play(point, mover)).fold(Bits::EMPTY, |set, point| set | point)
        })
    }

    /// Whether at most one of the points diagonally next to a point has a stone of the set, at the edge none.
    fn is_backed(&self, point: Bits<W>, opponent: Bits<W>) -> bool {
        let across = (point.up(1) & self.not_first) | (point.down(1) & self.not_last);
        let diagonal = (across.up(self.size()) | across.down(self.size())) & self.board;
        (diagonal & opponent).count() <= u32::from(diagonal.count() == 4)
    }

    fn is_over(&self) -> bool {
        self.passes == 2 || self.moves.len() >= PLIES_A_POINT * self.points()
    }
}

fn stone_hash(point: usize, player: Player) -> u64 {
    grid::splitmix(2 * point as u64 + player as u64)
}

impl<const W: usize> GridGame for Position<W> {
    const NAME: &'static str = NAME;
    const SIDES: [&'static str; 2] = ["Black", "White"];
    const COORDINATES: Coordinates = Coordinates::Gtp;
    const LAST_ACTION: &'static str = "pass";
    type Planes = [Bits<W>; 6];

    fn shape(&self) -> (usize, usize) {
        (self.size(), self.size())
    }

    fn squares_to_fill(&self) -> Option<usize> {
        None // see `past_matters`
    }

    #[inline]
    fn moves(&self) -> &[u8] {
        &self.moves
    }

    #[inline]
    fn mover(&self) -> Player {
        let usual = grid::alternating(self.moves.len());
        if self.first == Player::First { usual } else { usual.other() }
    }

    fn owner(&self, point: usize) -> Option<Player> {
        grid::owner(|player| self.stones[player as usize].has(point))
    }

    fn add_legal(&self, actions: &mut Vec<Action>) {
        if !self.is_over() {
            actions.extend((self.empty() & !self.banned()).squares().map(|point| point as Action));
            actions.push(self.pass());
        }
    }

    fn make_move(&mut self, action: Action) {
        let mover = self.mover();
        // A pass repeats the board, which is allowed: superko forbids stones only. So it leaves no board behind.
        if action == self.pass() {
            self.passes += 1;
        } else {
            let point = Bits::square(action.into());
            let taken = self.captured(point, mover);
            if !taken.is_empty() {
                self.settled = self.boards.len();
            }
            self.boards.push(self.hash_after(point, taken, mover));
            self.stones[mover as usize] |= point;
            self.stones[mover.other() as usize] = self.stones[mover.other() as usize] & !taken;
            self.passes = 0;
        }
        self.moves.push(action as u8);
        self.banned = OnceLock::new();
    }

    /// Uniform over the legal points that are not own eyes, the pass where there is none. An own eye: all points next to it have
    /// own stones, of those diagonally next to it at most one, at the edge none, has one of the opponent's.
    fn playout_move(&self, random: &mut Stream, _: &mut Vec<Action>) -> Action {
        let mover = self.mover();
        let [own, theirs] = [mover, mover.other()].map(|player| self.stones[player as usize]);
        let mut left = self.empty();
        // Points that touch nothing but own stones, of the whole board at once: almost no point needs more than a look
        // at this set.
        let closed = left & !self.next_to(self.board & !own);
        // Drawn without replacement until one fits: legality is asked of the few points that are drawn, not of all.
        for count in (1..=left.count() as usize).rev() {
            let square = left.nth(random.below(count));
            let point = Bits::square(square);
            // Random games that fill their own eyes would never end with living groups.
            let is_eye = closed.has(square) && self.is_backed(point, theirs);
            if !is_eye && self.may_play(point, mover) {
                return square as Action;
            }
            left = left & !point;
        }
        self.pass()
    }

    fn result(&self) -> Option<(Outcome, &'static str)> {
        if !self.is_over() {
            return None;
        }
        Some(match self.double_lead().cmp(&0) {
            Ordering::Greater => (Outcome::Win(Player::First), "more area"),
            Ordering::Less => (Outcome::Win(Player::Second), "more area"),
            Ordering::Equal => (Outcome::Draw, "equal area"),
        })
    }

    fn lead(&self) -> Option<f32> {
        Some(self.double_lead() as f32 / 2.0)
    }

    fn points(&self) -> Option<Vec<i8>> {
        let [black, white] = self.areas();
        let (rows, columns) = self.shape();
        Some(grid::signed(rows * columns, black.squares(), white.squares()))
    }

    fn result_depends_on_path(&self) -> bool {
        self.is_over() && self.passes < 2
    }

    fn planes(&self) -> Self::Planes {
        let mover = self.mover();
        let [own, opponent] = [mover, mover.other()].map(|player| self.stones[player as usize]);
        let black_to_move = if mover == Player::First { self.board } else { Bits::EMPTY };
        let after_pass = if self.passes > 0 { self.board } else { Bits::EMPTY };
        // A network sees neither the boards before nor the chains as a whole: superko and liberties are shown, not
        // learned.
        [own, opponent, self.banned(), self.in_atari(), black_to_move, after_pass]
    }

    /// Stones, forbidden points, mover and pass decide what the network sees and may answer.
    fn position_hash(&self) -> u64 {
        // the words beyond a small board count, so that keys are the same for every W
        let hash = |set: Bits<W>| {
            grid::hash_words(&std::array::from_fn::<_, MAX_WORDS, _>(|i| if i < W { set.0[i] } else { 0 }))
        };
        let mover = self.mover();
        let [own, opponent] = [mover, mover.other()].map(|player| hash(self.stones[player as usize]));
        let banned = hash(self.banned());
        let black_to_move = u64::from(mover == Player::First);
        let flags = black_to_move | u64::from(self.passes) << 1 | u64::from(self.is_over()) << 3;
        grid::hash_words(&[own, opponent, banned, flags])
    }

    fn assign(&mut self, other: &Self) {
        let mut boards = std::mem::take(&mut self.boards);
        let mut moves = std::mem::take(&mut self.moves);
        boards.clone_from(&other.boards);
        moves.clone_from(&other.moves);
        *self = Position { banned: other.banned.clone(), boards, moves, ..*other };
    }
}

#[cfg(test)]
mod tests;
