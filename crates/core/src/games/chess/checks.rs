//! Wins by threats in chess: mates by continuous checks.

use shakmaty::{Chess, Move, Position as _, Role};

use super::legal;
use super::mates::may_check;
use super::position::{Position, is_drawn_now};
use crate::game::{ForcedLoss, ForcedWin};
use crate::games::checks::{Board, mates_allowed, shortest_mate};

/// The shortest mate by checks of the player to move that a search of at most so many positions finds.
pub fn forced_win(position: &Position, nodes: u32) -> Option<ForcedWin> {
    // A line could come to a position for the third time, which is a draw.
    if position.has_repetition() {
        return None;
    }
    let mate = shortest_mate(position.chess(), nodes)?;
    Some(ForcedWin { action: position.encode(mate.first)?, plies: mate.plies })
}

/// The moves after which the opponent mates by checks that a search of at most so many positions each finds.
pub fn lost_moves(position: &Position, nodes: u32) -> Vec<ForcedLoss> {
    if position.has_repetition() {
        return Vec::new();
    }
    let mates = mates_allowed(position.chess(), nodes);
    let mut lost = Vec::new();
    for mate in mates {
        if let Some(action) = position.encode(mate.first) {
            lost.push(ForcedLoss { action, plies: mate.plies });
        }
    }
    lost
}

impl Board for Chess {
    type Move = Move;

    fn after_moves(&self) -> Vec<(Move, Chess)> {
        self.legal_moves().into_iter().map(|played| (played, after(self, played))).collect()
    }

    fn after_checks(&self) -> Vec<(Move, Chess)> {
        let Some(king) = self.their(Role::King).first() else { return Vec::new() };
        let mut found = Vec::new();
        for played in self.legal_moves() {
            if !may_check(self, king, played) {
                continue;
            }
            let after = after(self, played);
            if after.is_check() {
                found.push((played, after));
            }
        }
        found
    }

    fn num_moves(&self) -> usize {
        legal::count(self)
    }

    fn is_drawn(&self) -> bool {
        is_drawn_now(self)
    }

    fn passed(&self) -> Option<Chess> {
        self.clone().swap_turn().ok()
    }
}

fn after(chess: &Chess, played: Move) -> Chess {
    let mut next = chess.clone();
    next.play_unchecked(played);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Action, Outcome, State};
    use crate::games::make_game;
    use crate::math::rng::Stream;

    const NODES: u32 = 3_000;

    fn position(fen: &str) -> Box<dyn State> {
        make_game(&format!("chess(fen={fen})")).unwrap().initial()
    }

    fn found(fen: &str) -> Option<(String, u16)> {
        let state = position(fen);
        let win = state.forced_win(NODES)?;
        Some((state.action_to_text(win.action, None).unwrap(), win.plies))
    }

    #[test]
    fn a_mate_on_the_move_a_smothered_mate_and_none() {
        assert_eq!(found("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"), Some(("a1a8".into(), 1)));
        assert_eq!(found("5r1k/6pp/7N/8/2Q5/8/6PP/6K1 w - - 0 1"), Some(("c4g8".into(), 3)));
        assert_eq!(found("6k1/5pp1/8/8/8/8/8/R6K w - - 0 1"), None);
        // A rook's mate without a check before: not looked for.
        assert_eq!(found("k7/8/2K5/8/8/8/8/7R w - - 0 1"), None);
    }

    #[test]
    fn draws_by_rule_escape() {
        let mate_in_two = |quiet: u32| found(&format!("5r1k/6pp/7N/8/2Q5/8/6PP/6K1 w - - {quiet} 80"));
        // The queen is taken, which begins the count anew.
        assert_eq!(mate_in_two(98).map(|(_, plies)| plies), Some(3));
        // After the hundredth quiet ply nothing but a mate counts.
        assert_eq!(mate_in_two(99), None);
        assert_eq!(found("6k1/5ppp/8/8/8/8/8/R6K w - - 99 80").map(|(_, plies)| plies), Some(1));
    }

    #[test]
    fn a_position_that_has_come_twice_is_not_looked_at() {
        let mut state = position("5r1k/6pp/7N/8/2Q5/8/6PP/6K1 w - - 0 1");
        for text in ["g1h1", "f8e8", "h1g1", "e8f8"] {
            state.play(state.action_from_text(text).unwrap());
        }
        assert_eq!(state.forced_win(NODES), None);
    }

    /// Plies of the shortest mate by checks of at most so many moves, by trying every move with the rules alone.
    fn naive(state: &dyn State, checks: u32) -> Option<u16> {
        let mut best: Option<u16> = None;
        for (_, next) in moves(state) {
            if next.outcome() == Some(Outcome::Win(state.to_move())) {
                return Some(1);
            }
            let checked = next.as_any().downcast_ref::<Position>().unwrap().chess().is_check();
            if next.outcome().is_some() || !checked || checks == 1 {
                continue;
            }
            let mut longest = Some(0);
            for (_, then) in moves(next.as_ref()) {
                let plies = if then.outcome().is_some() { None } else { naive(then.as_ref(), checks - 1) };
                longest = longest.zip(plies).map(|(longest, plies)| longest.max(plies));
                if longest.is_none() {
                    break;
                }
            }
            best = [best, longest.map(|plies| plies + 2)].into_iter().flatten().min();
        }
        best
    }

    fn moves(state: &dyn State) -> Vec<(Action, Box<dyn State>)> {
        let mut actions = Vec::new();
        state.legal_actions(&mut actions);
        let after = |action| {
            let mut next = state.clone_box();
            next.play(action);
            (action, next)
        };
        actions.into_iter().map(after).collect()
    }

    /// Positions of random games, which leave kings in the open.
    fn random_positions(games: u64) -> Vec<Box<dyn State>> {
        let mut actions = Vec::new();
        let mut found = Vec::new();
        for seed in 0..games {
            let mut random = Stream::new(seed);
            let mut state = make_game("chess").unwrap().initial();
            for ply in 0..160 {
                if state.outcome().is_some() {
                    break;
                }
                if ply % 8 == seed % 8 && ply > 20 {
                    found.push(state.clone_box());
                }
                let action = state.random_action(&mut random, &mut actions);
                state.play(action);
            }
        }
        found
    }

    #[test]
    fn the_same_mates_as_by_trying_every_move() {
        let mut longer = 0;
        for state in random_positions(70) {
            let position = state.as_any().downcast_ref::<Position>().unwrap();
            if position.has_repetition() {
                continue;
            }
            let found = state.forced_win(NODES).map(|win| win.plies).filter(|&plies| plies <= 3);
            assert_eq!(found, naive(state.as_ref(), 2), "{}", state.notation());
            longer += u32::from(found == Some(3));
        }
        assert!(longer > 3, "{longer} mates in two");
    }

    #[test]
    fn lost_moves_are_those_that_allow_a_mate_by_checks() {
        let mut with_choice = 0;
        for state in random_positions(20) {
            let lost = state.lost_moves(NODES);
            if lost.is_empty() {
                continue;
            }
            let after = moves(state.as_ref());
            for (action, next) in &after {
                let own = lost.iter().find(|loss| loss.action == *action).map(|loss| loss.plies);
                let mate = if next.outcome().is_some() { None } else { next.forced_win(NODES) };
                // Where the history decides, the search after the move knows more of it.
                if !next.as_any().downcast_ref::<Position>().unwrap().has_repetition() {
                    assert_eq!(own, mate.map(|mate| mate.plies + 1), "{}", state.notation());
                }
            }
            with_choice += u32::from(lost.len() < after.len());
        }
        assert!(with_choice > 5, "{with_choice} positions");
    }

    #[test]
    fn few_positions_end_the_search() {
        let fen = "5r1k/6pp/7N/8/2Q5/8/6PP/6K1 w - - 0 1";
        assert_eq!(position(fen).forced_win(1), None);
        assert!((1..40).any(|nodes| position(fen).forced_win(nodes).is_some()));
    }
}
