//! Tests of the rules, the planes and the endings; agreement with Fairy-Stockfish along random games is tested from Python.

use proptest::prelude::*;

use super::attacks::{SIDE, SQUARES, mirror_square};
use super::board::Board;
use super::policy::{self, Coded, NUM_ACTIONS};
use super::role::Role;
use super::{Position, fen, zobrist};
use crate::game::{Action, Outcome, Player, Repeat, State, perft};
use crate::games::make_game;

fn state(fen: &str) -> Box<dyn State> {
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

fn legal(state: &dyn State) -> Vec<Action> {
    let mut actions = vec![9999];
    state.legal_actions(&mut actions);
    actions
}

fn features(state: &dyn State) -> Vec<f32> {
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
    assert_eq!(here.svg().matches("<g transform").count(), 20);
    assert_eq!(here.svg().matches("#f2e394").count() + here.svg().matches("#d6bd5a").count(), 2);
    let checked = state("k4/5/5/5/R3K b - - 0 1").svg();
    assert_eq!(checked.matches("#e0705f").count(), 1);
    assert!(checked.contains("<rect x=\"22\" y=\"22\" width=\"45\" height=\"45\" fill=\"#e0705f\"/>"));
}

const STARTS: [&str; 6] = [
    fen::START,
    "k4/2PP1/1r1b1/p3p/3QK w - - 0 1",
    "4k/P1P2/5/1pp1p/4K b - - 3 20",
    "k3q/4n/r1N1K/1P1B1/4R w - - 0 1",
    "b3k/1P3/2P2/p2NK/r4 w - - 0 1",
    "3rk/1P3/2p2/p3p/KBN2 w - - 7 30",
];

/// Plays random legal moves and calls `check` at every position.
fn random_game(start: usize, choices: &[u16], mut check: impl FnMut(&Position)) {
    let mut state = state(STARTS[start]);
    for choice in choices {
        check(state.as_any().downcast_ref().unwrap());
        let actions = legal(state.as_ref());
        if actions.is_empty() {
            return;
        }
        state.play(actions[usize::from(*choice) % actions.len()]);
    }
}

fn any_game() -> impl Strategy<Value = (usize, Vec<u16>)> {
    (0..STARTS.len(), prop::collection::vec(any::<u16>(), 1..160))
}

/// Whether a piece of the mover could go there if its king did not matter, without the tables of attacks.
fn reaches(board: &Board, from: usize, to: usize) -> bool {
    let part = |square: usize| ((square % SIDE) as i32, (square / SIDE) as i32);
    let ((x, y), (u, v)) = (part(from), part(to));
    let (files, ranks) = ((u - x).abs(), (v - y).abs());
    if board.own >> from & 1 == 0 || board.own >> to & 1 == 1 || from == to {
        return false;
    }
    let step = ((u - x).signum(), (v - y).signum());
    let is_empty = |i: i32| board.occupied() >> ((y + i * step.1) * SIDE as i32 + x + i * step.0) & 1 == 0;
    let is_free = || (1..files.max(ranks)).all(is_empty);
    let (straight, diagonal) = (files == 0 || ranks == 0, files == ranks);
    match board.role_at(from).unwrap() {
        Role::Pawn => v == y + 1 && files == i32::from(board.other >> to & 1 == 1),
        Role::Knight => files * ranks == 2,
        Role::Bishop => diagonal && is_free(),
        Role::Rook => straight && is_free(),
        Role::Queen => (straight || diagonal) && is_free(),
        Role::King => files.max(ranks) == 1,
    }
}

/// Whether the move that an action means here is legal, found by trying it and every answer that takes the king.
fn is_legal_slowly(board: &Board, action: Action) -> bool {
    let Coded { from, to, promotion } = policy::decode(action);
    if !reaches(board, from, to) {
        return false;
    }
    let role = board.role_at(from).unwrap();
    let promotes = role == Role::Pawn && to >= 4 * SIDE;
    let mut next = *board;
    next.carry(role, from, to, role);
    let answers = next.turned();
    let king = (answers.other & answers.role(Role::King)).trailing_zeros() as usize;
    (promotion.is_none() || promotes) && !(0..SQUARES).any(|square| reaches(&answers, square, king))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn legal_actions_are_those_found_by_trying((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            let board = position.board();
            let tried: Vec<Action> =
                (0..NUM_ACTIONS as Action).filter(|&action| is_legal_slowly(board, action)).collect();
            assert_eq!(legal(position), tried, "{}", position.notation());
            assert_eq!(board.any_legal(), !tried.is_empty());
        });
    }

    #[test]
    fn hashes_kept_up_to_date_are_hashes_made_new((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            assert_eq!(*position.hashes().last().unwrap(), zobrist::full(position.board(), position.mover()));
        });
    }

    #[test]
    fn fens_come_back((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            let text = position.notation();
            let read = fen::parse(&text).unwrap();
            assert_eq!((read.board(), read.mover()), (position.board(), position.mover()));
            assert_eq!(read.notation(), text);
        });
    }

    #[test]
    fn repetitions_are_those_of_whole_boards((start, choices) in any_game()) {
        let mut seen: Vec<(Board, Player)> = Vec::new();
        random_game(start, &choices.iter().map(|choice| choice % 3).collect::<Vec<_>>(), |position| {
            let present = (*position.board(), position.mover());
            let earlier = seen.iter().filter(|known| **known == present).count();
            assert_eq!(position.is_repeated(), earlier > 0);
            let is_third = earlier >= 2 && position.board().any_legal();
            assert_eq!(position.end_reason() == Some("threefold repetition"), is_third);
            let since = position.repetition().map(|repeat| repeat.plies_since as usize);
            let latest = seen.iter().rev().position(|known| *known == present);
            assert_eq!(since, latest.map(|between| between + 1));
            seen.push(present);
        });
    }

    #[test]
    fn moves_come_back((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            for action in legal(position) {
                let text = position.action_to_text(action, None).unwrap();
                assert_eq!(position.action_from_text(&text), Ok(action), "{}", text);
            }
        });
    }

    #[test]
    fn copies_and_packed_features_are_equal((start, choices) in any_game()) {
        let mut copy = state(STARTS[start]);
        random_game(start, &choices, |position| {
            copy.copy_from(position);
            assert_eq!((copy.key(), features(copy.as_ref())), (position.key(), features(position)));
            let (mut masks, mut values) = ([u64::MAX; 15], [f32::NAN; 15]);
            position.encode_packed(&mut masks, &mut values);
            for (cell, found) in features(position).iter().enumerate() {
                let is_set = masks[cell / SQUARES] >> (cell % SQUARES) & 1 == 1;
                assert_eq!(*found, if is_set { values[cell / SQUARES] } else { 0.0 });
            }
        });
    }

    #[test]
    fn the_mirror_image_has_mirrored_moves((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            let twin = Position::new(position.board().mirrored(), position.mover(), position.quiet_plies(), 1);
            let mut mirrored: Vec<Action> = legal(position).into_iter().map(policy::mirrored).collect();
            mirrored.sort_unstable();
            assert_eq!(legal(&twin), mirrored);
            let board = position.board();
            assert!((0..SQUARES).all(|square| twin.board().role_at(mirror_square(square)) == board.role_at(square)));
        });
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[1-5kKpPqQ/ wb0-]{0,40}|\\PC{0,40}") {
        let _ = fen::parse(&text);
        let _ = state(fen::START).action_from_text(&text);
    }
}
