//! Whose turn it is: how the nets share a move.
//!
//! All is a function of the root's visits begun by each net, with what waits for an answer, of the limit, and of one random number a
//! turn, so a turn that was taken back leaves no trace. The random numbers have a generator of their own: the draws of other rules
//! are the same with and without a second net.

use crate::math::rng::{CounterRng, draw};
use crate::rules::second_net::{MAX_NETS, Net, SecondNet, TurnOrder};

/// A count of turns of each net.
pub type Turns = [u64; MAX_NETS];

impl SecondNet {
    /// Turns of a net a move.
    #[inline]
    fn budget(&self, net: Net) -> u64 {
        let visits = match net {
            Net::Small => self.small_visits,
            Net::Large => self.large_visits,
            further => self.more.get(further.index() - 2).map_or(0, |net| net.visits),
        };
        u64::from(visits)
    }

    /// What the root should have at the end of the move: `limit` small visits and those of other nets in proportion; without a limit
    /// (0), the least number of whole moves, of b_i turns each, that is not done.
    pub fn goal(&self, begun: &Turns, limit: u32) -> Turns {
        let mut goal = [0; MAX_NETS];
        if limit > 0 {
            let limit = u64::from(limit);
            let small = self.budget(Net::Small);
            goal[0] = limit;
            for net in self.larger() {
                goal[net.index()] = (limit * self.budget(net) + small / 2) / small;
            }
            return goal;
        }
        let done = self.nets().map(|net| begun[net.index()] / self.budget(net)).min().unwrap_or(0);
        for net in self.nets() {
            goal[net.index()] = (done + 1) * self.budget(net);
        }
        goal
    }

    /// Whose turn it is; `None` when the goal is reached. `uniform` gives the turn's random number, in [0, 1).
    ///
    /// A turn of a larger net that was begun goes on to a whole batch of `large_batch`. Where two nets have the same claim, the smaller
    /// one goes first.
    pub fn next_net(&self, begun: &Turns, goal: &Turns, uniform: impl FnOnce() -> f64) -> Option<Net> {
        let left = |net: Net| goal[net.index()].saturating_sub(begun[net.index()]);
        let open = || self.nets().filter(|net| left(*net) > 0);
        if open().count() <= 1 {
            return open().next();
        }
        let larger = || open().filter(|net| *net != Net::Small);
        // A batch of a larger net is begun and ended without other turns in between: its leaves are chosen by the
        // same statistics.
        let in_batch = |net: &Net| !begun[net.index()].is_multiple_of(u64::from(self.large_batch));
        if let Some(net) = larger().find(in_batch) {
            return Some(net);
        }
        match self.order {
            TurnOrder::RoundRobin => {
                // Cross-multiplied, so that no rounding decides.
                let is_behind = |net: Net, best: Net| left(net) * goal[best.index()] > left(best) * goal[net.index()];
                open().reduce(|best, net| if is_behind(net, best) { net } else { best })
            }
            TurnOrder::LargeFirst => {
                let first = larger().find(|net| begun[net.index()] < u64::from(self.large_first));
                first.or_else(|| self.drawn_net(left, uniform()))
            }
            TurnOrder::Random => self.drawn_net(left, uniform()),
        }
    }

    /// A net drawn without replacement: the chance is the share of what is left, a batch of a larger net as one turn.
    fn drawn_net(&self, left: impl Fn(Net) -> u64, uniform: f64) -> Option<Net> {
        let turns =
            |net: Net| if net == Net::Small { left(net) } else { left(net).div_ceil(u64::from(self.large_batch)) };
        let drawn = uniform * self.nets().map(turns).sum::<u64>() as f64;
        let mut passed = 0;
        let reached = |net: &Net| {
            passed += turns(*net);
            drawn < passed as f64
        };
        // Rounding may bring the product up to the whole.
        self.nets().find(reached).or_else(|| self.nets().filter(|net| left(*net) > 0).last())
    }
}

/// The random number, in [0, 1), of turn number `turn` of a tree.
pub fn turn_uniform(tree_key: u64, turn: u64) -> f64 {
    CounterRng { key: draw(tree_key, u64::MAX - 1), counter: turn }.uniform()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::second_net::more::MoreNets;

    fn play(rule: &SecondNet, limit: u32) -> (Turns, String) {
        let mut begun = Turns::default();
        let mut order = String::new();
        while let Some(net) = rule.next_net(&begun, &rule.goal(&begun, limit), || turn_uniform(7, order.len() as u64)) {
            begun[net.index()] += 1;
            order.push(['s', 'L', '3', '4'][net.index()]);
        }
        (begun, order)
    }

    fn more(text: &str) -> MoreNets {
        MoreNets::try_from(text.to_string()).unwrap()
    }

    #[test]
    fn every_order_spends_all_budgets() {
        for order in [TurnOrder::Random, TurnOrder::RoundRobin, TurnOrder::LargeFirst] {
            for large_batch in [1, 3, 16] {
                let rule = SecondNet { order, large_batch, small_visits: 80, large_visits: 20, ..Default::default() };
                assert_eq!(play(&rule, 80).0[..2], [80, 20]);
                assert_eq!(play(&rule, 1000).0[..2], [1000, 250]);
                assert_eq!(play(&rule, 1).0[..2], [1, 0]);
                let rule = SecondNet { more: more("10 4"), ..rule };
                assert_eq!(play(&rule, 80).0[..4], [80, 20, 10, 4]);
                assert_eq!(play(&rule, 1000).0[..4], [1000, 250, 125, 50]);
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
    fn nets_with_equal_settings_go_the_smaller_first() {
        let rule = SecondNet {
            order: TurnOrder::RoundRobin,
            small_visits: 4,
            large_visits: 2,
            more: more("2 2"),
            ..Default::default()
        };
        assert_eq!(play(&rule, 4).1, "sL34ssL34s");
        let rule = SecondNet { order: TurnOrder::LargeFirst, large_first: 2, ..rule };
        assert_eq!(play(&rule, 4).1, "LL3344ssss");
    }

    #[test]
    fn without_a_limit_moves_follow_each_other() {
        let rule = SecondNet { small_visits: 8, large_visits: 2, ..Default::default() };
        let goal = |small, large| {
            let mut begun = Turns::default();
            (begun[0], begun[1]) = (small, large);
            rule.goal(&begun, 0)[..2].to_vec()
        };
        assert_eq!(goal(7, 2), [8, 2]);
        assert_eq!(goal(8, 2), [16, 4]);
        assert_eq!(goal(30, 0), [8, 2]);
    }
}
