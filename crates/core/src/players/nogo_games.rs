//! Random games of NoGo: first the points that both players may play, then each player's own.

use super::random_games::{RandomGames, Taken};
use crate::game::{Outcome, Player, State};
use crate::games::grid_game::GridGame;
use crate::games::nogo::Position;
use crate::math::rng::Stream;
use crate::players::nogo_board::{Board, Grid};

/// The boards of the search and of its present simulation, and buffers for lists of points.
pub struct NoGoGames<const W: usize> {
    grid: Grid,
    points: usize,
    root: Board<W>,
    root_mover: Player,
    board: Board<W>,
    mover: Player,
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
        // The mask tells the compiler that the index is in range, which saves its check.
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

impl<const W: usize> NoGoGames<W> {
    /// Games from this position.
    pub fn new(position: &Position<W>) -> Self {
        let (rows, columns) = position.shape();
        let grid = Grid::new(rows, columns);
        let root = Board::new(&grid, position.stones(), rows * columns);
        NoGoGames {
            points: rows * columns,
            root_mover: position.to_move(),
            mover: position.to_move(),
            board: root.clone(),
            lists: Lists { shared: List::EMPTY, own: [List::EMPTY; 2] },
            grid,
            root,
        }
    }

    /// Random points that both may play, while there are any.
    fn take_shared_points(&mut self, random: &mut Stream, taken: &mut Taken) {
        let Lists { shared, own } = &mut self.lists;
        shared.count = 0;
        own.iter_mut().for_each(|list| list.count = 0);
        (0..self.points as u8).filter(|&point| self.board.is_empty(point)).for_each(|point| shared.push(point));
        while let Some(point) = shared.draw(random) {
            match self.board.legal(&self.grid, point) {
                [true, true] => {
                    self.board.play(&self.grid, point, self.mover);
                    taken.set(point, self.mover);
                    self.mover = self.mover.other();
                }
                [true, false] => own[0].push(point),
                [false, true] => own[1].push(point),
                // A point that neither may play stays so for the rest of the game.
                [false, false] => {}
            }
        }
    }

    /// Each player in turn takes a random point that it alone may play; who has none loses.
    fn take_own_points(&mut self, random: &mut Stream) -> Outcome {
        while let Some(point) = self.lists.own[self.mover as usize].draw(random) {
            // Its legality may have ended since it was put into the list.
            if self.board.legal(&self.grid, point)[self.mover as usize] {
                self.play(point);
            }
        }
        self.outcome()
    }
}

impl<const W: usize> RandomGames for NoGoGames<W> {
    fn actions(&self) -> usize {
        self.points
    }

    fn restart(&mut self) {
        self.board.copy_from(&self.root, self.points);
        self.mover = self.root_mover;
    }

    #[inline]
    fn to_move(&self) -> Player {
        self.mover
    }

    fn for_each_legal(&mut self, mut found: impl FnMut(u8)) {
        for point in 0..self.points as u8 {
            if self.board.is_empty(point) && self.board.legal(&self.grid, point)[self.mover as usize] {
                found(point);
            }
        }
    }

    #[inline]
    fn play(&mut self, action: u8) {
        self.board.play(&self.grid, action, self.mover);
        self.mover = self.mover.other();
    }

    fn outcome(&self) -> Outcome {
        Outcome::Win(self.mover.other())
    }

    /// What is taken in the second part is not entered.
    fn finish(&mut self, random: &mut Stream, taken: &mut Taken) -> Outcome {
        self.take_shared_points(random, taken);
        self.take_own_points(random)
    }
}
