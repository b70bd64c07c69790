//! The most visited nodes of a tree, parents before children.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::search::Search;
use crate::search::report::EdgeReport;
use crate::search::scores::{NodeContext, NodeScores};

/// A visited node: the edge that leads to it, and the branch that leads to the node before; `None`: that is the root.
pub struct Branch {
    /// Index of the branch before.
    pub parent: Option<usize>,
    /// The edge.
    pub edge: EdgeReport,
}

/// A branch whose children were not looked at yet. The most visited one goes first, among equals the one that was met first.
struct Waiting<'a> {
    visits: u32,
    met: Reverse<usize>,
    branch: Branch,
    child: Option<NodeContext<'a>>,
}

impl Waiting<'_> {
    fn rank(&self) -> (u32, Reverse<usize>) {
        (self.visits, self.met)
    }
}

impl PartialEq for Waiting<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Waiting<'_> {}

impl PartialOrd for Waiting<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl Search {
    /// At most `count` visited nodes below the root, the most visited first, each after its parent. A node of a graph comes once for
    /// every line that leads to it.
    pub fn branches(&self, count: usize) -> Vec<Branch> {
        let mut found = Vec::new();
        let mut waiting = BinaryHeap::new();
        let mut met = 0;
        let Some(root) = self.tree.root_node() else { return found };
        // A heap yields the most visited of all open branches, and a child has no more visits than its parent:
        // so the order is right without a look at the whole tree.
        self.push_branches(&self.root_scores(root), None, &mut waiting, &mut met);
        while found.len() < count {
            let Some(Waiting { branch, child, .. }) = waiting.pop() else { break };
            if let Some(context) = child {
                let scores = NodeScores::new(&self.setup, &self.tree, context);
                self.push_branches(&scores, Some(found.len()), &mut waiting, &mut met);
            }
            found.push(branch);
        }
        found
    }

    fn push_branches<'a>(
        &'a self,
        scores: &NodeScores<'a>,
        parent: Option<usize>,
        waiting: &mut BinaryHeap<Waiting<'a>>,
        met: &mut usize,
    ) {
        let mut order = self.most_visited_first(scores);
        order.retain(|k| scores.seen(*k).0.visits > 0);
        for (k, edge) in order.clone().into_iter().zip(self.edge_reports(scores, order)) {
            let child = scores.child_context(&self.setup, k).filter(|_| edge.replies > 0);
            waiting.push(Waiting { visits: edge.visits, met: Reverse(*met), branch: Branch { parent, edge }, child });
            *met += 1;
        }
    }
}
