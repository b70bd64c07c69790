//! The settings of a search and what is computed from them once.

use std::sync::Arc;

use crate::math::arithmetic::Arithmetic;
use crate::params::{CacheKey, Cpuct, RuleHook, SearchParams};
use crate::rules::second_net::Net;
use crate::rules::wdl_contempt::Rescale;
use crate::search::outside::OutsideRules;
use crate::search::scoring::Scoring;
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

/// How the value of a visit is backed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backup {
    /// Every mean on the path moves by 1 / N.
    Plain,
    /// Rules change the means, or keep more of the edges.
    ByRules,
    /// Visits of many trees are backed up together (rules from outside).
    Together,
}

/// The settings of a search and what is computed from them once.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The settings, without neutral rules.
    pub params: SearchParams,
    pub(super) exploration: Exploration,
    /// Exploration at the root, where it has settings of its own.
    pub(super) root_exploration: Option<Exploration>,
    /// What WDL contempt does to values.
    pub(super) contempt: Option<Rescale>,
    /// The loop that compares edges.
    pub(super) scoring: Scoring,
    /// A rule has a say in which edge is taken.
    pub(super) selects_by_rules: bool,
    /// No rule acts on descents below the root.
    pub(super) descends_plainly: bool,
    pub(super) backup: Backup,
    /// Rules that are asked at every edge, in the order of their rows.
    pub(super) hooks: Vec<RuleHook>,
    /// Rules from outside the core.
    pub(crate) outside: Option<Arc<dyn OutsideRules>>,
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
        // Without small visits there is nothing to mix: the search is one with a single net, whose evaluator
        // happens to be the large one.
        let without_small = params.second_net.take_if(|rule| rule.small_visits == 0);
        Setup {
            scoring: Scoring::new(&params),
            selects_by_rules: params.change_selection(),
            // Together these are the rules that act below the root. Where none is on, `descend` is compiled
            // without any of their branches.
            descends_plainly: !params.change_selection()
                && params.solver.is_none()
                && params.opponent_net.is_none()
                && !params.graph,
            backup: backup(&params, outside.as_deref()),
            hooks: params.hooks(),
            outside,
            only_net: if without_small.is_some() { Net::Large } else { Net::Small },
            contempt: params.wdl_contempt.map(|rule| Rescale::new(rule, params.arithmetic)),
            exploration: Exploration::new(params.cpuct, params.arithmetic),
            root_exploration: params.root_cpuct.map(|cpuct| Exploration::new(cpuct, params.arithmetic)),
            params,
        }
    }

    /// Nodes freeze (search-contempt).
    #[inline]
    pub(super) fn freezes(&self) -> bool {
        self.params.search_contempt.is_some()
    }

    /// A model gives the priors of the opponent's nodes.
    #[inline]
    pub(crate) fn models(&self) -> bool {
        self.params.opponent_net.is_some()
    }

    /// The root is searched by sequential halving (Gumbel).
    #[inline]
    pub(super) fn halves(&self) -> bool {
        self.params.gumbel.is_some()
    }

    /// Results are proven (solver).
    #[inline]
    pub(super) fn solves(&self) -> bool {
        self.params.solver.is_some()
    }

    /// The root takes an edge that is not proven, if it has one (solver).
    #[inline]
    pub(super) fn root_excludes_proven(&self) -> bool {
        self.params.solver.is_some_and(|rule| rule.root_excludes_proven)
    }

    /// Moves that are proven lost have prior 0 (solver).
    #[inline]
    pub(super) fn drops_priors(&self) -> bool {
        self.params.solver.is_some_and(|rule| rule.drops_prior(Some(-1)))
    }

    /// Equal positions are one node (graph search).
    #[inline]
    pub(super) fn graph(&self) -> bool {
        self.params.graph
    }

    /// Two nets or more search in turns.
    #[inline]
    pub(super) fn two_nets(&self) -> bool {
        self.params.second_net.is_some()
    }

    /// Means have step sizes of their own (Q average, rules from outside).
    pub(super) fn averages(&self) -> bool {
        self.params.q_average.is_some() || self.outside.as_ref().is_some_and(|rules| rules.places().steps)
    }

    /// Numbers that rules keep of an edge.
    pub(super) fn kept(&self) -> usize {
        self.hooks.iter().filter(|hook| hook.keeps.is_some()).count()
    }

    /// The columns that trees need for the rules.
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
            larger_nets: params.second_net.map_or(0, |rule| rule.num_nets() - 1),
            graph: params.graph,
            positions: params.cache_key == CacheKey::Position,
            kept: self.kept(),
            outside: self.outside.as_ref().map_or(0, |rules| rules.columns()),
        }
    }
}

fn backup(params: &SearchParams, outside: Option<&dyn OutsideRules>) -> Backup {
    if outside.is_some_and(|rules| rules.places().backs_up()) {
        return Backup::Together;
    }
    let by_rules = params.change_backup() || params.solver.is_some() || params.second_net.is_some() || params.graph;
    if by_rules { Backup::ByRules } else { Backup::Plain }
}
