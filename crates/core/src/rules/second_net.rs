//! Several nets in one tree, MPV-MCTS (Lan et al. 2019): a small net searches, a large one corrects the most visited nodes.
//!
//! One tree, a statistic a net: visits and mean of the small net's turns (N_S, W_S / N_S) are the tree's records, those of a
//! larger net's turns (N_L, W_L / N_L) stand beside them. The paper has a tree for each net and says (section 5) that one is the same;
//! it has two nets, and says of more that the smallest one alone selects by PUCT.

pub mod more;
pub mod net;
pub mod turns;

pub use net::{MAX_NETS, Net, NetSet, NodeNets};

use crate::rules::Rule;
use crate::rules::second_net::more::{FurtherNet, MoreNets};
use crate::rules::setting::{ParamsError, choices, settings};
use crate::stats::{EdgeStats, Value};

choices! {
    /// The order of small and large turns.
    pub enum TurnOrder {
        /// Large turns are drawn among all turns without replacement (the paper).
        Random,
        /// Evenly spread.
        RoundRobin,
        /// The first `large_first` large turns at once, the others at random.
        LargeFirst,
    }
}

choices! {
    /// Which leaf of the large tree is evaluated next.
    pub enum LargePriority {
        /// The one with the most small visits (the paper).
        Visits,
        /// The one that PUCT reaches by N_L.
        OwnPuct,
        /// Small visits plus `parent_bonus` times those of the parent.
        ParentBonus,
    }
}

choices! {
    /// How the values of two nets become one.
    pub enum ValueReading {
        /// A: V = alpha W_S / N_S + (1 - alpha) W_L / N_L, means over the subtree by each net.
        Means,
        /// B: the two values of a state are mixed, and averaged over N_S.
        States,
    }
}

settings! {
    /// Two-net search, MPV-MCTS (Lan et al. 2019): a small net searches, a large one corrects the most visited nodes.
    SecondNet: Copy + check_more {
        /// b_S: small turns a move.
        small_visits: u32 = 800, 0.0 => 4e9;
        /// b_L: large turns a move; 0: the small net alone.
        large_visits: u32 = 100, 0.0 => 4e9;
        /// Weight of the small net in the value.
        alpha: f64 = 0.5, 0.0 => 1.0;
        /// Weight of the small net in the prior.
        beta: f64 = 0.0, 0.0 => 1.0;
        /// The order of turns.
        order: TurnOrder = TurnOrder::Random;
        /// Large turns at the beginning of `large_first`.
        large_first: u32 = 50, 0.0 => 4e9;
        /// The leaf that the large net sees next.
        priority: LargePriority = LargePriority::Visits;
        /// Weight of the parent's visits in `parent_bonus`.
        parent_bonus: f64 = 1.0, 0.0 => 100.0;
        /// How the two values become one: means over the subtree by each net (A), or state by state (B).
        values: ValueReading = ValueReading::Means;
        /// Frontier nodes that a larger net evaluates together; 1: exact.
        large_batch: u32 = 1, 1.0 => 4096.0;
        /// Nets after the second one, the smaller first, each as VISITS:ALPHA:BETA:PRIORITY. These are turns a move, shares of value and
        /// prior, of which the nets before it have the rest, and the leaf it sees next; left out: an equal share, 1, and `priority`.
        more: MoreNets = MoreNets::default();
    }
}

impl Rule for SecondNet {
    fn is_neutral(&self) -> bool {
        self.large_visits == 0
    }

    fn changes_scores(&self) -> bool {
        true
    }

    fn goes_with_two_nets(&self) -> bool {
        true
    }

    fn against_graph(&self) -> Option<&'static str> {
        (self.small_visits > 0).then_some("")
    }

    fn is_asked(&self) -> bool {
        false
    }
}

/// A number for each net.
pub type Weights = [f64; MAX_NETS];

impl SecondNet {
    fn check_more(&self) -> Result<(), ParamsError> {
        if self.small_visits == 0 && self.large_visits == 0 {
            return Err(ParamsError("small_visits and large_visits must not both be 0".into()));
        }
        if !self.more.is_empty() && (self.small_visits == 0 || self.large_visits == 0) {
            let got = format!("got {} and {}", self.small_visits, self.large_visits);
            return Err(ParamsError(format!(
                "small_visits and large_visits must be 1 or more where `more` has nets, {got}"
            )));
        }
        Ok(())
    }

    /// Number of nets.
    #[inline]
    pub fn num_nets(&self) -> usize {
        2 + self.more.len()
    }

    /// The nets, the smallest first.
    #[inline]
    pub fn nets(&self) -> impl Iterator<Item = Net> + use<> {
        (0..self.num_nets()).map(Net::new)
    }

    /// The nets after the small one.
    #[inline]
    pub fn larger(&self) -> impl Iterator<Item = Net> + use<> {
        (1..self.num_nets()).map(Net::new)
    }

    /// Which leaf a larger net evaluates next.
    pub fn priority_of(&self, net: Net) -> LargePriority {
        let own = if net.index() < 2 { None } else { self.more.get(net.index() - 2) };
        own.and_then(|further| further.priority).unwrap_or(self.priority)
    }

    /// Weights of the nets in a value that all of them have a part in; they sum to 1.
    #[inline]
    pub fn alphas(&self) -> Weights {
        weights(self.alpha, &self.more, |net| net.alpha)
    }

    /// Weights of the nets in the prior of a position that all of them know; they sum to 1.
    #[inline]
    pub fn betas(&self) -> Weights {
        weights(self.beta, &self.more, |net| net.beta)
    }

    /// The weights of some nets when the others are silent: w_i / sum w_j. Where these have no weight, the largest of them has all.
    #[inline]
    pub fn shares(&self, weights: Weights, nets: NetSet) -> Weights {
        if nets.len() == self.num_nets() {
            return weights;
        }
        let mut shares = [0.0; MAX_NETS];
        let mut total = 0.0;
        let mut largest = 0;
        for net in self.nets().filter(|net| nets.has(*net)) {
            (total, largest) = (total + weights[net.index()], net.index());
            shares[net.index()] = weights[net.index()];
        }
        if nets.len() == 1 || total == 0.0 {
            shares[largest] = 1.0;
        } else {
            shares.iter_mut().for_each(|share| *share /= total);
        }
        shares
    }

    /// V of a position from the point of view of the `net`'s turn, for one player: what all nets say of it as that player sees it.
    /// `stats_of`: the statistics of a net's turns.
    ///
    /// Reading A: V = sum of alpha_i W_i / N_i over the nets with visits, whose alphas sum to 1 (`shares`); `None` without any. A net
    /// that has the whole weight searches its own tree as if the others were not there.
    #[inline]
    pub fn value(&self, net: Net, stats_of: impl Fn(Net) -> EdgeStats) -> Option<Value> {
        if self.more.is_empty() {
            return self.value_of_two(net, &stats_of(Net::Small), &stats_of(Net::Large));
        }
        let alphas = self.alphas();
        let has_all = self.nets().all(|other| other == net || alphas[other.index()] == 0.0);
        // A mean of weight 0 is left out rather than multiplied by 0: it would still decide whether there is a
        // value at all.
        let visited = self.nets().filter(|other| (*other == net || !has_all) && stats_of(*other).visits > 0);
        let counted = visited.fold(NetSet::default(), NetSet::with);
        if self.values == ValueReading::States && counted.has(Net::Small) {
            return Some(stats_of(Net::Small).value(false));
        }
        self.mix(alphas, counted, |net| stats_of(net).value(false))
    }

    /// `value` where there are two nets: written out, as every selection computes it for every edge.
    #[inline]
    fn value_of_two(&self, net: Net, small: &EdgeStats, large: &EdgeStats) -> Option<Value> {
        let has_all = if net == Net::Small { self.alpha == 1.0 } else { self.alpha == 0.0 };
        let small_counts = small.visits > 0 && (net == Net::Small || !has_all);
        let large_counts = large.visits > 0 && (net == Net::Large || !has_all);
        match (small_counts, large_counts) {
            (false, false) => None,
            (false, true) => Some(large.value(false)),
            (true, false) => Some(small.value(false)),
            (true, true) if self.values == ValueReading::States => Some(small.value(false)),
            (true, true) => {
                let small = small.value(false);
                let large = large.value(false);
                let wl = self.alpha * small.wl + (1.0 - self.alpha) * large.wl;
                let d = self.alpha * f64::from(small.d) + (1.0 - self.alpha) * f64::from(large.d);
                Some(Value { wl, d: d as f32 })
            }
        }
    }

    /// Sum of alpha_i v_i of some nets; `None` of none.
    pub fn mixed_value(&self, nets: NetSet, value_of: impl Fn(Net) -> Value) -> Option<Value> {
        self.mix(self.alphas(), nets, value_of)
    }

    #[inline]
    fn mix(&self, alphas: Weights, nets: NetSet, value_of: impl Fn(Net) -> Value) -> Option<Value> {
        // The one net that knows a position has the whole weight: most positions, of which nothing is to be computed.
        if nets.len() == 1 {
            return self.nets().find(|net| nets.has(*net)).map(value_of);
        }
        let shares = self.shares(alphas, nets);
        let term = |net: Net| {
            let Value { wl, d } = value_of(net);
            (shares[net.index()] * wl, shares[net.index()] * f64::from(d))
        };
        let terms = self.nets().filter(|net| nets.has(*net)).map(term);
        let (wl, d) = terms.reduce(|sum, term| (sum.0 + term.0, sum.1 + term.1))?;
        Some(Value { wl, d: d as f32 })
    }

    /// P = sum of beta_i p_i of the nets that know a position; 0 of none.
    #[inline]
    pub fn prior(&self, nets: NetSet, prior_of: impl Fn(Net) -> f32) -> f64 {
        if nets.len() == 1 {
            return self.nets().find(|net| nets.has(*net)).map_or(0.0, |net| f64::from(prior_of(net)));
        }
        // Of two nets it is written out, for the same reason as `value_of_two`.
        if self.more.is_empty() && nets.len() == 2 {
            let [small, large] = [Net::Small, Net::Large].map(|net| f64::from(prior_of(net)));
            return self.beta * small + (1.0 - self.beta) * large;
        }
        let betas = self.shares(self.betas(), nets);
        let term = |net: Net| betas[net.index()] * f64::from(prior_of(net));
        self.nets().filter(|net| nets.has(*net)).map(term).reduce(|sum, term| sum + term).unwrap_or(0.0)
    }
}

/// `first` and the rest of 1 for two nets; each further one takes its share from all before it.
#[inline]
fn weights(first: f64, more: &MoreNets, share_of: impl Fn(FurtherNet) -> f64) -> Weights {
    let mut weights = [0.0; MAX_NETS];
    weights[..2].copy_from_slice(&[first, 1.0 - first]);
    if more.is_empty() {
        return weights;
    }
    for (place, share) in more.iter().map(share_of).enumerate() {
        weights[..place + 2].iter_mut().for_each(|weight| *weight *= 1.0 - share);
        weights[place + 2] = share;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(more: &str) -> SecondNet {
        SecondNet { alpha: 0.4, beta: 0.0, more: MoreNets::try_from(more.to_string()).unwrap(), ..Default::default() }
    }

    fn set(nets: &[usize]) -> NetSet {
        nets.iter().map(|net| Net::new(*net)).fold(NetSet::default(), NetSet::with)
    }

    #[test]
    fn weights_sum_to_one_whoever_is_silent() {
        let rule = rule("20:0.5:0.25 5:0.1:0");
        assert_eq!(rule.alphas()[..4], [0.4 * 0.5 * 0.9, 0.6 * 0.5 * 0.9, 0.5 * 0.9, 0.1]);
        for nets in (1_usize..16).map(|bits| set(&(0..4).filter(|net| bits >> net & 1 == 1).collect::<Vec<_>>())) {
            for weights in [rule.alphas(), rule.betas()] {
                let shares = rule.shares(weights, nets);
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{nets:?}: {shares:?}");
                assert!(Net::all().all(|net| nets.has(net) || shares[net.index()] == 0.0));
            }
        }
        assert_eq!(rule.shares(rule.betas(), set(&[0, 3]))[..4], [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn nets_without_numbers_share_the_value_equally() {
        let rule = SecondNet { alpha: 0.5, ..rule("20 5") };
        let alphas = rule.alphas();
        let betas = rule.betas();
        assert!(alphas[..4].iter().all(|alpha| (alpha - 0.25).abs() < 1e-12), "{alphas:?}");
        assert_eq!(betas[..4], [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn two_nets_have_the_weights_of_the_paper() {
        let rule = rule("");
        assert_eq!(rule.alphas()[..3], [0.4, 0.6, 0.0]);
        assert_eq!(rule.shares(rule.alphas(), set(&[0, 1])), rule.alphas());
        assert_eq!(rule.shares(rule.alphas(), set(&[1]))[..2], [0.0, 1.0]);
    }
}
