//! Every reader of the core and of the page, by the first byte: it must accept or refuse, and what it accepts must survive being
//! written and read again. `fuzz/run SECONDS` builds and runs it.

#![no_main]

use std::cell::Cell;

use hauteur_core::games::chess::clean_fen;
use hauteur_lab::game_text::{ReadGame, Writing, read_pgn, read_sgf, written};
use hauteur_lab::page::Page;
use hauteur_lab::position::{Position, load_game, with_fen};
use hauteur_lab::{decode, pgn, sgf};
use hauteur_page::browser::lab;
use hauteur_page::net;
use libfuzzer_sys::{Corpus, fuzz_target};

const SPECS: [&str; 12] = [
    "chess",
    "chess(chess960=true)",
    "minichess",
    "connect4",
    "tictactoe",
    "nogo(size=5)",
    "go(size=5)",
    "go(size=9)",
    "hex(size=5)",
    "othello(size=6)",
    "gomoku(size=9)",
    "nogo",
];
const PAGES: [&str; 3] = ["play", "analyse", "explain"];
const FACTS: &str = r#"{"nets": [], "ladder": [], "methods": {}, "handicaps": ["queen d1"], "odds_settings": []}"#;

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((kind, data)) = data.split_first() else { return Corpus::Reject };
    match kind % 9 {
        5 => {
            let _ = net::read(data);
            return Corpus::Keep;
        }
        7 => {
            file_of_pgn(data);
            return Corpus::Keep;
        }
        8 => {
            file_of_sgf(data);
            return Corpus::Keep;
        }
        _ => {}
    }
    let Ok(text) = std::str::from_utf8(data) else { return Corpus::Reject };
    match kind % 9 {
        0 => spec(text),
        1 => fen(text),
        2 => moves(text),
        3 => record(text, "pgn", read_pgn),
        4 => record(text, "sgf", |text| read_sgf(text, "go")),
        _ => messages(text),
    }
    Corpus::Keep
});

/// The name of a game, and some moves in it.
fn spec(text: &str) {
    if let Ok(game) = load_game(text) {
        walk(Position::start(game), 40);
    }
}

/// A FEN behind a byte that says of which game.
fn fen(text: &str) {
    let (game, text) = if text.starts_with('m') { ("minichess", &text[1..]) } else { ("chess", text) };
    if let Ok(clean) = clean_fen(text, false) {
        let again = clean_fen(&clean.fen, clean.chess960).unwrap();
        assert_eq!((again.fen, again.notes.len()), (clean.fen, 0));
    }
    if let Ok(game) = with_fen(game, text).and_then(|spec| load_game(&spec)) {
        walk(Position::start(game), 6);
    }
}

/// Moves of a game, by their words.
fn moves(text: &str) {
    let Some(first) = text.bytes().next() else { return };
    if !first.is_ascii() {
        return;
    }
    let mut position = Position::start(load_game(SPECS[first as usize % SPECS.len()]).unwrap());
    for word in text[1..].split_whitespace().take(200) {
        match position.parse(word).and_then(|action| position.play(action)) {
            Ok(()) => check(&position),
            Err(_) => return,
        }
    }
}

/// The first and the last move again and again.
fn walk(mut position: Position, plies: usize) {
    for ply in 0..plies {
        check(&position);
        let legal = position.legal();
        let Some(&action) = (if ply % 2 == 0 { legal.first() } else { legal.last() }) else { return };
        position.play(action).unwrap();
    }
}

/// Each legal move has a text that names it.
fn check(position: &Position) {
    position.caption();
    if position.outcome().is_some() {
        return;
    }
    for action in position.legal().into_iter().take(400) {
        assert_eq!(position.parse(&position.text(action)), Ok(action), "{} {}", position.spec(), position.text(action));
    }
}

/// A game that was read is the same after it was written.
fn record(text: &str, form: &str, read: impl Fn(&str) -> Result<ReadGame, String>) {
    if let Ok(found) = read(text) {
        let start = Position::start(found.game.clone());
        let writing = Writing { names: &found.names, ending: None, event: "fuzz", date: "2026-11-26" };
        let again = read(&written(&start, &found.actions, form, &writing).unwrap()).unwrap();
        assert_eq!(again.actions, found.actions);
    }
}

/// Bytes as a file of PGN: all its games, and as a tree. What is wrong with a game is one line.
fn file_of_pgn(data: &[u8]) {
    let mut reader = pgn::Reader::new(data, true).unwrap();
    while let Some(game) = reader.next_game().unwrap() {
        if let Some(Err(error)) = game.played {
            assert!(!error.is_empty() && !error.contains('\n'), "{error:?}");
        }
    }
    let text = String::from_utf8_lossy(data);
    if let Ok((_, tree)) = pgn::read_tree(&text) {
        let moves = tree.line.actions.len();
        assert!(tree.nodes.len() > moves);
        assert!(tree.nodes.iter().enumerate().all(|(node, of)| of.children.iter().all(|child| *child > node)));
    }
}

/// Bytes as a file of SGF.
fn file_of_sgf(data: &[u8]) {
    let text = decode::sgf_text(data);
    let _ = sgf::spec_of_text(&text, "nogo");
    for game in sgf::read(&text, None) {
        if let Ok(line) = game.played {
            assert_eq!(line.moves.len(), line.actions.len());
        }
    }
}

/// A page and the messages of a browser, one a line.
fn messages(text: &str) {
    let mut lines = text.lines();
    let Some(page) = lines.next().and_then(|name| PAGES.iter().find(|page| name.starts_with(**page))) else { return };
    let time = Cell::new(0.0);
    let clock = Box::new(move || {
        time.set(time.get() + 0.001);
        time.get()
    });
    let mut page = Page::new(lab(FACTS, 1, "2026-11-26", clock, None).unwrap().0, page).unwrap();
    for line in lines.take(20) {
        let answer: serde_json::Value = serde_json::from_str(&page.answer(line)).unwrap();
        let error = answer["error"].as_str().unwrap_or("none");
        assert!(!error.is_empty() && !error.contains(char::is_control), "{error:?}");
        for _ in 0..2 {
            page.turn();
        }
        page.events();
    }
}
