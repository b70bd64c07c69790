//! Two-net search, MPV-MCTS (Lan et al. 2019): a small net searches, a large one corrects the most visited nodes.
//!
//! One tree, two statistics a node: visits and mean of the small net's turns (N_S, W_S / N_S) are the tree's records, those of the
//! large net's turns (N_L, W_L / N_L) stand beside them. The paper has two trees and says (section 5) that one is the same.

pub mod turns;

use crate::rules::Rule;
use crate::rules::setting::{ParamsError, choices, settings};
use crate::stats::{EdgeStats, Value};

/// One of the two networks; where there is one only, it is the small one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Net {
    /// The cheap one, which searches.
    #[default]
    Small = 0,
    /// The expensive one, which corrects.
    Large = 1,
}

/// Which nets know a node, and the way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeNets {
    /// The small net has evaluated it.
    pub small: bool,
    /// The large net has evaluated it.
    pub large: bool,
    /// Win - loss and share of draws by the small and by the large net, for the node's mover.
    pub values: [[f32; 2]; 2],
    /// The node above and the edge that leads here; `u32::MAX` at the root.
    pub parent: (u32, u32),
}

impl Default for NodeNets {
    fn default() -> Self {
        NodeNets { small: false, large: false, values: [[0.0; 2]; 2], parent: (u32::MAX, 0) }
    }
}

impl NodeNets {
    /// Whether this net knows the node.
    pub fn known_to(&self, net: Net) -> bool {
        match net {
            Net::Small => self.small,
            Net::Large => self.large,
        }
    }

    /// What this net says of the node.
    pub fn value(&self, net: Net) -> Value {
        let [wl, d] = self.values[net as usize];
        Value { wl: f64::from(wl), d }
    }
}

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
        /// Frontier nodes that the large net evaluates together; 1: exact.
        large_batch: u32 = 1, 1.0 => 4096.0;
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

impl SecondNet {
    fn check_more(&self) -> Result<(), ParamsError> {
        if self.small_visits == 0 && self.large_visits == 0 {
            return Err(ParamsError("small_visits and large_visits must not both be 0".into()));
        }
        Ok(())
    }

    /// V of a position from the point of view of the `net`'s turn, for one player: what both nets say of it as that player sees it.
    ///
    /// Reading A: V = alpha W_S / N_S + (1 - alpha) W_L / N_L; where one net alone has visits, its mean; `None` without any. A net
    /// that has the whole weight searches its own tree as if the other were not there.
    pub fn value(&self, net: Net, small: &EdgeStats, large: &EdgeStats) -> Option<Value> {
        // A mean of weight 0 is left out rather than multiplied by 0: it would still decide whether there is a
        // value at all.
        let small_counts = small.visits > 0 && !(net == Net::Large && self.alpha == 0.0);
        let large_counts = large.visits > 0 && !(net == Net::Small && self.alpha == 1.0);
        let (by_small, by_large) = (small.value(false), Value { wl: large.wl, d: large.d });
        match (small_counts, large_counts) {
            (true, true) if self.values == ValueReading::Means => Some(self.mixed_value(by_small, by_large)),
            (true, _) => Some(by_small),
            (false, true) => Some(by_large),
            (false, false) => None,
        }
    }

    /// alpha V_S + (1 - alpha) V_L.
    pub fn mixed_value(&self, small: Value, large: Value) -> Value {
        let mix = |small: f64, large: f64| self.alpha * small + (1.0 - self.alpha) * large;
        Value { wl: mix(small.wl, large.wl), d: mix(f64::from(small.d), f64::from(large.d)) as f32 }
    }

    /// P = beta p_S + (1 - beta) p_L; where one net alone knows the position, its prior.
    pub fn prior(&self, nets: NodeNets, small: f32, large: f32) -> f64 {
        match (nets.small, nets.large) {
            (true, true) => self.beta * f64::from(small) + (1.0 - self.beta) * f64::from(large),
            (false, true) => f64::from(large),
            _ => f64::from(small),
        }
    }
}
