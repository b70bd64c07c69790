//! Sequential halving at the root of a search with Gumbel (Danihelka et al. 2022, algorithm 2).
//!
//! A halving begins with the m allowed actions of greatest g(a) + logits(a). In a phase all that remain get equally many visits;
//! then the half with the greater g(a) + logits(a) + sigma(completed Q(a)) goes on, until two are left. The visits of a halving
//! are those since it began: what a re-used tree brings along is known to Q and takes no turns. It begins at a new root, and
//! anew when the limit of visits or the restriction of the root changes.

use crate::game::Action;
use crate::rules::gumbel::{BelowRoot, Gumbel, Knowledge, endless_phase_visits, phase_visits};
use crate::rules::second_net::Net;
use crate::search::Search;
use crate::search::select::NodeView;
use crate::stats::{EdgeStats, Step};

/// Where a halving stands.
#[derive(Clone, Debug, Default)]
pub struct Halving {
    /// The limit of visits that it began with; `None`: it has not begun.
    limit: Option<u32>,
    /// Indices of the root's edges that are still compared, ascending.
    remaining: Vec<usize>,
    /// Visits that every edge had when it began, those in flight included.
    began: Vec<i64>,
    /// m.
    considered: u32,
    /// Visits that are shared; `None`: there is no limit.
    budget: Option<u32>,
    /// Number of halvings before this one, without a limit.
    round: u32,
    /// New visits that each remaining edge has when the phase is over.
    level: i64,
}

impl Halving {
    fn add_phase(&mut self) {
        let remaining = self.remaining.len() as u32;
        // Without a limit of visits (analysis) there is no budget to divide: rounds of growing length take its
        // place.
        let visits = match self.budget {
            Some(budget) => phase_visits(budget, self.considered, remaining),
            None => endless_phase_visits(self.round, self.considered, remaining),
        };
        self.level += i64::from(visits);
    }

    /// The next phase compares the same actions.
    fn repeats(&self) -> bool {
        self.remaining.len() <= 2 && (self.budget.is_some() || self.considered <= 2)
    }
}

impl Search {
    /// Another descent for this net may begin now.
    #[inline(always)]
    pub(super) fn may_descend(&mut self, net: Net) -> bool {
        self.next_net() == Some(net) && !self.waits_to_halve()
    }

    /// Begins and halves where it is time; true while that needs answers which are in flight.
    #[inline]
    fn waits_to_halve(&mut self) -> bool {
        self.setup.halves() && self.turn_phases()
    }

    #[inline(never)]
    fn turn_phases(&mut self) -> bool {
        let Some(root) = self.tree.root_node() else { return false };
        // Phases are parts of the limit, so another limit needs other phases.
        if self.rules.halving.limit != Some(self.visit_limit) {
            self.begin_halving(root, 0);
        }
        loop {
            let left = self.left_open(root);
            // An action still lacks visits of this phase, and they may begin at once.
            if left.iter().any(|k| self.new_visits(root, *k) < self.rules.halving.level) {
                return false;
            }
            // The comparison would change nothing, so the next phase need not wait for the answers in flight.
            if !left.is_empty() && self.rules.halving.repeats() {
                self.rules.halving.add_phase();
            } else if self.tree.root.in_flight > 0 {
                // To halve, all Q of the phase must be complete: a Q that lacks visits in flight would depend on
                // the size of the batches.
                return true;
            } else if left.is_empty() {
                self.begin_halving(root, self.rules.halving.round);
            } else if self.rules.halving.remaining.len() > 2 {
                self.halve(root);
            } else {
                self.begin_halving(root, self.rules.halving.round + 1);
            }
        }
    }

    /// The root's edges that visits may take: allowed, and not proven where the solver excludes those; if there are none, all
    /// that are allowed.
    fn open_edges(&self, root: u32) -> Vec<bool> {
        let excludes = self.setup.params.solver.is_some_and(|rule| rule.root_excludes_proven);
        let chosen = self.tree.stats(root).len();
        let proven = |k: usize| k < chosen && self.tree.bounds_at(Step { node: root, edge: k as u32 }).is_proven();
        let allowed: Vec<bool> = (0..self.tree.edges(root).len()).map(|k| self.root.allows(k)).collect();
        let open: Vec<bool> = allowed.iter().enumerate().map(|(k, may)| *may && !(excludes && proven(k))).collect();
        // All may be proven lost, and one of them must still be played.
        if open.contains(&true) { open } else { allowed }
    }

    /// The edges that remain and are open.
    fn left_open(&self, root: u32) -> Vec<usize> {
        let remaining = self.rules.halving.remaining.iter().copied();
        if !self.setup.root_excludes_proven() {
            return remaining.filter(|k| self.root.allows(*k)).collect();
        }
        let open = self.open_edges(root);
        remaining.filter(|k| open[*k]).collect()
    }

    /// Visits of an edge since the halving began, those in flight included.
    fn new_visits(&self, root: u32, edge: usize) -> i64 {
        self.begun_visits(root, edge) - self.rules.halving.began[edge]
    }

    fn begun_visits(&self, root: u32, edge: usize) -> i64 {
        self.tree.stats(root).get(edge).map_or(0, |stats| i64::from(stats.visits) + i64::from(stats.in_flight))
    }

    fn begin_halving(&mut self, root: u32, round: u32) {
        let Some(rule) = self.setup.params.gumbel else { return };
        let begun = self.tree.root.visits + self.visits_in_flight();
        let budget = (self.visit_limit > 0).then(|| self.visit_limit.saturating_sub(begun).max(1));
        let remaining = self.considered_edges(&rule, &self.open_edges(root), budget.unwrap_or(u32::MAX));
        self.rules.halving = Halving {
            limit: Some(self.visit_limit),
            // Visits from before (a re-used tree) count in Q but not in the phases, which are to be equal for all
            // considered actions.
            began: (0..self.tree.edges(root).len()).map(|k| self.begun_visits(root, k)).collect(),
            considered: remaining.len() as u32,
            remaining,
            budget,
            round,
            level: 0,
        };
        self.rules.halving.add_phase();
    }

    /// The up to m (and up to `most`) open edges with the greatest g(a) + logits(a).
    fn considered_edges(&self, rule: &Gumbel, open: &[bool], most: u32) -> Vec<usize> {
        let candidates: Vec<usize> = (0..open.len()).filter(|k| open[*k]).collect();
        greatest(candidates, rule.considered.min(most) as usize, |k| self.root.key(k))
    }

    fn halve(&mut self, root: u32) {
        let scores = self.halving_scores(root);
        let remaining = std::mem::take(&mut self.rules.halving.remaining);
        // The last phase compares two: the winner is chosen at the end of the search, by the final score.
        let half = (remaining.len() / 2).max(2);
        self.rules.halving.remaining = greatest(remaining, half, |k| scores[k]);
        self.rules.halving.add_phase();
    }

    /// The edge that the next visit takes at the root: of those that remain and have the fewest new visits the one with the
    /// greatest score.
    pub(super) fn halving_edge(&self, root: u32) -> Option<usize> {
        let mut left = self.left_open(root);
        let fewest = left.iter().map(|k| self.new_visits(root, *k)).min()?;
        left.retain(|k| self.new_visits(root, *k) == fewest);
        match left[..] {
            [only] => Some(only),
            _ => {
                let scores = self.scores_by_means(root, &left).unwrap_or_else(|| self.halving_scores(root));
                greatest(left, 1, |k| scores[k]).first().copied()
            }
        }
    }

    /// `halving_scores` of some edges, 0 for all others, where each of them has a Q of its own: what completes Q is not needed then.
    fn scores_by_means(&self, root: u32, edges: &[usize]) -> Option<Vec<f64>> {
        let rule = self.setup.params.gumbel.filter(|_| !self.setup.solves())?;
        let stats = self.tree.stats(root);
        let view = NodeView::new(&self.setup, &self.tree, root, &self.tree.root, true);
        // sigma scales with the visits of the most visited action (Danihelka et al. 2022, equation 8).
        let most = f64::from(stats.iter().map(|record| record.visits).max().unwrap_or(0));
        let mut scores = vec![0.0; self.tree.edges(root).len()];
        for k in edges {
            let q = stats.get(*k).filter(|record| record.visits > 0).map(|record| view.q(record))?;
            scores[*k] = self.root.key(*k) + rule.sigma(most, q);
        }
        Some(scores)
    }

    /// g(a) + logits(a) + sigma(completed Q(a)) of each of the root's edges.
    fn halving_scores(&self, root: u32) -> Vec<f64> {
        let Some(rule) = self.setup.params.gumbel else { return Vec::new() };
        let sigma = rule.transformed(&self.root_knowledge(root));
        sigma.into_iter().enumerate().map(|(k, sigma)| self.root.key(k) + sigma).collect()
    }

    /// Scores for the final choice: those of the edges that remain, -inf for the others.
    pub(super) fn halving_choice(&self, rule: &Gumbel, root: u32) -> Vec<f64> {
        let mut scores = self.halving_scores(root);
        let mut remains = vec![false; scores.len()];
        // A halving that has not begun has compared nothing: all that is open may be played.
        if self.rules.halving.remaining.is_empty() {
            let all = self.considered_edges(rule, &self.open_edges(root), u32::MAX);
            all.into_iter().for_each(|k| remains[k] = true);
        }
        self.rules.halving.remaining.iter().for_each(|k| remains[*k] = true);
        scores
            .iter_mut()
            .zip(remains)
            .filter(|(_, remains)| !remains)
            .for_each(|(score, _)| *score = f64::NEG_INFINITY);
        scores
    }

    /// A policy that follows from what the root knows of its edges, by action.
    pub(super) fn root_policy(&self, root: u32, policy: impl Fn(&Knowledge) -> Vec<f64>) -> Vec<(Action, f32)> {
        let policy = policy(&self.root_knowledge(root));
        self.tree.edges(root).iter().zip(policy).map(|(edge, share)| (edge.action, share as f32)).collect()
    }

    fn root_knowledge(&self, root: u32) -> Knowledge {
        let scores = self.root_scores(root);
        let view = NodeView::new(&self.setup, &self.tree, root, &self.tree.root, true);
        self.knowledge(root, &view, |k| scores.settled(k))
    }

    /// What a node knows of its edges; `settled` gives Q where it is certain.
    fn knowledge(&self, node: u32, view: &NodeView, settled: impl Fn(usize) -> Option<f64>) -> Knowledge {
        let edges = self.tree.edges(node);
        let stats = self.tree.stats(node);
        let temperature = self.setup.params.policy_temperature;
        let visits = |k: usize| stats.get(k).map_or(0, |record| record.visits);
        let mean = |k: usize| stats.get(k).filter(|record| record.visits > 0).map(|record| view.q(record));
        Knowledge {
            // See `gumbel_keys`: the logarithm of a prior at its temperature gives the logits back.
            logits: edges.iter().map(|edge| temperature * f64::from(edge.prior()).ln()).collect(),
            visits: (0..edges.len()).map(visits).collect(),
            q: (0..edges.len()).map(|k| settled(k).or_else(|| mean(k))).collect(),
            value: view.network_q(&self.tree, node),
        }
    }

    /// The edge that the improved policy takes below the root, if it selects there: the greatest
    /// pi'(a) - (N(a) + F(a)) / (1 + sum_b (N(b) + F(b))) (F: visits in flight).
    pub(super) fn improved_edge(&self, node: u32, own: &EdgeStats) -> Option<usize> {
        let rule = self.setup.params.gumbel.filter(|rule| rule.below_root == BelowRoot::ImprovedPolicy)?;
        let view = NodeView::new(&self.setup, &self.tree, node, own, false);
        let policy = rule.improved_policy(&self.knowledge(node, &view, |_| None));
        let begun: Vec<f64> = (0..policy.len()).map(|k| self.begun_visits(node, k) as f64).collect();
        // Equation 14 of the paper. The rule is deterministic: it makes the visits approach the improved
        // policy, whatever the random numbers.
        let whole = 1.0 + begun.iter().sum::<f64>();
        greatest((0..policy.len()).collect(), 1, |k| policy[k] - begun[k] / whole).first().copied()
    }
}

/// The `count` indices with the greatest scores, among equals the first, in their order.
fn greatest(mut indices: Vec<usize>, count: usize, score: impl Fn(usize) -> f64) -> Vec<usize> {
    // A stable sort, so that among equals the first stays first.
    indices.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    indices.truncate(count);
    indices.sort_unstable();
    indices
}
