//! How a line goes on after a move whose result a search of threats has proven.

use crate::game::{Action, Player, State};

/// The moves of both sides in a position that `winner` wins by threats: the win that a search of at most so many positions finds, and
/// the longest defence.
///
/// They end with the game, after `most` moves, or where the searches find no win after some defence.
pub fn threat_line(state: &dyn State, winner: Player, nodes: u32, most: usize) -> Vec<Action> {
    let mut place = state.clone_box();
    let mut line = Vec::new();
    while line.len() < most && place.outcome().is_none() {
        let next = match place.to_move() == winner {
            true => place.forced_win(nodes).map(|win| win.action),
            false => longest_defence(place.as_ref(), nodes),
        };
        let Some(action) = next else { break };
        place.play(action);
        line.push(action);
    }
    line
}

/// The move after which the opponent's win takes longest; `None` where one of the moves is not known to lose.
fn longest_defence(state: &dyn State, nodes: u32) -> Option<Action> {
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    // It knows most moves without a search for each.
    let losses = state.lost_moves(nodes);
    let mut child = state.clone_box();
    let mut longest: Option<(u16, Action)> = None;
    for action in actions {
        let plies = match losses.iter().find(|loss| loss.action == action) {
            Some(loss) => loss.plies,
            None => {
                child.copy_from(state);
                child.play(action);
                // A reply that ends the game is drawn, since the opponent was to win.
                if child.outcome().is_some() {
                    return None;
                }
                child.forced_win(nodes)?.plies + 1
            }
        };
        if longest.is_none_or(|(most, _)| plies > most) {
            longest = Some((plies, action));
        }
    }
    longest.map(|(_, action)| action)
}
