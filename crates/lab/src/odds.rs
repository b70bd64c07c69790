//! Odds games of chess: starts that lack pieces of one side, or have lesser ones in their place (`hauteur.games.odds`).
//!
//! ```text
//! ITEM + ITEM ... [, start N]      ITEM: PIECE [SQUARE] [for PIECE] | SQUARE [for PIECE] | two PIECEs
//! ```

use hauteur_core::games::parse_spec;

use crate::messages::{near, quoted};
use crate::start960::{NORMAL_START, Pieces, board_of_fen, home_squares, placement, start_board, start_number};

/// Names of the pieces that may be given, from the most to the least.
const PIECES: [(char, &str); 5] = [('q', "queen"), ('r', "rook"), ('b', "bishop"), ('n', "knight"), ('p', "pawn")];
const ALLOWED: &str =
    "PIECE [SQUARE] [for PIECE], joined by +, such as `queen d1`, `queen + rook a1`, `queen for knight`";

/// A piece that the giver lacks: its home, its letter, and that of what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    square: String,
    piece: char,
    by: Option<char>,
}

/// A handicap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odds {
    /// 0 White, 1 Black.
    pub giver: usize,
    given: Vec<Given>,
    /// Of the 960, 0 to 959; 518 is the normal one.
    pub start: usize,
}

/// Place of a letter among the pieces: the lower, the more it is worth.
fn worth(letter: char) -> Option<usize> {
    PIECES.iter().position(|(known, _)| *known == letter)
}

fn word_of(letter: char) -> &'static str {
    PIECES.iter().find(|(known, _)| *known == letter).map_or("king", |(_, word)| word)
}

fn letter_of(word: &str) -> Option<char> {
    PIECES.iter().find(|(_, known)| *known == word).map(|(letter, _)| *letter)
}

impl Given {
    fn text(&self) -> String {
        let by = self.by.map_or(String::new(), |by| format!(" for {}", word_of(by)));
        format!("{} {}{by}", word_of(self.piece), self.square)
    }
}

impl Odds {
    /// `queen d1 + rook a1`, `queen d8 for knight`, without the number of the start.
    pub fn items(&self) -> String {
        self.given.iter().map(Given::text).collect::<Vec<_>>().join(" + ")
    }

    /// The same with the number of the start where it is not the normal one.
    pub fn name(&self) -> String {
        let start = if self.start == NORMAL_START { String::new() } else { format!(", start {}", self.start) };
        self.items() + &start
    }

    /// The given pieces as letters in the order of the name: `q`, `qr`, `q>n`.
    pub fn pieces(&self) -> String {
        let letters = |item: &Given| item.by.map_or(item.piece.to_string(), |by| format!("{}>{by}", item.piece));
        self.given.iter().map(letters).collect()
    }

    /// The pieces that the giver lacks: of each its home, its letter, and that of what stands there.
    pub fn given(&self) -> impl Iterator<Item = (&str, char, Option<char>)> {
        self.given.iter().map(|item| (item.square.as_str(), item.piece, item.by))
    }

    /// The position, White to move. A rook, or what a king would castle with, takes its castling right with it.
    pub fn fen(&self) -> String {
        fen_of(&self.board())
    }

    /// The game that begins there.
    pub fn game(&self) -> String {
        game_of(&self.fen(), self.start)
    }

    fn board(&self) -> Pieces {
        let mut board = start_board(self.start);
        for item in &self.given {
            let sign = item.by.unwrap_or(' ');
            board.insert(item.square.clone(), if self.giver == 1 { sign } else { sign.to_ascii_uppercase() });
        }
        board
    }
}

/// The position of a board with all its castling rights, White to move.
fn fen_of(board: &Pieces) -> String {
    format!("{} w {} - 0 1", placement(board), castling(board))
}

fn game_of(fen: &str, start: usize) -> String {
    format!("chess(fen={fen}{})", if start == NORMAL_START { "" } else { ",chess960=true" })
}

/// The position of one of the 960 starts.
pub fn start_fen(number: usize) -> String {
    fen_of(&start_board(number))
}

/// The game that begins at one of the 960 starts.
pub fn start_game(number: usize) -> String {
    if number == NORMAL_START { "chess".into() } else { game_of(&start_fen(number), number) }
}

fn castling(board: &Pieces) -> String {
    let mut found = String::new();
    for (rank, king, rook) in [('1', 'K', 'R'), ('8', 'k', 'r')] {
        let row: Vec<char> = ('a'..='h').map(|file| board[&format!("{file}{rank}")]).collect();
        // A king cannot be given, so each side has one on its first rank.
        let at = row.iter().position(|sign| *sign == king).unwrap_or(0);
        // By files and not by corners: in Chess960 the rooks stand anywhere on both sides of the king.
        let sides = [(&row[at..], 'K'), (&row[..at], 'Q')];
        let able = sides.into_iter().filter(|(squares, _)| squares.contains(&rook));
        found.extend(able.map(|(_, side)| if king == 'K' { side } else { side.to_ascii_lowercase() }));
    }
    if found.is_empty() { "-".into() } else { found }
}

/// The game of `chess(odds=TEXT)` or `chess(odds=TEXT,start=N)`; None for any other spec.
pub fn game_of_spec(spec: &str) -> Result<Option<String>, String> {
    // Most specs are none of these, and parsing is left to the core, whose errors name what is allowed.
    if !spec.trim_start().starts_with("chess(") || !spec.contains("odds") {
        return Ok(None);
    }
    let (_, mut args) = parse_spec(spec).map_err(|error| error.0)?;
    let Some(text) = args.0.remove("odds") else { return Ok(None) };
    let start = args.0.remove("start").unwrap_or_else(|| NORMAL_START.to_string());
    if let Some(other) = args.0.keys().next() {
        return Err(format!("chess(odds=...): takes odds and start (0 to 959), got {other}"));
    }
    parse(&format!("{text}, start {start}"), None, NORMAL_START).map(|odds| Some(odds.game()))
}

/// The handicap that a text names. `gives`: 0 White, 1 Black; None: as the squares say, White without any. White's squares stand for
/// Black's mirrored ones where Black gives. `start`: of the 960, unless the text names one.
pub fn parse(text: &str, gives: Option<usize>, start: usize) -> Result<Odds, String> {
    read(text, gives, start).map_err(|error| format!("odds {}: {error}", quoted(text)))
}

fn read(text: &str, gives: Option<usize>, start: usize) -> Result<Odds, String> {
    let (items, start) = match text.split_once(", start ") {
        Some((items, number)) => (items, number.trim().parse().unwrap_or(usize::MAX)),
        None => (text, start),
    };
    if start > 959 {
        return Err("the start must be a number from 0 to 959".into());
    }
    let found = items.split('+').map(|item| read_item(item.trim())).collect::<Result<Vec<_>, _>>()?;
    let squares: Vec<&String> =
        found.iter().flat_map(|item| &item.squares).filter(|square| !square.is_empty()).collect();
    let of_black = squares.iter().filter(|square| square.ends_with(['7', '8'])).count();
    let giver = gives.unwrap_or(usize::from(of_black > 0));
    // White's squares are allowed with Black as giver: `d1` there stands for the queen, which is mirrored.
    if of_black > 0 && (giver == 0 || of_black < squares.len()) {
        let listed = squares.iter().map(|square| square.as_str()).collect::<Vec<_>>().join(", ");
        return Err(format!("the squares must be of one side, got {listed}"));
    }
    let board = start_board(start);
    let mut given = Vec::new();
    for item in &found {
        for place in &item.squares {
            // One after another: `two rooks` and `rook + rook` must not give one rook twice.
            let square = home(place, item.piece, &board, giver, &given)?;
            let piece = board[&square].to_ascii_lowercase();
            given.push(Given { square, piece, by: item.by });
        }
    }
    // Sorted, so that `rook + queen` and `queen + rook` are one handicap, with one name and one row in tables.
    checked(Odds { giver, given: ordered(given), start })
}

/// The handicap with the piece of a home square given too, or with that item taken out; None: nothing is given.
pub fn toggled(odds: Option<&Odds>, square: &str, gives: usize, start: usize) -> Result<Option<Odds>, String> {
    let items = odds.map_or(&[][..], |odds| &odds.given);
    let mut texts: Vec<String> = items.iter().filter(|item| item.square != square).map(Given::text).collect();
    if texts.len() == items.len() {
        texts.push(square.to_string());
    }
    if texts.is_empty() { Ok(None) } else { parse(&texts.join(" + "), Some(gives), start).map(Some) }
}

/// What an item of a text says: the piece (None: by its square), squares (empty: the first free one), and what stands for it.
struct Item {
    piece: Option<char>,
    squares: Vec<String>,
    by: Option<char>,
}

fn read_item(item: &str) -> Result<Item, String> {
    let wrong =
        || format!("{} is no item{}; allowed: {ALLOWED}", quoted(item), near(item, PIECES.map(|(_, word)| word)));
    let lower = item.to_ascii_lowercase();
    let (what, by) = match lower.split_once(" for ") {
        // Nothing is worth more than the queen, so it can stand for no piece that is given.
        Some((what, by)) => (what, Some(letter_of(by).filter(|letter| *letter != 'q').ok_or_else(wrong)?)),
        None => (lower.as_str(), None),
    };
    let mut words: Vec<&str> = what.split(' ').collect();
    let is_square = |word: &str| {
        let signs: Vec<char> = word.chars().collect();
        signs.len() == 2 && ('a'..='h').contains(&signs[0]) && ('1'..='8').contains(&signs[1])
    };
    if words.len() == 1 && is_square(words[0]) {
        return Ok(Item { piece: None, squares: vec![words[0].into()], by });
    }
    let two = words.first() == Some(&"two");
    if two {
        words.remove(0);
    }
    let name = words.first().ok_or_else(wrong)?;
    let piece = letter_of(name.strip_suffix('s').unwrap_or(name)).ok_or_else(wrong)?;
    let squares: Vec<String> = words[1..].iter().map(|word| word.to_string()).collect();
    if squares.len() > 2 || !squares.iter().all(|square| is_square(square)) {
        return Err(wrong());
    }
    match (two, squares.len()) {
        (false, 2) => {
            let word = word_of(piece);
            Err(format!("{} names two squares of one piece; allowed: two {word}s", quoted(item)))
        }
        (true, 1) => Err(format!("{} names one square of two pieces", quoted(item))),
        (true, 0) => Ok(Item { piece: Some(piece), squares: vec![String::new(); 2], by }),
        (false, 0) => Ok(Item { piece: Some(piece), squares: vec![String::new()], by }),
        _ => Ok(Item { piece: Some(piece), squares, by }),
    }
}

/// The square of a piece that is given: the one named, mirrored where Black gives, else the first free one.
fn home(square: &str, piece: Option<char>, board: &Pieces, giver: usize, given: &[Given]) -> Result<String, String> {
    let taken = |place: &str| given.iter().any(|item| item.square == place);
    let own = home_squares(board, giver);
    if square.is_empty() {
        let piece = piece.unwrap_or('q');
        let free = own.iter().filter(|(place, letter)| **letter == piece && !taken(place));
        // The pawn of the old custom is that before the king's bishop, `pawn and move`.
        let first = free.min_by_key(|(place, _)| (piece == 'p' && !place.starts_with('f'), (*place).clone()));
        let none = || format!("there is no other {} to give", word_of(piece));
        return first.map(|(place, _)| place.clone()).ok_or_else(none);
    }
    let square = if giver == 1 && square.ends_with(['1', '2']) { mirrored(square) } else { square.to_string() };
    let found = own.get(&square).copied();
    let wanting = piece.is_some_and(|piece| found != Some(piece));
    if found.and_then(worth).is_none() || wanting || taken(&square) {
        let what = found.map_or("no piece", |letter| if letter == 'k' { "the king" } else { word_of(letter) });
        let stands = if taken(&square) { "given twice".into() } else { format!("of {what}") };
        let expected = piece.map_or("piece", word_of);
        return Err(format!("{square} is the square {stands}, not of a {expected} to give"));
    }
    Ok(square)
}

fn mirrored(square: &str) -> String {
    let rank = square.chars().last().and_then(|sign| sign.to_digit(10)).unwrap_or(1);
    format!("{}{}", &square[..1], 9 - rank)
}

fn ordered(mut given: Vec<Given>) -> Vec<Given> {
    given.sort_by_key(|item| (worth(item.piece), item.square.clone()));
    given
}

fn checked(odds: Odds) -> Result<Odds, String> {
    for item in &odds.given {
        let Some(by) = item.by else { continue };
        // `<=`, as a lower place is more worth: an equal piece would be no odds.
        if worth(by) <= worth(item.piece) {
            let by = word_of(by);
            let piece = word_of(item.piece);
            return Err(format!("a {by} is worth no less than a {piece}"));
        }
        if by == 'p' && item.square.ends_with(['1', '8']) {
            return Err(format!("a pawn cannot stand on {}", item.square));
        }
    }
    Ok(odds)
}

/// The odds of a position in which no piece has moved; None for a start without odds and for anything else. Only the pieces count.
pub fn odds_of(fen: &str) -> Option<Odds> {
    let board = board_of_fen(fen)?;
    // The rank of the side that gives nothing is whole, so it tells which of the 960 starts it is.
    for (giver, rank) in [(0, '8'), (1, '1')] {
        let line: String = ('a'..='h').map(|file| board[&format!("{file}{rank}")].to_ascii_lowercase()).collect();
        let Some(start) = start_number(&line) else { continue };
        let given = difference(&board, &start_board(start), giver)?;
        if !given.is_empty() {
            return Some(Odds { giver, given, start });
        }
    }
    None
}

/// Pieces that the giver lacks on a board; empty where there is another difference.
fn difference(board: &Pieces, begin: &Pieces, giver: usize) -> Option<Vec<Given>> {
    let mut given = Vec::new();
    for (square, &sign) in begin {
        let here = board[square];
        if here == sign {
            continue;
        }
        let own = sign != ' ' && sign.is_uppercase() == (giver == 0) && worth(sign.to_ascii_lowercase()).is_some();
        let less = worth(here.to_ascii_lowercase()) > worth(sign.to_ascii_lowercase());
        let lesser = worth(here.to_ascii_lowercase()).is_some() && here.is_uppercase() == sign.is_uppercase();
        if !own || (here != ' ' && (!lesser || !less)) {
            return Some(Vec::new());
        }
        let by = Some(here.to_ascii_lowercase()).filter(|letter| *letter != ' ');
        given.push(Given { square: square.clone(), piece: sign.to_ascii_lowercase(), by });
    }
    Some(ordered(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_positions_lead_to_each_other() {
        for (text, gives, name) in [
            ("queen", None, "queen d1"),
            ("queen", Some(1), "queen d8"),
            ("rook + knight", Some(0), "rook a1 + knight b1"),
            ("two knights", Some(0), "knight b1 + knight g1"),
            ("queen for knight", Some(0), "queen d1 for knight"),
            ("pawn", Some(1), "pawn f7"),
            ("d1 + a1", None, "queen d1 + rook a1"),
        ] {
            let odds = parse(text, gives, NORMAL_START).unwrap();
            assert_eq!(odds.name(), name);
            let fen = odds.game();
            let fen = fen.strip_prefix("chess(fen=").unwrap().trim_end_matches(')');
            assert_eq!(odds_of(fen), Some(odds));
        }
        assert_eq!(odds_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), None);
        let game = parse("queen", None, NORMAL_START).unwrap().game();
        assert_eq!(game, "chess(fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1)");
        assert_eq!(parse("queen, start 356", None, NORMAL_START).unwrap().start, 356);
    }

    #[test]
    fn what_is_no_handicap_is_refused() {
        for text in ["king", "queen e4", "queen d1 + queen d1", "pawn for rook", "rook for pawn", "queen, start 960"] {
            assert!(parse(text, None, NORMAL_START).is_err(), "{text}");
        }
    }

    #[test]
    fn a_click_gives_a_piece_and_takes_it_back() {
        let queen = parse("queen", Some(0), NORMAL_START).unwrap();
        let more = toggled(Some(&queen), "a1", 0, NORMAL_START).unwrap().unwrap();
        assert_eq!(more.name(), "queen d1 + rook a1");
        assert_eq!(toggled(Some(&queen), "d1", 0, NORMAL_START).unwrap(), None);
    }
}
