//! What tests ask of a tree: its digest and its invariants.

use crate::tree::{EdgeStats, TERMINAL, Tree, Value};

impl Tree {
    /// A hash of structure, visits and values: equal trees have equal digests.
    pub fn digest(&self) -> u64 {
        let mut hash = stats_digest(0, &self.root);
        for index in 0..self.nodes.len() as u32 {
            let [wl, d] = self.network[index as usize];
            hash = crate::rng::mix(hash ^ u64::from(wl.to_bits()) ^ (u64::from(d.to_bits()) << 32));
            for edge in self.edges(index) {
                hash = crate::rng::mix(hash ^ u64::from(edge.action) ^ (u64::from(edge.prior.0) << 16));
            }
            let touched = self.stats(index).iter().filter(|stats| stats.visits > 0 || stats.in_flight > 0);
            hash = touched.fold(hash, stats_digest);
        }
        hash
    }

    /// The first broken invariant, in words. `plain_means`: every value is the plain mean of the values below it.
    pub fn check_invariants(&self, plain_means: bool) -> Result<(), String> {
        let Some(root) = self.root_node() else { return Ok(()) };
        let mut stack = vec![(root, self.root)];
        let mut reached = 0;
        while let Some((index, own)) = stack.pop() {
            reached += 1;
            self.check_node(index, &own, plain_means)?;
            let mover = self.node(index).mover;
            for stats in self.stats(index).iter().filter(|stats| stats.node < TERMINAL) {
                let Value { wl, d } = stats.value(self.node(stats.node).mover != mover);
                stack.push((stats.node, EdgeStats { wl, d, ..*stats }));
            }
        }
        if reached != self.nodes.len() {
            return Err(format!("{} of {} nodes are reachable from the root", reached, self.nodes.len()));
        }
        Ok(())
    }

    fn check_node(&self, index: u32, own: &EdgeStats, plain_means: bool) -> Result<(), String> {
        let stats = self.stats(index);
        let visits: u32 = stats.iter().map(|s| s.visits).sum();
        if own.visits != 1 + visits {
            return Err(format!("node {index}: {} visits, but 1 + edge visits = {}", own.visits, 1 + visits));
        }
        let in_flight: u32 = stats.iter().map(|s| u32::from(s.in_flight)).sum();
        if u32::from(own.in_flight) != in_flight {
            return Err(format!("node {index}: {} in flight, its edges {in_flight}", own.in_flight));
        }
        let priors: f64 = self.edges(index).iter().map(|e| f64::from(e.prior())).sum();
        if (priors - 1.0).abs() > 2e-3 {
            return Err(format!("node {index}: priors sum to {priors}"));
        }
        let sum: f64 = stats.iter().map(|s| s.wl * f64::from(s.visits)).sum();
        let mean = (sum + self.network_value(index).wl) / f64::from(own.visits);
        if (plain_means && (own.wl - mean).abs() > 1e-6) || own.wl.abs() > 1.0 + 1e-9 {
            return Err(format!("node {index}: value {}, mean of its visits {mean}", own.wl));
        }
        Ok(())
    }
}

fn stats_digest(hash: u64, stats: &EdgeStats) -> u64 {
    let counts = u64::from(stats.visits) ^ (u64::from(stats.in_flight) << 32);
    let hash = crate::rng::mix(hash ^ counts);
    let hash = crate::rng::mix(hash ^ stats.wl.to_bits());
    crate::rng::mix(hash ^ u64::from(stats.d.to_bits()) ^ (u64::from(stats.node) << 32))
}
