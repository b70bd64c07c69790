//! Selection where rules change single terms of the score. All branching on rules happens before the loop over edges, which is
//! compiled for every set of these rules, so that a rule costs no more than its term.
//!
//! The scores are those of `NodeScores`, to the last bit; it has all rules, one edge at a time.

use crate::search::Search;
use crate::search::scoring::TermRules;
use crate::search::select::{NodeView, Terms, best_edge};
use crate::stats::EdgeStats;

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
        for_rules!(rules.on, self.best_of(rules, node, own), 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    }

    fn best_of<const RULES: u8>(&self, rules: &TermRules, node: u32, own: &EdgeStats) -> Option<usize> {
        let view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        let (edges, stats) = (self.tree.edges(node), self.tree.stats(node));
        let mut terms = NodeTerms::<RULES> { rules, keep: 1.0, even: 0.0, factors: &[], level: 1.0 };
        if RULES & TermRules::MIXING > 0 {
            // A closure, because only the dynamic modes look at it.
            let gap = || (view.network_q(&self.tree, node) - view.parent_q()).abs();
            let share = rules.share(self.path.len() + 1, edges.len(), gap);
            (terms.keep, terms.even) = (1.0 - share, share / edges.len() as f64);
        }
        if RULES & TermRules::BALANCE > 0 {
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
        RULES & TermRules::TRUST > 0
    }

    #[inline(always)]
    fn value(&self, k: usize, stats: &EdgeStats, mut q: f64, unvisited_q: f64) -> f64 {
        if RULES & TermRules::TRUST > 0 && !stats.is_end() {
            q = self.rules.trust.trusted(q, stats.visits, unvisited_q);
        }
        if RULES & TermRules::BALANCE > 0 { q + self.added(k, stats.visits) } else { q }
    }

    #[inline(always)]
    fn unvisited_value(&self, k: usize, unvisited_q: f64) -> f64 {
        if RULES & TermRules::BALANCE > 0 { unvisited_q + self.added(k, 0) } else { unvisited_q }
    }

    #[inline(always)]
    fn bonus(&self, view: &NodeView, k: usize, prior: f64, begun: u32) -> f64 {
        let prior = if RULES & TermRules::MIXING > 0 { self.keep * prior + self.even } else { prior };
        let u = match RULES & TermRules::EARLY > 0 {
            true => view.exploration() * prior / self.rules.early.denominator(f64::from(begun)),
            false => view.u(prior, begun),
        };
        if RULES & TermRules::BALANCE > 0 && !self.rules.balance.is_additive() {
            u * (self.factors[k] / self.level)
        } else {
            u
        }
    }

    #[inline(always)]
    fn looks_at_all(&self) -> bool {
        RULES & TermRules::BALANCE > 0
    }
}
