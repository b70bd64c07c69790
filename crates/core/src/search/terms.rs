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
use crate::search::select::NodeView;
use crate::search::setup::Setup;
use crate::stats::{EdgeStats, Prior};

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
        let (trusts, eases, mixes) = (RULES & TRUST > 0, RULES & EARLY > 0, RULES & MIXING > 0);
        let balances = RULES & BALANCE > 0;
        let view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        let (edges, stats) = (self.tree.edges(node), self.tree.stats(node));
        let (mut keep, mut even) = (1.0, 0.0);
        if mixes {
            let gap = || (view.network_q(&self.tree, node) - view.parent_q()).abs();
            let share = rules.share(self.path.len() + 1, edges.len(), gap);
            (keep, even) = (1.0 - share, share / edges.len() as f64);
        }
        let balance = &self.tree.columns.balance;
        let (factors, level) =
            if balances { (balance.factors(node, edges.len()), balance.level(node)) } else { (&[][..], 1.0) };
        let additive = balances && rules.balance.is_additive();
        let added = |k: usize, visits: u32| if additive && rules.balance.adds(visits) { factors[k] } else { 0.0 };
        let u = |k: usize, stored: Prior, begun: u32| {
            let prior = if mixes { keep * f64::from(stored.get()) + even } else { f64::from(stored.get()) };
            let denominator = if eases { rules.early.denominator(f64::from(begun)) } else { f64::from(1 + begun) };
            let u = view.exploration() * prior / denominator;
            if balances && !additive { u * (factors[k] / level) } else { u }
        };
        let (mut best, mut best_score, mut visited_prior, mut waiting) = (usize::MAX, f64::NEG_INFINITY, 0.0, false);
        let mut unvisited_q = 0.0;
        if trusts {
            // The values of visited edges need it, so their priors are summed first.
            let visited = stats.iter().filter(|stats| stats.visits > 0);
            unvisited_q = view.unvisited_q(visited.map(|stats| f64::from(stats.prior.get())).sum());
        }
        for (k, stats) in stats.iter().enumerate() {
            if stats.visits == 0 {
                waiting = true;
                continue;
            }
            let mut q = view.q(stats);
            if trusts && !stats.is_end() {
                q = rules.trust.trusted(q, stats.visits, unvisited_q);
            }
            if balances {
                q += added(k, stats.visits);
            }
            visited_prior += f64::from(stats.prior.get());
            let score = q + u(k, stats.prior, stats.visits + u32::from(stats.in_flight));
            let better = score > best_score;
            best = if better { k } else { best };
            best_score = if better { score } else { best_score };
        }
        if !trusts {
            unvisited_q = view.unvisited_q(visited_prior);
        }
        let mut consider = |k: usize, stored: Prior, begun: u32| {
            let q = if balances { unvisited_q + added(k, 0) } else { unvisited_q };
            let score = q + u(k, stored, begun);
            if score > best_score || (score == best_score && k < best) {
                (best, best_score) = (k, score);
            }
        };
        if waiting {
            let unvisited = stats.iter().enumerate().filter(|(_, stats)| stats.visits == 0);
            unvisited.for_each(|(k, stats)| consider(k, stats.prior, u32::from(stats.in_flight)));
        }
        // By prior the first of the others is the best of them; with factors any may be.
        let last = if balances { edges.len() } else { edges.len().min(stats.len() + 1) };
        edges[stats.len()..last].iter().zip(stats.len()..).for_each(|(edge, k)| consider(k, edge.stored_prior(), 0));
        (best < usize::MAX).then_some(best)
    }
}
