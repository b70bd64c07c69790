//! Scores of a node's edges while rules are on: the same sum Q + U as [`NodeView`], with every rule at its place.

use crate::math::rng::CounterRng;
use crate::params::{RuleHook, SearchParams};
use crate::rules::prior_mixing::PriorMixing;
use crate::rules::q_average::QAverage;
use crate::rules::second_net::Net;
use crate::rules::solver::ProvenContext;
use crate::rules::solver::bounds::Bounds;
use crate::rules::tree_balance::TreeBalance;
use crate::rules::variance::{NodeSpread, Variance, VarianceMode, VarianceSource};
use crate::rules::{Rule, RuleEdge, RuleNode};
use crate::search::Search;
use crate::search::root::Root;
use crate::search::select::NodeView;
use crate::search::setup::Setup;
use crate::search::two_nets::view::mixed_stats;
use crate::stats::{Edge, EdgeStats, Step, TERMINAL, Value};
use crate::tree::Tree;

/// A node as a descent meets it.
#[derive(Clone, Copy)]
pub struct NodeContext<'a> {
    /// Its index.
    pub node: u32,
    /// Its own record, for its mover.
    pub own: EdgeStats,
    /// 1 at the root.
    pub depth: usize,
    /// sigma^2 of its values (variance).
    pub variance: f64,
    /// The root's priors and restriction, at the root.
    pub root: Option<&'a Root>,
    /// Whose turn it is (second net).
    pub turn: Net,
}

/// What is the same for all edges of a node, computed once.
pub struct NodeScores<'a> {
    params: &'a SearchParams,
    hooks: &'a [RuleHook],
    /// There is one of them.
    asks: bool,
    tree: &'a Tree,
    context: NodeContext<'a>,
    view: NodeView,
    edges: &'a [Edge],
    stats: &'a [EdgeStats],
    unvisited_q: f64,
    uniform_share: f64,
    /// Tree balance, where the rule is on and the node's replies were counted: not before it is selected from for the first time.
    balanced: Option<&'a TreeBalance>,
    /// Factor of U by edge, or what is added to Q (tree balance); empty without the rule.
    balance: &'a [f64],
    /// What those factors are divided by.
    level: f64,
    spread: NodeSpread,
}

impl<'a> NodeScores<'a> {
    /// Looks at a node.
    pub fn new(setup: &'a Setup, tree: &'a Tree, context: NodeContext<'a>) -> Self {
        let edges = tree.edges(context.node);
        let stats = tree.stats(context.node);
        let view = NodeView::new(setup, tree, context.node, &context.own, context.root.is_some());
        let spread = setup.params.variance.unwrap_or_default().spread(context.variance, context.own.visits);
        let mut scores = NodeScores {
            params: &setup.params,
            hooks: &setup.hooks,
            asks: !setup.hooks.is_empty(),
            tree,
            context,
            view,
            edges,
            stats,
            unvisited_q: 0.0,
            uniform_share: 0.0,
            balanced: setup.params.tree_balance.as_ref().filter(|_| tree.columns.balance.is_known(context.node)),
            balance: &[],
            level: 1.0,
            spread,
        };
        // With two nets a record may have visits of the other net alone; `seen` says whether this turn has a
        // value.
        let visited = (0..stats.len()).filter(|k| scores.seen(*k).1);
        scores.unvisited_q = view.unvisited_q(visited.map(|k| scores.prior(k)).sum());
        scores.prepare_rules();
        scores
    }

    /// Index of the node.
    pub fn node(&self) -> u32 {
        self.context.node
    }

    /// Q of the node for its mover.
    pub fn node_q(&self) -> f64 {
        self.view.parent_q()
    }

    /// The child at an edge, as a descent of the same turn meets it; `None` where the network has not seen it.
    pub fn child(&self, setup: &'a Setup, k: usize) -> Option<NodeScores<'a>> {
        Some(NodeScores::new(setup, self.tree, self.child_context(setup, k)?))
    }

    /// The child at an edge as a descent by it meets it; `None` where there is none.
    pub fn child_context(&self, setup: &Setup, k: usize) -> Option<NodeContext<'a>> {
        let record = self.record(k);
        let node = (record.node < TERMINAL).then_some(record.node)?;
        let flip = self.tree.node(node).mover != self.tree.node(self.context.node).mover;
        Some(NodeContext {
            node,
            own: if setup.graph() { self.tree.own_stats(node) } else { record.seen(flip) },
            depth: self.context.depth + 1,
            variance: self.child_variance(k),
            root: None,
            turn: self.context.turn,
        })
    }

    fn prepare_rules(&mut self) {
        if let Some(rule) = &self.params.prior_mixing {
            let gap = (self.view.network_q(self.tree, self.context.node) - self.view.parent_q()).abs();
            self.uniform_share = rule.share_at(self.context.depth, self.edges.len(), gap);
        }
        if let Some(rule) = &self.params.variance {
            self.view.scale_exploration(rule.cpuct_factor(self.spread.variance));
        }
        if self.params.q_average.as_ref().is_some_and(|rule| self.suffices(rule)) {
            // A move that suffices is known: from here on the node exploits.
            self.view.scale_exploration(0.0);
        }
        if let Some(rule) = self.balanced {
            self.prepare_balance(rule);
        }
    }

    fn prepare_balance(&mut self, rule: &TreeBalance) {
        self.balance = self.tree.columns.balance.factors(self.context.node, self.edges.len());
        if rule.is_normalised() {
            let level: f64 = (0..self.edges.len()).map(|k| self.prior(k) * self.balance[k]).sum();
            // 0 where the solver took all priors: there is nothing to divide then.
            self.level = if level > 0.0 { level } else { 1.0 };
        }
    }

    /// A visited edge's Q is above what suffices.
    fn suffices(&self, rule: &QAverage) -> bool {
        let Some(enough) = rule.sufficient else { return false };
        self.stats.iter().any(|stats| stats.visits > 0 && self.view.q(stats) > enough)
    }

    /// The prior that the node has for an edge, before mixing.
    fn prior(&self, k: usize) -> f64 {
        // A proven loss keeps its record but attracts no visit by its prior.
        if self.params.solver.is_some_and(|rule| rule.drops_prior(self.bounds(k).result())) {
            return 0.0;
        }
        match (self.context.root, &self.params.second_net) {
            (Some(root), _) => root.prior(k, self.edges[k].stored_prior()),
            (None, Some(rule)) => self.tree.mixed_prior(rule, self.context.node, k),
            (None, None) => f64::from(self.edges[k].prior()),
        }
    }

    /// The record of an edge as this turn sees it.
    pub fn record(&self, k: usize) -> EdgeStats {
        self.seen(k).0
    }

    /// The record of an edge as this turn sees it, and whether there is a value in it.
    pub fn seen(&self, k: usize) -> (EdgeStats, bool) {
        let Some(stats) = self.stats.get(k) else {
            return (EdgeStats::fresh(self.edges[k].stored_prior()), false);
        };
        match &self.params.second_net {
            Some(rule) => {
                let step = Step { node: self.context.node, edge: k as u32 };
                mixed_stats(rule, self.context.turn, stats, |net| self.tree.large_stats(step, net))
            }
            None => (*stats, stats.visits > 0),
        }
    }

    /// Index of the edge with the greatest score, among equals the first; `None` if no edge is allowed.
    ///
    /// Without rules that look beyond the prior only the first edge without record can win.
    pub fn best(&self, draws: &mut CounterRng) -> Option<usize> {
        // Noise differs from edge to edge, so one further down may win.
        let draws_all = self.params.variance.is_some_and(|rule| rule.mode == VarianceMode::HalfNormal);
        let looks_at_all = draws_all || self.params.tree_balance.is_some() || self.asked_reorder();
        let count = if looks_at_all { self.edges.len() } else { self.edges.len().min(self.stats.len() + 1) };
        let mut best = None;
        let mut best_score = f64::NEG_INFINITY;
        for k in 0..count {
            let (q, u) = self.terms(k, || draws.normal());
            let allowed = self.context.root.is_none_or(|root| root.allows(k));
            if allowed && (q + u > best_score || (q + u == best_score && self.goes_before(k, best))) {
                (best, best_score) = (Some(k), q + u);
            }
        }
        best
    }

    /// Among equals the first wins. With two nets the order of first choices means nothing, so the greater prior wins, then the action.
    fn goes_before(&self, k: usize, best: Option<usize>) -> bool {
        let Some(best) = best.filter(|_| self.params.second_net.is_some()) else { return false };
        let p = self.prior(k);
        let other = self.prior(best);
        p > other || (p == other && self.edges[k].action < self.edges[best].action)
    }

    /// Q of an edge with visits, before any rule: the mean for the node's mover, draws at their score.
    pub fn mean(&self, record: &EdgeStats) -> f64 {
        self.view.q(record)
    }

    /// Q and U of an edge. `draw` gives z ~ N(0, 1) where a rule wants noise.
    pub fn terms(&self, k: usize, draw: impl FnOnce() -> f64) -> (f64, f64) {
        let (q, u) = self.free_terms(k, draw);
        self.proven_terms(k, u).unwrap_or((q, u))
    }

    /// Q and U of an edge before what a proof makes of them; Q of a proven edge is its exact value.
    pub fn free_terms(&self, k: usize, draw: impl FnOnce() -> f64) -> (f64, f64) {
        let (record, valued) = self.seen(k);
        // A proof is exact, so no rule may change it: neither trust, noise nor bonus.
        let q = if self.bounds(k).is_proven() { self.exact(k) } else { self.value(k, &record, valued, draw) };
        (q, self.bonus(k, self.mixed_prior(k), &record))
    }

    /// Q and U of an edge whose result is proven, when U would be `u`; `None` of others.
    pub fn proven_terms(&self, k: usize, u: f64) -> Option<(f64, f64)> {
        let rule = self.params.solver?;
        let result = self.bounds(k).result()?;
        let at_root = self.context.root.is_some();
        let depth = self.context.depth;
        let place = ProvenContext { at_root, depth, child_visits: self.spread.child_visits };
        Some(rule.proven_terms((self.exact(k), u), result, self.record(k).visits, place))
    }

    /// Q + U of an edge as they are, but for U as if the edge had this many visits. Without random draws.
    pub fn score_at(&self, k: usize, visits: u32) -> f64 {
        self.terms(k, || 0.0).0 + self.bonus(k, self.mixed_prior(k), &EdgeStats { visits, ..self.record(k) })
    }

    /// Q of a proven edge: its exact value, draws at their score.
    fn exact(&self, k: usize) -> f64 {
        let Value { wl, d } = self.bounds(k).value();
        wl + self.view.draw_score() * f64::from(d)
    }

    /// Q of an edge whose result is certain: the game is over after it, or it is proven.
    pub fn settled(&self, k: usize) -> Option<f64> {
        if self.bounds(k).is_proven() {
            return Some(self.exact(k));
        }
        let record = self.stats.get(k)?;
        record.is_end().then(|| self.mean(record))
    }

    /// What is proven of an edge (solver).
    pub fn bounds(&self, k: usize) -> Bounds {
        let place = self.tree.node(self.context.node).stats as usize + k;
        if k < self.stats.len() { self.tree.columns.bounds.get(place) } else { Bounds::OPEN }
    }

    /// Place 1: Q of an edge.
    fn value(&self, k: usize, record: &EdgeStats, valued: bool, draw: impl FnOnce() -> f64) -> f64 {
        let mut q = if valued { self.view.q(record) } else { self.unvisited_q };
        if self.asks {
            q = self.asked(k, record).fold(q, |q, (rule, edge)| rule.value(q, &edge, &self.rule_node()));
        }
        if let Some(rule) = self.balanced {
            q += if rule.is_additive() && rule.adds(record.visits) { self.balance[k] } else { 0.0 };
        }
        if let Some(rule) = self.params.variance.as_ref().filter(|rule| rule.mode != VarianceMode::NodeScaledCpuct) {
            let variance = self.edge_variance(rule, k, record);
            // Q is kept within the values that games have. Without the bounds a large sigma would send every visit
            // to edges that nothing speaks for.
            q = (q + rule.bonus(&self.spread, record.visits, variance, draw)).clamp(-1.0, 1.0);
        }
        q
    }

    /// Place 2: the prior that counts in U.
    pub fn mixed_prior(&self, k: usize) -> f64 {
        let mut prior = self.prior(k);
        if self.params.prior_mixing.is_some() {
            prior = PriorMixing::mixed(prior, self.uniform_share, self.edges.len());
        }
        if self.asks {
            let record = self.record(k);
            let asked = self.asked(k, &record);
            prior = asked.fold(prior, |prior, (rule, edge)| rule.prior(prior, &edge, &self.rule_node()));
        }
        prior
    }

    /// A rule that is asked may put edges without visits into another order than that of their priors.
    fn asked_reorder(&self) -> bool {
        self.hooks.iter().any(|hook| (hook.rule)(self.params).reorders())
    }

    /// The rules that are asked at every edge, with an edge as each sees it.
    fn asked(&self, k: usize, record: &EdgeStats) -> impl Iterator<Item = (&'a dyn Rule, RuleEdge)> {
        let edge = RuleEdge {
            visits: record.visits,
            begun: record.visits + u32::from(record.in_flight),
            ended: record.is_end(),
            unvisited_q: self.unvisited_q,
            kept: 0.0,
        };
        let place = self.tree.node(self.context.node).stats as usize + k;
        let row = if k < self.stats.len() { self.tree.columns.kept.range(place..place + 1) } else { &[] };
        let hooks = self.hooks;
        let params = self.params;
        hooks.iter().map(move |hook| {
            let kept = hook.keeps.and_then(|place| row.get(place)).copied().unwrap_or(0.0);
            ((hook.rule)(params), RuleEdge { kept, ..edge })
        })
    }

    fn rule_node(&self) -> RuleNode {
        let NodeContext { depth, own, .. } = self.context;
        RuleNode { depth, edges: self.edges.len(), visits: own.visits, q: self.view.parent_q() }
    }

    /// Place 3: U of an edge with this prior.
    pub fn bonus(&self, k: usize, prior: f64, record: &EdgeStats) -> f64 {
        let mut divisor = 1.0 + f64::from(record.visits + u32::from(record.in_flight));
        if self.asks {
            divisor = self.asked(k, record).fold(divisor, |divisor, (rule, edge)| rule.divisor(divisor, &edge));
        }
        let mut u = self.view.exploration() * prior / divisor;
        if self.balanced.is_some_and(|rule| !rule.is_additive()) {
            u *= self.balance[k] / self.level;
        }
        if self.asks {
            u = self.asked(k, record).fold(u, |u, (rule, edge)| rule.bonus(u, &edge, &self.rule_node()));
        }
        u
    }

    /// sigma^2 of the position after an edge; that of the node itself where one visit or none shows nothing.
    pub fn child_variance(&self, k: usize) -> f64 {
        self.params.variance.as_ref().map_or(0.0, |rule| self.edge_variance(rule, k, &self.record(k)))
    }

    /// Sample variance of the values of an edge's visits, M / (n - 1), and 0 where the result is certain; `None` where the search
    /// keeps no squared deviations, or n <= 1 shows nothing.
    pub fn sample_variance(&self, k: usize) -> Option<f64> {
        let record = self.stats.get(k).filter(|_| self.tree.columns.enabled.deviations)?;
        if record.is_end() || self.bounds(k).is_proven() {
            return Some(0.0);
        }
        let place = self.tree.node(self.context.node).stats as usize + k;
        (record.visits > 1).then(|| self.tree.columns.deviations.get(place) / (f64::from(record.visits) - 1.0))
    }

    fn edge_variance(&self, rule: &Variance, k: usize, record: &EdgeStats) -> f64 {
        if record.is_end() || self.bounds(k).is_proven() {
            return 0.0;
        }
        match rule.source {
            VarianceSource::Wdl if record.visits > 0 => Variance::of_shares(record.wl, record.d),
            VarianceSource::Wdl => self.spread.variance,
            VarianceSource::Empirical => {
                let place = self.tree.node(self.context.node).stats as usize + k;
                let deviations = if k < self.stats.len() { self.tree.columns.deviations.get(place) } else { 0.0 };
                rule.of_samples(record.visits, deviations, self.spread.variance)
            }
        }
    }
}

impl Search {
    /// The scores of the root's edges, by the statistics that reports have.
    pub(super) fn root_scores(&self, root: u32) -> NodeScores<'_> {
        let own = self.mixed_root_stats();
        let variance = self.root_variance();
        let context = NodeContext { node: root, own, depth: 1, variance, root: Some(&self.root), turn: Net::Small };
        NodeScores::new(&self.setup, &self.tree, context)
    }

    /// sigma^2 of the root's values.
    pub(super) fn root_variance(&self) -> f64 {
        let Some(rule) = &self.setup.params.variance else { return 0.0 };
        let root = &self.tree.root;
        let deviations = self.tree.columns.root_deviations;
        match rule.source {
            VarianceSource::Wdl => Variance::of_shares(root.wl, root.d),
            VarianceSource::Empirical => rule.of_samples(root.visits, deviations, 0.0),
        }
    }
}
