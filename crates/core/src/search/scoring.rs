//! Which loop compares the scores of a node's edges: decided once, from the rules that are on.

use crate::params::SearchParams;
use crate::rules::early_visits::EarlyVisits;
use crate::rules::initial_trust::InitialTrust;
use crate::rules::prior_mixing::{PriorMixing, PriorMixingMode};
use crate::rules::tree_balance::TreeBalance;
use crate::rules::variance::{Variance, VarianceMode};

/// The loop over the edges of a node.
///
/// All of them find the edge that `ByRules` finds, with the same bits; the others are faster.
#[derive(Clone, Debug)]
pub enum Scoring {
    /// No rule changes scores: plain PUCT (`select.rs`).
    Plain,
    /// Rules that change single terms of the scores, and no other rule (`terms.rs`).
    Terms(TermRules),
    /// The variance rule with half-normal noise, and no other rule (`noise.rs`).
    Noise(Variance),
    /// The variance rule without noise, and no other rule (`spread.rs`).
    Spread(Variance),
    /// Any rules together (`scores.rs`).
    ByRules,
}

impl Scoring {
    /// The loop for these settings, in which neutral rules are left out.
    pub fn new(params: &SearchParams) -> Scoring {
        if !params.change_scores() {
            return Scoring::Plain;
        }
        // The fast loops know neither a second record of an edge nor proofs.
        if params.second_net.is_some() || params.solver.is_some() {
            return Scoring::ByRules;
        }
        let without_variance = SearchParams { variance: None, ..params.clone() };
        if let Some(rule) = params.variance.filter(|_| !without_variance.change_scores()) {
            return match rule.mode {
                VarianceMode::HalfNormal if rule.scale > 0.0 => Scoring::Noise(rule),
                VarianceMode::HalfNormal => Scoring::ByRules,
                _ => Scoring::Spread(rule),
            };
        }
        let without_terms = SearchParams {
            initial_trust: None,
            early_visits: None,
            prior_mixing: None,
            tree_balance: None,
            ..params.clone()
        };
        if without_terms.change_scores() { Scoring::ByRules } else { Scoring::Terms(TermRules::new(params)) }
    }

    /// Whether no rule changes scores.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Scoring::Plain)
    }
}

/// The rules that change single terms of the scores.
#[derive(Clone, Debug)]
pub struct TermRules {
    /// Those that are on: a sum of `TRUST`, `EARLY`, `MIXING` and `BALANCE`.
    pub(super) on: u8,
    pub(super) trust: InitialTrust,
    pub(super) early: EarlyVisits,
    pub(super) balance: TreeBalance,
    mixing: PriorMixing,
    /// Share of the uniform policy by depth; empty where it depends on more than the depth.
    shares: Vec<f64>,
}

impl TermRules {
    /// Initial trust: the value of an edge with few visits.
    pub(super) const TRUST: u8 = 1;
    /// Early visits: the denominator of U.
    pub(super) const EARLY: u8 = 2;
    /// Prior mixing: the prior.
    pub(super) const MIXING: u8 = 4;
    /// Tree balance: a factor of U, or a summand of Q.
    pub(super) const BALANCE: u8 = 8;
    /// Depths whose share of the uniform policy is looked up.
    const SHARES: usize = 128;

    fn new(params: &SearchParams) -> TermRules {
        let mut on = 0;
        for (rule, is_on) in [
            (Self::TRUST, params.initial_trust.is_some()),
            (Self::EARLY, params.early_visits.is_some()),
            (Self::MIXING, params.prior_mixing.is_some()),
            (Self::BALANCE, params.tree_balance.is_some()),
        ] {
            if is_on {
                on |= rule;
            }
        }
        let mixing = params.prior_mixing.unwrap_or_default();
        // The share takes a power of the depth, which is too slow to compute at every node.
        let depths = if mixing.mode == PriorMixingMode::Share { Self::SHARES } else { 0 };
        TermRules {
            on,
            trust: params.initial_trust.unwrap_or_default(),
            early: params.early_visits.unwrap_or_default(),
            balance: params.tree_balance.unwrap_or_default(),
            mixing,
            shares: (0..depths).map(|depth| mixing.share_at(depth.max(1), 1, 0.0)).collect(),
        }
    }

    /// Share of the uniform policy at a node of this many edges. `gap`: |network's Q - mean Q| of the node.
    #[inline]
    pub(super) fn share(&self, depth: usize, edges: usize, gap: impl FnOnce() -> f64) -> f64 {
        self.shares.get(depth).copied().unwrap_or_else(|| self.mixing.share_at(depth, edges, gap()))
    }
}
