//! The laws that every built-in game obeys, along random games, and known numbers of move sequences.

use hauteur_core::game::{Action, Game, Outcome, Player, State, perft};
use hauteur_core::games::make_game;
use proptest::prelude::*;

const SPECS: &[&str] = &[
    "tictactoe",
    "connect4",
    "connect4(columns=4,rows=6)",
    "connect4(columns=6,rows=5)",
    "nogo",
    "nogo(size=3)",
    "nogo(rows=5,cols=13)",
    "nogo(size=13)",
];

/// The positions of one random game, the initial one first; `choices` picks the moves.
fn random_game(game: &dyn Game, choices: &[u16]) -> Vec<Box<dyn State>> {
    let mut state = game.initial();
    let mut positions = vec![state.clone_box()];
    for choice in choices {
        let legal = legal(state.as_ref());
        if legal.is_empty() {
            break;
        }
        state.play(legal[usize::from(*choice) % legal.len()]);
        positions.push(state.clone_box());
    }
    positions
}

fn legal(state: &dyn State) -> Vec<Action> {
    // With something in it: a game has to clear the list.
    let mut actions = vec![9999];
    state.legal_actions(&mut actions);
    actions
}

fn features(state: &dyn State) -> Vec<f32> {
    // No number: a game has to write every float.
    let mut row = vec![f32::NAN; state.row_len()];
    state.encode(&mut row);
    row
}

fn check_position(game: &dyn Game, state: &dyn State) {
    let info = game.info();
    let actions = legal(state);
    assert!(actions.is_sorted_by(|a, b| a < b) && actions.iter().all(|&a| usize::from(a) < info.num_actions));
    assert_eq!(actions.is_empty(), state.outcome().is_some());
    assert_eq!(state.end_reason().is_some(), state.outcome().is_some());
    assert!(state.ply() <= info.max_plies);
    assert!(features(state).iter().all(|v| *v == 0.0 || *v == 1.0));
    for &action in &actions {
        let text = state.action_to_text(action, None).unwrap();
        assert_eq!(state.action_from_text(&text), Ok(action));
    }
    check_packed(info.feature_shape, state);
}

fn check_packed(shape: [usize; 3], state: &dyn State) {
    let squares = shape[1] * shape[2];
    if squares > 64 {
        return;
    }
    // Full and no numbers, for the same reason.
    let mut masks = vec![u64::MAX; shape[0]];
    let mut values = vec![f32::NAN; shape[0]];
    state.encode_packed(&mut masks, &mut values);
    let row = features(state);
    for (c, plane) in row.chunks_exact(squares).enumerate() {
        for (i, value) in plane.iter().enumerate() {
            assert_eq!(*value, if masks[c] >> i & 1 == 1 { values[c] } else { 0.0 });
        }
    }
}

/// Every symmetric line of moves leads to the position whose features and actions are the permuted ones.
fn check_symmetries(game: &dyn Game, state: &dyn State) {
    let actions = legal(state);
    let row = features(state);
    let squares = game.info().feature_shape[1] * game.info().feature_shape[2];
    for symmetry in game.symmetries() {
        let mut twin = game.initial();
        for action in moves_of(game, state) {
            twin.play(symmetry.actions.iter().position(|&old| old == action).unwrap() as Action);
        }
        let mapped: Vec<Action> = legal(twin.as_ref()).iter().map(|&a| symmetry.actions[usize::from(a)]).collect();
        assert!(mapped.len() == actions.len() && mapped.iter().all(|a| actions.contains(a)));
        let twin_row = features(twin.as_ref());
        for (plane, twin_plane) in row.chunks_exact(squares).zip(twin_row.chunks_exact(squares)) {
            assert!((0..squares).all(|i| twin_plane[i] == plane[symmetry.squares[i] as usize]));
        }
    }
}

/// The moves from the initial state to this one, read from its notation.
fn moves_of(game: &dyn Game, state: &dyn State) -> Vec<Action> {
    let notation = state.notation();
    let spaced = if game.info().name == "connect4" {
        notation.chars().map(String::from).collect::<Vec<_>>().join(" ")
    } else {
        notation
    };
    let mut replay = game.initial();
    let mut actions = Vec::new();
    for text in spaced.split_whitespace() {
        let action = replay.action_from_text(text).unwrap();
        replay.play(action);
        actions.push(action);
    }
    actions
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn random_games_obey_the_laws(choices in prop::collection::vec(any::<u16>(), 170)) {
        for spec in SPECS {
            let game = make_game(spec).unwrap();
            let positions = random_game(game.as_ref(), &choices);
            for position in &positions {
                check_position(game.as_ref(), position.as_ref());
            }
            for position in [&positions[positions.len() / 2], positions.last().unwrap()] {
                check_symmetries(game.as_ref(), position.as_ref());
            }
            let mut copy = game.initial();
            copy.copy_from(positions.last().unwrap().as_ref());
            prop_assert_eq!(copy.notation(), positions.last().unwrap().notation());
            prop_assert_eq!(copy.key(), positions.last().unwrap().key());
        }
    }
}

#[test]
fn tictactoe_has_its_known_number_of_move_sequences() {
    let start = make_game("tictactoe").unwrap().initial();
    let counts: Vec<u64> = (1..=9).map(|depth| perft(start.as_ref(), depth)).collect();
    assert_eq!(counts, [9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872]);
}

#[test]
fn connect4_has_its_known_number_of_move_sequences() {
    let start = make_game("connect4").unwrap().initial();
    let counts: Vec<u64> = (1..=8).map(|depth| perft(start.as_ref(), depth)).collect();
    assert_eq!(counts, [7, 49, 343, 2401, 16_807, 117_649, 823_536, 5_673_234]);
}

/// Counts of the sequences of 1, 2, 3 ... moves from the empty board.
fn nogo_counts(spec: &str, depths: u32) -> Vec<u64> {
    let start = make_game(spec).unwrap().initial();
    (1..=depths).map(|depth| perft(start.as_ref(), depth)).collect()
}

#[test]
fn nogo_has_its_known_number_of_move_sequences() {
    let table: [(&str, &[u64]); 9] = [
        ("nogo(size=2)", &[4, 12, 16, 0]),
        ("nogo(rows=2,cols=3)", &[6, 30, 112, 264, 216, 0]),
        ("nogo(size=3)", &[9, 72, 496, 2832, 12768, 41328, 80352, 43776, 0]),
        ("nogo(rows=3,cols=4)", &[12, 132, 1312, 11592, 89304, 581_760]),
        ("nogo(rows=3,cols=5)", &[15, 210, 2722, 32376, 349_824]),
        ("nogo(size=4)", &[16, 240, 3352, 43264, 511_776]),
        ("nogo(size=5)", &[25, 600, 13792, 302_896]),
        ("nogo(size=7)", &[49, 2352, 110_536]),
        ("nogo", &[81, 6480, 511_912]),
    ];
    for (spec, counts) in table {
        assert_eq!(nogo_counts(spec, counts.len() as u32), counts, "{spec}");
    }
}

/// Number of games from here on that Black and that White wins.
fn won_games(state: &dyn State) -> [u64; 2] {
    if let Some(Outcome::Win(winner)) = state.outcome() {
        return if winner == Player::First { [1, 0] } else { [0, 1] };
    }
    legal(state).into_iter().fold([0, 0], |sum, action| {
        let mut child = state.clone_box();
        child.play(action);
        let [black, white] = won_games(child.as_ref());
        [sum[0] + black, sum[1] + white]
    })
}

#[test]
fn nogo_has_its_known_number_of_games() {
    for (spec, games) in
        [("nogo(size=2)", [16, 0]), ("nogo(rows=2,cols=3)", [216, 104]), ("nogo(size=3)", [45_792, 44_928])]
    {
        assert_eq!(won_games(make_game(spec).unwrap().initial().as_ref()), games, "{spec}");
    }
}

#[test]
fn bad_specs_and_moves_are_refused_with_what_is_allowed() {
    for (spec, part) in [
        ("tictactoe(size=4)", "no parameter"),
        ("connect4(rows=3)", "rows must be a whole number from 4 to 6"),
        ("connect4(columns=8)", "columns must be a whole number from 4 to 7"),
        ("connect4(columns=x)", "columns must be a whole number from 4 to 7"),
        ("connect4(size=5)", "allowed: columns, rows"),
        ("nogo(size=1)", "size must be a whole number from 2 to 13"),
        ("nogo(size=-1)", "size must be a whole number from 2 to 13"),
        ("nogo(rows=14,cols=3)", "rows must be a whole number from 2 to 13"),
        ("nogo(rows=3)", "either size, or rows and cols"),
        ("nogo(size=3,rows=3,cols=3)", "either size, or rows and cols"),
        ("hopscotch", "known games"),
        ("connect4(", "closing bracket"),
    ] {
        let error = make_game(spec).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    }
    let state = make_game("connect4").unwrap().initial();
    assert!(state.action_from_text("8").unwrap_err().0.contains("legal moves: 1 2 3 4 5 6 7"));
    assert!(state.action_to_text(7, None).unwrap_err().0.contains("actions are 0 to 6"));
    assert!(state.action_to_text(6, Some("san")).is_err());
    assert_eq!(state.action_from_text(" D "), Ok(3));
}
