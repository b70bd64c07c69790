//! Squares of the 5x5 board and what pieces attack from them, in tables made at compile time.
//!
//! Square `rank * 5 + file` is bit `rank * 5 + file` of a set: a1 is 0, e1 is 4, e5 is 24.

/// Files, and ranks, of the board.
pub const SIDE: usize = 5;
/// Squares of the board.
pub const SQUARES: usize = SIDE * SIDE;
/// All squares.
pub const ALL: u32 = (1 << SQUARES) - 1;
/// The mover's first rank.
pub const FIRST_RANK: u32 = 0b11111;
/// The mover's last rank.
pub const LAST_RANK: u32 = FIRST_RANK << (4 * SIDE);
/// The rank from which pawns promote.
pub const FOURTH_RANK: u32 = FIRST_RANK << (3 * SIDE);
/// Squares of the colour of a1.
pub const DARK: u32 = 0b1_0101_0101_0101_0101_0101_0101;

/// A set that is sent to one rank or file and cut to the three squares there that can block a slider.
#[derive(Clone, Copy)]
struct Line {
    mask: u32,
    /// What is attacked on the line, for each set of blockers.
    attacks: [u32; 8],
}

/// The lines of a slider through each square: rank, diagonal, antidiagonal, file.
static LINES: [[Line; 4]; SQUARES] = lines();
static KNIGHT: [u32; SQUARES] = jumps(&[(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);
static KING: [u32; SQUARES] = jumps(&[(1, 1), (1, 0), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1)]);
static PAWN: [u32; SQUARES] = jumps(&[(-1, 1), (1, 1)]);
static BETWEEN: [[u32; SQUARES]; SQUARES] = pairs(false);
static LINE: [[u32; SQUARES]; SQUARES] = pairs(true);

/// What a knight attacks.
#[inline]
pub fn knight(square: usize) -> u32 {
    KNIGHT[square]
}

/// What a king attacks.
#[inline]
pub fn king(square: usize) -> u32 {
    KING[square]
}

/// What a pawn that walks towards higher ranks attacks; also where pawns that walk down attack the square from.
#[inline]
pub fn pawn(square: usize) -> u32 {
    PAWN[square]
}

/// What a rook attacks when these squares are occupied.
#[inline]
pub fn rook(square: usize, occupied: u32) -> u32 {
    let [rank, _, _, file] = &LINES[square];
    // Magic multiplication: the product brings the three squares that can block together, as an index into
    // the table.
    let blockers = (occupied & file.mask) >> (square % SIDE);
    // File square r is bit 5r; the product has it, among others, as bit 16 + r.
    let place = blockers.wrapping_mul(0x11111) >> 17 & 7;
    along(rank, occupied) | file.attacks[place as usize]
}

/// What a bishop attacks when these squares are occupied.
#[inline]
pub fn bishop(square: usize, occupied: u32) -> u32 {
    let [_, diagonal, antidiagonal, _] = &LINES[square];
    along(diagonal, occupied) | along(antidiagonal, occupied)
}

/// The squares strictly between two squares of one rank, file or diagonal; none for others.
#[inline]
pub fn between(a: usize, b: usize) -> u32 {
    BETWEEN[a][b]
}

/// The whole rank, file or diagonal through two squares; none for others.
#[inline]
pub fn line(a: usize, b: usize) -> u32 {
    LINE[a][b]
}

/// The squares of a set, ascending.
#[inline]
pub fn squares(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let square = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (square < SQUARES).then_some(square)
    })
}

/// The set with first and last rank exchanged, second and fourth too: what one player sees as the other sees it.
#[inline]
pub fn flip(set: u32) -> u32 {
    (set & FIRST_RANK) << 20
        | (set & FIRST_RANK << 5) << 10
        | (set & FIRST_RANK << 10)
        | (set & FOURTH_RANK) >> 10
        | (set & LAST_RANK) >> 20
}

/// The square after `flip`.
#[inline]
pub const fn flip_square(square: usize) -> usize {
    (SIDE - 1 - square / SIDE) * SIDE + square % SIDE
}

/// The square with left and right exchanged.
pub const fn mirror_square(square: usize) -> usize {
    square / SIDE * SIDE + SIDE - 1 - square % SIDE
}

/// The name of a square, `a1` to `e5`, as White sees it.
pub fn name(square: usize) -> String {
    format!("{}{}", (b'a' + (square % SIDE) as u8) as char, square / SIDE + 1)
}

/// Attacks on a line with at most one square a file: the product puts all its files side by side in the last rank.
#[inline]
fn along(line: &Line, occupied: u32) -> u32 {
    let place = (occupied & line.mask).wrapping_mul(0x108421) >> 21 & 7;
    line.attacks[place as usize]
}

/// The square some steps away, if it is on the board.
const fn step(square: usize, files: i32, ranks: i32) -> Option<usize> {
    let file = (square % SIDE) as i32 + files;
    let rank = (square / SIDE) as i32 + ranks;
    if file < 0 || rank < 0 || file >= SIDE as i32 || rank >= SIDE as i32 {
        return None;
    }
    Some(rank as usize * SIDE + file as usize)
}

const fn jumps<const N: usize>(steps: &[(i32, i32); N]) -> [u32; SQUARES] {
    // `while`, because a constant is computed without `for`.
    let mut table = [0; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let mut i = 0;
        while i < N {
            if let Some(to) = step(square, steps[i].0, steps[i].1) {
                table[square] |= 1 << to;
            }
            i += 1;
        }
        square += 1;
    }
    table
}

/// Rank, diagonal, antidiagonal, file.
const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (1, 1), (1, -1), (0, 1)];

/// The squares from here up to the first blocker, that one included.
const fn ray(square: usize, direction: (i32, i32), blockers: u32) -> u32 {
    let mut set = 0;
    let mut at = square;
    while let Some(to) = step(at, direction.0, direction.1) {
        set |= 1 << to;
        if blockers >> to & 1 == 1 {
            break;
        }
        at = to;
    }
    set
}

const fn both_ways(square: usize, direction: (i32, i32), blockers: u32) -> u32 {
    ray(square, direction, blockers) | ray(square, (-direction.0, -direction.1), blockers)
}

const fn lines() -> [[Line; 4]; SQUARES] {
    let mut table = [[Line { mask: 0, attacks: [0; 8] }; 4]; SQUARES];
    let mut index = 0;
    while index < 4 * SQUARES {
        let square = index / 4;
        let direction = DIRECTIONS[index % 4];
        let mask = both_ways(square, direction, 0);
        let line = &mut table[square][index % 4];
        line.mask = mask;
        let mut place = 0;
        while place < 8 {
            line.attacks[place] = both_ways(square, direction, mask & blockers(place, direction.0 == 0));
            place += 1;
        }
        index += 1;
    }
    table
}

/// The squares of the second to fourth file (or rank) that a place in the table stands for.
const fn blockers(place: usize, by_rank: bool) -> u32 {
    let bits = (place as u32) << 1;
    let mut set = 0;
    let mut square = 0;
    while square < SQUARES {
        let coordinate = if by_rank { square / SIDE } else { square % SIDE };
        set |= (bits >> coordinate & 1) << square;
        square += 1;
    }
    set
}

const fn pairs(whole: bool) -> [[u32; SQUARES]; SQUARES] {
    let mut table = [[0; SQUARES]; SQUARES];
    let mut index = 0;
    while index < SQUARES * SQUARES {
        let a = index / SQUARES;
        let b = index % SQUARES;
        let mut i = 0;
        while i < 4 {
            let line = both_ways(a, DIRECTIONS[i], 0);
            if line >> b & 1 == 1 {
                let inner = both_ways(a, DIRECTIONS[i], 1 << b) & both_ways(b, DIRECTIONS[i], 1 << a);
                table[a][b] = if whole { line | 1 << a } else { inner & !(1 << a) & !(1 << b) };
            }
            i += 1;
        }
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a slider attacks, walked square by square.
    fn walked(square: usize, occupied: u32, directions: &[(i32, i32)]) -> u32 {
        directions.iter().fold(0, |set, &(f, r)| set | ray(square, (f, r), occupied) | ray(square, (-f, -r), occupied))
    }

    #[test]
    fn sliders_are_those_that_walk() {
        for occupied in (0..1u32 << SQUARES).step_by(977) {
            for square in 0..SQUARES {
                assert_eq!(rook(square, occupied), walked(square, occupied, &[(1, 0), (0, 1)]));
                assert_eq!(bishop(square, occupied), walked(square, occupied, &[(1, 1), (1, -1)]));
            }
        }
    }

    #[test]
    fn squares_between_are_seen_from_both_ends() {
        for a in 0..SQUARES {
            for b in (0..SQUARES).filter(|&b| b != a) {
                assert_eq!((between(a, b), line(a, b)), (between(b, a), line(b, a)));
                let in_line = (rook(a, 0) | bishop(a, 0)) >> b & 1 == 1;
                assert_eq!(line(a, b) != 0, in_line);
                assert!(line(a, b) == 0 || line(a, b) >> a & line(a, b) >> b & 1 == 1);
            }
        }
        assert_eq!(squares(between(0, 24)).collect::<Vec<_>>(), [6, 12, 18]);
        assert_eq!(squares(between(2, 17)).collect::<Vec<_>>(), [7, 12]);
    }

    #[test]
    fn flipping_twice_changes_nothing() {
        for square in 0..SQUARES {
            assert_eq!(flip(1 << square), 1 << flip_square(square));
            assert_eq!(mirror_square(mirror_square(flip_square(flip_square(square)))), square);
        }
        assert_eq!((DARK.count_ones(), flip(DARK), DARK & 1), (13, DARK, 1));
    }
}
