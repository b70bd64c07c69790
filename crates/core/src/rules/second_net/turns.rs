//! Whose turn it is: how small and large turns share a move.
//!
//! All is a function of the root's visits begun, N_S and N_L with what waits for an answer, of the limit, and of one random number a
//! turn, so a turn that was taken back leaves no trace. The random numbers have a generator of their own: the draws of other rules
//! are the same with and without a second net.

use crate::math::rng::{CounterRng, draw};
use crate::rules::second_net::{Net, SecondNet, TurnOrder};

/// A count of small and of large turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Small turns.
    pub small: u64,
    /// Large turns.
    pub large: u64,
}

impl SecondNet {
    /// What the root should have at the end of the move: `limit` small visits and large ones in proportion; without a limit (0), the
    /// least number of whole moves, of b_S and b_L turns each, that is not done.
    pub fn goal(&self, begun: Turns, limit: u32) -> Turns {
        let (b_s, b_l) = (u64::from(self.small_visits), u64::from(self.large_visits));
        if limit > 0 {
            let small = u64::from(limit);
            return Turns { small, large: (small * b_l + b_s / 2) / b_s };
        }
        let moves = (begun.small / b_s).min(begun.large / b_l) + 1;
        Turns { small: moves * b_s, large: moves * b_l }
    }

    /// Whose turn it is; `None` when the goal is reached. `uniform` gives the turn's random number, in [0, 1).
    ///
    /// A large turn that was begun goes on to a whole batch of `large_batch`.
    pub fn next_net(&self, begun: Turns, goal: Turns, uniform: impl FnOnce() -> f64) -> Option<Net> {
        let left =
            Turns { small: goal.small.saturating_sub(begun.small), large: goal.large.saturating_sub(begun.large) };
        let large = match (left.small, left.large) {
            (0, 0) => return None,
            (_, 0) => false,
            (0, _) => true,
            // A batch of the large net is begun and ended without small turns in between: its leaves are chosen by
            // the same statistics.
            _ if !begun.large.is_multiple_of(u64::from(self.large_batch)) => true,
            _ => match self.order {
                // Cross-multiplied, so that no rounding decides.
                TurnOrder::RoundRobin => left.large * goal.small > left.small * goal.large,
                TurnOrder::LargeFirst if begun.large < u64::from(self.large_first) => true,
                TurnOrder::Random | TurnOrder::LargeFirst => {
                    let batches = left.large.div_ceil(u64::from(self.large_batch));
                    // Without replacement: the chance is the share of what is left.
                    uniform() * (left.small + batches) as f64 >= left.small as f64
                }
            },
        };
        Some(if large { Net::Large } else { Net::Small })
    }
}

/// The random number, in [0, 1), of turn number `turn` of a tree.
pub fn turn_uniform(tree_key: u64, turn: u64) -> f64 {
    CounterRng { key: draw(tree_key, u64::MAX - 1), counter: turn }.uniform()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(rule: &SecondNet, limit: u32) -> (Turns, String) {
        let (mut begun, mut order) = (Turns::default(), String::new());
        while let Some(net) = rule.next_net(begun, rule.goal(begun, limit), || turn_uniform(7, order.len() as u64)) {
            match net {
                Net::Small => begun.small += 1,
                Net::Large => begun.large += 1,
            }
            order.push(if net == Net::Small { 's' } else { 'L' });
        }
        (begun, order)
    }

    #[test]
    fn every_order_spends_both_budgets() {
        for order in [TurnOrder::Random, TurnOrder::RoundRobin, TurnOrder::LargeFirst] {
            for large_batch in [1, 3, 16] {
                let rule = SecondNet { order, large_batch, small_visits: 80, large_visits: 20, ..Default::default() };
                assert_eq!(play(&rule, 80).0, Turns { small: 80, large: 20 });
                assert_eq!(play(&rule, 1000).0, Turns { small: 1000, large: 250 });
                assert_eq!(play(&rule, 1).0, Turns { small: 1, large: 0 });
            }
        }
    }

    #[test]
    fn round_robin_spreads_large_turns_evenly() {
        let rule = SecondNet { order: TurnOrder::RoundRobin, small_visits: 9, large_visits: 3, ..Default::default() };
        assert_eq!(play(&rule, 9).1, "sLsssLsssLss");
        let rule = SecondNet { large_batch: 2, ..rule };
        assert_eq!(play(&rule, 9).1, "sLLssssssLss");
    }

    #[test]
    fn without_a_limit_moves_follow_each_other() {
        let rule = SecondNet { small_visits: 8, large_visits: 2, ..Default::default() };
        assert_eq!(rule.goal(Turns { small: 7, large: 2 }, 0), Turns { small: 8, large: 2 });
        assert_eq!(rule.goal(Turns { small: 8, large: 2 }, 0), Turns { small: 16, large: 4 });
        assert_eq!(rule.goal(Turns { small: 30, large: 0 }, 0), Turns { small: 8, large: 2 });
    }
}
