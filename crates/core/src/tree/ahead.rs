//! What a descent will read next is fetched ahead: in a large tree nearly every read below the first nodes has to wait for memory.

use hauteur_machine::prefetch;

use crate::game::Player;
use crate::tree::{Node, Tree};

/// Nodes of a tree that no cache near a processor core holds.
const BEYOND_CACHES: usize = 1 << 17;
/// Visited edges of a node whose children may not be in a cache; nodes with more are met often, and so are their children.
const FEW_CHILDREN: usize = 16;

impl Tree {
    /// Fetches the children of a node, of which one is about to be selected.
    #[inline(always)]
    pub(crate) fn fetch_children(&self, node: u32) {
        // In a small tree everything is in a cache, and prefetching would only cost instructions.
        if self.nodes.len() < BEYOND_CACHES {
            return;
        }
        let stats = self.stats(node);
        if stats.len() <= FEW_CHILDREN {
            stats.iter().for_each(|stats| prefetch(&self.nodes, stats.node as usize));
        }
    }

    /// Fetches what selection will read at a node; returns who is to move there.
    #[inline(always)]
    pub(crate) fn fetch_node(&self, node: u32) -> Player {
        let Node { edges, stats, visited, mover, .. } = *self.node(node);
        prefetch(&self.stats, stats as usize);
        prefetch(&self.edges, edges as usize + usize::from(visited));
        mover
    }
}
