//! Positions that games of Go begin from: `9/9/2X6/9/9/9/6X2/9/9 w`.
//!
//! Rows from the top with a slash between them: numbers are empty points, X stones of Black, O of White. Then whose turn it is, b
//! or w.

use crate::game::Player;

const STONES: [char; 2] = ['X', 'O'];
const MOVERS: [&str; 2] = ["b", "w"];

/// The position that a game begins from.
#[derive(Clone, PartialEq, Eq)]
pub struct Setup {
    /// The points of Black's and of White's stones, row by row from the top.
    pub stones: [Vec<usize>; 2],
    /// Who moves first.
    pub first: Player,
}

impl Setup {
    /// The empty board, with Black to move.
    pub fn empty() -> Self {
        Setup { stones: [Vec::new(), Vec::new()], first: Player::First }
    }
}

/// The position of a text on a board of this size. An error says what is wrong.
pub fn read(text: &str, size: usize) -> Result<Setup, String> {
    let mut words = text.split_whitespace();
    let rows: Vec<&str> = words.next().unwrap_or_default().split('/').collect();
    let mover = words.next().unwrap_or(MOVERS[0]);
    let first = match MOVERS.iter().position(|&known| known == mover) {
        Some(0) => Player::First,
        Some(_) => Player::Second,
        None => return Err(format!("whose turn it is must be b or w, got {mover:?}")),
    };
    if let Some(more) = words.next() {
        return Err(format!("{more:?} follows whose turn it is"));
    }
    if rows.len() != size {
        return Err(format!("a board of {size} has {size} rows, got {}", rows.len()));
    }
    let mut found = Setup { first, ..Setup::empty() };
    for (number, row) in rows.iter().enumerate() {
        let length = read_row(row, number * size, size, &mut found.stones)?;
        if length != size {
            return Err(format!("row {} must have {size} points, got {length}", number + 1));
        }
    }
    Ok(found)
}

/// Reads a row that begins at a point and returns its length, which may be wrong.
fn read_row(row: &str, begins: usize, size: usize, stones: &mut [Vec<usize>; 2]) -> Result<usize, String> {
    let mut length = 0;
    let mut number = 0;
    for sign in row.chars() {
        if let Some(digit) = sign.to_digit(10) {
            number = (10 * number + digit as usize).min(size + 1);
            continue;
        }
        length += std::mem::take(&mut number);
        match STONES.iter().position(|&stone| stone == sign) {
            Some(player) if length < size => stones[player].push(begins + length),
            Some(_) => {}
            None => return Err(format!("{sign:?} is neither X, O nor a number of empty points")),
        }
        length += 1;
    }
    Ok(length + number)
}

/// A position as `read` takes it.
pub fn written(setup: &Setup, size: usize) -> String {
    let sign = |point| (0..2).find(|&player| setup.stones[player].contains(&point)).map(|player| STONES[player]);
    let mut text = String::new();
    for row in 0..size {
        if row > 0 {
            text.push('/');
        }
        let mut empty = 0;
        for point in row * size..(row + 1) * size {
            let Some(stone) = sign(point) else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                text += &empty.to_string();
            }
            text.push(stone);
            empty = 0;
        }
        if empty > 0 {
            text += &empty.to_string();
        }
    }
    format!("{text} {}", MOVERS[setup.first as usize])
}
