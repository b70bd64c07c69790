//! The 960 starts of Chess960 by Scharnagl's numbers, and boards of FENs.

use std::collections::BTreeMap;

/// Number of the normal start.
pub const NORMAL_START: usize = 518;

// Sorted by square, so that boards, lists and names come in one order everywhere.
/// Signs of a board by square, a space where nothing stands.
pub type Pieces = BTreeMap<String, char>;

/// The first rank of a start, 0 to 959, in small letters: 518 is rnbqkbnr.
pub fn start_rank(number: usize) -> String {
    // Scharnagl's order of division: light bishop, dark bishop, queen, and of the rest the pair of knights.
    let rest = number / 4;
    let light = number % 4;
    let (rest, dark) = (rest / 4, rest % 4);
    let knights = rest / 6;
    let queen = rest % 6;
    let mut rank = [' '; 8];
    rank[2 * light + 1] = 'b';
    rank[2 * dark] = 'b';
    let mut fill = |place: usize, sign: char| {
        let free: Vec<usize> = (0..8).filter(|&file| rank[file] == ' ').collect();
        rank[free[place]] = sign;
    };
    fill(queen, 'q');
    let pairs: Vec<(usize, usize)> = (0..5).flat_map(|one| (one + 1..5).map(move |other| (one, other))).collect();
    let (first, second) = pairs[knights];
    fill(second, 'n'); // the later one first, so that the earlier one's place is not moved
    fill(first, 'n');
    // Three places are left, and the king stands between his rooks: no digit is spent on them.
    "rkr".chars().for_each(|sign| fill(0, sign));
    rank.iter().collect()
}

/// The number of the start with this first rank.
pub fn start_number(rank: &str) -> Option<usize> {
    (0..960).find(|&number| start_rank(number) == rank)
}

/// The signs of a start by square.
pub fn start_board(number: usize) -> Pieces {
    let rank = start_rank(number);
    let fen = format!("{rank}/pppppppp/8/8/8/8/PPPPPPPP/{}", rank.to_uppercase());
    board_of_fen(&fen).expect("eight ranks of eight signs")
}

/// The signs of a FEN's board by square, White's as capital letters, a space where nothing stands; None where it has no board.
pub fn board_of_fen(fen: &str) -> Option<Pieces> {
    let mut board = BTreeMap::new();
    let ranks: Vec<&str> = fen.split_whitespace().next()?.split('/').collect();
    for (row, rank) in ranks.iter().enumerate() {
        let signs = rank.chars().flat_map(|sign| match sign.to_digit(10) {
            Some(count) => vec![' '; count as usize],
            None => vec![sign],
        });
        let signs: Vec<char> = signs.collect();
        // FENs of minichess and of users come here too; a board with other ranks has no squares a1 to h8.
        if signs.len() != 8 || ranks.len() != 8 {
            return None;
        }
        for (file, sign) in ('a'..='h').zip(signs) {
            board.insert(format!("{file}{}", 8 - row), sign);
        }
    }
    Some(board)
}

/// The pieces of a side by their squares, as small letters.
pub fn home_squares(board: &Pieces, side: usize) -> BTreeMap<String, char> {
    let own = board.iter().filter(|(_, sign)| **sign != ' ' && sign.is_uppercase() == (side == 0));
    own.map(|(square, sign)| (square.clone(), sign.to_ascii_lowercase())).collect()
}

/// The board of a FEN.
pub fn placement(board: &Pieces) -> String {
    let rank = |number: usize| {
        let mut text = String::new();
        let mut empty = 0;
        for sign in ('a'..='h').map(|file| board[&format!("{file}{number}")]) {
            if sign == ' ' {
                empty += 1;
                continue;
            }
            if empty > 0 {
                text += &empty.to_string();
            }
            empty = 0;
            text.push(sign);
        }
        if empty > 0 { text + &empty.to_string() } else { text }
    };
    (1..=8).rev().map(rank).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_have_scharnagls_numbers() {
        assert_eq!(start_rank(NORMAL_START), "rnbqkbnr");
        assert_eq!((start_rank(0), start_rank(959)), ("bbqnnrkr".into(), "rkrnnqbb".into()));
        assert_eq!(start_number("rnbqkbnr"), Some(518));
        assert_eq!(placement(&start_board(518)), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
    }
}
