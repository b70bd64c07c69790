//! The leaves of a larger net's tree in the order in which the net wants them.
//!
//! A node is on the frontier when the net does not know it, but knows its parent, and it has small visits. The greatest N_S
//! goes first, of equal ones the one that came to the frontier first. In a tree N_S of a child is less than that of its parent, so no
//! node below the frontier has more: the first of the frontier is the first of all nodes that the net does not know.
//!
//! A small turn's path crosses the frontier once, so it raises at most one key: its node is pushed again, and entries with an old
//! key are dropped when they come to the top.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::stats::Step;

/// Frontier nodes by N_S; some entries are out of date.
#[derive(Clone, Debug, Default)]
pub struct Frontier {
    heap: BinaryHeap<(u32, Reverse<u32>, (u32, u32))>,
    entries: u32,
}

impl Frontier {
    /// The number of the next entry to the frontier.
    pub fn next_entry(&mut self) -> u32 {
        self.entries += 1;
        self.entries
    }

    /// The child at this step, number `entered` to enter, has now `visits` small visits.
    pub fn push(&mut self, step: Step, visits: u32, entered: u32) {
        self.heap.push((visits, Reverse(entered), (step.node, step.edge)));
    }

    /// The step to the first node for which `is_valid(step, visits)` holds; it and what stood before it are removed.
    pub fn pop(&mut self, is_valid: impl Fn(Step, u32) -> bool) -> Option<Step> {
        // A node gains visits after it entered, and a heap cannot change an entry: a newer one is pushed, and
        // the outdated ones are dropped here.
        while let Some((visits, _, (node, edge))) = self.heap.pop() {
            let step = Step { node, edge };
            if is_valid(step, visits) {
                return Some(step);
            }
        }
        None
    }

    /// Forgets all entries, but not how many there were.
    pub fn clear(&mut self) {
        self.heap.clear();
    }
}
