use std::collections::HashSet;

use super::*;
use crate::game::perft;
use crate::games::make_game;

fn after(spec: &str, moves: &str) -> Box<dyn State> {
    let mut state = make_game(spec).unwrap().initial();
    for text in moves.split_whitespace() {
        state.play(state.action_from_text(text).unwrap_or_else(|error| panic!("{text}: {error}")));
    }
    state
}

#[test]
fn the_first_moves_are_all_points_and_the_pass() {
    let counts = [("go(size=5)", 2, 651), ("go(size=2)", 1, 5), ("go", 1, 82)];
    for (spec, depth, count) in counts {
        assert_eq!(perft(make_game(spec).unwrap().initial().as_ref(), depth), count, "{spec}");
    }
}

#[test]
fn captures_suicide_and_ko() {
    let taken = after("go(size=5)", "B1 A1 A2");
    assert!(taken.text().lines().nth(4).unwrap().starts_with("1 . X"), "{}", taken.text());
    assert!(taken.action_from_text("A1").is_err(), "suicide");
    let ko = after("go(size=5)", "B1 C1 A2 D2 B3 C3 C2 B2");
    assert!(ko.action_from_text("C2").is_err(), "takes back at once");
    let mut later = ko.clone_box();
    for text in ["E5", "A5"] {
        later.play(later.action_from_text(text).unwrap());
    }
    assert!(later.action_from_text("C2").is_ok(), "the board is another one");
}

#[test]
fn two_passes_end_the_game_and_area_counts() {
    let over = after("go(size=5,komi=0.5)", "C3 pass pass");
    assert_eq!(over.outcome(), Some(Outcome::Win(Player::First)));
    assert_eq!(after("go(size=5,komi=25)", "C3 pass pass").outcome(), Some(Outcome::Draw));
    assert_eq!(after("go(size=5)", "pass pass").outcome(), Some(Outcome::Win(Player::Second)));
    assert_eq!(after("go(size=5,komi=0)", "pass pass").outcome(), Some(Outcome::Draw));
    assert_eq!(over.score(), Some(24.5));
    assert_eq!(after("go(size=5)", "C3 C4").score(), Some(-7.5), "the empty points border both");
}

#[test]
fn points_belong_to_who_surrounds_them() {
    let walled = after("go(size=3)", "A2 C2 B2 pass B1 pass C1 pass pass");
    // Black has the two rows below, White's stone and what lies above them border both.
    assert_eq!(after("go(size=3)", "A2 C3 B2 pass C2").ownership(), Some(vec![0, 0, -1, 1, 1, 1, 1, 1, 1]));
    let owned = walled.ownership().unwrap();
    let lead: i32 = owned.iter().map(|&sign| i32::from(sign)).sum();
    assert_eq!(walled.score(), Some(lead as f32 - 7.5));
}

#[test]
fn a_game_may_begin_from_a_position() {
    let spec = "go(size=5, position=5/1X1X1/5/1X1X1/5 w)";
    let game = make_game(spec).unwrap();
    assert_eq!(game.info().spec, "go(size=5,position=5/1X1X1/5/1X1X1/5 w)");
    let start = after(spec, "");
    assert_eq!((start.to_move(), start.ply()), (Player::Second, 0));
    assert!(start.text().starts_with("5 . . . . .\n4 . X . X ."), "{}", start.text());
    let next = after(spec, "C3");
    assert_eq!(next.to_move(), Player::First);
    assert_eq!(next.text().lines().nth(2).unwrap(), "3 . . O . .");
    assert_eq!(after(spec, "pass pass").score(), Some(17.5));
    assert_eq!(make_game("go(size=3, position=3/3/3 b)").unwrap().info().spec, "go(size=3)");
    assert_eq!(make_game("go(position=9/9/9/9/9/9/9/9/8O)").unwrap().info().spec, "go(position=9/9/9/9/9/9/9/9/8O b)");
}

#[test]
fn a_symmetry_shows_the_position_that_a_game_begins_from() {
    let game = make_game("go(size=3,position=X2/O2/3 w)").unwrap();
    let rows: HashSet<String> =
        (0..game.symmetries().len()).map(|number| game.initial_seen(number).text().lines().take(3).collect()).collect();
    assert_eq!(rows.len(), 8);
    assert!(rows.contains("3 . . .2 . . O1 . . X"), "{rows:?}");
}

#[test]
fn the_position_that_a_game_begins_from_may_not_come_again() {
    let ko = after("go(size=5, position=1XO2/X1XO1/1XO2/5/5 w)", "B4");
    assert!(ko.action_from_text("C4").is_err(), "takes back at once");
}

#[test]
fn positions_that_are_none_are_told() {
    let why = |position: &str| match make_game(&format!("go(size=3, position={position})")) {
        Ok(game) => panic!("{}", game.info().spec),
        Err(error) => error.0,
    };
    for (position, words) in [
        ("3/3", "a board of 3 has 3 rows, got 2"),
        ("3/3/4", "row 3 must have 3 points, got 4"),
        ("3/3/2", "row 3 must have 3 points, got 2"),
        ("3/3/XXXX", "row 3 must have 3 points, got 4"),
        ("3/3/99999999999999999999", "row 3 must have 3 points, got 4"),
        ("3/3/1a1", "'a' is neither X, O nor a number of empty points"),
        ("3/3/3 x", "whose turn it is must be b or w, got \"x\""),
        ("3/3/3 b b", "\"b\" follows whose turn it is"),
        ("XO1/O2/3", "the chain of A3 has no liberty"),
    ] {
        assert!(why(position).ends_with(words), "{}", why(position));
    }
}

/// The rules read literally on a list of points: 0 empty, 1 Black, 2 White; `None` for an illegal move.
fn played(points: &[u8], size: usize, point: usize, colour: u8, past: &HashSet<Vec<u8>>) -> Option<Vec<u8>> {
    let beside = |p: usize| {
        let r = p / size;
        let c = p % size;
        [(r.wrapping_sub(1), c), (r + 1, c), (r, c.wrapping_sub(1)), (r, c + 1)]
            .into_iter()
            .filter(|&(r, c)| r < size && c < size)
            .map(|(r, c)| r * size + c)
            .collect::<Vec<_>>()
    };
    let chain = |board: &[u8], from: usize| {
        let mut seen = vec![from];
        let mut stack = vec![from];
        let mut is_free = false;
        while let Some(here) = stack.pop() {
            for next in beside(here) {
                is_free |= board[next] == 0;
                if board[next] == board[from] && !seen.contains(&next) {
                    seen.push(next);
                    stack.push(next);
                }
            }
        }
        (seen, is_free)
    };
    if points[point] != 0 {
        return None;
    }
    let mut board = points.to_vec();
    board[point] = colour;
    for next in beside(point) {
        if board[next] == 3 - colour {
            let (stones, is_free) = chain(&board, next);
            if !is_free {
                stones.into_iter().for_each(|stone| board[stone] = 0);
            }
        }
    }
    (chain(&board, point).1 && !past.contains(&board)).then_some(board)
}

/// Empty points all of whose neighbours are the mover's, and the opponent has at most one of those diagonally next to it, at the
/// edge none: read literally on a list of points.
fn own_eyes(position: &Position<1>) -> Vec<Action> {
    let size = position.size() as i32;
    let mover = position.to_move();
    let [own, theirs] = [mover, mover.other()].map(|player| position.stones[player as usize]);
    let beside = |point: Action, steps: [(i32, i32); 4]| {
        let row = i32::from(point) / size;
        let column = i32::from(point) % size;
        let points = steps.map(|(dr, dc)| (row + dr, column + dc)).into_iter();
        let inside = points.filter(|&(r, c)| (0..size).contains(&r) && (0..size).contains(&c));
        inside.map(|(r, c)| (r * size + c) as usize).collect::<Vec<_>>()
    };
    let is_eye = |point: &Action| {
        let diagonal = beside(*point, [(1, 1), (1, -1), (-1, 1), (-1, -1)]);
        let bad = diagonal.iter().filter(|&&square| theirs.has(square)).count();
        let straight = beside(*point, [(0, 1), (1, 0), (0, -1), (-1, 0)]);
        straight.into_iter().all(|square| own.has(square)) && bad <= usize::from(diagonal.len() == 4)
    };
    position.empty().squares().map(|square| square as Action).filter(is_eye).collect()
}

#[test]
fn random_games_draw_evenly_from_what_is_legal_and_no_own_eye() {
    let mut random = Stream::new(5);
    let mut legal = Vec::new();
    let mut eyes = 0;
    for size in [2, 3, 4, 5, 7] {
        let mut position = Position::<1>::new(size, 15, &Setup::empty()).unwrap();
        while position.outcome().is_none() {
            position.legal_actions(&mut legal);
            let own = own_eyes(&position);
            eyes += own.len();
            legal.retain(|action| *action != position.pass() && !own.contains(action));
            if legal.is_empty() {
                legal.push(position.pass());
            }
            // 60 of each move are expected, with a standard deviation below 8: the bounds are five of them away.
            let draws = 60 * legal.len();
            let mut counts = vec![0; position.points() + 1];
            for _ in 0..draws {
                counts[usize::from(position.random_action(&mut random, &mut Vec::new()))] += 1;
            }
            assert!(legal.iter().all(|&action| (20..120).contains(&counts[usize::from(action)]) || legal.len() == 1));
            assert_eq!(legal.iter().map(|&action| counts[usize::from(action)]).sum::<usize>(), draws);
            position.play(position.random_action(&mut random, &mut Vec::new()));
        }
    }
    assert!(eyes > 100, "{eyes}");
}

#[test]
fn random_games_end_by_two_passes() {
    let mut random = Stream::new(1);
    for (spec, points) in [("go(size=5)", 25), ("go(size=7)", 49), ("go", 81), ("go(size=13)", 169)] {
        let mut plies = 0;
        let mut cut = 0;
        for _ in 0..200 {
            let mut state = make_game(spec).unwrap().initial();
            while state.outcome().is_none() {
                state.play(state.random_action(&mut random, &mut Vec::new()));
            }
            plies += state.ply();
            cut += usize::from(state.outcome_depends_on_path());
        }
        assert!(cut <= 10, "{spec}: {cut} of 200 games were cut off");
        assert!(plies < 200 * 2 * points, "{spec}: {plies} plies");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]
    #[test]
    fn games_agree_with_the_rules_read_literally(
        size in 2..=7usize, choices in proptest::collection::vec(proptest::prelude::any::<u16>(), 3 * 49)
    ) {
        let mut position = Position::<1>::new(size, 15, &Setup::empty()).unwrap();
        let mut points = vec![0u8; size * size];
        let mut past = HashSet::from([points.clone()]);
        for choice in choices {
            let mut legal = Vec::new();
            position.legal_actions(&mut legal);
            if position.outcome().is_some() {
                proptest::prop_assert!(legal.is_empty());
                break;
            }
            let colour = position.to_move() as u8 + 1;
            let expected: Vec<Action> = (0..size * size)
                .filter(|&point| played(&points, size, point, colour, &past).is_some())
                .map(|point| point as Action)
                .chain([position.pass()])
                .collect();
            proptest::prop_assert_eq!(&legal, &expected);
            // passes are rarer than chance would have them, so that boards fill
            let moves = if choice % 16 == 0 || legal.len() == 1 { legal.len() } else { legal.len() - 1 };
            let action = legal[usize::from(choice) % moves];
            if action != position.pass() {
                points = played(&points, size, action.into(), colour, &past).unwrap();
                past.insert(points.clone());
            }
            let mut copy = Position::<1>::new(size, 15, &Setup::empty()).unwrap();
            copy.copy_from(&position);
            position.play(action);
            copy.play(action);
            proptest::prop_assert_eq!(copy.key(), position.key());
            let found: Vec<u8> = (0..size * size)
                .map(|p| u8::from(position.stones[0].has(p)) + 2 * u8::from(position.stones[1].has(p)))
                .collect();
            proptest::prop_assert_eq!(&found, &points);
        }
    }
}
