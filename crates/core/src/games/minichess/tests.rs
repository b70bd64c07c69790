//! Tests of the rules, the planes and the endings; agreement with Fairy-Stockfish along random games is tested from Python.

use super::attacks::SQUARES;
use super::fen;
use super::policy::NUM_ACTIONS;
use crate::game::{Action, Outcome, Player, Repeat, State, perft};
use crate::games::make_game;

pub(super) fn state(fen: &str) -> Box<dyn State> {
    make_game(&format!("minichess(fen={fen})")).unwrap().initial()
}

fn after(fen: &str, moves: &str) -> Box<dyn State> {
    let mut state = state(fen);
    for text in moves.split_whitespace() {
        let action = state.action_from_text(text).unwrap();
        state.play(action);
    }
    state
}

pub(super) fn legal(state: &dyn State) -> Vec<Action> {
    // With something in it: a game has to clear the list.
    let mut actions = vec![9999];
    state.legal_actions(&mut actions);
    actions
}

pub(super) fn features(state: &dyn State) -> Vec<f32> {
    // No number, because a game has to write every float.
    let mut row = vec![f32::NAN; state.row_len()];
    state.encode(&mut row);
    row
}

fn ending(state: &dyn State) -> (Option<Outcome>, Option<&'static str>) {
    (state.outcome(), state.end_reason())
}

/// Counts of Fairy-Stockfish 11.1 (variant gardner, `go perft`).
#[test]
fn perft_of_fairy_stockfish() {
    let table: [(&str, &[u64]); 9] = [
        (fen::START, &[7, 53, 506, 4775, 52_512, 572_874, 6_947_252]),
        ("2k1r/P1P2/1n3/2p1p/R3K w - - 0 1", &[9, 117, 945, 11_563, 107_439]),
        ("k4/2PP1/1r1b1/p3p/3QK w - - 0 1", &[17, 222, 3253, 41_726, 599_755]),
        ("4k/P1P2/5/1pp1p/4K b - - 3 20", &[10, 64, 542, 4482, 42_810, 367_233]),
        ("k3q/4n/r1N1K/1P1B1/4R w - - 0 1", &[10, 131, 1041, 12_463, 122_067]),
        ("b3k/1P3/2P2/p2NK/r4 w - - 0 1", &[15, 66, 737, 6297, 62_342]),
        ("k1b2/4Q/2n2/3p1/q1R1K w - - 0 1", &[1, 19, 319, 4893, 63_996]),
        ("rk1q1/pp2p/1Nb1P/P1PP1/R1BQK b - - 1 9", &[15, 138, 1610, 17_310, 210_244]),
        ("3rk/1P3/2p2/p3p/KBN2 w - - 7 30", &[13, 163, 1859, 20_184, 223_436]),
    ];
    for (fen, counts) in table {
        let start = state(fen);
        let found: Vec<u64> = (1..=counts.len() as u32).map(|depth| perft(start.as_ref(), depth)).collect();
        assert_eq!(found, counts, "{fen}");
    }
}

#[test]
fn checkmate_wins() {
    let mated = after("k4/5/1K3/5/2Q2 w - - 0 1", "c1c5");
    assert_eq!(ending(mated.as_ref()), (Some(Outcome::Win(Player::First)), Some("checkmate")));
    let mated = after("2q2/5/1k3/5/K4 b - - 0 1", "c5c1");
    assert_eq!(ending(mated.as_ref()), (Some(Outcome::Win(Player::Second)), Some("checkmate")));
    assert!(legal(mated.as_ref()).is_empty() && !mated.outcome_depends_on_path());
}

#[test]
fn mate_goes_before_the_draw_rules() {
    let mated = after("k4/5/1K3/5/2Q2 w - - 99 80", "c1c5");
    assert_eq!(ending(mated.as_ref()), (Some(Outcome::Win(Player::First)), Some("checkmate")));
}

#[test]
fn stalemate_is_a_draw() {
    let stuck = state("k4/2Q2/1K3/5/5 b - - 0 1");
    assert_eq!(ending(stuck.as_ref()), (Some(Outcome::Draw), Some("stalemate")));
    assert!(legal(stuck.as_ref()).is_empty() && !stuck.outcome_depends_on_path());
}

#[test]
fn fifty_moves_are_a_draw_with_moves_left() {
    let fen = "k4/5/5/5/1R2K w - - 98 80";
    assert_eq!(after(fen, "b1c1").outcome(), None);
    let drawn = after(fen, "b1c1 a5a4");
    assert_eq!(ending(drawn.as_ref()), (Some(Outcome::Draw), Some("fifty-move rule")));
    assert!(!legal(drawn.as_ref()).is_empty() && drawn.outcome_depends_on_path());
}

#[test]
fn captures_and_pawn_moves_begin_the_count_again() {
    assert!(after("k4/5/1n3/P4/1R2K w - - 98 80", "b1b3").notation().ends_with(" b - - 0 80"));
    assert!(after("k4/5/1n3/P4/1R2K w - - 98 80", "a2a3").notation().ends_with(" b - - 0 80"));
    assert!(after("k4/5/1n3/P4/1R2K w - - 98 80", "b1b2 a5a4").notation().ends_with(" w - - 100 81"));
}

const ROOKS: &str = "k4/r4/5/4R/4K w - - 0 1";
const SHUFFLE: &str = "e2d2 a4b4 d2e2 b4a4 ";

#[test]
fn third_occurrence_is_a_draw() {
    let repeat = |count| Some(Repeat { count, plies_since: 4, outcome: Outcome::Draw });
    assert_eq!(state(ROOKS).repetition(), None);
    let twice = after(ROOKS, SHUFFLE);
    assert_eq!((twice.outcome(), twice.repetition()), (None, repeat(1)));
    let thrice = after(ROOKS, &SHUFFLE.repeat(2));
    assert_eq!(ending(thrice.as_ref()), (Some(Outcome::Draw), Some("threefold repetition")));
    assert_eq!(thrice.repetition(), repeat(2));
    assert!(!legal(thrice.as_ref()).is_empty() && thrice.outcome_depends_on_path());
}

#[test]
fn a_position_with_the_other_side_to_move_is_no_repetition() {
    // The rook loses a move on the way: the same squares, but Black to move.
    let lost = after(ROOKS, "e2d2 a4b4 d2c2 b4a4 c2e2");
    assert_eq!(lost.notation(), "k4/r4/5/4R/4K b - - 5 3");
    assert_eq!(lost.repetition(), None);
}

#[test]
fn insufficient_material_is_that_of_chess() {
    for (pieces, drawn) in [
        ("2k2/5/5/5/2K2", true),
        ("2k2/5/5/5/2KN1", true),
        ("2k2/5/5/5/2KB1", true),
        ("2kb1/5/5/5/2KB1", true),
        ("2k1b/5/5/5/2KB1", false),
        ("2kn1/5/5/5/2KN1", false),
        ("2kn1/5/5/5/2KB1", false),
        ("2k2/5/5/5/2KNN", false),
        ("2k2/5/5/1B3/2KB1", false),
        ("2k2/5/5/2P2/2K2", false),
        ("2k2/5/5/5/R1K2", false),
    ] {
        let found = state(&format!("{pieces} w - - 0 1"));
        assert_eq!(found.end_reason() == Some("insufficient material"), drawn, "{pieces}");
        assert!(!found.outcome_depends_on_path() && !legal(found.as_ref()).is_empty());
    }
}

#[test]
fn pawns_walk_one_square_and_promote_to_four_pieces() {
    let texts = |state: &dyn State| -> Vec<String> {
        legal(state).into_iter().map(|action| state.action_to_text(action, None).unwrap()).collect()
    };
    assert_eq!(texts(state(fen::START).as_ref()), ["b1a3", "b1c3", "a2a3", "b2b3", "c2c3", "d2d3", "e2e3"]);
    let promoting = state("1r1k1/P4/5/5/4K w - - 0 1");
    let pawn: Vec<String> = texts(promoting.as_ref()).into_iter().filter(|text| text.starts_with("a4")).collect();
    assert_eq!(pawn, ["a4a5n", "a4b5n", "a4a5q", "a4a5r", "a4a5b", "a4b5q", "a4b5r", "a4b5b"]);
    for (text, board) in [("a4b5q", "1Q1k1"), ("a4b5n", "1N1k1"), ("a4a5r", "Rr1k1"), ("A4A5B", "Br1k1")] {
        let promoted = after("1r1k1/P4/5/5/4K w - - 0 1", text);
        assert!(promoted.notation().starts_with(&format!("{board}/5/")), "{}", promoted.notation());
    }
    let black = after("4k/5/5/p4/1R1K1 b - - 0 1", "a2b1q");
    assert_eq!(black.notation(), "4k/5/5/5/1q1K1 w - - 0 2");
}

#[test]
fn wrong_moves_are_refused() {
    let here = state(fen::START);
    for text in ["a2a4", "a4a3", "a2a3q", "e1e2", "", "hello", "O-O", "b1d2"] {
        let message = here.action_from_text(text).unwrap_err().0;
        assert!(message.contains("legal moves: b1a3 b1c3 a2a3"), "{message}");
    }
    assert!(here.action_to_text(NUM_ACTIONS as Action, None).unwrap_err().0.contains("actions are 0 to 454"));
    assert!(here.action_to_text(0, Some("san")).is_err());
}

#[test]
fn wrong_positions_are_refused_by_name() {
    for (fen, reason) in [
        ("rnbqk/ppppp/5/PPPPP/RNBQK w", "4 to 6 fields"),
        ("k4/5/5/5/K4 w - - 0 1 9", "4 to 6 fields"),
        ("k4/5/5/5/K4 w K - 0 1", "no castling and no en passant"),
        ("k4/5/5/5/K4 w - a3 0 1", "no castling and no en passant"),
        ("k4/5/5/5/K4 x - - 0 1", "the side to move is w or b"),
        ("k4/5/5/5/K4 w - - -1 1", "plies since the last capture or pawn move must be a whole number"),
        ("k4/5/5/5/K4 w - - 0 one", "the move number must be a whole number"),
        ("k4/5/5/K4 w - - 0 1", "5 ranks, separated by /; 4 given"),
        ("k4/5/6/5/K4 w - - 0 1", "rank 3 is \"6\""),
        ("k4/5/4/5/K4 w - - 0 1", "rank 3 is \"4\""),
        ("k4/5/0q4/5/K4 w - - 0 1", "rank 3"),
        ("k4/5/5x/5/K4 w - - 0 1", "rank 3"),
        ("k4/5/ppppppppp/5/K4 w - - 0 1", "rank 3"),
        ("5/5/5/5/K4 w - - 0 1", "each side has one king, black has 0"),
        ("k4/5/5/5/KK3 w - - 0 1", "each side has one king, white has 2"),
        ("k4/5/5/5/K3P w - - 0 1", "pawns cannot"),
        ("k3p/5/5/5/K4 w - - 0 1", "pawns cannot"),
        ("k4/5/5/5/K3r b - - 0 1", "not to move is in check"),
        ("k4/5/PPPPP/P4/K4 w - - 0 1", "6 pawns; at most 10 pieces, 5 of them pawns"),
        ("k4/NNNNN/NNNNN/5/K4 w - - 0 1", "white has 11 pieces"),
    ] {
        let message = make_game(&format!("minichess(fen={fen})")).err().unwrap().0;
        assert!(message.contains(reason), "{fen}: {message}");
        assert!(message.contains(fen), "{message}");
    }
    assert!(make_game("minichess(size=5)").err().unwrap().0.contains("allowed: fen"));
}

#[test]
fn specs_build_the_same_game_again() {
    for spec in ["minichess", "minichess(fen=k4/5/5/5/K3R b - - 3 40)"] {
        assert_eq!(make_game(spec).unwrap().info().spec, spec);
    }
    assert_eq!(make_game(&format!("minichess(fen={})", fen::START)).unwrap().info().spec, "minichess");
    assert_eq!(state("k4/5/5/5/K3R b - -").notation(), "k4/5/5/5/K3R b - - 0 1");
}

/// Training runs rest on these planes: they must never change.
#[test]
fn planes_are_the_movers_view() {
    let black = after("k4/1r3/5/4P/3RK w - - 6 9", "d1d3");
    let row = features(black.as_ref());
    let squares =
        |plane: usize| -> Vec<usize> { (0..SQUARES).filter(|square| row[plane * SQUARES + square] != 0.0).collect() };
    let expected: [&[usize]; 12] = [&[], &[], &[], &[6], &[], &[0], &[19], &[], &[], &[13], &[], &[24]];
    (0..12).for_each(|plane| assert_eq!(squares(plane), expected[plane], "plane {plane}"));
    assert!(squares(12).is_empty());
    assert!(row[13 * SQUARES..14 * SQUARES].iter().all(|value| *value == 0.07));
    assert!(row[14 * SQUARES..].iter().all(|value| *value == 1.0));
    let repeated = features(after(ROOKS, SHUFFLE).as_ref());
    assert!(repeated[12 * SQUARES..13 * SQUARES].iter().all(|value| *value == 1.0));
}

#[test]
fn keys_tell_what_the_network_tells_apart() {
    let start = "k4/r4/5/4R/4K w - - 4 1";
    assert_eq!(state(start).key(), state("k4/r4/5/4R/4K w - - 4 30").key());
    assert_ne!(state(start).key(), state(ROOKS).key());
    assert_ne!(state(start).key(), after(ROOKS, SHUFFLE).key());
    let one = after(ROOKS, "e2d2 a4b4 d2c2 b4b3");
    let transposed = after(ROOKS, "e2b2 a4a3 b2c2 a3b3");
    assert_eq!((one.key(), features(one.as_ref())), (transposed.key(), features(transposed.as_ref())));
    // The same board for the mover, but the other colour: legal actions and features agree, the players do not.
    let [white, black] = ["1k3/5/5/5/R3K w - - 4 1", "r3k/5/5/5/1K3 b - - 4 1"].map(state);
    assert_eq!(features(white.as_ref()), features(black.as_ref()));
    assert_ne!(white.key(), black.key());
}

#[test]
fn pictures_show_every_piece() {
    let here = after(fen::START, "b1c3");
    let lines =
        ["5 r n b q k", "4 p p p p p", "3 . . N . .", "2 P P P P P", "1 R . B Q K", "  a b c d e", "Black to move"];
    assert_eq!(here.text().lines().collect::<Vec<_>>(), lines);
}
