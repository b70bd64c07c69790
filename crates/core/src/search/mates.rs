//! Wins in a few moves, exactly: every move of the winner, every answer. Apart from the search, for `go mate N` and for reviews.
//!
//! Depth first, in a table of fixed size: it also proves that there is no win, however long that takes, and can be stopped, by whoever
//! waits or after a number of positions.

use crate::game::{Action, Outcome, Player, State};

/// Slots of positions without a win, a power of two.
const SLOTS: usize = 1 << 18;
/// Longest wins for which a move that has refuted others is tried first.
const KILLERS: usize = 64;

/// What there is to say of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The mover wins, by this line at best answers, and not sooner.
    Win(Vec<Action>),
    /// The mover has no win in so few moves.
    NoWin,
    /// The search was ended before.
    Halted,
}

/// What ends a search for a win before its answer is known.
pub struct Effort<'a> {
    /// Positions that it may look at, about.
    pub positions: u64,
    /// Asked at every position.
    pub halted: &'a dyn Fn() -> bool,
}

/// The shortest win of the mover in at most `moves` of his moves, whatever the opponent plays. `only`: first moves that are looked at;
/// empty: all. The last of these moves must win itself: a win that only the opponent's next move completes (Othello) counts from the
/// mover's move after it. Rules that look at the past (repetition, fifty moves) count. A position in which the game is over has no win.
pub fn forced_win(state: &dyn State, moves: u32, only: &[Action], effort: &Effort) -> Answer {
    if state.outcome().is_some() {
        return Answer::NoWin;
    }
    let mut search = Mates {
        winner: state.to_move(),
        effort,
        looked_at: 0,
        without_win: vec![(0, 0); SLOTS],
        killers: [None; KILLERS],
        by_past: 0,
    };
    // Deepening one move at a time finds the shortest win first; positions without a win within fewer
    // moves are known by then.
    for most in 1..=moves {
        match search.win_within(state, most, only) {
            Ok(Some(line)) => return Answer::Win(line),
            Ok(None) => (),
            Err(Halted) => return Answer::Halted,
        }
    }
    Answer::NoWin
}

/// The search was ended.
struct Halted;

struct Mates<'a> {
    winner: Player,
    effort: &'a Effort<'a>,
    /// Positions so far.
    looked_at: u64,
    /// Hashes of positions with the winner to move, and the moves in which he does not win there.
    without_win: Vec<(u64, u32)>,
    /// By moves that the winner has left: the answer that has refuted a move last.
    killers: [Option<Action>; KILLERS],
    /// Games that have ended by what was played before. What rests on them is true of this line alone.
    by_past: u64,
}

impl Mates<'_> {
    /// A line to the win of the player to move in at most `moves` of his moves (at least 1).
    fn win_within(&mut self, state: &dyn State, moves: u32, only: &[Action]) -> Result<Option<Vec<Action>>, Halted> {
        self.looked_at += 1;
        if self.looked_at > self.effort.positions || (self.effort.halted)() {
            return Err(Halted);
        }
        if moves == 1 && only.is_empty() {
            return Ok(state.win_at_once().map(|action| vec![action]));
        }
        // A search with restricted first moves proves nothing about the position as such.
        let hash = state.repeatable().last().copied().filter(|_| only.is_empty());
        let slot = hash.map(|hash| hash as usize & (SLOTS - 1));
        if slot.is_some_and(|slot| Some(self.without_win[slot].0) == hash && self.without_win[slot].1 >= moves) {
            return Ok(None);
        }
        let by_past = self.by_past;
        for (action, after) in self.tries(state, only) {
            match after.outcome() {
                Some(Outcome::Win(player)) if player == self.winner => return Ok(Some(vec![action])),
                Some(_) => self.count(after.as_ref()),
                None if moves == 1 => (),
                None => {
                    if let Some(line) = self.win_against_all(after.as_ref(), moves - 1)? {
                        return Ok(Some(std::iter::once(action).chain(line).collect()));
                    }
                }
            }
        }
        if let (Some(hash), Some(slot)) = (hash, slot)
            // No line below ended by the fifty moves or a repetition, so the position has no win however it is
            // reached.
            && self.by_past == by_past
        {
            self.without_win[slot] = (hash, moves);
        }
        Ok(None)
    }

    /// The positions after the moves, those with the fewest answers first.
    fn tries(&mut self, state: &dyn State, only: &[Action]) -> Vec<(Action, Box<dyn State>)> {
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        let after = |action: Action| {
            let mut after = state.clone_box();
            after.play(action);
            (after.num_legal(), action, after)
        };
        let wanted = legal.into_iter().filter(|action| only.is_empty() || only.contains(action));
        let mut all: Vec<_> = wanted.map(after).collect();
        self.looked_at += all.len() as u64;
        // Forcing moves first: of mating moves most leave few answers, and few answers are also cheap to
        // refute.
        all.sort_by_key(|(answers, _, _)| *answers);
        all.into_iter().map(|(_, action, after)| (action, after)).collect()
    }

    /// The longest line, if the winner wins in at most `moves` of his moves whatever is answered here.
    fn win_against_all(&mut self, state: &dyn State, moves: u32) -> Result<Option<Vec<Action>>, Halted> {
        if state.to_move() == self.winner {
            return self.win_within(state, moves, &[]); // games in which players need not alternate
        }
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        let killer = self.killers[(moves as usize).min(KILLERS - 1)];
        if let Some(place) = legal.iter().position(|action| Some(*action) == killer) {
            // The killer heuristic: what refuted the last attempt often refutes this one.
            legal.swap(0, place);
        }
        let mut longest = Vec::new();
        let mut after = state.clone_box();
        for action in legal {
            after.copy_from(state);
            after.play(action);
            self.looked_at += 1;
            let line = match after.outcome() {
                Some(Outcome::Win(player)) if player == self.winner => Some(Vec::new()),
                Some(_) => {
                    self.count(after.as_ref());
                    None
                }
                None if after.to_move() == self.winner => self.win_within(after.as_ref(), moves, &[])?,
                None => self.win_against_all(after.as_ref(), moves)?,
            };
            let Some(line) = line else {
                self.killers[(moves as usize).min(KILLERS - 1)] = Some(action);
                return Ok(None);
            };
            if longest.len() <= line.len() {
                longest = std::iter::once(action).chain(line).collect();
            }
        }
        Ok(Some(longest))
    }

    fn count(&mut self, ended: &dyn State) {
        self.by_past += u64::from(ended.outcome_depends_on_path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;

    /// Nothing ends the search but this many positions.
    fn within(positions: u64) -> Effort<'static> {
        Effort { positions, halted: &|| false }
    }

    fn answer(spec: &str, moves: &str, most: u32) -> (Answer, String) {
        let mut state = make_game(spec).unwrap().initial();
        for text in moves.split_whitespace() {
            let action = state.action_from_text(text).unwrap();
            state.play(action);
        }
        let answer = forced_win(state.as_ref(), most, &[], &within(u64::MAX));
        let mut line = Vec::new();
        if let Answer::Win(actions) = &answer {
            for action in actions {
                line.push(state.action_to_text(*action, None).unwrap());
                state.play(*action);
            }
            assert!(matches!(state.outcome(), Some(Outcome::Win(_))));
        }
        (answer, line.join(" "))
    }

    fn length(spec: &str, most: u32) -> Option<usize> {
        match answer(spec, "", most).0 {
            Answer::Win(line) => Some(line.len()),
            _ => None,
        }
    }

    #[test]
    fn the_shortest_win_is_found_and_shorter_ones_are_excluded() {
        let three = "chess(fen=r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1)";
        assert_eq!(answer(three, "", 3).1, "f6a6 f7f6 e5f6 g8g7 a6a8");
        assert_eq!(answer(three, "", 2).0, Answer::NoWin);
        assert_eq!(length(three, 8), Some(5));
        assert_eq!(answer("chess", "", 2).0, Answer::NoWin);
        assert_eq!(answer("chess", "f2f3 e7e5 g2g4", 1).1, "d8h4");
        assert_eq!(answer("connect4", "1 2 1 2 1 2", 1).1, "1");
    }

    #[test]
    fn draws_by_the_past_are_no_wins() {
        let two = |counter| format!("chess(fen=7k/8/8/8/8/8/R7/1R4K1 w - - {counter} 80)");
        assert_eq!(length(&two(97), 2), Some(3));
        assert_eq!(length(&two(98), 2), None, "the second ply ends the fifty moves");
    }

    #[test]
    fn first_moves_can_be_named_and_a_search_ends_when_it_is_told() {
        let state = make_game("chess(fen=7k/8/8/8/8/8/R7/1R4K1 w - - 0 1)").unwrap().initial();
        let king = state.action_from_text("g1f1").unwrap();
        assert_eq!(forced_win(state.as_ref(), 2, &[king], &within(u64::MAX)), Answer::NoWin);
        let halted = Effort { positions: u64::MAX, halted: &|| true };
        assert_eq!(forced_win(state.as_ref(), 2, &[], &halted), Answer::Halted);
    }

    #[test]
    fn lines_end_in_mate() {
        let back_rank = "chess(fen=6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1)";
        assert_eq!(answer(back_rank, "", 3).1, "d1d8");
        let opera = "chess(fen=4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16)";
        assert_eq!(answer(opera, "", 1).0, Answer::NoWin);
        for most in [2, 4] {
            assert_eq!(answer(opera, "", most).1, "b3b8 d7b8 d1d8");
        }
    }

    #[test]
    fn a_stalemate_is_no_win_and_mate_comes_before_the_fifty_moves() {
        assert_eq!(length("chess(fen=k7/8/1Q6/8/8/8/8/7K w - - 0 1)", 1), None);
        assert_eq!(length("chess(fen=k7/7R/1K6/8/8/8/8/8 w - - 99 80)", 1), Some(1));
        assert_eq!(length("chess(fen=7k/8/8/8/8/8/R7/1R4K1 w - - 99 80)", 2), None);
    }

    #[test]
    fn the_limit_of_positions_leaves_it_open() {
        let state = make_game("chess").unwrap().initial();
        assert_eq!(forced_win(state.as_ref(), 3, &[], &within(1000)), Answer::Halted);
        assert_eq!(forced_win(state.as_ref(), 1, &[], &within(1000)), Answer::NoWin);
    }

    #[test]
    fn every_game_has_them() {
        assert_eq!(answer("connect4", "3 3 4 4", 1).0, Answer::NoWin);
        assert_eq!(answer("connect4", "3 3 4 4", 2).1.split(' ').count(), 3);
        assert_eq!(length("tictactoe", 5), None);
    }
}
