//! Selection where rules change single terms of the score. All branching on rules happens before the loop over edges, which is
//! compiled for every set of these rules, so that a rule costs no more than its term.
//!
//! The scores are those of `NodeScores`, to the last bit; it has all rules, one edge at a time.

use crate::search::Search;
use crate::search::scoring::TermRules;
use crate::search::select::{NodeView, Terms, best_edge};
use crate::stats::EdgeStats;

/// Selects an edge of a node whose own record is given.
type Selection = fn(&Search, &TermRules, u32, &EdgeStats) -> Option<usize>;

/// The loop over edges for each set of rules, by `TermRules::on`.
const SELECTIONS: [Selection; 16] = [
    Search::best_for::<0>,
    Search::best_for::<1>,
    Search::best_for::<2>,
    Search::best_for::<3>,
    Search::best_for::<4>,
    Search::best_for::<5>,
    Search::best_for::<6>,
    Search::best_for::<7>,
    Search::best_for::<8>,
    Search::best_for::<9>,
    Search::best_for::<10>,
    Search::best_for::<11>,
    Search::best_for::<12>,
    Search::best_for::<13>,
    Search::best_for::<14>,
    Search::best_for::<15>,
];

impl Search {
    /// Index of the edge with the greatest score, among equals the first. The root has no priors and no restriction of its own.
    #[inline]
    pub(super) fn best_by_terms(&self, rules: &TermRules, node: u32, own: &EdgeStats) -> Option<usize> {
        SELECTIONS[usize::from(rules.on)](self, rules, node, own)
    }

    /// `best_by_terms`, compiled for the set of rules ON.
    fn best_for<const ON: u8>(&self, rules: &TermRules, node: u32, own: &EdgeStats) -> Option<usize> {
        let view = NodeView::new(&self.setup, &self.tree, node, own, self.path.is_empty());
        let edges = self.tree.edges(node);
        let mut terms =
            NodeTerms::<ON> { rules, prior_share: 1.0, uniform_prior: 0.0, balance: &[], mean_balance: 1.0 };
        if ON & TermRules::MIXING > 0 {
            // A closure, because only the dynamic modes look at it.
            let gap = || (view.network_q(&self.tree, node) - view.parent_q()).abs();
            let uniform_share = rules.share(self.path.len() + 1, edges.len(), gap);
            terms.prior_share = 1.0 - uniform_share;
            terms.uniform_prior = uniform_share / edges.len() as f64;
        }
        if ON & TermRules::BALANCE > 0 {
            terms.balance = self.tree.columns.balance.factors(node, edges.len());
            terms.mean_balance = self.tree.columns.balance.level(node);
        }
        best_edge(&view, edges, self.tree.stats(node), &terms)
    }
}

/// The terms of one node under the set of rules ON.
struct NodeTerms<'a, const ON: u8> {
    rules: &'a TermRules,
    /// Share of the stored prior (prior mixing).
    prior_share: f64,
    /// What the uniform policy adds to it.
    uniform_prior: f64,
    /// Factors of U, or what is added to Q, by edge (tree balance).
    balance: &'a [f64],
    /// What the factors are divided by.
    mean_balance: f64,
}

impl<const ON: u8> NodeTerms<'_, ON> {
    /// What tree balance adds to Q of an edge with these visits.
    #[inline(always)]
    fn balance_bonus(&self, k: usize, visits: u32) -> f64 {
        let rule = &self.rules.balance;
        if rule.is_additive() && rule.adds(visits) { self.balance[k] } else { 0.0 }
    }
}

impl<const ON: u8> Terms for NodeTerms<'_, ON> {
    #[inline(always)]
    fn wants_unvisited_q(&self) -> bool {
        ON & TermRules::TRUST > 0
    }

    #[inline(always)]
    fn value(&self, k: usize, stats: &EdgeStats, mut q: f64, unvisited_q: f64) -> f64 {
        if ON & TermRules::TRUST > 0 && !stats.is_end() {
            q = self.rules.trust.trusted(q, stats.visits, unvisited_q);
        }
        if ON & TermRules::BALANCE > 0 {
            q += self.balance_bonus(k, stats.visits);
        }
        q
    }

    #[inline(always)]
    fn unvisited_value(&self, k: usize, unvisited_q: f64) -> f64 {
        if ON & TermRules::BALANCE > 0 { unvisited_q + self.balance_bonus(k, 0) } else { unvisited_q }
    }

    #[inline(always)]
    fn bonus(&self, view: &NodeView, k: usize, mut prior: f64, begun: u32) -> f64 {
        if ON & TermRules::MIXING > 0 {
            prior = self.prior_share * prior + self.uniform_prior;
        }
        let mut u = view.u(prior, begun);
        if ON & TermRules::EARLY > 0 {
            // From the beginning, as `NodeScores` computes it: U times a quotient would have other bits.
            u = view.exploration() * prior / self.rules.early.denominator(f64::from(begun));
        }
        if ON & TermRules::BALANCE > 0 && !self.rules.balance.is_additive() {
            u *= self.balance[k] / self.mean_balance;
        }
        u
    }

    #[inline(always)]
    fn looks_at_all(&self) -> bool {
        ON & TermRules::BALANCE > 0
    }
}
