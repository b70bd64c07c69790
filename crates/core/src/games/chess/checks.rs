//! Mates by continuous checks: every move of the attacker gives check, and every reply of the defender is tried.
//!
//! A check leaves few replies, so a search of some hundred positions looks many moves ahead where there is an attack at all.

use shakmaty::{Chess, Move, Position as _, Role};

use super::legal;
use super::mates::may_check;
use super::position::{Position, is_drawn_now};
use crate::game::{ForcedLoss, ForcedWin};

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
///
/// None is looked for where the opponent would have no such mate after a pass: few moves allow one that was not there before.
pub fn lost_moves(position: &Position, nodes: u32) -> Vec<ForcedLoss> {
    let chess = position.chess();
    if position.has_repetition() || !is_threatened(chess, nodes) {
        return Vec::new();
    }
    let mut actions = Vec::new();
    legal::actions(chess, &mut actions);
    let mut lost = Vec::new();
    for action in actions {
        let Some(played) = position.decode(action) else { continue };
        let after = after(chess, played);
        if is_drawn_now(&after) {
            continue;
        }
        if let Some(mate) = shortest_mate(&after, nodes) {
            lost.push(ForcedLoss { action, plies: mate.plies + 1 });
        }
    }
    lost
}

/// Whether the opponent would mate by checks if the mover passed. In check, where no one can pass, every reply is worth a look.
fn is_threatened(chess: &Chess, nodes: u32) -> bool {
    match chess.clone().swap_turn() {
        Ok(passed) => shortest_mate(&passed, nodes).is_some(),
        Err(_) => true,
    }
}

/// A forced mate.
struct Mate {
    first: Move,
    plies: u16,
}

/// The shortest mate of the player to move by checks alone. Deepening by one check at a time finds it first.
fn shortest_mate(chess: &Chess, nodes: u32) -> Option<Mate> {
    let mut search = Checks { left: nodes, is_cut: false };
    for most in 1.. {
        search.is_cut = false;
        let mate = search.attack(chess, most);
        // Without a line that was cut for want of depth, more depth finds nothing else.
        if mate.is_some() || !search.is_cut || search.left == 0 {
            return mate;
        }
    }
    None
}

struct Checks {
    /// Positions that may still be looked at.
    left: u32,
    /// A line was left for want of depth.
    is_cut: bool,
}

impl Checks {
    /// A mate of the player to move by at most so many checks, 1 or more.
    fn attack(&mut self, chess: &Chess, most: u32) -> Option<Mate> {
        let mut attacks = Vec::new();
        for (check, after) in checks(chess) {
            if self.left == 0 {
                return None;
            }
            self.left -= 1;
            let replies = legal::count(&after);
            if replies == 0 {
                return Some(Mate { first: check, plies: 1 });
            }
            if !is_drawn_now(&after) {
                attacks.push((replies, check, after));
            }
        }
        if most == 1 {
            self.is_cut |= !attacks.is_empty();
            return None;
        }
        // The fewer replies a check leaves, the less it takes to try it.
        attacks.sort_by_key(|(replies, ..)| *replies);
        attacks.into_iter().find_map(|(_, first, after)| {
            let plies = self.plies_after(&after, most)?;
            Some(Mate { first, plies: plies + 1 })
        })
    }

    /// The plies that a mate takes after a check to which the player to move has replies; `None` if one of them escapes.
    fn plies_after(&mut self, checked: &Chess, most: u32) -> Option<u16> {
        let mut longest = 0;
        for reply in checked.legal_moves() {
            let after = after(checked, reply);
            if is_drawn_now(&after) {
                return None;
            }
            let mate = self.attack(&after, most - 1)?;
            longest = longest.max(mate.plies + 1);
        }
        Some(longest)
    }
}

/// The legal moves that give check, with the positions after them.
fn checks(chess: &Chess) -> Vec<(Move, Chess)> {
    let Some(king) = chess.their(Role::King).first() else { return Vec::new() };
    let mut found = Vec::new();
    for played in chess.legal_moves() {
        if !may_check(chess, king, played) {
            continue;
        }
        let after = after(chess, played);
        if after.is_check() {
            found.push((played, after));
        }
    }
    found
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
        for state in random_positions(120) {
            let position = state.as_any().downcast_ref::<Position>().unwrap();
            if position.has_repetition() {
                continue;
            }
            let found = state.forced_win(NODES).map(|win| win.plies).filter(|&plies| plies <= 3);
            assert_eq!(found, naive(state.as_ref(), 2), "{}", state.notation());
            longer += u32::from(found == Some(3));
        }
        assert!(longer > 5, "{longer} mates in two");
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
