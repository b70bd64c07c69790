//! Values by rollouts: games of uniformly random moves played to their end, as before networks.

use rand::Rng;

use crate::game::{Action, Outcome, State};
use crate::math::rng::{CounterRng, mix};

/// Shares of win, draw and loss of `start`'s mover in `games` random games; a pure function of the position's key and
/// the seed. A position that is over counts as it ended.
pub fn rollout_value(start: &dyn State, seed: u64, games: u32) -> [f32; 3] {
    // Keyed by the position, so that equal positions have equal values in any order of evaluation.
    let mut rng = CounterRng::new(mix(seed ^ start.key()));
    let mut state = start.clone_box();
    let mut actions = Vec::new();
    let mut counts = [0u32; 3];
    for _ in 0..games {
        state.copy_from(start);
        let outcome = play_to_the_end(state.as_mut(), &mut actions, &mut rng);
        let place = match outcome {
            Outcome::Win(player) if player == start.to_move() => 0,
            Outcome::Draw => 1,
            Outcome::Win(_) => 2,
        };
        counts[place] += 1;
    }
    counts.map(|count| count as f32 / games as f32)
}

/// Plays uniformly random moves until the game is over.
fn play_to_the_end(state: &mut dyn State, actions: &mut Vec<Action>, rng: &mut CounterRng) -> Outcome {
    loop {
        if let Some(outcome) = state.outcome() {
            return outcome;
        }
        state.legal_actions(actions);
        // Lemire's multiplication in the place of a remainder; of 64 bits its bias is nothing.
        let choice = (u128::from(rng.next_u64()) * actions.len() as u128) >> 64;
        state.play(actions[choice as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;

    #[test]
    fn shares_are_those_of_random_play() {
        let state = make_game("tictactoe").unwrap().initial();
        let [win, draw, loss] = rollout_value(state.as_ref(), 1, 20_000);
        // exact for uniformly random play: 737/1260, 8/63, 121/420
        for (share, exact) in [(win, 0.5849), (draw, 0.1270), (loss, 0.2881)] {
            assert!((share - exact).abs() < 0.015, "{share} {exact}");
        }
    }

    #[test]
    fn values_are_the_movers_and_depend_on_seed_and_position_alone() {
        let mut state = make_game("connect4").unwrap().initial();
        for column in [3, 0, 3, 0, 3, 1] {
            state.play(column);
        }
        let [win, _, loss] = rollout_value(state.as_ref(), 1, 1000);
        assert!(win > 0.6 && win > loss);
        assert_eq!(rollout_value(state.as_ref(), 1, 10), rollout_value(state.as_ref(), 1, 10));
        assert_ne!(rollout_value(state.as_ref(), 1, 1000), rollout_value(state.as_ref(), 2, 1000));
        state.play(3);
        assert_eq!(rollout_value(state.as_ref(), 1, 7), [0.0, 0.0, 1.0]);
    }
}
