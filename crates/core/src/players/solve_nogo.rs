//! Who wins a position of NoGo, by alpha-beta search of the two results with a table of solved positions.
//!
//! Moves that leave the opponent the fewest legal points are tried first: who runs out of them loses. Positions that are
//! symmetric to each other share an entry of the table, which holds the whole position: an answer is exact or there is
//! none.

use crate::game::{GameError, Player, State};
use crate::games::bits::Bits;
use crate::games::grid;
use crate::games::nogo::Position;
use crate::math::rng::draw;

const SYMMETRIES: usize = 8;
/// Size of a new table, as a power of two.
const FIRST_TABLE_BITS: u32 = 12;
/// Key of the random numbers that positions are hashed with.
const HASH_KEY: u64 = 0x6e6f_676f;

/// A solver for boards of one shape, whatever words they need.
pub trait BoardSolver: Send {
    /// Whether the player to move wins; the inner `None` where that takes more than `nodes` further positions, the
    /// outer one for a state of another game or board.
    fn solve_state(&mut self, state: &dyn State, nodes: u64) -> Option<Option<bool>>;
    /// The same for a position given by the points of the stones of both players.
    fn solve_stones(&mut self, stones: [&[usize]; 2], to_move: Player, nodes: u64) -> Result<Option<bool>, GameError>;
    /// Positions searched so far.
    fn nodes(&self) -> u64;
}

/// A solver for boards of this shape, sides of 1 point allowed, with a table that grows to 2^`table_bits` entries of 32 to 64 bytes.
pub fn make(rows: usize, columns: usize, table_bits: u32) -> Result<Box<dyn BoardSolver>, GameError> {
    if rows == 0 || columns == 0 || rows.max(columns) > 63 || rows * columns > 169 {
        let allowed = "rows and columns must be 1 to 63 and make at most 169 points";
        return Err(GameError(format!("{allowed}, got {rows} and {columns}")));
    }
    Ok(match (rows * columns).div_ceil(64) {
        1 => Box::new(Solver::<1>::new(rows, columns, table_bits)),
        2 => Box::new(Solver::<2>::new(rows, columns, table_bits)),
        _ => Box::new(Solver::<3>::new(rows, columns, table_bits)),
    })
}

impl<const W: usize> BoardSolver for Solver<W> {
    fn solve_state(&mut self, state: &dyn State, nodes: u64) -> Option<Option<bool>> {
        let position = state.as_any().downcast_ref::<Position<W>>()?;
        (position.shape() == self.shape).then(|| self.solve(position, nodes))
    }

    fn solve_stones(&mut self, stones: [&[usize]; 2], to_move: Player, nodes: u64) -> Result<Option<bool>, GameError> {
        let (rows, columns) = self.shape;
        if let Some(point) = stones.iter().copied().flatten().find(|&&point| point >= rows * columns) {
            return Err(GameError(format!("points of {rows}x{columns} are 0 to {}, got {point}", rows * columns - 1)));
        }
        let sets = stones.map(|points| points.iter().fold(Bits::EMPTY, |set, &point| set | Bits::square(point)));
        Ok(self.solve(&Position::from_stones(rows, columns, sets, to_move)?, nodes))
    }

    fn nodes(&self) -> u64 {
        self.nodes
    }
}

/// Solves positions of one board; keeps its table from one call to the next.
pub struct Solver<const W: usize> {
    shape: (usize, usize),
    /// Where each point comes to, by symmetry; a rectangle has its four twice.
    places: Vec<Vec<u8>>,
    /// Random number of a stone, by player and point: one for each symmetry.
    stone_hashes: [Vec<[u64; SYMMETRIES]>; 2],
    table: Vec<Entry<W>>,
    most_entries: usize,
    nodes: u64,
    limit: u64,
    children: Vec<Child<W>>,
}

/// A solved position, in the symmetry with the least hash.
#[derive(Clone, Copy)]
struct Entry<const W: usize> {
    hash: u64,
    stones: [Bits<W>; 2],
    /// 0: free; else 1, plus 1 where the second player is to move, plus 2 where the mover wins.
    result: u8,
}

impl<const W: usize> Entry<W> {
    const FREE: Self = Entry { hash: 0, stones: [Bits::EMPTY; 2], result: 0 };
}

/// A position on the way, with its hash in every symmetry.
#[derive(Clone, Copy)]
struct Node<const W: usize> {
    position: Position<W>,
    hashes: [u64; SYMMETRIES],
}

/// A move that is still to be searched, with what orders it.
#[derive(Clone, Copy)]
struct Child<const W: usize> {
    node: Node<W>,
    order: i32,
}

impl<const W: usize> Solver<W> {
    /// A solver for boards of this shape, with a table that grows to 2^`table_bits` entries of 16 (W + 1) bytes.
    pub fn new(rows: usize, columns: usize, table_bits: u32) -> Self {
        let symmetries = grid::grid_symmetries(rows, columns);
        let places = (0..SYMMETRIES).map(|s| inverse(&symmetries[s % symmetries.len()])).collect::<Vec<_>>();
        let number = |player: usize, place: u8| draw(HASH_KEY, 2 * u64::from(place) + player as u64);
        let hashes = |player: usize, point: usize| std::array::from_fn(|s| number(player, places[s][point]));
        Solver {
            shape: (rows, columns),
            stone_hashes: [0, 1].map(|player| (0..rows * columns).map(|point| hashes(player, point)).collect()),
            places,
            table: vec![Entry::FREE; 1 << table_bits.min(FIRST_TABLE_BITS)],
            most_entries: 1 << table_bits,
            nodes: 0,
            limit: 0,
            children: Vec::new(),
        }
    }

    /// Whether the player to move wins; `None` where that takes more than `nodes` further positions.
    ///
    /// Panics for a position of another board.
    pub fn solve(&mut self, position: &Position<W>, nodes: u64) -> Option<bool> {
        assert_eq!(position.shape(), self.shape, "a solver is for one board");
        self.limit = self.nodes.saturating_add(nodes);
        self.children.clear();
        let mut hashes = [0; SYMMETRIES];
        for (player, stones) in position.stones().into_iter().enumerate() {
            stones.squares().for_each(|point| add(&mut hashes, &self.stone_hashes[player][point]));
        }
        self.search(&Node { position: *position, hashes })
    }

    /// Whether the mover wins.
    fn search(&mut self, node: &Node<W>) -> Option<bool> {
        let hash = node.hash();
        if let Some(won) = self.known(node, hash) {
            return Some(won);
        }
        if self.nodes == self.limit {
            return None;
        }
        self.nodes += 1;
        let begin = self.children.len();
        let won = if self.add_children(node) { Some(true) } else { self.search_children(begin) };
        self.children.truncate(begin);
        if let Some(won) = won {
            self.store(node, hash, won);
        }
        won
    }

    /// Adds the moves that are not known to lose, the best one last; true where one of them wins at once.
    fn add_children(&mut self, node: &Node<W>) -> bool {
        let mover = node.position.to_move();
        let begin = self.children.len();
        for point in node.position.legal(mover).squares() {
            let mut child = *node;
            add(&mut child.hashes, &self.stone_hashes[mover as usize][point]);
            child.position.play(point as u16);
            let replies = child.position.legal(mover.other()).count();
            if replies == 0 {
                return true;
            }
            match self.known(&child, child.hash()) {
                Some(false) => return true,
                Some(true) => {}
                None => {
                    let order = child.position.legal(mover).count() as i32 - 2 * replies as i32;
                    self.children.push(Child { node: child, order });
                }
            }
        }
        self.children[begin..].sort_by_key(|child| child.order);
        false
    }

    /// Whether one of the children from `begin` on is lost for the opponent.
    fn search_children(&mut self, begin: usize) -> Option<bool> {
        while self.children.len() > begin {
            let child = self.children.pop().expect("there is one more");
            if !self.search(&child.node)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// What the table knows of a position with this hash.
    fn known(&self, node: &Node<W>, hash: u64) -> Option<bool> {
        let entry = &self.table[self.slot(hash)];
        let turn = node.position.to_move() as u8;
        if entry.hash != hash || entry.result == 0 || (entry.result - 1) & 1 != turn {
            return None;
        }
        let symmetry = node.symmetry(hash);
        let same = node.position.stones().into_iter().zip(entry.stones).all(|(mine, stored)| {
            mine.count() == stored.count()
                && mine.squares().all(|point| stored.has(self.places[symmetry][point].into()))
        });
        same.then_some(entry.result > 2)
    }

    /// Doubles the table.
    fn grow(&mut self) {
        let entries = std::mem::take(&mut self.table);
        self.table = vec![Entry::FREE; 2 * entries.len()];
        for entry in entries.into_iter().filter(|entry| entry.result != 0) {
            let slot = self.slot(entry.hash);
            self.table[slot] = entry;
        }
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    fn store(&mut self, node: &Node<W>, hash: u64, won: bool) {
        if self.nodes > self.table.len() as u64 && self.table.len() < self.most_entries {
            self.grow();
        }
        let places = &self.places[node.symmetry(hash)];
        let moved = |set: Bits<W>| set.squares().fold(Bits::EMPTY, |out, p| out | Bits::square(places[p].into()));
        let result = 1 + node.position.to_move() as u8 + 2 * u8::from(won);
        let slot = self.slot(hash);
        self.table[slot] = Entry { hash, stones: node.position.stones().map(moved), result };
    }
}

impl<const W: usize> Node<W> {
    /// The least hash of all symmetries; the player to move is not in it, it follows from the stones within one game.
    #[inline]
    fn hash(&self) -> u64 {
        self.hashes.into_iter().min().expect("there are eight")
    }

    /// The symmetry with this hash.
    fn symmetry(&self, hash: u64) -> usize {
        self.hashes.into_iter().position(|other| other == hash).expect("it is the hash of one")
    }
}

/// Changes the hashes of a position by those of a stone.
#[inline]
fn add(hashes: &mut [u64; SYMMETRIES], stone: &[u64; SYMMETRIES]) {
    for (hash, stone) in hashes.iter_mut().zip(stone) {
        *hash ^= stone;
    }
}

/// New place of every point, from the old point of every place.
fn inverse(squares: &[u32]) -> Vec<u8> {
    let mut places = vec![0; squares.len()];
    for (place, &point) in squares.iter().enumerate() {
        places[point as usize] = place as u8;
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Who wins the empty boards (public results up to 5x5; the others solved by two programs): the player to move?
    const EMPTY_BOARDS: [(usize, usize, bool); 15] = [
        (1, 1, false),
        (1, 2, true),
        (1, 3, true),
        (1, 4, false),
        (1, 5, true),
        (1, 12, true),
        (2, 2, true),
        (2, 3, false),
        (2, 4, false),
        (2, 5, true),
        (2, 7, true),
        (3, 3, true),
        (3, 4, false),
        (3, 5, true),
        (4, 4, false),
    ];

    fn empty(rows: usize, columns: usize) -> Position<1> {
        Position::from_stones(rows, columns, [Bits::EMPTY; 2], Player::First).unwrap()
    }

    #[test]
    fn winners_of_empty_boards() {
        for (rows, columns, first_wins) in EMPTY_BOARDS {
            for (rows, columns) in [(rows, columns), (columns, rows)] {
                let result = Solver::new(rows, columns, 16).solve(&empty(rows, columns), u64::MAX);
                assert_eq!(result, Some(first_wins), "{rows}x{columns}");
            }
        }
    }

    #[test]
    fn a_budget_that_is_too_small_gives_no_answer() {
        let mut solver = Solver::new(4, 4, 16);
        assert_eq!(solver.solve(&empty(4, 4), 1000), None);
        assert_eq!(solver.nodes(), 1000);
        // what is in the table by then is true
        assert_eq!(solver.solve(&empty(4, 4), u64::MAX), Some(false));
    }

    #[test]
    fn the_first_move_in_the_middle_wins_on_3x3() {
        let mut solver = Solver::new(3, 3, 10);
        for point in 0..9 {
            let mut position = empty(3, 3);
            position.play(point);
            assert_eq!(solver.solve(&position, u64::MAX), Some(false), "{point}");
        }
    }

    /// Whether the mover wins, without order and table.
    fn naive(position: &Position<1>) -> bool {
        position.legal(position.to_move()).squares().any(|point| {
            let mut child = *position;
            child.play(point as u16);
            !naive(&child)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn positions_have_the_results_of_plain_negamax(
            rows in 2..=4usize, columns in 2..=4usize, choices in prop::collection::vec(any::<u16>(), 5), bits in 2..12u32
        ) {
            let mut position = empty(rows, columns);
            let mut solver = Solver::new(rows, columns, bits);
            for choice in choices {
                let mut legal = Vec::new();
                position.legal_actions(&mut legal);
                if legal.is_empty() {
                    break;
                }
                position.play(legal[usize::from(choice) % legal.len()]);
                if position.ply() >= (rows * columns).saturating_sub(11) {
                    prop_assert_eq!(solver.solve(&position, u64::MAX), Some(naive(&position)));
                    let [first, second] = position.stones();
                    let colours_swapped =
                        Position::from_stones(rows, columns, [second, first], position.to_move().other()).unwrap();
                    prop_assert_eq!(solver.solve(&colours_swapped, u64::MAX), Some(naive(&position)));
                }
            }
        }
    }
}
