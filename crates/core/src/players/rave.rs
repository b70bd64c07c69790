//! NoGo by random games with all-moves-as-first values (RAVE), without a network and without knowledge of the game.
//!
//! A move is also rated by the games in which it was played later. Its statistics: visits N, wins of them; and R, r the
//! number and mean result of the simulations that passed its parent and in which the same player took its point at
//! any time later. Every move begins with R = 20, r = 1/2: a fixed sample, there is no schedule by which R fades.
//! The selected child has the greatest
//!
//! ```text
//! (R r + N q + 0.25 sqrt(N ln n)) / (N + R),   n: visits of the parent
//! ```
//!
//! (docs/reference/players.md). Random games first take the points that both players may play, then each its own; what is
//! taken in the second part does not count for R and r.

use super::check;
use crate::game::{Action, GameError, Player, State};
use crate::games::nogo::Position;
use crate::math::rng::Stream;
use crate::players::nogo_board::{Board, Grid};

/// The sample that the all-moves-as-first value of a move begins with: R, and R r.
const PRIOR_COUNT: u32 = 20;
const PRIOR_WINS: u32 = 10;
/// Weight of the exploration term.
const EXPLORATION: f64 = 0.25;
/// Scores no further than this from the best are tied with it.
const TIE: f64 = 1e-4;

/// Most nodes of a tree (24 bytes each: 1.6 GB); once they are used up leaves stay leaves.
const MAX_NODES: usize = 1 << 26;

/// What a search found of one legal move: simulations that began with it, and how many of them its player won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveStatistics {
    /// The move.
    pub action: Action,
    /// N.
    pub visits: u32,
    /// N q.
    pub wins: u32,
    /// R, the sample it began with included.
    pub amaf_visits: u32,
    /// R r, likewise.
    pub amaf_wins: u32,
}

/// Searches a position of NoGo with this many simulations; one entry a legal move, ascending.
///
/// The same position, number and seed give the same answer. Fails for other games, for a number of simulations out of
/// range, and where there is no legal move.
pub fn search(state: &dyn State, simulations: u32, seed: u64) -> Result<Vec<MoveStatistics>, GameError> {
    check(state, simulations)?;
    let position = state.as_any();
    if let Some(position) = position.downcast_ref::<Position<1>>() {
        return Ok(Search::new(position, seed).run(simulations));
    }
    if let Some(position) = position.downcast_ref::<Position<2>>() {
        return Ok(Search::new(position, seed).run(simulations));
    }
    if let Some(position) = position.downcast_ref::<Position<3>>() {
        return Ok(Search::new(position, seed).run(simulations));
    }
    Err(GameError("rave plays nogo alone".into()))
}

/// A move in the tree. The children of a node are neighbours in the arena.
#[derive(Clone, Copy)]
struct Node {
    visits: u32,
    wins: u32,
    amaf_visits: u32,
    amaf_wins: u32,
    first_child: u32,
    point: u8,
    children: u8,
    is_expanded: bool,
}

impl Node {
    /// A move that was not tried yet.
    fn new(point: u8) -> Self {
        Node {
            visits: 0,
            wins: 0,
            amaf_visits: PRIOR_COUNT,
            amaf_wins: PRIOR_WINS,
            first_child: 0,
            point,
            children: 0,
            is_expanded: false,
        }
    }

    fn child_range(&self) -> std::ops::Range<usize> {
        let first = self.first_child as usize;
        first..first + usize::from(self.children)
    }
}

/// The points that each player took in a simulation, 0 or 1, and who won.
struct Taken {
    points: [[u32; 256]; 2],
}

struct Search<const W: usize> {
    grid: Grid,
    points: usize,
    root: Board<W>,
    mover: Player,
    nodes: Vec<Node>,
    random: Stream,
    /// The position of the simulation, and the indices of its nodes from the root down.
    board: Board<W>,
    path: Vec<u32>,
    taken: Taken,
    scores: Vec<f64>,
    lists: Lists,
}

/// The points of a random game that are still to be drawn: those of both players, those of each alone.
struct Lists {
    shared: List,
    own: [List; 2],
}

/// A list from which points are drawn at random.
struct List {
    points: [u8; 256],
    count: usize,
}

impl List {
    const EMPTY: Self = List { points: [0; 256], count: 0 };

    #[inline]
    fn push(&mut self, point: u8) {
        self.points[self.count & 255] = point;
        self.count += 1;
    }

    /// Takes a point out at random; the last one comes to its place.
    #[inline]
    fn draw(&mut self, random: &mut Stream) -> Option<u8> {
        if self.count == 0 {
            return None;
        }
        let place = random.below(self.count) & 255;
        self.count -= 1;
        let point = self.points[place];
        self.points[place] = self.points[self.count & 255];
        Some(point)
    }
}

impl<const W: usize> Search<W> {
    fn new(position: &Position<W>, seed: u64) -> Self {
        let (rows, columns) = position.shape();
        let grid = Grid::new(rows, columns);
        let root = Board::new(&grid, position.stones(), rows * columns);
        Search {
            points: rows * columns,
            mover: position.to_move(),
            board: root.clone(),
            nodes: vec![Node::new(0)],
            random: Stream::new(seed),
            path: Vec::new(),
            taken: Taken { points: [[0; 256]; 2] },
            scores: Vec::new(),
            lists: Lists { shared: List::EMPTY, own: [List::EMPTY; 2] },
            grid,
            root,
        }
    }

    fn run(mut self, simulations: u32) -> Vec<MoveStatistics> {
        for _ in 0..simulations {
            self.simulate();
        }
        if !self.nodes[0].is_expanded {
            // a single simulation leaves the root a leaf
            self.board.copy_from(&self.root, self.points);
            self.expand(0, self.mover);
        }
        self.nodes[self.nodes[0].child_range()].iter().map(statistics).collect()
    }

    /// One simulation: down the tree, a random game, and the result on the way back.
    fn simulate(&mut self) {
        self.board.copy_from(&self.root, self.points);
        self.path.clear();
        self.taken.points.iter_mut().for_each(|points| points[..self.points].fill(0));
        let winner = self.descend();
        self.back_up(winner);
    }

    /// Follows the best children to a leaf; the winner of the simulation.
    fn descend(&mut self) -> Player {
        let (mut node, mut mover) = (0, self.mover);
        loop {
            self.path.push(node as u32);
            if self.nodes[node].visits == 0 || !self.expand(node, mover) {
                return self.play_to_the_end(mover);
            }
            if self.nodes[node].children == 0 {
                return mover.other();
            }
            node = self.select(node);
            self.board.play(&self.grid, self.nodes[node].point, mover);
            mover = mover.other();
        }
    }

    /// Gives a node its children, all legal moves, if it has not got them yet; false where the arena is full.
    fn expand(&mut self, node: usize, mover: Player) -> bool {
        if self.nodes[node].is_expanded {
            return true;
        }
        let first = self.nodes.len();
        if first + self.points > MAX_NODES {
            return false;
        }
        for point in 0..self.points as u8 {
            if self.board.is_empty(point) && self.board.legal(&self.grid, point)[mover as usize] {
                self.nodes.push(Node::new(point));
            }
        }
        let children = (self.nodes.len() - first) as u8;
        let node = &mut self.nodes[node];
        (node.first_child, node.children, node.is_expanded) = (first as u32, children, true);
        true
    }

    /// The child with the best score; among those tied with it a random one.
    fn select(&mut self, node: usize) -> usize {
        let parent = self.nodes[node];
        let log = f64::from(parent.visits).ln();
        let range = parent.child_range();
        let mut best = f64::NEG_INFINITY;
        self.scores.clear();
        for child in &self.nodes[range.clone()] {
            let score = score(child, log);
            best = best.max(score);
            self.scores.push(score);
        }
        let is_tied = |score: &f64| *score >= best - TIE;
        let tied = self.scores.iter().filter(|score| is_tied(score)).count();
        let choice = if tied == 1 { 0 } else { self.random.below(tied) };
        let mut ties = self.scores.iter().enumerate().filter(|(_, score)| is_tied(score));
        range.start + ties.nth(choice).expect("the best child is among the tied").0
    }

    /// Plays a random game from the position of the simulation, `mover` to move; the winner.
    fn play_to_the_end(&mut self, mover: Player) -> Player {
        let mover = self.take_shared_points(mover);
        self.take_own_points(mover)
    }

    /// Random points that both may play, while there are any; the player to move then.
    fn take_shared_points(&mut self, mut mover: Player) -> Player {
        let Lists { shared, own } = &mut self.lists;
        shared.count = 0;
        own.iter_mut().for_each(|list| list.count = 0);
        (0..self.points as u8).filter(|&point| self.board.is_empty(point)).for_each(|point| shared.push(point));
        while let Some(point) = shared.draw(&mut self.random) {
            match self.board.legal(&self.grid, point) {
                [true, true] => {
                    self.board.play(&self.grid, point, mover);
                    self.taken.points[mover as usize][usize::from(point)] = 1;
                    mover = mover.other();
                }
                [true, false] => own[0].push(point),
                [false, true] => own[1].push(point),
                [false, false] => {}
            }
        }
        mover
    }

    /// Each player in turn takes a random point that it alone may play; who has none loses.
    fn take_own_points(&mut self, mut mover: Player) -> Player {
        while let Some(point) = self.lists.own[mover as usize].draw(&mut self.random) {
            if self.board.legal(&self.grid, point)[mover as usize] {
                self.board.play(&self.grid, point, mover);
                mover = mover.other();
            }
        }
        mover.other()
    }

    /// Counts the simulation in the nodes of the path, and at each of them in the children whose points its mover took
    /// from there on.
    fn back_up(&mut self, winner: Player) {
        for depth in (0..self.path.len()).rev() {
            let mover = if depth % 2 == 0 { self.mover } else { self.mover.other() };
            if let Some(&child) = self.path.get(depth + 1) {
                self.taken.points[mover as usize][usize::from(self.nodes[child as usize].point)] = 1;
            }
            let node = &mut self.nodes[self.path[depth] as usize];
            node.visits += 1;
            node.wins += u32::from(winner != mover);
            let (taken, won) = (&self.taken.points[mover as usize], u32::from(winner == mover));
            let range = node.child_range();
            for child in &mut self.nodes[range] {
                let counted = taken[usize::from(child.point)];
                child.amaf_visits += counted;
                child.amaf_wins += counted * won;
            }
        }
    }
}

/// What a child is selected by; `log`: the logarithm of its parent's visits.
#[inline]
fn score(child: &Node, log: f64) -> f64 {
    let (visits, amaf_visits) = (f64::from(child.visits), f64::from(child.amaf_visits));
    let wins = f64::from(child.amaf_wins) + f64::from(child.wins);
    (wins + EXPLORATION * (visits * log).sqrt()) / (visits + amaf_visits)
}

fn statistics(node: &Node) -> MoveStatistics {
    MoveStatistics {
        action: node.point.into(),
        visits: node.visits,
        wins: node.wins,
        amaf_visits: node.amaf_visits,
        amaf_wins: node.amaf_wins,
    }
}
