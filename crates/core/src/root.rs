//! What is done to a root only: Dirichlet noise and the restriction to some actions.

use crate::game::Action;
use crate::params::Dirichlet;
use crate::rng::{CounterRng, dirichlet};
use crate::tree::{Edge, Tree};

/// Noise and restriction of the present root. Both are lists by edge index, in the present order of the root's edges.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// Priors with noise; empty = the stored ones.
    noisy: Vec<f32>,
    /// Which edges may be taken; empty = all.
    allowed: Vec<bool>,
    /// Actions that the search is restricted to; empty = all.
    only: Vec<Action>,
}

impl Root {
    /// True when selection at the root is the same as anywhere else.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.noisy.is_empty() && self.allowed.is_empty()
    }

    /// The prior to select with.
    #[inline]
    pub fn prior(&self, edge: usize, stored: Edge) -> f64 {
        f64::from(self.noisy.get(edge).copied().unwrap_or_else(|| stored.prior()))
    }

    /// May this edge be taken?
    #[inline]
    pub fn allows(&self, edge: usize) -> bool {
        self.allowed.get(edge).copied().unwrap_or(true)
    }

    /// Restricts the search to these actions; empty = all. Takes effect with the next `prepare`.
    pub fn restrict(&mut self, only: Vec<Action>) {
        self.only = only;
    }

    /// Draws noise for a freshly evaluated or newly made root: P <- (1 - epsilon) P + epsilon Dir(alpha) (AlphaZero), and orders the edges.
    pub fn draw_noise(&mut self, tree: &mut Tree, node: u32, noise: Option<Dirichlet>, rng: &mut CounterRng) {
        self.noisy.clear();
        if let Some(Dirichlet { epsilon, alpha }) = noise.filter(|noise| noise.epsilon > 0.0) {
            let edges = tree.edges(node);
            let eta = dirichlet(rng, alpha, edges.len());
            let mix = |(edge, eta): (&Edge, f64)| ((1.0 - epsilon) * f64::from(edge.prior()) + epsilon * eta) as f32;
            self.noisy = edges.iter().zip(eta).map(mix).collect();
        }
        self.prepare(tree, node);
    }

    /// Puts the root's edges in the order that selection relies on: by prior with noise, forbidden edges last.
    pub fn prepare(&mut self, tree: &mut Tree, node: u32) {
        let before: Vec<Edge> = tree.edges(node).to_vec();
        let place = |action: Action| before.iter().position(|edge| edge.action == action).expect("an edge of the root");
        let prior = |edge: Edge| self.noisy.get(place(edge.action)).copied().unwrap_or_else(|| edge.prior());
        let may = |edge: Edge| self.only.is_empty() || self.only.contains(&edge.action);
        tree.sort_unvisited(node, |edge| if may(edge) { prior(edge) } else { -1.0 });
        let after = tree.edges(node);
        if !self.noisy.is_empty() {
            self.noisy = after.iter().map(|edge| prior(*edge)).collect();
        }
        self.allowed = if self.only.is_empty() { Vec::new() } else { after.iter().map(|edge| may(*edge)).collect() };
    }
}
