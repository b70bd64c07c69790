//! Prior mixing, the fork's policy compression: priors are mixed with the uniform policy, less with depth (place 2).

use crate::rules::Rule;
use crate::rules::setting::{choices, settings};

choices! {
    /// Where the share of the uniform policy comes from.
    pub enum PriorMixingMode {
        /// share * decay^(d - 1).
        Share,
        /// min(share, kappa |V - Q| / 2).
        Dynamic,
        /// c_d = compression^(1 + (d - 1) compression_decay), as in the fork.
        Legacy,
        /// c = compression |V - Q| / 2, as in the fork.
        LegacyDynamic,
    }
}

settings! {
    /// Prior mixing, the fork's policy compression: priors are mixed with the uniform policy, less with depth.
    PriorMixing: Copy {
        /// Where the share of the uniform policy comes from: lambda itself, or the fork's c.
        mode: PriorMixingMode = PriorMixingMode::Share;
        /// lambda at the root (`share`), or the greatest lambda (`dynamic`).
        share: f64 = 0.1, 0.0 => 1.0;
        /// rho: factor of lambda from depth to depth.
        decay: f64 = 0.5, 0.0 => 1.0;
        /// Strength of `dynamic`.
        kappa: f64 = 0.5, 0.0 => 100.0;
        /// The fork's --policy-compression.
        compression: f64 = 0.06, 0.0 => 2.0;
        /// The fork's --policy-compression-decay.
        compression_decay: f64 = 1.0, 0.0 => 2.0;
    }
}

impl Rule for PriorMixing {
    fn is_neutral(&self) -> bool {
        match self.mode {
            PriorMixingMode::Share => self.share == 0.0,
            PriorMixingMode::Dynamic => self.share == 0.0 || self.kappa == 0.0,
            PriorMixingMode::Legacy | PriorMixingMode::LegacyDynamic => self.compression == 0.0,
        }
    }

    fn changes_scores(&self) -> bool {
        true
    }

    fn goes_with_two_nets(&self) -> bool {
        true
    }

    fn is_asked(&self) -> bool {
        false
    }
}

impl PriorMixing {
    /// The share of the uniform policy at a node.
    ///
    /// depth: 1 at the root; edges: number of legal moves; gap: |V - Q| of the node, the network's value against the mean.
    pub fn share_at(&self, depth: usize, edges: usize, gap: f64) -> f64 {
        let steps = (depth - 1) as f64;
        // The fork adds c to every prior and divides by the sum, 1 + edges c: that is a mixture with this share.
        let from_compression = |c: f64| edges as f64 * c / (1.0 + edges as f64 * c);
        match self.mode {
            PriorMixingMode::Share => self.share * self.decay.powf(steps),
            PriorMixingMode::Dynamic => (self.kappa * gap / 2.0).min(self.share),
            PriorMixingMode::Legacy => from_compression(self.compression.powf(1.0 + steps * self.compression_decay)),
            PriorMixingMode::LegacyDynamic => from_compression(self.compression * gap / 2.0),
        }
    }

    /// P' = (1 - share) P + share / edges.
    #[inline]
    pub fn mixed(prior: f64, share: f64, edges: usize) -> f64 {
        (1.0 - share) * prior + share / edges as f64
    }
}
