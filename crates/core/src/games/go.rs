//! Go on 2x2 to 13x13, scored by area: Tromp and Taylor's rules without suicide. A position of the board may not be repeated
//! (positional superko); two passes, or three times as many plies as the board has points, end the game, and all stones count as
//! they stand.
//!
//! Actions are the points row by row from the top, then the pass. Features: six planes, own stones, the opponent's, points
//! where the mover may not play, chains in atari, ones where Black is to move (who gives komi), ones after a pass. Moves are
//! written as in GTP: `A1` is the lower left point and there is no column I.

use std::any::Any;
use std::sync::OnceLock;

use super::bits::Bits;
use super::grid;
use crate::game::{Action, Cells, Customs, Game, GameError, GameInfo, Outcome, Player, SpecArgs, State, Symmetry};
use crate::math::rng::Stream;

const NAME: &str = "go";
const SIZES: std::ops::RangeInclusive<usize> = 2..=13;
const ALLOWED: &str = "a whole number from 2 to 13";
const DEFAULT_SIZE: usize = 9;
const DEFAULT_KOMI: f32 = 7.5;
const KOMI_ALLOWED: &str = "a multiple of 0.5 from -169 to 169";
const PLIES_A_POINT: usize = 3;

/// Words of the sets of the largest board.
const MOST_WORDS: usize = 3;

/// The game of Go on one board; positions are sets of `W` words.
pub struct Go<const W: usize> {
    info: GameInfo,
    start: Position<W>,
}

/// Builds the game: `go` is 9x9 with komi 7.5, `go(size=5)` 5x5, `go(size=7,komi=9)`.
pub fn make(mut args: SpecArgs) -> Result<Box<dyn Game>, GameError> {
    let size = args.take::<usize>(NAME, "size", ALLOWED)?.unwrap_or(DEFAULT_SIZE);
    let komi = args.take::<f32>(NAME, "komi", KOMI_ALLOWED)?.unwrap_or(DEFAULT_KOMI);
    args.finish(NAME, &["size", "komi"])?;
    if !SIZES.contains(&size) {
        return Err(GameError(format!("{NAME}(size={size}): size must be {ALLOWED}")));
    }
    if komi.abs() > 169.0 || (2.0 * komi).fract() != 0.0 || komi.is_nan() {
        return Err(GameError(format!("{NAME}(komi={komi}): komi must be {KOMI_ALLOWED}")));
    }
    let parameters: Vec<String> = [
        (size != DEFAULT_SIZE).then(|| format!("size={size}")),
        (komi != DEFAULT_KOMI).then(|| format!("komi={komi}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let info = GameInfo {
        name: NAME.into(),
        spec: if parameters.is_empty() { NAME.into() } else { format!("{NAME}({})", parameters.join(",")) },
        num_actions: size * size + 1,
        feature_shape: [6, size, size],
        max_plies: PLIES_A_POINT * size * size,
    };
    let double_komi = (2.0 * komi) as i32;
    Ok(match (size * size).div_ceil(64) {
        1 => Box::new(Go::<1> { info, start: Position::new(size, double_komi) }),
        2 => Box::new(Go::<2> { info, start: Position::new(size, double_komi) }),
        _ => Box::new(Go::<MOST_WORDS> { info, start: Position::new(size, double_komi) }),
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
}

/// A position: the stones of both players, the boards there have been, and the moves in order.
#[derive(Clone)]
struct Position<const W: usize> {
    stones: [Bits<W>; 2],
    board: Bits<W>,
    not_first: Bits<W>,
    not_last: Bits<W>,
    size: u8,
    /// Twice the points that White gets.
    double_komi: i32,
    passes: u8,
    /// Points where the mover may not play, once they were asked for: random games never do.
    banned: OnceLock<Bits<W>>,
    /// Hashes of all boards since the start, the present one last.
    boards: Vec<u64>,
    /// How many of them there were at the last capture. Later ones only gained stones, so that none of them comes again
    /// without a capture.
    settled: usize,
    moves: Vec<u8>,
}

impl<const W: usize> Position<W> {
    fn new(size: usize, double_komi: i32) -> Self {
        let points = |holds: &dyn Fn(usize) -> bool| {
            (0..size * size).filter(|&p| holds(p)).fold(Bits::EMPTY, |set, point| set | Bits::square(point))
        };
        Position {
            stones: [Bits::EMPTY; 2],
            board: points(&|_| true),
            not_first: points(&|point| point % size != 0),
            not_last: points(&|point| point % size != size - 1),
            size: size as u8,
            double_komi,
            passes: 0,
            banned: OnceLock::new(),
            // The empty board has been there too: superko forbids to come back to it.
            boards: vec![0],
            settled: 0,
            moves: Vec::new(),
        }
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
            let beside = self.next_to(chain);
            if !(beside & open).is_empty() {
                return None;
            }
            let grown = chain | (beside & stones);
            if grown == chain {
                return Some(chain);
            }
            chain = grown;
        }
    }

    /// The opponent's stones that a stone of a player on an empty point takes.
    fn captured(&self, point: Bits<W>, player: Player) -> Bits<W> {
        // Captures come before suicide: liberties are counted with the new stone on the board.
        let (theirs, open) = (self.stones[player.other() as usize], self.empty() & !point);
        let (mut beside, mut taken) = (self.next_to(point) & theirs, Bits::EMPTY);
        if beside.is_empty() {
            return taken;
        }
        // stones with a liberty of their own need no look at their chain
        beside = beside & !self.next_to(open);
        while let Some(square) = beside.squares().next() {
            let seed = Bits::square(square);
            let chain = self.enclosed(seed, theirs, open);
            taken |= chain.unwrap_or(Bits::EMPTY);
            beside = beside & !chain.unwrap_or(seed);
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
    fn hash_after(&self, point: Bits<W>, taken: Bits<W>, player: Player) -> u64 {
        let now = *self.boards.last().expect("the present board");
        let with = point.squares().fold(now, |hash, square| hash ^ stone_hash(square, player));
        taken.squares().fold(with, |hash, square| hash ^ stone_hash(square, player.other()))
    }

    /// Points of both players by area: stones, and empty regions that only one of them borders.
    fn areas(&self) -> [u32; 2] {
        let mut areas = self.stones.map(|stones| stones.count());
        let mut left = self.empty();
        while let Some(square) = left.squares().next() {
            let region = self.chain(Bits::square(square), self.empty());
            left = left & !region;
            let border = self.next_to(region);
            let [black, white] = self.stones.map(|stones| !(border & stones).is_empty());
            // A region that both border belongs to nobody: Tromp and Taylor's area.
            if black != white {
                areas[usize::from(white)] += region.count();
            }
        }
        areas
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
            let mover = self.to_move();
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

    fn sets(&self) -> [Bits<W>; 4] {
        let (mover, other) = (self.to_move(), self.to_move().other());
        [self.stones[mover as usize], self.stones[other as usize], self.banned(), self.in_atari()]
    }

    /// Values of the planes of ones: Black is to move; the last move was a pass.
    fn flags(&self) -> [bool; 2] {
        [self.to_move() == Player::First, self.passes > 0]
    }

    fn name(&self, action: usize) -> String {
        if action == self.points() { "pass".into() } else { grid::gtp_name(action, self.size(), self.size()) }
    }
}

fn stone_hash(point: usize, player: Player) -> u64 {
    grid::splitmix(2 * point as u64 + player as u64)
}

impl<const W: usize> State for Position<W> {
    #[inline]
    fn to_move(&self) -> Player {
        grid::alternating(self.moves.len() as u8)
    }

    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        if !self.is_over() {
            out.extend((self.empty() & !self.banned()).squares().map(|point| point as Action));
            out.push(self.pass());
        }
    }

    fn play(&mut self, action: Action) {
        let mover = self.to_move();
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

    /// Uniform over the legal points that are no own eye, the pass where there is none. An own eye: all points next to it have
    /// own stones, of those diagonally next to it at most one, at the edge none, has one of the opponent's.
    fn random_action(&self, random: &mut Stream, _: &mut Vec<Action>) -> Action {
        let mover = self.to_move();
        let [own, theirs] = [mover, mover.other()].map(|player| self.stones[player as usize]);
        let mut left = self.empty();
        let closed = left & !self.next_to(self.board & !own);
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

    fn outcome(&self) -> Option<Outcome> {
        if !self.is_over() {
            return None;
        }
        let [black, white] = self.areas();
        Some(match (2 * (black as i32 - white as i32)).cmp(&self.double_komi) {
            std::cmp::Ordering::Greater => Outcome::Win(Player::First),
            std::cmp::Ordering::Less => Outcome::Win(Player::Second),
            std::cmp::Ordering::Equal => Outcome::Draw,
        })
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.outcome().map(|outcome| if outcome == Outcome::Draw { "equal area" } else { "more area" })
    }

    fn outcome_depends_on_path(&self) -> bool {
        self.is_over() && self.passes < 2
    }

    fn ply(&self) -> usize {
        self.moves.len()
    }

    fn encode(&self, row: &mut [f32]) {
        let points = self.points();
        let (sets, flags) = row.split_at_mut(4 * points);
        grid::write_sets(sets, points, &self.sets());
        for (plane, flag) in flags.chunks_exact_mut(points).zip(self.flags()) {
            plane.fill(if flag { 1.0 } else { 0.0 });
        }
    }

    fn row_len(&self) -> usize {
        6 * self.points()
    }

    /// Stones, forbidden points, mover and pass decide what the network sees and may answer.
    fn key(&self) -> u64 {
        // the words beyond a small board count, so that keys are the same for every W
        let hash = |set: Bits<W>| {
            grid::hash_words(&std::array::from_fn::<_, MOST_WORDS, _>(|i| if i < W { set.0[i] } else { 0 }))
        };
        let mover = self.to_move();
        let [own, opponent] = [mover, mover.other()].map(|player| hash(self.stones[player as usize]));
        let banned = hash(self.banned());
        let flags = u64::from(self.flags()[0]) | u64::from(self.passes) << 1 | u64::from(self.is_over()) << 3;
        grid::hash_words(&[own, opponent, banned, flags])
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(NAME, notation)?;
        grid::check_action(NAME, action, self.points() + 1).map(|action| self.name(action))
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
        self.moves.iter().map(|&m| self.name(m.into())).collect::<Vec<_>>().join(" ")
    }

    fn clone_box(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }

    fn copy_from(&mut self, other: &dyn State) {
        let other = other.as_any().downcast_ref::<Self>().expect("a position of the same game");
        let (mut boards, mut moves) = (std::mem::take(&mut self.boards), std::mem::take(&mut self.moves));
        boards.clone_from(&other.boards);
        moves.clone_from(&other.moves);
        let Position { stones, board, not_first, not_last, size, double_komi, passes, settled, .. } = *other;
        let banned = other.banned.clone();
        *self =
            Position { stones, board, not_first, not_last, size, double_komi, passes, banned, boards, settled, moves };
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests;
