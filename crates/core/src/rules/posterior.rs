//! Policy posterior (Grill et al. 2020, "Monte-Carlo tree search as regularized policy optimization"): the policy that PUCT's visits
//! approach is computed from the root's Q, and is what a network is taught.

use crate::rules::Rule;
use crate::rules::gumbel::{Knowledge, softmax};
use crate::rules::setting::settings;

settings! {
    /// Policy posterior (Grill et al. 2020): the policy target is what visits approach, computed from the root's Q.
    Posterior: Copy {
        /// c of lambda = c sqrt(N) / (actions + N), which c_puct is to the search.
        c: f64 = 1.25, 1e-3 => 1e3;
    }
}

/// Halvings of the interval that alpha lies in: its ends are then neighbours, or as good as.
const HALVINGS: u32 = 64;

impl Rule for Posterior {}

impl Posterior {
    /// pi-bar(a) = lambda pi(a) / (alpha - q(a)) with the alpha for which the sum is 1 (equation 7, section 3.1); N = sum_b N(b). Before
    /// any visit the policy itself.
    pub fn policy(&self, node: &Knowledge) -> Vec<f64> {
        let policy = softmax(node.logits.clone());
        let q = node.completed_q();
        let visits = f64::from(node.visits.iter().sum::<u32>());
        if visits == 0.0 {
            return policy;
        }
        let scale = self.c * visits.sqrt() / (policy.len() as f64 + visits);
        let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        // The bounds of the paper (section 3.1): at `low` one term alone is 1, so the sum is no less; at
        // `high` it is no more.
        let mut low = greatest(&mut policy.iter().zip(&q).map(|(pi, q)| q + scale * pi));
        let mut high = greatest(&mut q.iter().copied()) + scale;
        let share = |alpha: f64, pi: f64, q: f64| if pi > 0.0 { scale * pi / (alpha - q) } else { 0.0 };
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            let sum: f64 = policy.iter().zip(&q).map(|(pi, q)| share(middle, *pi, *q)).sum();
            (low, high) = if sum > 1.0 { (middle, high) } else { (low, middle) };
        }
        let shares: Vec<f64> = policy.iter().zip(&q).map(|(pi, q)| share(high, *pi, *q)).collect();
        // What bisection leaves of an error is divided out.
        let total: f64 = shares.iter().sum();
        shares.into_iter().map(|share| share / total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_actions_by_hand() {
        // lambda = 1 * sqrt(14) / (2 + 14); even priors: alpha solves lambda / 2 (1 / (alpha - 1) + 1 / alpha) = 1.
        let node = Knowledge { logits: vec![0.0; 2], visits: vec![7; 2], q: vec![Some(1.0), Some(0.0)], value: 0.0 };
        let lambda = 14f64.sqrt() / 16.0;
        let alpha = (1.0 + lambda + (1.0 + lambda * lambda).sqrt()) / 2.0;
        let found = Posterior { c: 1.0 }.policy(&node);
        assert!((found[0] - lambda / 2.0 / (alpha - 1.0)).abs() < 1e-12 && (found[0] + found[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_leave_the_policy() {
        let logits = vec![0.0, 1.0, 2.0];
        let q = vec![Some(0.3); 3];
        let node = Knowledge { logits: logits.clone(), visits: vec![5, 6, 7], q, value: 0.3 };
        let found = Posterior::default().policy(&node);
        assert!(found.iter().zip(softmax(logits)).all(|(found, pi)| (found - pi).abs() < 1e-12));
    }
}
