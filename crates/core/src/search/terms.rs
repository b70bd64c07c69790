//! Selection where rules change single terms of the score. All branching on rules happens before the loop over edges, which is
//! compiled for every set of these rules, so that a rule costs no more than its term.
//!
//! The scores are those of `NodeScores`, to the last bit; it has all rules, one edge at a time.

use crate::params::SearchParams;
use crate::rules::early_visits::EarlyVisits;
use crate::rules::initial_trust::InitialTrust;
use crate::rules::prior_mixing::{PriorMixing, PriorMixingMode};
use crate::rules::tree_balance::TreeBalance;
use crate::search::Search;
use crate::search::select::{NodeView, Terms, best_edge};
use crate::search::setup::Setup;
use crate::stats::EdgeStats;

/// Rules of a set: the value of an edge with few visits (initial trust).
const TRUST: u8 = 1;
/// The denominator of U (early visits).
const EARLY: u8 = 2;
/// The prior (prior mixing).
const MIXING: u8 = 4;
/// A factor of U, or what is added to Q (tree balance).
const BALANCE: u8 = 8;

/// Depths whose share of the uniform policy is looked up.
const SHARES: usize = 128;

/// The rules that change single terms, where no other rule has a say in scores.
#[derive(Clone, Debug)]
pub struct TermRules {
    rules: u8,
    trust: InitialTrust,
    early: EarlyVisits,
    mixing: PriorMixing,
    balance: TreeBalance,
    /// Share of the uniform policy by depth, where it depends on depth alone.
    shares: Vec<f64>,
}

impl TermRules {
    /// The rules of these settings; `None` where others change scores, or none does.
    pub fn new(setup: &Setup) -> Option<TermRules> {
        let params = &setup.params;
        // What is left when these rules are off: if that still changes scores, another rule takes part.
        let without = SearchParams {
            initial_trust: None,
            early_visits: None,
            prior_mixing: None,
            tree_balance: None,
            ..params.clone()
        };
        let others = setup.two_nets || setup.solves || without.change_scores();
        let mut rules = 0;
        for (rule, on) in [
            (TRUST, params.initial_trust.is_some()),
            (EARLY, params.early_visits.is_some()),
            (MIXING, params.prior_mixing.is_some()),
            (BALANCE, params.tree_balance.is_some()),
        ] {
            rules |= if on { rule } else { 0 };
        }
        let mixing = params.prior_mixing.unwrap_or_default();
        let by_depth = if mixing.mode == PriorMixingMode::Share { SHARES } else { 0 };
        (rules > 0 && !others).then(|| TermRules {
            rules,
            trust: params.initial_trust.unwrap_or_default(),
            early: params.early_visits.unwrap_or_default(),
            mixing,
            balance: params.tree_balance.unwrap_or_default(),
            // The share takes a power of the depth, which is too slow to compute at every node.
            shares: (0..by_depth).map(|depth| mixing.share_at(depth.max(1), 1, 0.0)).collect(),
        })
    }

    /// Share of the uniform policy at a node of this many edges.
    #[inline]
    fn share(&self, depth: usize, edges: usize, gap: impl FnOnce() -> f64) -> f64 {
        self.shares.get(depth).copied().unwrap_or_else(|| self.mixing.share_at(depth, edges, gap()))
    }
}

/// Calls a method for the set of rules that is on.
macro_rules! for_rules {
    ($rules:expr, $search:ident.$method:ident $arguments:tt, $($set:literal)*) => {
        match $rules {
            $($set => $search.$method::<$set>$arguments,)*
            _ => unreachable!("a set of four rules"),
        }
    };
}

impl Search {
    /// Index of the edge with the greatest score, among equals the first. The root has no priors and no restriction of its own.
    #[inline]
    pub(super) fn best_by_terms(&self, rules: &TermRules, node: u32, own: &EdgeStats) -> Option<usize> {
        for_rules!(rules.rules, self.best_of(rules, node, own), 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    }

    fn best_of<const RULES: u8>(&self, rules: &TermRules, node: u32, own: &EdgeStats) -> Option<usize> {
        let view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        let (edges, stats) = (self.tree.edges(node), self.tree.stats(node));
        let mut terms = NodeTerms::<RULES> { rules, keep: 1.0, even: 0.0, factors: &[], level: 1.0 };
        if RULES & MIXING > 0 {
            // A closure, because only the dynamic modes look at it.
            let gap = || (view.network_q(&self.tree, node) - view.parent_q()).abs();
            let share = rules.share(self.path.len() + 1, edges.len(), gap);
            (terms.keep, terms.even) = (1.0 - share, share / edges.len() as f64);
        }
        if RULES & BALANCE > 0 {
            let balance = &self.tree.columns.balance;
            (terms.factors, terms.level) = (balance.factors(node, edges.len()), balance.level(node));
        }
        best_edge(&view, edges, stats, &terms)
    }
}

/// The terms of one node under a set of rules.
struct NodeTerms<'a, const RULES: u8> {
    rules: &'a TermRules,
    /// What is kept of a prior, and what the uniform policy adds (prior mixing).
    keep: f64,
    even: f64,
    /// Factors of U, or what is added to Q, by edge (tree balance).
    factors: &'a [f64],
    /// What the factors are divided by.
    level: f64,
}

impl<const RULES: u8> NodeTerms<'_, RULES> {
    /// What tree balance adds to Q of an edge with these visits.
    #[inline(always)]
    fn added(&self, k: usize, visits: u32) -> f64 {
        let balance = &self.rules.balance;
        if balance.is_additive() && balance.adds(visits) { self.factors[k] } else { 0.0 }
    }
}

impl<const RULES: u8> Terms for NodeTerms<'_, RULES> {
    #[inline(always)]
    fn wants_unvisited_q(&self) -> bool {
        RULES & TRUST > 0
    }

    #[inline(always)]
    fn value(&self, k: usize, stats: &EdgeStats, mut q: f64, unvisited_q: f64) -> f64 {
        if RULES & TRUST > 0 && !stats.is_end() {
            q = self.rules.trust.trusted(q, stats.visits, unvisited_q);
        }
        if RULES & BALANCE > 0 { q + self.added(k, stats.visits) } else { q }
    }

    #[inline(always)]
    fn unvisited_value(&self, k: usize, unvisited_q: f64) -> f64 {
        if RULES & BALANCE > 0 { unvisited_q + self.added(k, 0) } else { unvisited_q }
    }

    #[inline(always)]
    fn bonus(&self, view: &NodeView, k: usize, prior: f64, begun: u32) -> f64 {
        let prior = if RULES & MIXING > 0 { self.keep * prior + self.even } else { prior };
        let u = match RULES & EARLY > 0 {
            true => view.exploration() * prior / self.rules.early.denominator(f64::from(begun)),
            false => view.u(prior, begun),
        };
        if RULES & BALANCE > 0 && !self.rules.balance.is_additive() { u * (self.factors[k] / self.level) } else { u }
    }

    #[inline(always)]
    fn looks_at_all(&self) -> bool {
        RULES & BALANCE > 0
    }
}
