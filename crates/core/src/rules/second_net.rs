//! Two-net search, MPV-MCTS (Lan et al. 2019): a small net searches, a large one corrects the most visited nodes.

use serde::{Deserialize, Serialize};

use crate::params::{ParamsError, within};

/// The order of small and large turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOrder {
    /// Large turns are drawn among all turns without replacement (the paper).
    Random,
    /// Evenly spread.
    RoundRobin,
    /// The first `large_first` large turns at once, the others at random.
    LargeFirst,
}

/// Which leaf of the large tree is evaluated next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LargePriority {
    /// The one with the most small visits (the paper).
    Visits,
    /// The one that PUCT reaches by N_L.
    OwnPuct,
    /// Small visits plus `parent_bonus` times those of the parent.
    ParentBonus,
}

/// How the values of two nets become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueReading {
    /// A: V = alpha W_S / N_S + (1 - alpha) W_L / N_L, means over the subtree by each net.
    Means,
    /// B: the two values of a state are mixed, and averaged over N_S.
    States,
}

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecondNet {
    /// b_S: small turns a move.
    pub small_visits: u32,
    /// b_L: large turns a move; 0 = the small net alone.
    pub large_visits: u32,
    /// Weight of the small net in the value, 0..=1.
    pub alpha: f64,
    /// Weight of the small net in the prior, 0..=1.
    pub beta: f64,
    /// The order of turns.
    pub order: TurnOrder,
    /// Large turns at the beginning of `large_first`.
    pub large_first: u32,
    /// Which leaf the large net sees next.
    pub priority: LargePriority,
    /// Weight of the parent's visits in `parent_bonus`, 0..=100.
    pub parent_bonus: f64,
    /// How the values become one.
    pub values: ValueReading,
    /// Frontier nodes that the large net evaluates together; 1 = exact.
    pub large_batch: u32,
}

impl Default for SecondNet {
    fn default() -> Self {
        SecondNet {
            small_visits: 800,
            large_visits: 100,
            alpha: 0.5,
            beta: 0.0,
            order: TurnOrder::Random,
            large_first: 50,
            priority: LargePriority::Visits,
            parent_bonus: 1.0,
            values: ValueReading::Means,
            large_batch: 1,
        }
    }
}

impl SecondNet {
    /// Leaves the search as it is: the small net alone.
    pub fn is_neutral(&self) -> bool {
        self.large_visits == 0
    }

    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("second_net.alpha", self.alpha, 0.0, 1.0)?;
        within("second_net.beta", self.beta, 0.0, 1.0)?;
        within("second_net.parent_bonus", self.parent_bonus, 0.0, 100.0)?;
        within("second_net.large_batch", f64::from(self.large_batch), 1.0, 4096.0)?;
        if self.small_visits == 0 && self.large_visits == 0 {
            return Err(ParamsError(
                "SearchParams.second_net: small_visits and large_visits must not both be 0".into(),
            ));
        }
        Ok(())
    }
}
