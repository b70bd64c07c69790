//! Wins by threats in minichess: mates by continuous checks.

use super::position::Position;
use crate::game::{Action, ForcedLoss, ForcedWin, Outcome};
use crate::games::checks::{Board, mates_allowed, shortest_mate};

/// The shortest mate by checks of the player to move that a search of at most so many positions finds.
pub fn forced_win(position: &Position, nodes: u32) -> Option<ForcedWin> {
    let mate = shortest_mate(position, nodes)?;
    Some(ForcedWin { action: mate.first, plies: mate.plies })
}

/// The moves after which the opponent mates by checks that a search of at most so many positions each finds.
pub fn lost_moves(position: &Position, nodes: u32) -> Vec<ForcedLoss> {
    let mates = mates_allowed(position, nodes);
    mates.into_iter().map(|mate| ForcedLoss { action: mate.first, plies: mate.plies }).collect()
}

// With its past, which is short: repetitions along a line count.
impl Board for Position {
    type Move = Action;

    fn after_moves(&self) -> Vec<(Action, Position)> {
        let mut actions = Vec::new();
        self.board().legal_actions(&mut actions);
        let after = |action| {
            let mut next = self.clone();
            next.play(action);
            (action, next)
        };
        actions.into_iter().map(after).collect()
    }

    fn after_checks(&self) -> Vec<(Action, Position)> {
        let mut found = self.after_moves();
        found.retain(|(_, after)| after.board().is_check());
        found
    }

    fn num_moves(&self) -> usize {
        let mut actions = Vec::new();
        self.board().legal_actions(&mut actions);
        actions.len()
    }

    fn is_drawn(&self) -> bool {
        self.outcome() == Some(Outcome::Draw)
    }

    fn passed(&self) -> Option<Position> {
        if self.board().is_check() {
            return None;
        }
        Some(Position::new(self.board().turned(), self.mover().other(), self.quiet_plies(), self.number()))
    }
}

#[cfg(test)]
mod tests {
    use crate::game::{Action, Outcome, State};
    use crate::games::make_game;
    use crate::math::rng::Stream;

    const NODES: u32 = 3_000;

    fn after(state: &dyn State, action: Action) -> Box<dyn State> {
        let mut next = state.clone_box();
        next.play(action);
        next
    }

    /// Positions of random games.
    fn random_positions(games: u64) -> Vec<Box<dyn State>> {
        let mut actions = Vec::new();
        let mut found = Vec::new();
        for seed in 0..games {
            let mut random = Stream::new(seed);
            let mut state = make_game("minichess").unwrap().initial();
            while state.outcome().is_none() && state.ply() < 60 {
                found.push(state.clone_box());
                let action = state.random_action(&mut random, &mut actions);
                state.play(action);
            }
        }
        found
    }

    #[test]
    fn a_mate_wins_against_every_reply() {
        let mut actions = Vec::new();
        let mut longer = 0;
        for state in random_positions(40) {
            let Some(win) = state.forced_win(NODES) else { continue };
            let next = after(state.as_ref(), win.action);
            if win.plies == 1 {
                assert_eq!(next.outcome(), Some(Outcome::Win(state.to_move())), "{}", state.notation());
                continue;
            }
            next.legal_actions(&mut actions);
            for &reply in &actions {
                let then = after(next.as_ref(), reply).forced_win(NODES).expect("a mate after every reply");
                assert!(then.plies <= win.plies - 2, "{}", state.notation());
            }
            longer += 1;
        }
        assert!(longer > 5, "{longer} mates in two or more");
    }

    #[test]
    fn a_mate_on_the_move_is_always_found_and_lost_moves_allow_one() {
        let mut lost = 0;
        for state in random_positions(20) {
            assert_eq!(state.win_at_once().is_some(), state.forced_win(NODES).is_some_and(|win| win.plies == 1));
            for loss in state.lost_moves(NODES) {
                let win = after(state.as_ref(), loss.action).forced_win(NODES).expect("the opponent mates");
                assert_eq!(win.plies + 1, loss.plies);
                lost += 1;
            }
        }
        assert!(lost > 20, "{lost} lost moves");
    }
}
