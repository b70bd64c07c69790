//! The settings of a search and what is computed from them once.

use std::sync::Arc;

use crate::math::arithmetic::Arithmetic;
use crate::params::{CacheKey, Cpuct, RuleHook, SearchParams};
use crate::rules::second_net::Net;
use crate::rules::variance::Variance;
use crate::rules::wdl_contempt::Rescale;
use crate::search::noise::noise_alone;
use crate::search::outside::OutsideRules;
use crate::search::spread::spread_alone;
use crate::search::terms::TermRules;
use crate::tree::columns::ColumnSet;

/// c_puct(N) sqrt(max(N - 1, 1)) for a node with N visits, own evaluation included; small N are looked up.
#[derive(Clone, Debug)]
pub struct Exploration {
    cpuct: Cpuct,
    arithmetic: Arithmetic,
    table: Vec<f64>,
}

impl Exploration {
    const TABLE_SIZE: u32 = 1024;

    fn new(cpuct: Cpuct, arithmetic: Arithmetic) -> Self {
        // Most nodes of a tree have few visits, and c_puct takes a logarithm and a root.
        let table = (0..Self::TABLE_SIZE).map(|visits| Self::compute(&cpuct, arithmetic, visits)).collect();
        Exploration { cpuct, arithmetic, table }
    }

    fn compute(cpuct: &Cpuct, arithmetic: Arithmetic, visits: u32) -> f64 {
        let n = f64::from(visits);
        cpuct.at(n, arithmetic) * (n - 1.0).max(1.0).sqrt()
    }

    #[inline]
    pub(super) fn at(&self, visits: u32) -> f64 {
        self.table.get(visits as usize).copied().unwrap_or_else(|| Self::compute(&self.cpuct, self.arithmetic, visits))
    }
}

/// The settings of a search and what is computed from them once.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The settings.
    pub params: SearchParams,
    pub(super) exploration: Exploration,
    pub(super) root_exploration: Option<Exploration>,
    /// What WDL contempt does to values.
    pub(super) contempt: Option<Rescale>,
    /// A rule has a say in selection.
    pub(super) selects_by_rules: bool,
    /// A rule changes scores, so edges are compared by `NodeScores`.
    pub(super) scores_by_rules: bool,
    /// Only rules that change single terms of scores are on.
    pub(super) terms: Option<TermRules>,
    /// Only half-normal noise changes scores (variance).
    pub(super) noise: Option<Variance>,
    /// Only the variance rule changes scores, without noise.
    pub(super) spread: Option<Variance>,
    /// Rules that are asked at every edge, in the order of their rows.
    pub(super) hooks: Vec<RuleHook>,
    /// Nodes freeze (search-contempt).
    pub(super) freezes: bool,
    /// A model gives the priors of the opponent's nodes.
    pub(crate) models: bool,
    /// No rule acts on descents below the root.
    pub(super) descends_plainly: bool,
    /// The root is searched by sequential halving (Gumbel).
    pub(super) halves: bool,
    /// The root takes an edge that is not proven, if it has one (solver).
    pub(super) root_excludes_proven: bool,
    /// Moves that are proven lost have prior 0 (solver).
    pub(super) drops_priors: bool,
    /// Results are proven (solver).
    pub(super) solves: bool,
    /// A rule changes backup.
    pub(super) backs_up_by_rules: bool,
    /// Values are backed up in many trees together (rules from outside).
    pub(super) backs_up_together: bool,
    /// Means have step sizes of their own.
    pub(super) averages: bool,
    /// Rules from outside the core.
    pub(crate) outside: Option<Arc<dyn OutsideRules>>,
    /// Equal positions are one node.
    pub(super) graph: bool,
    /// Two nets search in turns.
    pub(super) two_nets: bool,
    /// The net of a search with one net: the large one where the small one has no visits.
    pub(crate) only_net: Net,
}

impl Setup {
    /// Computes what selection looks up.
    pub fn new(params: SearchParams) -> Self {
        Setup::with_rules(params, None)
    }

    /// `new`, with rules from outside the core.
    pub fn with_rules(params: SearchParams, outside: Option<Arc<dyn OutsideRules>>) -> Self {
        let mut params = params.without_neutral_rules();
        let places = outside.as_ref().map(|rules| rules.places()).unwrap_or_default();
        // Without small visits there is nothing to mix: the search is one with a single net, whose evaluator
        // happens to be the large one.
        let without_small = params.second_net.take_if(|rule| rule.small_visits == 0);
        let mut setup = Setup {
            terms: None,
            noise: None,
            spread: None,
            graph: params.graph,
            two_nets: params.second_net.is_some(),
            only_net: if without_small.is_some() { Net::Large } else { Net::Small },
            selects_by_rules: params.change_selection(),
            scores_by_rules: params.change_scores(),
            hooks: params.hooks(),
            freezes: params.search_contempt.is_some(),
            models: params.opponent_net.is_some(),
            // Together these are the rules that act below the root. Where none is on, `descend` is compiled
            // without any of their branches.
            descends_plainly: !params.change_selection()
                && params.solver.is_none()
                && params.opponent_net.is_none()
                && !params.graph,
            halves: params.gumbel.is_some(),
            root_excludes_proven: params.solver.is_some_and(|rule| rule.root_excludes_proven),
            drops_priors: params.solver.is_some_and(|rule| rule.drops_prior(Some(-1))),
            solves: params.solver.is_some(),
            backs_up_by_rules: params.change_backup()
                || params.solver.is_some()
                || params.second_net.is_some()
                || params.graph
                || places.backs_up(),
            backs_up_together: places.backs_up(),
            averages: params.q_average.is_some() || places.steps,
            outside,
            contempt: params.wdl_contempt.map(|rule| Rescale::new(rule, params.arithmetic)),
            exploration: Exploration::new(params.cpuct, params.arithmetic),
            root_exploration: params.root_cpuct.map(|cpuct| Exploration::new(cpuct, params.arithmetic)),
            params,
        };
        setup.terms = TermRules::new(&setup);
        setup.noise = noise_alone(&setup);
        setup.spread = spread_alone(&setup);
        setup
    }

    /// Numbers that rules keep of an edge.
    pub(super) fn kept(&self) -> usize {
        self.hooks.iter().filter(|hook| hook.keeps.is_some()).count()
    }

    /// The columns that trees need beside their edges.
    pub fn columns(&self) -> ColumnSet {
        let params = &self.params;
        let contempt = params.search_contempt.as_ref();
        ColumnSet {
            deviations: params.variance.is_some() || params.lower_bound.is_some(),
            raw_network: params.wdl_contempt.is_some(),
            balance: params.tree_balance.is_some(),
            frozen: contempt.is_some(),
            bounds: params.solver.is_some(),
            proofs_in_support: contempt.is_some_and(|rule| rule.proofs_respect_contempt),
            two_nets: params.second_net.is_some(),
            graph: params.graph,
            positions: params.cache_key == CacheKey::Position,
            kept: self.kept(),
            outside: self.outside.as_ref().map_or(0, |rules| rules.columns()),
        }
    }
}
