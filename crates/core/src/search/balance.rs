//! Tree balance in a search: replies are counted when a node is selected from for the first time, since most nodes never are.

use crate::game::State;
use crate::rules::tree_balance::TreeBalance;
use crate::search::Search;
use crate::stats::Edge;
use crate::tree::Tree;

impl Search {
    /// Computes the factors of a node, whose position is the scratch position, and their level, unless they are known.
    #[inline]
    pub(super) fn prepare_balance(&mut self, rule: &TreeBalance, node: u32) {
        if self.tree.columns.balance.level(node) > 0.0 {
            return;
        }
        if !self.tree.columns.balance.is_known(node) {
            self.tree.count_replies(rule, node, self.scratch.state.as_ref(), self.scratch.child.as_mut());
        }
        self.tree.level_balance(rule, node);
    }

    /// Counts the replies at the root, which reports want before it is selected from.
    pub(super) fn prepare_root_balance(&mut self) {
        let (Some(rule), Some(root)) = (&self.setup.params.tree_balance, self.tree.root_node()) else { return };
        if !self.tree.columns.balance.is_known(root) {
            self.tree.count_replies(rule, root, self.root_state.as_ref(), self.scratch.child.as_mut());
        }
    }
}

impl Tree {
    /// Counts the replies to every edge of a node, 0 where the game is over, and keeps the factors that the rule computes from them.
    /// `state`: the position of the node; `child`: a buffer.
    fn count_replies(&mut self, rule: &TreeBalance, node: u32, state: &dyn State, child: &mut dyn State) {
        let replies = |edge: &Edge| {
            state.replies_after(edge.action).unwrap_or_else(|| {
                child.copy_from(state);
                child.play(edge.action);
                if child.outcome().is_some() { 0 } else { child.num_legal() }
            })
        };
        let counts: Vec<usize> = self.edges(node).iter().map(replies).collect();
        let mean = counts.iter().map(|count| *count as f64).sum::<f64>() / counts.len() as f64;
        self.columns.balance.set(node, &factors_of(rule, &counts, mean));
    }

    /// Takes the mean factor under the stored priors, in the present order of edges; 1 where factors are not normalised.
    fn level_balance(&mut self, rule: &TreeBalance, node: u32) {
        // The sum of floats depends on their order: it is taken anew where edges moved, as `NodeScores` takes it at
        // every look.
        let factors = self.columns.balance.factors(node, self.edges(node).len());
        let priors = self.edges(node).iter().map(|edge| f64::from(edge.prior()));
        let level =
            if rule.is_normalised() { priors.zip(factors).map(|(prior, factor)| prior * factor).sum() } else { 1.0 };
        self.columns.balance.set_level(node, level);
    }
}

/// What the rule computes from the numbers of replies to all edges, whose mean is `mean`. Equal numbers have equal factors, so
/// that few of them take a power.
fn factors_of(rule: &TreeBalance, counts: &[usize], mean: f64) -> Vec<f64> {
    let mut factors: Vec<f64> = Vec::with_capacity(counts.len());
    for (k, count) in counts.iter().enumerate() {
        let factor = match counts[..k].iter().position(|earlier| earlier == count) {
            Some(earlier) => factors[earlier],
            None if rule.is_additive() => rule.bonus(*count as f64, mean),
            None => rule.factor(*count as f64, mean),
        };
        factors.push(factor);
    }
    factors
}
