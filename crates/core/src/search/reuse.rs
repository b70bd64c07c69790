//! Re-use of evaluations by position: a leaf takes what the network answered about the same position elsewhere in the tree, or
//! follows a leaf with that position which waits for its answer.

use std::collections::HashMap;

use crate::game::State;
use crate::search::cache::Evaluation;
use crate::search::{Leaf, Search};
use crate::stats::{Edge, Value};

/// Leaves that wait for the answer to another leaf, by the key of their position; there is an entry for every position in flight.
#[derive(Default)]
pub(super) struct Followers {
    waiting: HashMap<u64, Vec<Leaf>>,
    count: u32,
}

impl Followers {
    /// The leaves that waited with the first one of a position, which is no longer in flight.
    fn take(&mut self, key: u64) -> Vec<Leaf> {
        let leaves = self.waiting.remove(&key).unwrap_or_default();
        self.count -= leaves.len() as u32;
        leaves
    }
}

impl Search {
    /// The key that nodes of equal positions share; `None` where evaluations are not re-used.
    #[inline]
    pub(super) fn position_key(&self, state: &dyn State) -> Option<u64> {
        self.tree.columns.positions.is_on().then(|| state.position_key())
    }

    /// Visits that wait for the network, with a row of their own or with that of another leaf.
    #[inline]
    pub(super) fn visits_in_flight(&self) -> u32 {
        self.rows_in_flight + self.rules.followers.count
    }

    /// The evaluation of the first node with this position, however it was reached.
    pub(super) fn seen_position(&self, key: u64) -> Option<Evaluation> {
        let node = self.tree.columns.positions.find(key)?;
        let mut edges: Box<[Edge]> = self.tree.edges(node).into();
        // The node's edges stand in the order of their first visits; a new node begins in the order of priors.
        edges.sort_by(Edge::by_prior);
        // The value before contempt: the shift is made anew, for the mover of the new node.
        Some(Evaluation { edges, value: self.tree.raw_network_value(node) })
    }

    /// Keeps what the network answered about a new node, and the key of its position.
    #[inline]
    pub(super) fn note_evaluation(&mut self, node: u32, known: Value, position: Option<u64>) {
        self.tree.columns.raw_network.set(node as usize, known);
        if let Some(key) = position {
            self.tree.columns.positions.add(node, key);
        }
    }

    /// A position of which a row goes to the network.
    pub(super) fn begin_position(&mut self, key: u64) {
        self.rules.followers.waiting.insert(key, Vec::new());
    }

    pub(super) fn is_position_in_flight(&self, key: u64) -> bool {
        self.rules.followers.waiting.contains_key(&key)
    }

    /// This leaf waits for the answer to the leaf with its position that is in flight.
    pub(super) fn follow(&mut self, key: u64, leaf: Leaf) {
        self.rules.followers.waiting.entry(key).or_default().push(leaf);
        self.rules.followers.count += 1;
        self.counters.position_hits += 1;
    }

    /// The position of a leaf was evaluated, so those that waited with it have their evaluation.
    pub(super) fn answer_followers(&mut self, key: u64) {
        for mut leaf in self.rules.followers.take(key) {
            let seen = self.seen_position(key).expect("the position was just evaluated");
            self.grow(&mut leaf, &seen.edges, seen.value, Some(key));
            self.scratch.leaves.push(leaf);
        }
    }

    /// The leaf that these waited for was taken back, and so are they.
    pub(super) fn cancel_followers(&mut self, key: u64) {
        for leaf in self.rules.followers.take(key) {
            // They were counted as hits of an answer that has not come.
            self.counters.position_hits -= 1;
            self.counters.take_back(leaf.counted);
            self.tree.mark(&leaf.path, leaf.turn, -1);
            self.stop_waiting(&leaf);
            self.scratch.leaves.push(leaf);
        }
    }
}
