//! Games as people write them, read by the crate alone; the tests in Python (tests/games/test_read_games.py) have many more.

use hauteur_lab::{pgn, sgf};

/// The main line of the first game of a text as UCI; an error is why it cannot be read.
fn moves(text: &str) -> Result<String, String> {
    let mut reader = pgn::Reader::new(text.as_bytes(), true).unwrap();
    let game = reader.next_game().unwrap().expect("a game");
    game.played.expect("it was played").map(|line| line.uci)
}

#[test]
fn words_for_moves_are_read() {
    let open_game = "e2e4 d7d5 e4d5 d8d5 b1c3 d5e5";
    for text in [
        "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qe5+",
        "1. e4 d5 2. ed5 Qd5 3. Nc3 Qe5",
        "1. e4 d5 2. e:d5 Q:d5 3. Nc3 Qe5 +",
        "1. e4 d5 2. ed5: Qd5: 3. N(b1)c3 Q(d)e5 ch",
        "1. e2-e4 d7-d5 2. e4xd5 Qd8d5 3. Nb1-c3 Qd5-e5+",
        "1. Pe2-e4 Pd7-d5 2. Pe4xd5 Qxd5 3. Nc3 Qe5",
        "1. ♙e4 ♟d5 2. ♙exd5 ♛xd5 3. ♘c3 ♛e5",
    ] {
        assert_eq!(moves(text).as_deref(), Ok(open_game), "{text}");
    }
    for (text, expected) in [
        ("1. Pf3 d5 2. Pc3", "g1f3 d7d5 b1c3"),
        ("1. Sf3 d5 2. S(b1)c3", "g1f3 d7d5 b1c3"),
        ("1. e4 e5 2. Кf3 Кc6 3. Сc4 Сc5 4. 0–0 Кf6", "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6"),
        ("1. e4 N e5 2. Nf3 N d6 (2... Nc6 N a6)", "e2e4 e7e5 g1f3 d7d6"),
        ("1. e4 e5 2. Bb5 a6 N 3. Bc4 N (3. Ba4) d6", "e2e4 e7e5 f1b5 a7a6 b5c4 d7d6"),
        ("[FEN \"4k3/P7/8/8/8/8/8/4K3 w - -\"]\n1. a8(Q)+ Kd7", "a7a8q e8d7"),
    ] {
        assert_eq!(moves(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn a_word_never_becomes_another_move() {
    for (text, word) in [
        ("1. N f3 d5", "N"),
        ("1. e4 N f6", "N"),
        ("1. ♘ f3", "♘"),
        ("1. N(h1)f3", "N(h1)f3"),
        ("1. Pe4 e5", "Pe4"),
        ("1. Xf3", "Xf3"),
        ("1. Sf3 Nf6", "Sf3"),
        ("1. e4 e5 2. Nxf3", "Nxf3"),
        ("1. e4 d5 2. d5", "d5"),
    ] {
        let error = moves(text).expect_err(text);
        assert!(error.contains(&format!("{word:?}")), "{text}: {error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn a_glyph_before_a_square_loses_nothing_of_a_tree() {
    let (_, tree) = pgn::read_tree("1. e4 N e5 2. Nf3 N d6 (2... Nc6 N 3. d4) 3. d4").unwrap();
    let texts: Vec<&str> = tree.nodes.iter().map(|node| node.san.as_str()).collect();
    assert_eq!(texts, ["", "e4", "e5", "Nf3", "d6", "Nc6", "d4", "d4"]);
    assert!(tree.notes.is_empty());
}

#[test]
fn what_is_never_closed_is_named_and_the_next_game_is_read() {
    let text = "[Event \"a\"]\n\n1. e4 (1. d4 1... e5\n[Event \"b\"]\n\n1. c4 {x *\n[Event \"c\"]\n\n1. d4 *\n";
    let mut reader = pgn::Reader::new(text.as_bytes(), true).unwrap();
    let mut found = Vec::new();
    while let Some(game) = reader.next_game().unwrap() {
        found.push(game.played.unwrap().map_or_else(|error| error, |line| line.uci));
    }
    assert_eq!(found, ["line 3: a variation is not closed", "line 6: a comment is not closed", "d2d4"]);
}

#[test]
fn games_of_sgf_are_written_and_read() {
    for (spec, passes) in [
        ("nogo(size=5)", false),
        ("go(size=5,komi=0.5)", true),
        ("gomoku(size=9)", false),
        ("go(size=5,position=5/1X1X1/5/5/5 w)", true),
        ("go(position=9/9/2XO5/9/9/9/9/9/9 b)", true),
    ] {
        let game = hauteur_core::games::make_game(spec).unwrap();
        let mut actions = vec![3u16, 17];
        if passes {
            actions.push(game.info().num_actions as u16 - 1);
        }
        let root = [("PB", "a]"), ("PW", "b\\"), ("RE", "0")].map(|(name, value)| (name.into(), value.into()));
        let text = sgf::written(game.as_ref(), &root, &actions, &[(1, "best]".into())].into());
        let [read] = &sgf::read(&text, None)[..] else { panic!("{text}") };
        let line = read.played.as_ref().unwrap();
        assert_eq!((line.game.info().spec.as_str(), &line.actions, line.outcome), (spec, &actions, Some(0)));
        assert!(read.tags.contains(&("PB".to_string(), "a]".to_string())));
    }
}

#[test]
fn a_move_of_sgf_that_cannot_be_played_says_why() {
    let row = |colour: char, row: char| ('a'..='e').map(move |column| format!(";{colour}[{column}{row}]"));
    let won: String = row('B', 'a').zip(row('W', 'c')).map(|(black, white)| black + &white).collect();
    for (moves, why) in [
        (won.as_str(), "move 10: the game is over"),
        (";B[aa];B[bb]", "move 2: it is not the turn of B"),
        (";B[aa];W[aa]", "move 2: 'aa' is not legal here"),
    ] {
        let [read] = &sgf::read(&format!("(;GM[4]SZ[9]{moves})"), None)[..] else { panic!("{moves}") };
        let error = read.played.as_ref().err().expect("an error");
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn games_of_go_begin_from_the_stones_before_their_first_move() {
    let found = |text: &str| -> Result<(String, String), String> {
        let [read] = &sgf::read(text, None)[..] else { panic!("{text}") };
        read.played.as_ref().map(|line| (line.game.info().spec.clone(), line.moves.join(" "))).map_err(Clone::clone)
    };
    for (text, position, moves) in [
        ("(;SZ[5]HA[2]AB[bb][dd];W[cc];B[aa])", "position=5/1X3/5/3X1/5 w", "C3 A5"),
        ("(;SZ[5]AB[bb]AB[dd];B[cc])", "position=5/1X3/5/3X1/5 b", "C3"),
        ("(;SZ[5]AB[aa:bb]AW[ec:dc]PL[B])", "position=XX3/XX3/3OO/5/5 b", ""),
        ("(;SZ[5]HA[2]AB[bb][dd])", "position=5/1X3/5/3X1/5 w", ""),
        ("(;SZ[5]AB[bb]AW[dd])", "position=5/1X3/5/3O1/5 b", ""),
        ("(;SZ[5]PL[W];W[cc])", "position=5/5/5/5/5 w", "C3"),
        ("(;SZ[5]HA[2];AB[bb][dd];W[cc])", "position=5/1X3/5/3X1/5 w", "C3"),
        ("(;SZ[5]HA[2];B[bb];B[dd];W[cc])", "position=5/1X3/5/3X1/5 w", "C3"),
        ("(;SZ[5]AB[]HA[0];B[])", "", "pass"),
    ] {
        let spec = if position.is_empty() { "go(size=5)".into() } else { format!("go(size=5,{position})") };
        assert_eq!(found(text), Ok((spec, moves.into())), "{text}");
    }
    for (text, words) in [
        ("(;SZ[5]HA[2];W[cc])", "sets up a position (HA) without its stones (AB)"),
        ("(;SZ[5]AB[bb];W[cc];AB[dd])", "sets up a position (AB), only games of Go from stones before the first move"),
        ("(;SZ[5]AB[bb]AE[cc];W[cc])", "sets up a position (AE), only games of Go"),
        ("(;SZ[5]AB[bb]AW[bb];W[cc])", "has two stones on one point (AB, AW)"),
        ("(;SZ[5]AB[fb];W[cc])", "AB: 'fb' is no point of the board"),
        ("(;SZ[5]AB[aa][bb:zz];W[cc])", "AB: 'bb:zz' is no point of the board"),
        ("(;SZ[5]AB[bb]PL[X];W[cc])", "PL[x] is neither B nor W"),
        ("(;SZ[5]AB[ba][ab]AW[aa];W[cc])", "the chain of A5 has no liberty"),
        ("(;SZ[5];W[cc])", "move 1: it is not the turn of W"),
        ("(;SZ[5]RU[NoGo]AB[bb];W[cc])", "sets up a position (AB), only games of Go"),
        ("(;GM[4]SZ[9]AB[bb];W[cc])", "sets up a position (AB), only games of Go"),
    ] {
        let why = found(text).unwrap_err();
        assert!(why.contains(words), "{text}: {why}");
    }
    let empty = std::sync::Arc::from(hauteur_core::games::make_game("go(size=5)").unwrap());
    let read = sgf::read("(;SZ[5]AB[bb];W[cc])", Some(&empty));
    let why = read[0].played.as_ref().err().unwrap();
    assert_eq!(why, "sets up a position (AB), expected a game from the empty board");
}
