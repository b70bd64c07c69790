//! Laws of the rules along random games: moves, keys, texts, repetition, symmetry.

use proptest::prelude::*;

use super::attacks::{SIDE, SQUARES, mirror_square};
use super::board::Board;
use super::policy::{self, Coded, NUM_ACTIONS};
use super::role::Role;
use super::tests::{features, legal, state};
use super::{Position, fen, zobrist};
use crate::game::{Action, Player, State};

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
    let files = (u - x).abs();
    let ranks = (v - y).abs();
    if board.own >> from & 1 == 0 || board.own >> to & 1 == 1 || from == to {
        return false;
    }
    let step = ((u - x).signum(), (v - y).signum());
    let is_empty = |i: i32| board.occupied() >> ((y + i * step.1) * SIDE as i32 + x + i * step.0) & 1 == 0;
    let is_free = || (1..files.max(ranks)).all(is_empty);
    let straight = files == 0 || ranks == 0;
    let diagonal = files == ranks;
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
        // As in chess: games of any moves hardly ever repeat a position.
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
            let mut masks = [u64::MAX; 15];
            let mut values = [f32::NAN; 15];
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
