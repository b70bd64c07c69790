//! NoGo for random games: chains with their liberties, so that the legality of a point costs a look at its neighbours.

use crate::game::Player;
use crate::games::bits::Bits;

/// The chain of an empty point and of a point beyond the edge; points of the board are 0 to 168.
// Numbers that no point has, but places that the tables have: empty points and the edge are looked up like chains,
// without a branch.
const EMPTY: u8 = 254;
const EDGE: u8 = 255;

/// What `status` holds: 2 * owner, plus 1 with a single liberty left.
const EMPTY_STATUS: u8 = 4;
const EDGE_STATUS: u8 = 6;

/// The neighbours of every point, up to four; those beyond the edge are the point `EDGE`.
pub struct Grid {
    neighbours: [[u8; 4]; 256],
}

impl Grid {
    /// The board of this size.
    pub fn new(rows: usize, columns: usize) -> Self {
        let mut neighbours = [[EDGE; 4]; 256];
        for (point, around) in neighbours.iter_mut().enumerate().take(rows * columns) {
            let row = point / columns;
            let column = point % columns;
            let inside = [row > 0, row + 1 < rows, column > 0, column + 1 < columns];
            let next = [point.wrapping_sub(columns), point + columns, point.wrapping_sub(1), point + 1];
            for (place, (inside, next)) in around.iter_mut().zip(inside.into_iter().zip(next)) {
                if inside {
                    *place = next as u8;
                }
            }
        }
        Grid { neighbours }
    }
}

/// A position: which chain every point belongs to, named by one of its points.
#[derive(Clone)]
pub struct Board<const W: usize> {
    /// Chain of every point; `EMPTY`, `EDGE`.
    chain: [u8; 256],
    /// The next stone of the same chain, round in a ring.
    next: [u8; 256],
    /// Owner of a chain and whether it has a single liberty.
    status: [u8; 256],
    liberties: [Bits<W>; 256],
}

impl<const W: usize> Board<W> {
    /// The board with these stones of the first and the second player, in a position where every chain has a liberty.
    pub fn new(grid: &Grid, stones: [Bits<W>; 2], points: usize) -> Self {
        let mut board = Board { chain: [EDGE; 256], next: [0; 256], status: [0; 256], liberties: [Bits::EMPTY; 256] };
        board.chain[..points].fill(EMPTY);
        board.status[usize::from(EMPTY)] = EMPTY_STATUS;
        board.status[usize::from(EDGE)] = EDGE_STATUS;
        for (player, set) in [Player::First, Player::Second].into_iter().zip(stones) {
            set.squares().for_each(|point| board.play(grid, point as u8, player));
        }
        board
    }

    /// Becomes a copy of `other`, of which only the first `points` points matter.
    #[inline]
    pub fn copy_from(&mut self, other: &Self, points: usize) {
        self.chain[..points].copy_from_slice(&other.chain[..points]);
        self.next[..points].copy_from_slice(&other.next[..points]);
        self.status[..points].copy_from_slice(&other.status[..points]);
        self.liberties[..points].copy_from_slice(&other.liberties[..points]);
    }

    /// Whether there is no stone on the point.
    #[inline]
    pub fn is_empty(&self, point: u8) -> bool {
        self.chain[usize::from(point)] == EMPTY
    }

    /// Whether an empty point is legal for the first and for the second player.
    ///
    /// A move is suicide unless the stone has an empty neighbour or joins an own chain with another liberty; it
    /// captures where a neighbouring chain of the opponent has no other liberty.
    #[inline]
    pub fn legal(&self, grid: &Grid, point: u8) -> [bool; 2] {
        let mut seen = 0_u32;
        for neighbour in grid.neighbours[usize::from(point)] {
            // All neighbours are looked at before anything is decided: four table look-ups without a branch.
            seen |= 1 << self.status[usize::from(self.chain[usize::from(neighbour)])];
        }
        let has = |status: u8| seen >> status & 1 == 1;
        let free = has(EMPTY_STATUS);
        [(free || has(0)) && !has(3), (free || has(2)) && !has(1)]
    }

    /// Puts a stone on an empty point that is legal for this player.
    #[inline]
    pub fn play(&mut self, grid: &Grid, point: u8, player: Player) {
        let own = 2 * player as u8;
        let stone = Bits::square(usize::from(point));
        let mut liberties = Bits::EMPTY;
        self.chain[usize::from(point)] = point;
        self.next[usize::from(point)] = point;
        for neighbour in grid.neighbours[usize::from(point)] {
            let chain = self.chain[usize::from(neighbour)];
            match self.status[usize::from(chain)] {
                EMPTY_STATUS => liberties |= Bits::square(usize::from(neighbour)),
                EDGE_STATUS => {}
                status if status & 2 == own => {
                    liberties |= self.liberties[usize::from(chain)];
                    self.join(chain, point);
                }
                _ => self.set_liberties(chain, 2 - own, self.liberties[usize::from(chain)] & !stone),
            }
        }
        self.set_liberties(self.chain[usize::from(point)], own, liberties & !stone);
    }

    #[inline]
    fn set_liberties(&mut self, chain: u8, owner: u8, liberties: Bits<W>) {
        self.liberties[usize::from(chain)] = liberties;
        self.status[usize::from(chain)] = owner | u8::from(liberties.is_single());
    }

    /// The stones of the chain of `point` become part of `chain`, unless they are already.
    #[inline]
    fn join(&mut self, chain: u8, point: u8) {
        if self.chain[usize::from(point)] == chain {
            return;
        }
        let mut stone = point;
        loop {
            self.chain[usize::from(stone)] = chain;
            stone = self.next[usize::from(stone)];
            if stone == point {
                break;
            }
        }
        // Swapping one successor joins two rings.
        self.next.swap(usize::from(point), usize::from(chain));
    }
}
