//! Graph search: a position that is reached by two orders of moves is one node. The key of such a node, and what a visit that meets it
//! changes in the nodes above.
//!
//! Edges have visits and values of their own: N(s, a) counts the visits that went by the edge, and Q(s, a) is the value that the child
//! had when the edge was last visited.

use crate::math::rng::mix;
use crate::stats::Value;

/// What a node is found by: its position, and how many plies were played. Since a move adds one, no line returns to a node.
#[inline]
pub fn node_key(position: u64, ply: usize) -> u64 {
    // 0 is the key of no node (`tree::positions`).
    mix(position ^ mix(ply as u64)).max(1)
}

/// What one more visit of an edge adds to the sum of its node's values, when the edge had N = `visits` of the value `before` and
/// takes the value `now`: (N + 1) now - N before.
#[inline]
pub fn added(now: Value, visits: u32, before: Value) -> Value {
    let n = f64::from(visits);
    // In double precision, as the difference is multiplied by the visits.
    let d = f64::from(now.d) + n * (f64::from(now.d) - f64::from(before.d));
    Value { wl: now.wl + n * (now.wl - before.wl), d: d as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_node_is_that_of_its_edges() {
        // V = 0.1, and two edges: 4 visits of 0.5 and 2 of 0.3; the child at the first has come to 0.2 meanwhile.
        let sum = 0.1 + 4.0 * 0.5 + 2.0 * 0.3;
        let now = Value { wl: 0.2, d: 0.25 };
        let worth = added(now, 4, Value { wl: 0.5, d: 0.5 });
        assert!((sum + worth.wl - (0.1 + 5.0 * 0.2 + 2.0 * 0.3)).abs() < 1e-12);
        assert_eq!(worth.d, 0.25 - 4.0 * 0.25);
        assert_eq!(added(now, 0, Value::default()), now);
    }

    #[test]
    fn keys_tell_positions_and_plies_apart() {
        assert_ne!(node_key(5, 3), node_key(5, 4));
        assert_ne!(node_key(5, 3), node_key(6, 3));
        assert_eq!(node_key(5, 3), node_key(5, 3));
    }
}
