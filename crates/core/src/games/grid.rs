//! What games on a rectangular grid share: symmetries, planes, names of squares, parameters.

use std::ops::RangeInclusive;

use crate::game::{Action, GameError, Player, SpecArgs, State, Symmetry};

/// The player to move after this many plies, in games where the players take turns.
#[inline]
pub fn alternating(plies: usize) -> Player {
    if plies & 1 == 0 { Player::First } else { Player::Second }
}

/// Square permutations of a grid, identity first: eight for a square one, four for a rectangle.
///
/// Entry `i` of a permutation is the old square (row * columns + column) that comes to square `i`.
pub fn grid_symmetries(rows: usize, columns: usize) -> Vec<Vec<u32>> {
    // A transposed rectangle is another board.
    let transpose = if rows == columns { &[false, true][..] } else { &[false][..] };
    let mut all = Vec::new();
    for &swap in transpose {
        for flip_rows in [false, true] {
            for flip_columns in [false, true] {
                all.push(permutation(rows, columns, swap, flip_rows, flip_columns));
            }
        }
    }
    all
}

/// The symmetries of a grid in a game with an action a square, then `more` actions that no symmetry changes (to pass).
pub fn point_symmetries(rows: usize, columns: usize, more: usize) -> Vec<Symmetry> {
    grid_symmetries(rows, columns).into_iter().map(|squares| symmetry_of(squares, more)).collect()
}

/// The symmetry of these squares, whose numbers are those of the actions, then `more` actions that stay what they are.
pub fn symmetry_of(squares: Vec<u32>, more: usize) -> Symmetry {
    let others = (squares.len()..squares.len() + more).map(|action| action as Action);
    Symmetry { actions: squares.iter().map(|&s| s as Action).chain(others).collect(), squares }
}

/// One symmetry: new square (r, c) shows the old one reached by the flips, then by the transposition.
fn permutation(rows: usize, columns: usize, swap: bool, flip_rows: bool, flip_columns: bool) -> Vec<u32> {
    let old_square = |square: usize| {
        let r = square / columns;
        let c = square % columns;
        let r = if flip_rows { rows - 1 - r } else { r };
        let c = if flip_columns { columns - 1 - c } else { c };
        (if swap { c * columns + r } else { r * columns + c }) as u32
    };
    (0..rows * columns).map(old_square).collect()
}

/// The squares that a text names, such as `e2e4` or `B3`: row * columns + column, with rows counted from the bottom in names
/// and from the top in squares.
pub fn named_squares(text: &str, rows: usize, columns: usize) -> Vec<usize> {
    let letters = text.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit());
    letters
        .map(|pair| (usize::from(pair[0].to_ascii_lowercase() - b'a'), usize::from(pair[1] - b'0')))
        .filter(|&(column, row)| column < columns && (1..=rows).contains(&row))
        .map(|(column, row)| (rows - row) * columns + column)
        .collect()
}

/// Writes 1.0 where `bits` is set and 0.0 elsewhere; square `i` of the plane is bit `i`.
#[inline]
pub fn write_plane(plane: &mut [f32], mut bits: u64) {
    // Zeros, then the ones: planes of games are mostly empty.
    plane.fill(0.0);
    while bits != 0 {
        plane[bits.trailing_zeros() as usize] = 1.0;
        bits &= bits - 1;
    }
}

/// One number a square: 1 on those of the first player, -1 on those of the second, 0 on the others.
pub fn signed(squares: usize, first: impl Iterator<Item = usize>, second: impl Iterator<Item = usize>) -> Vec<i8> {
    let mut signs = vec![0; squares];
    for square in first {
        signs[square] = 1;
    }
    for square in second {
        signs[square] = -1;
    }
    signs
}

/// How near a game is to the draw by 100 plies without progress, for keys of positions: one bucket up to 39, eight plies each
/// up to 79, then every ply its own.
#[inline]
pub fn quiet_bucket(plies: usize) -> u64 {
    match plies {
        0..40 => 0,
        // Far from the draw the counter changes no evaluation, so positions may share one; close to it every
        // ply matters.
        40..80 => 1 + (plies as u64 - 40) / 8,
        _ => plies as u64,
    }
}

/// A well-mixed 64-bit hash of a few words.
#[inline]
pub fn hash_words(words: &[u64]) -> u64 {
    // Pi's first digits, and not zero: a first word of zero would mix to zero, and an empty board's hash would say
    // nothing.
    words.iter().fold(0x243f_6a88_85a3_08d3, |hash, &word| mix(hash ^ word))
}

/// A bijection of 64-bit words in which every input bit changes half of the output bits (two multiply-xor-shift rounds).
#[inline]
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let word = (word ^ (word >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ (word >> 29)
}

/// Output number `index` of the SplitMix64 generator (Steele, Lea, Flood 2014) with seed 0.
pub const fn splitmix(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Finds the legal action that `text` names, by any of the `names` of an action (compared without case).
pub fn find_action(
    state: &dyn State,
    game: &str,
    text: &str,
    names: impl Fn(Action) -> Vec<String>,
) -> Result<Action, GameError> {
    let mut legal = Vec::new();
    state.legal_actions(&mut legal);
    let given = text.trim();
    let named = |action: &&Action| names(**action).iter().any(|name| name.eq_ignore_ascii_case(given));
    legal.iter().find(named).copied().ok_or_else(|| {
        let allowed: Vec<String> = legal.iter().map(|&a| names(a).swap_remove(0)).collect();
        let allowed = if allowed.is_empty() { "none (the game is over)".into() } else { allowed.join(" ") };
        GameError(format!("{text:?} is not a legal move of {game} here; legal moves: {allowed}"))
    })
}

/// The action as an index below `count`, or an error that says what is allowed.
pub fn check_action(game: &str, action: Action, count: usize) -> Result<usize, GameError> {
    let index = usize::from(action);
    if index < count {
        return Ok(index);
    }
    Err(GameError(format!("{game} has no action {action}; actions are 0 to {}", count - 1)))
}

/// The notation of a game with only one: fails when another one is asked for.
pub fn only_notation(game: &str, notation: Option<&str>) -> Result<(), GameError> {
    match notation {
        None => Ok(()),
        Some(name) => Err(GameError(format!("{game} has no notation {name:?}; leave it out, it has only one"))),
    }
}

/// How the squares of a board are named, and what stands at its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// As in chess: `a1` is the lower left square.
    Chess,
    /// As in Othello and Hex: `a1` is the upper left square.
    FromTop,
    /// As in GTP: `A1` is the lower left point, and there is no column I.
    Gtp,
    /// Columns have numbers too.
    ColumnNumbers,
}

/// Letters of the columns in GTP.
const GTP_LETTERS: &[u8; 19] = b"ABCDEFGHJKLMNOPQRST";

impl Coordinates {
    /// Name of a square, counted row by row from the top.
    pub fn name(self, square: usize, rows: usize, columns: usize) -> String {
        format!("{}{}", self.column(square % columns), self.row(square / columns, rows))
    }

    /// Labels of the rows, from the top, and of the columns.
    pub fn labels(self, rows: usize, columns: usize) -> (Vec<String>, Vec<String>) {
        let row_labels = (0..rows).map(|row| self.row(row, rows).to_string()).collect();
        let column_labels = (0..columns).map(|column| self.column(column)).collect();
        (row_labels, column_labels)
    }

    fn row(self, row: usize, rows: usize) -> usize {
        match self {
            Coordinates::FromTop => row + 1,
            Coordinates::Chess | Coordinates::Gtp | Coordinates::ColumnNumbers => rows - row,
        }
    }

    fn column(self, column: usize) -> String {
        match self {
            Coordinates::Chess | Coordinates::FromTop => char::from(b'a' + column as u8).to_string(),
            Coordinates::Gtp => char::from(GTP_LETTERS[column]).to_string(),
            Coordinates::ColumnNumbers => (column + 1).to_string(),
        }
    }
}

/// Takes a length of the board out of the parameters; `None` when it is absent. Fails on lengths that are not allowed.
pub fn take_length(
    args: &mut SpecArgs,
    game: &str,
    name: &str,
    allowed: RangeInclusive<usize>,
) -> Result<Option<usize>, GameError> {
    let words = format!("a whole number from {} to {}", allowed.start(), allowed.end());
    let length = args.take::<usize>(game, name, &words)?;
    if let Some(given) = length.filter(|length| !allowed.contains(length)) {
        return Err(GameError(format!("{game}({name}={given}): {name} must be {words}")));
    }
    Ok(length)
}

/// The spec of a game with these parameters; `None` for those that have their default.
pub fn spec(game: &str, parameters: impl IntoIterator<Item = Option<String>>) -> String {
    let given: Vec<String> = parameters.into_iter().flatten().collect();
    if given.is_empty() { game.into() } else { format!("{game}({})", given.join(",")) }
}

/// The names of two players, as `State::sides` has them.
pub fn sides(names: [&str; 2]) -> [String; 2] {
    names.map(String::from)
}

/// The player who has a square in their set.
pub fn owner(has: impl Fn(Player) -> bool) -> Option<Player> {
    [Player::First, Player::Second].into_iter().find(|&player| has(player))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetries_are_distinct_permutations_identity_first() {
        for (rows, columns, count) in [(3, 3, 8), (3, 4, 4), (9, 9, 8), (2, 13, 4)] {
            let all = grid_symmetries(rows, columns);
            assert_eq!(all.len(), count);
            assert!(all[0].iter().enumerate().all(|(i, &s)| i == s as usize));
            for (i, squares) in all.iter().enumerate() {
                let mut sorted = squares.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, all[0]);
                assert!(all[..i].iter().all(|other| other != squares));
            }
        }
    }

    #[test]
    fn hashes_of_neighbouring_words_differ_in_about_half_of_the_bits() {
        let mut changed = 0;
        for bit in 0..64 {
            changed += (hash_words(&[5, 9]) ^ hash_words(&[5 ^ (1 << bit), 9])).count_ones();
        }
        assert!((28 * 64..36 * 64).contains(&changed), "{changed}");
    }
}
