//! Rules of the root alone: its own policy temperature, Dirichlet noise and the restriction to some actions.

use std::cmp::Ordering;

use crate::game::Action;
use crate::math::rng::{CounterRng, dirichlet};
use crate::params::{Dirichlet, SearchParams};
use crate::rules::gumbel::Gumbel;
use crate::search::Search;
use crate::stats::{Edge, Prior};
use crate::tree::Tree;

/// Priors and restriction of the present root, and what a Gumbel root samples by. All are lists by edge index, in the present order of the root's edges.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// Priors to select with; empty = the stored ones.
    priors: Vec<f32>,
    /// g(a) + logits(a) (Gumbel); empty without that rule.
    keys: Vec<f32>,
    /// Which edges may be taken; empty = all.
    allowed: Vec<bool>,
    /// Actions that the search is restricted to; empty = all.
    only: Vec<Action>,
    /// eta of the noise, drawn once for this root.
    // By action, because edges change their places.
    noise: Vec<(Action, f64)>,
    /// Searched as in play: the noise is not used.
    quiet: bool,
}

impl Root {
    /// True when selection at the root is the same as anywhere else.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.priors.is_empty() && self.allowed.is_empty()
    }

    /// The prior to select with.
    #[inline]
    pub fn prior(&self, edge: usize, stored: Prior) -> f64 {
        f64::from(self.priors.get(edge).copied().unwrap_or_else(|| stored.get()))
    }

    /// g(a) + logits(a): what a Gumbel root samples by.
    pub fn key(&self, edge: usize) -> f64 {
        f64::from(self.keys[edge])
    }

    /// Whether this edge may be taken.
    #[inline]
    pub fn allows(&self, edge: usize) -> bool {
        self.allowed.get(edge).copied().unwrap_or(true)
    }

    /// Edge `from` moved to place `to`, in front of those between.
    pub(super) fn follow(&mut self, from: u32, to: u32) {
        let moved = to as usize..from as usize + 1;
        if !self.priors.is_empty() {
            self.priors[moved.clone()].rotate_right(1);
        }
        if !self.keys.is_empty() {
            self.keys[moved.clone()].rotate_right(1);
        }
        if !self.allowed.is_empty() {
            self.allowed[moved].rotate_right(1);
        }
    }

    /// Restricts the search to these actions; empty = all. Takes effect with the next `prepare`.
    pub fn restrict(&mut self, only: Vec<Action>) {
        self.only = only;
    }

    /// Searches from now on as in play, or again as in learning. Takes effect with the next `set_priors`; what was drawn stays.
    pub(super) fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Whether this root is searched as in play: without noise and other means of learning.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A root with no edges yet; it is quiet if this one is.
    pub(super) fn successor(&self) -> Root {
        Root { quiet: self.quiet, ..Root::default() }
    }

    /// Forgets what belongs to edges; the restriction stays.
    pub fn clear(&mut self) {
        self.priors.clear();
        self.keys.clear();
        self.allowed.clear();
    }

    /// Sets the priors of a freshly evaluated or newly made root, from the stored ones, and orders the edges.
    pub fn init(&mut self, tree: &mut Tree, node: u32, params: &SearchParams, rng: &mut CounterRng) {
        // The noise is drawn before the priors are set, and kept: priors may be set again (another net's
        // answer, quiet and back) with the same noise.
        self.noise.clear();
        if let Some(Dirichlet { alpha, .. }) = params.dirichlet.filter(|noise| noise.epsilon > 0.0) {
            let edges = tree.edges(node);
            self.noise = edges.iter().map(|edge| edge.action).zip(dirichlet(rng, alpha, edges.len())).collect();
        }
        self.keys =
            params.gumbel.as_ref().map_or_else(Vec::new, |rule| gumbel_keys(tree.edges(node), params, rule, rng));
        self.set_priors(tree, node, params);
    }

    /// Sets the priors again, from the stored ones as they are now and with the same noise.
    pub(super) fn set_priors(&mut self, tree: &mut Tree, node: u32, params: &SearchParams) {
        self.priors.clear();
        let second_net = params.second_net.as_ref();
        let dirichlet = params.dirichlet.filter(|_| !self.noise.is_empty() && !self.quiet);
        // Forced playouts act at a root that has priors of its own, so that a plain one has nothing to ask.
        let forces = params.forced_playouts.is_some() && !self.quiet;
        if params.root_policy_temperature.is_some() || dirichlet.is_some() || second_net.is_some() || forces {
            let stored = |(k, edge): (usize, &Edge)| match second_net {
                Some(rule) => tree.mixed_prior(rule, node, k),
                None => f64::from(edge.prior()),
            };
            let mut priors = tree.edges(node).iter().enumerate().map(stored).collect();
            if let Some(temperature) = params.root_policy_temperature {
                priors = retemper(priors, params.policy_temperature / temperature);
            }
            if let Some(noise) = dirichlet {
                let eta = tree.edges(node).iter().map(|edge| self.eta(edge.action));
                priors = mix_noise(priors, eta, noise.epsilon);
            }
            self.priors = priors.into_iter().map(|prior| prior as f32).collect();
        }
        self.prepare(tree, node);
    }

    fn eta(&self, action: Action) -> f64 {
        self.noise.iter().find(|(of, _)| *of == action).expect("noise for every edge").1
    }

    /// Puts the root's edges in the order that selection relies on: by the priors to select with (Gumbel: by its keys), forbidden
    /// edges last.
    pub fn prepare(&mut self, tree: &mut Tree, node: u32) {
        let before: Vec<Edge> = tree.edges(node).to_vec();
        let place = |action: Action| before.iter().position(|edge| edge.action == action).expect("an edge of the root");
        let prior = |edge: Edge| self.priors.get(place(edge.action)).copied().unwrap_or_else(|| edge.prior());
        let may = |edge: Edge| self.only.is_empty() || self.only.contains(&edge.action);
        let key = |edge: &Edge| self.keys.get(place(edge.action)).copied();
        let open_rank = |edge: &Edge| key(edge).unwrap_or_else(|| prior(*edge));
        // Forbidden edges go to the end, because selection looks only at the first edge without record.
        let rank = |edge: &Edge| if may(*edge) { open_rank(edge) } else { f32::NEG_INFINITY };
        let by_action = Self::breaks_ties(tree);
        // With two nets the stored order has no meaning (priors are mixed anew), so ties need an order of
        // their own.
        let tie = |a: &Edge, b: &Edge| if by_action { a.action.cmp(&b.action) } else { Ordering::Equal };
        tree.sort_unvisited_by(node, |a, b| rank(b).total_cmp(&rank(a)).then(tie(a, b)));
        let after = tree.edges(node);
        if !self.priors.is_empty() {
            self.priors = after.iter().map(|edge| prior(*edge)).collect();
        }
        self.keys = after.iter().filter_map(key).collect();
        self.allowed = if self.only.is_empty() { Vec::new() } else { after.iter().map(|edge| may(*edge)).collect() };
    }
}

impl Search {
    /// Searches this root and the next ones as in play (quiet), without noise, or again as in learning.
    pub fn set_quiet(&mut self, quiet: bool) {
        if quiet == self.root.is_quiet() {
            return;
        }
        self.root.set_quiet(quiet);
        if let Some(node) = self.tree.root_node() {
            self.root.set_priors(&mut self.tree, node, &self.setup.params);
        }
    }
}

impl Tree {
    /// Puts a new order on the edges of a node that have no record yet.
    pub(super) fn sort_unvisited_by(&mut self, node: u32, compare: impl Fn(&Edge, &Edge) -> Ordering) {
        let first = self.node(node).edges as usize;
        let range = first + self.stats(node).len()..first + self.edges(node).len();
        // Columns by edge are rare (two nets, tree balance), and a plain sort needs no list of places.
        if !self.columns.keeps_edges() {
            self.edges[range].sort_by(compare);
            return;
        }
        let before = self.edges[range.clone()].to_vec();
        self.edges[range.clone()].sort_by(compare);
        let place = |edge: &Edge| before.iter().position(|old| old.action == edge.action).expect("the same edges");
        let places: Vec<usize> = self.edges[range.clone()].iter().map(place).collect();
        self.columns.permute_edges(range, &places);
        self.columns.balance.permute(node, self.stats(node).len()..self.edges(node).len(), &places);
    }
}

/// Priors at another temperature: P'(a) ~ P(a)^exponent.
fn retemper(priors: Vec<f64>, exponent: f64) -> Vec<f64> {
    let top = priors.iter().copied().fold(0.0, f64::max);
    // Of a cold root no power would be above 0. Elsewhere nothing is divided, so that the bits are those of the plain
    // formula.
    let unit = if top.powf(exponent) < f64::MIN_POSITIVE { top } else { 1.0 };
    let weights: Vec<f64> = priors.iter().map(|prior| (prior / unit).powf(exponent)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// P'(a) = (1 - epsilon) P(a) + epsilon eta(a), eta ~ Dir(alpha) (Silver et al. 2017, Methods, "Self-play").
fn mix_noise(priors: Vec<f64>, eta: impl Iterator<Item = f64>, epsilon: f64) -> Vec<f64> {
    priors.iter().zip(eta).map(|(prior, eta)| (1.0 - epsilon) * prior + epsilon * eta).collect()
}

/// g(a) + logits(a) of every edge: logits = ln P at the root's own policy temperature, 1 if it has none; g ~ Gumbel(0, 1).
fn gumbel_keys(edges: &[Edge], params: &SearchParams, rule: &Gumbel, rng: &mut CounterRng) -> Vec<f32> {
    // Stored priors are softmax(logits / policy_temperature), so their logarithm times policy_temperature
    // is the logits again, up to a constant that no comparison sees.
    let exponent = params.policy_temperature / params.root_policy_temperature.unwrap_or(1.0);
    let mut noise = || if rule.noise > 0.0 { rule.noise * rng.gumbel() } else { 0.0 };
    edges.iter().map(|edge| (noise() + exponent * f64::from(edge.prior()).ln()) as f32).collect()
}
