//! Tests of the rules and the planes of chess; agreement with python-chess and with lc0's planes is tested from Python.

use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Position as _};

use super::Position;
use crate::game::{Action, Outcome, Player, State, perft};
use crate::games::make_game;

fn state(spec: &str) -> Box<dyn State> {
    make_game(spec).unwrap().initial()
}

fn after(spec: &str, moves: &str) -> Box<dyn State> {
    let mut state = state(spec);
    for text in moves.split_whitespace() {
        let action = state.action_from_text(text).unwrap();
        state.play(action);
    }
    state
}

fn legal(state: &dyn State) -> Vec<Action> {
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    actions
}

fn features(state: &dyn State) -> Vec<f32> {
    // No number, because a game has to write every float.
    let mut row = vec![f32::NAN; state.row_len()];
    state.encode(&mut row);
    row
}

#[test]
fn perft_of_the_start_position() {
    assert_eq!(perft(state("chess").as_ref(), 5), 4_865_609);
}

#[test]
fn perft_of_kiwipete() {
    let kiwipete = "chess(fen=r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1)";
    assert_eq!(perft(state(kiwipete).as_ref(), 4), 4_085_603);
}

/// Positions and counts of the public perft collections for promotions, pins, en passant and Chess960.
#[test]
fn perft_of_difficult_positions() {
    for (spec, depth, expected) in [
        ("chess(fen=8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1)", 5, 674_624),
        ("chess(fen=r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1)", 4, 422_333),
        ("chess(fen=rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8)", 3, 62_379),
        ("chess(fen=bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9, chess960=true)", 4, 326_672),
        ("chess(fen=2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9, chess960=true)", 4, 667_366),
    ] {
        assert_eq!(perft(state(spec).as_ref(), depth), expected, "{spec}");
    }
}

#[test]
fn mate_goes_before_the_draw_rules() {
    // Qg7 mates with the hundredth ply.
    let mated = after("chess(fen=7k/8/5K2/8/8/8/6Q1/8 w - - 99 80)", "g2g7");
    assert_eq!(mated.outcome(), Some(Outcome::Win(Player::First)));
    assert_eq!(mated.end_reason(), Some("checkmate"));
}

#[test]
fn stalemate_is_a_draw() {
    let stuck = state("chess(fen=7k/5Q2/6K1/8/8/8/8/8 b - - 0 1)");
    assert_eq!((stuck.outcome(), stuck.end_reason()), (Some(Outcome::Draw), Some("stalemate")));
    assert!(legal(stuck.as_ref()).is_empty());
}

#[test]
fn fifty_moves_are_a_draw_with_moves_left() {
    let spec = "chess(fen=7k/8/5K2/8/8/8/6R1/8 w - - 98 80)";
    assert_eq!(after(spec, "g2g1").outcome(), None);
    let drawn = after(spec, "g2g1 h8h7");
    assert_eq!((drawn.outcome(), drawn.end_reason()), (Some(Outcome::Draw), Some("fifty-move rule")));
    assert!(!legal(drawn.as_ref()).is_empty());
}

#[test]
fn third_occurrence_is_a_draw() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8";
    let twice = after("chess", shuffle);
    assert_eq!(twice.outcome(), None);
    let thrice = after("chess", &format!("{shuffle} {shuffle}"));
    assert_eq!((thrice.outcome(), thrice.end_reason()), (Some(Outcome::Draw), Some("threefold repetition")));
}

#[test]
fn lost_castling_rights_are_no_repetition() {
    let shuffle = "e1e2 e8e7 e2e1 e7e8 ";
    let spec = "chess(fen=r3k3/p7/8/8/8/8/P7/R3K3 w Qq - 0 1)";
    assert_eq!(after(spec, &shuffle.repeat(2)).outcome(), None);
    assert_eq!(after(spec, &shuffle.repeat(3)).end_reason(), Some("threefold repetition"));
}

#[test]
fn an_en_passant_square_without_attacker_does_not_count() {
    // After 1. e4 no black pawn attacks e3, so the position is the same when it comes back.
    let drawn = after("chess", "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1");
    assert_eq!(drawn.end_reason(), Some("threefold repetition"));
    assert!(after("chess", "e2e4").notation().contains(" b KQkq - 0 1"));
}

#[test]
fn insufficient_material_is_exactly_what_lc0_counts() {
    for (pieces, drawn) in [
        ("8/8/3k4/8/8/8/3K4/8", true),
        ("8/8/3k4/8/8/8/3KN3/8", true),
        ("8/8/3k4/8/8/8/3KB3/8", true),
        ("8/8/3kb3/8/8/8/3KB3/8", true),
        ("8/8/3k1b2/8/8/8/3KB3/8", false),
        ("8/8/3kn3/8/8/8/3KN3/8", false),
        ("8/8/3k4/8/8/8/3KNN2/8", false),
        ("8/8/3k4/8/8/8/3KP3/8", false),
        ("8/8/3k4/8/8/8/3KR3/8", false),
    ] {
        let found = state(&format!("chess(fen={pieces} w - - 0 1)"));
        assert_eq!(found.end_reason() == Some("insufficient material"), drawn, "{pieces}");
    }
}

#[test]
fn moves_are_read_and_written_in_both_notations() {
    let start = "chess(fen=r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1)";
    let here = state(start);
    for (uci, san, lc0) in [
        ("e1g1", "O-O", "e1h1"),
        ("e1c1", "O-O-O", "e1a1"),
        ("b7b8q", "b8=Q+", "b7b8q"),
        ("b7a8n", "bxa8=N", "b7a8"),
        ("a1a8", "Rxa8+", "a1a8"),
    ] {
        let action = here.action_from_text(uci).unwrap();
        assert_eq!(here.action_from_text(san).unwrap(), action);
        assert_eq!(here.action_to_text(action, None).unwrap(), uci);
        assert_eq!(here.action_to_text(action, Some("san")).unwrap(), san);
        assert_eq!(here.action_to_text(action, Some("lc0")).unwrap(), lc0);
    }
    assert_eq!(here.action_from_text("e1h1").unwrap(), here.action_from_text("e1g1").unwrap());
}

#[test]
fn a_bishop_is_told_from_the_b_file() {
    let here = state("chess(fen=4k3/8/8/4B3/8/2p5/8/B3K3 w - - 0 1)");
    let capture = here.action_from_text("B1xc3").unwrap();
    assert_eq!(here.action_to_text(capture, None).unwrap(), "a1c3");
    let quiet = state("chess(fen=4k3/8/8/4B3/8/8/8/B3K3 w - - 0 1)");
    assert_eq!(quiet.action_from_text("B1d4"), quiet.action_from_text("a1d4"));
}

#[test]
fn chess960_castles_onto_the_rook() {
    let here = state("chess(fen=3k4/8/8/8/8/8/8/1RK3R1 w GB - 0 1, chess960=true)");
    let short = here.action_from_text("O-O").unwrap();
    assert_eq!(here.action_to_text(short, None).unwrap(), "c1g1");
    assert_eq!(
        after("chess(fen=3k4/8/8/8/8/8/8/1RK3R1 w GB - 0 1, chess960=true)", "c1g1").notation(),
        "3k4/8/8/8/8/8/8/1R3RK1 b - - 1 1"
    );
}

#[test]
fn wrong_moves_are_refused() {
    let here = state("chess");
    for text in ["e2e5", "e7e5", "e2e4q", "Nd4", "", "hello", "e1g1", "0000", "N@e4"] {
        let message = here.action_from_text(text).unwrap_err().0;
        assert!(message.contains("not a legal move"), "{message}");
    }
    assert!(here.action_to_text(0, None).is_err());
    assert!(here.action_to_text(u16::MAX, None).is_err());
    assert!(here.action_to_text(322, Some("iccf")).is_err());
}

#[test]
fn wrong_positions_are_refused_by_name() {
    for (fen, reason) in [
        ("rnbqkbnr", "2 to 6 fields"),
        ("9/8/8/8/8/8/8/8 w - - 0 1", "invalid"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "empty"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "needs a king"),
        ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "one king"),
        ("k7/8/8/8/8/8/8/K6P w - - 0 1", "pawns cannot"),
        ("k7/8/8/8/8/8/8/K6r b - - 0 1", "not to move is in check"),
        ("k7/8/8/8/8/8/8/K7 w XY - 0 1", "castling"),
        ("k7/8/8/8/8/8/8/K7 x - - 0 1", "turn"),
        ("kqqqqqqq/qqqqqqqq/qq6/8/8/8/8/K7 b - - 0 1", "at most 16"),
    ] {
        let message = make_game(&format!("chess(fen={fen})")).err().unwrap().0;
        assert!(message.contains(reason), "{fen}: {message}");
        assert!(message.contains(fen), "{message}");
    }
    assert!(make_game("chess(history_fill=some)").is_err());
    assert!(make_game("chess(chess960=maybe)").is_err());
    assert!(make_game("chess(size=8)").is_err());
}

#[test]
fn impossible_rights_and_en_passant_squares_are_left_out_with_a_note() {
    for (fen, clean) in [
        ("k7/8/8/8/8/8/8/K7 w - e6 0 1", "k7/8/8/8/8/8/8/K7 w - - 0 1"),
        ("k7/8/8/8/8/8/8/K7 w K - 0 1", "k7/8/8/8/8/8/8/K7 w - - 0 1"),
    ] {
        let read = super::clean_fen(fen, false).unwrap();
        assert_eq!((read.fen.as_str(), read.chess960, read.notes.len()), (clean, false, 1), "{fen}");
        assert_eq!(make_game(&format!("chess(fen={fen})")).unwrap().info().spec, format!("chess(fen={clean})"));
    }
}

#[test]
fn a_short_fen_is_completed_with_a_note() {
    for (fen, clean, note) in [
        ("4k3/8/8/8/8/8/4P3/4K2R w", "4k3/8/8/8/8/8/4P3/4K2R w - - 0 1", "castling rights and en passant square"),
        ("4k3/8/8/8/8/8/4P3/4K2R b K", "4k3/8/8/8/8/8/4P3/4K2R b K - 0 1", "for en passant square"),
    ] {
        let read = super::clean_fen(fen, false).unwrap();
        assert_eq!((read.fen.as_str(), read.notes.len()), (clean, 1), "{fen}");
        assert!(read.notes[0].contains(note), "{}", read.notes[0]);
    }
    let capital = super::clean_fen("4k3/8/8/8/8/8/4P3/4K3 B - - 0 1", false).unwrap();
    assert_eq!((capital.fen.as_str(), capital.notes.len()), ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", 0));
}

#[test]
fn a_move_goes_on_with_words_for_check_and_mate() {
    let here = state("chess(fen=4k3/8/8/8/8/8/4P3/4K2R w - - 0 1)");
    let check = here.action_from_text("Rh8+").unwrap();
    for text in ["Rh8ch", "Rh8ch.", "Rh8mate", "Rh8dis.ch", "Rh8dbl.ch."] {
        assert_eq!(here.action_from_text(text).unwrap(), check, "{text}");
    }
}

#[test]
fn specs_build_the_same_game_again() {
    for spec in
        ["chess", "chess(fen=8/8/3k4/8/8/8/3KP3/8 b - - 3 40)", "chess(chess960=true)", "chess(history_fill=no)"]
    {
        assert_eq!(make_game(spec).unwrap().info().spec, spec);
    }
    let start = "chess(fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1)";
    assert_eq!(make_game(start).unwrap().info().spec, "chess");
}

#[test]
fn history_fill_modes_differ_where_they_should() {
    let second_step = |spec: &str| features(state(spec).as_ref())[13 * 64..26 * 64].iter().sum::<f32>();
    assert_eq!(second_step("chess"), 0.0);
    assert_eq!(second_step("chess(history_fill=always)"), 32.0);
    let fen = "fen=rnbqkbnr/ppp1pppp/8/8/P2pP3/8/1PPP1PPP/RNBQKBNR b KQkq e3 0 3";
    for fill in ["fen_only", "no", "always"] {
        assert_eq!(second_step(&format!("chess({fen}, history_fill={fill})")), 32.0);
    }
    let quiet = "fen=8/8/3k4/8/8/8/3KP3/8 b - - 3 40";
    assert_eq!(second_step(&format!("chess({quiet})")), 3.0);
    assert_eq!(second_step(&format!("chess({quiet}, history_fill=no)")), 0.0);
}

#[test]
fn packed_features_are_the_features() {
    let here = after("chess", "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3");
    let mut masks = [0; 112];
    let mut values = [0.0; 112];
    here.encode_packed(&mut masks, &mut values);
    let row = features(here.as_ref());
    for (cell, found) in row.iter().enumerate() {
        let is_set = masks[cell / 64] >> (cell % 64) & 1 == 1;
        assert_eq!(*found, if is_set { values[cell / 64] } else { 0.0 });
    }
}

#[test]
fn keys_tell_what_the_network_tells_apart() {
    let one = after("chess", "g1f3 g8f6 b1c3");
    let same = after("chess", "g1f3 g8f6 b1c3");
    let transposed = after("chess", "b1c3 g8f6 g1f3");
    assert_eq!(one.key(), same.key());
    assert_ne!(one.key(), transposed.key());
    assert_ne!(state("chess").key(), state("chess(history_fill=always)").key());
    assert_ne!(state("chess").key(), after("chess", "g1f3 g8f6 f3g1 f6g8").key());
}

#[test]
fn pictures_show_every_piece() {
    let here = after("chess", "e2e4");
    assert!(here.text().starts_with("8 r n b q k b n r\n"));
    assert!(here.text().ends_with("Black to move"));
}

// Games from the start seldom come to what these begin with: castling both ways and pins, captures en passant that
// would uncover a king, promotions, Chess960.
const STARTS: [&str; 5] = [
    "chess",
    "chess(fen=r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1)",
    "chess(fen=8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1)",
    "chess(fen=n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1)",
    "chess(fen=bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9, chess960=true)",
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

/// The legal actions by way of shakmaty's move list.
fn listed_actions(position: &Position) -> Vec<Action> {
    let moves = position.chess().legal_moves();
    let mut actions: Vec<Action> = moves.iter().map(|&legal| position.encode(legal).unwrap()).collect();
    actions.sort_unstable();
    actions
}

#[test]
fn no_replies_are_counted_after_the_third_occurrence() {
    let shuffled = after("chess", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1");
    let ending = shuffled.action_from_text("f6g8").unwrap();
    let other = shuffled.action_from_text("f6e4").unwrap();
    assert_eq!(shuffled.replies_after(ending), Some(0));
    assert_eq!(shuffled.replies_after(other), Some(19)); // all but e2e4
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn legal_actions_are_those_of_shakmaty((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            let actions = legal(position);
            assert_eq!(actions, listed_actions(position));
            assert_eq!(actions.is_empty(), !super::legal::any(position.chess()));
            assert_eq!(super::legal::count(position.chess()), actions.len());
            for &action in &actions {
                let decoded = position.decode(action).unwrap();
                assert!(position.chess().is_legal(decoded), "{decoded:?}");
                assert_eq!(position.encode(decoded), Some(action));
            }
        });
    }

    #[test]
    fn replies_are_counted_as_if_the_move_were_played((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            for action in legal(position) {
                let mut next = position.clone();
                next.play(action);
                let replies = if next.outcome().is_some() { 0 } else { legal(&next).len() };
                assert_eq!(position.replies_after(action), Some(replies));
            }
        });
    }

    #[test]
    fn hashes_kept_up_to_date_are_hashes_made_new((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            let fresh = super::zobrist::full(position.chess(), position.en_passant());
            assert_eq!(*position.hashes().last().unwrap(), fresh);
        });
    }

    #[test]
    fn fens_come_back((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            let text = position.notation();
            let mode = position.chess().castles().mode();
            let read = super::fen::parse(&text, mode).unwrap().chess;
            assert_eq!(&read, position.chess());
            assert_eq!(Position::new(read, position.history_fill()).notation(), text);
        });
    }

    #[test]
    fn repetitions_are_those_of_whole_boards((start, choices) in any_game()) {
        let mut seen: Vec<(Chess, Option<shakmaty::Square>)> = Vec::new();
        // The first moves alone: games of any moves hardly ever repeat a position.
        random_game(start, &choices.iter().map(|choice| choice % 3).collect::<Vec<_>>(), |position| {
            let chess = position.chess().clone();
            let square = position.en_passant();
            let same = |(other, flag): &&(Chess, Option<shakmaty::Square>)| {
                other.board() == chess.board() && other.turn() == chess.turn() && *flag == square
                    && other.castles().castling_rights() == chess.castles().castling_rights()
            };
            let earlier = seen.iter().filter(same).count();
            assert_eq!(position.earlier(0).1, earlier > 0);
            assert_eq!(position.end_reason() == Some("threefold repetition"), earlier >= 2 && super::legal::any(&chess));
            seen.push((chess, square));
        });
    }

    #[test]
    fn moves_come_back_in_every_notation((start, choices) in any_game()) {
        random_game(start, &choices, |position| {
            for action in legal(position) {
                for notation in ["uci", "san"] {
                    let text = position.action_to_text(action, Some(notation)).unwrap();
                    assert_eq!(position.action_from_text(&text), Ok(action), "{}", text);
                }
            }
        });
    }

    #[test]
    fn copies_play_on_alike((start, choices) in any_game()) {
        let mut copy = state(STARTS[start]);
        random_game(start, &choices, |position| {
            copy.copy_from(position);
            assert_eq!(copy.key(), position.key());
            assert_eq!(features(copy.as_ref()), features(position));
        });
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        let _ = super::fen::parse(&text, CastlingMode::Standard);
        let _ = state("chess").action_from_text(&text);
    }
}
