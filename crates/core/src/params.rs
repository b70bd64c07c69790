//! All that the search can be told. Mirrors `hauteur.mcts.params.SearchParams`, from which it comes as JSON.
//!
//! Every published rule has one optional section; absent means off, and all off is plain PUCT.

use serde::{Deserialize, Serialize};

use crate::math::arithmetic::Arithmetic;
use crate::rules::early_visits::EarlyVisits;
use crate::rules::forced_playouts::ForcedPlayouts;
use crate::rules::gumbel::{BelowRoot, Gumbel};
use crate::rules::initial_trust::InitialTrust;
use crate::rules::lower_bound::LowerBound;
use crate::rules::prior_mixing::PriorMixing;
use crate::rules::q_average::QAverage;
use crate::rules::repetition::{Repetition, RepetitionMode};
use crate::rules::search_contempt::SearchContempt;
use crate::rules::second_net::SecondNet;
use crate::rules::setting::{ParamsError, settings, within};
use crate::rules::solver::Solver;
use crate::rules::tree_balance::TreeBalance;
use crate::rules::variance::Variance;
use crate::rules::wdl_contempt::WdlContempt;

settings! {
    /// Exploration of PUCT: c_puct(N) = init + factor ln((N + base) / base), N = visits of the parent.
    #[derive(Copy)]
    "cpuct" Cpuct {
        /// c_puct of a young node.
        init: f64 = 1.745, 0.0 => 100.0;
        /// Visits at which growth sets in.
        base: f64 = 38739.0, 1.0 => 1e9;
        /// Strength of the growth; 0 = constant.
        factor: f64 = 3.894, 0.0 => 1000.0;
    }
}

impl Cpuct {
    /// c_puct at a node with `n` visits.
    #[inline]
    pub fn at(&self, n: f64, arithmetic: Arithmetic) -> f64 {
        if self.factor == 0.0 {
            return self.init;
        }
        self.init + self.factor * arithmetic.ln((n + self.base) / self.base)
    }
}

/// How the Q of an edge without visits is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FpuKind {
    /// Q of the parent - value * sqrt(sum of the priors of visited edges).
    Reduction,
    /// The value itself.
    Absolute,
    /// The network's own value of the parent, less the reduction.
    ParentValue,
}

settings! {
    /// First-play urgency: the Q of an edge without visits.
    #[derive(Copy)]
    "fpu" Fpu {
        /// Which formula.
        kind: FpuKind = FpuKind::Reduction;
        /// Its parameter.
        value: f64 = 0.33, -100.0 => 100.0;
    }
}

settings! {
    /// Noise on the root's priors: P <- (1 - epsilon) P + epsilon Dir(alpha).
    #[derive(Copy)]
    "dirichlet" Dirichlet {
        /// Share of the noise, 0..=1.
        epsilon: f64 = 0.25, 0.0 => 1.0;
        /// Concentration, > 0.
        alpha: f64 = 0.3, 1e-6 => 1000.0;
    }
}

/// Which positions share an evaluation of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKey {
    /// Those that the network cannot tell apart.
    Exact,
    /// Within a tree also those that differ in their past alone (`State::position_key`).
    Position,
}

/// Tells evaluations with swapped colours from the others.
const SWAPPED: u64 = 0x9E37_79B9_7F4A_7C15;

/// All that the search can be told; see the Python class of the same name for ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchParams {
    /// Exploration below the root (and at it, unless `root_cpuct` is given).
    pub cpuct: Cpuct,
    /// Exploration at the root.
    pub root_cpuct: Option<Cpuct>,
    /// First-play urgency below the root (and at it, unless `root_fpu` is given).
    pub fpu: Fpu,
    /// First-play urgency at the root.
    pub root_fpu: Option<Fpu>,
    /// Priors are softmax(logits / temperature).
    pub policy_temperature: f64,
    /// The temperature for the priors that the root selects with; stored priors keep `policy_temperature`.
    pub root_policy_temperature: Option<f64>,
    /// How exp (of that softmax) and ln (of c_puct) are computed.
    pub arithmetic: Arithmetic,
    /// Noise on the root's priors.
    pub dirichlet: Option<Dirichlet>,
    /// Value of a draw for the first player, -1..=1.
    pub draw_score: f64,
    /// Keep the subtree of the played action on `advance`.
    pub reuse_tree: bool,
    /// Rows that one tree may have in flight; 0 = its share of the batch, 1 = exactly sequential search.
    pub max_in_flight: u32,
    /// Visits that may end at a leaf already in flight before a gather leaves the tree.
    pub max_collisions: u32,
    /// Positions in the evaluation cache of the forest; 0 = none.
    pub cache_size: usize,
    /// Which positions share an evaluation.
    pub cache_key: CacheKey,
    /// A position that is reached by two orders of moves is one node.
    pub graph: bool,
    /// The network is shown the other colour: the plane `State::colour_plane` of every row is inverted.
    pub swap_colors: bool,
    /// Bytes a tree may take before it stops growing; 0 = no cap.
    pub max_tree_bytes: u64,
    /// Opponent nodes freeze and are sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_contempt: Option<SearchContempt>,
    /// A second, large network searches with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_net: Option<SecondNet>,
    /// Proven results travel up the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// Second occurrences count as draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition: Option<Repetition>,
    /// The spread of results changes selection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance: Option<Variance>,
    /// Numbers of replies change exploration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_balance: Option<TreeBalance>,
    /// Priors are mixed with the uniform policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_mixing: Option<PriorMixing>,
    /// The first visits of an edge cost less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_visits: Option<EarlyVisits>,
    /// Later results count more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q_average: Option<QAverage>,
    /// First visits are trusted less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_trust: Option<InitialTrust>,
    /// One side counts as stronger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wdl_contempt: Option<WdlContempt>,
    /// The root is searched by sequential halving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gumbel: Option<Gumbel>,
    /// The move is chosen by its lower confidence bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<LowerBound>,
    /// Forced playouts of the root and pruned policy targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_playouts: Option<ForcedPlayouts>,
}

impl Default for SearchParams {
    fn default() -> Self {
        SearchParams {
            cpuct: Cpuct::default(),
            root_cpuct: None,
            fpu: Fpu::default(),
            root_fpu: None,
            policy_temperature: 1.359,
            root_policy_temperature: None,
            arithmetic: Arithmetic::Exact,
            dirichlet: None,
            draw_score: 0.0,
            reuse_tree: true,
            max_in_flight: 0,
            max_collisions: 32,
            cache_size: 200_000,
            cache_key: CacheKey::Exact,
            graph: false,
            swap_colors: false,
            max_tree_bytes: 0,
            search_contempt: None,
            second_net: None,
            solver: None,
            repetition: None,
            variance: None,
            tree_balance: None,
            prior_mixing: None,
            early_visits: None,
            q_average: None,
            initial_trust: None,
            wdl_contempt: None,
            gumbel: None,
            lower_bound: None,
            forced_playouts: None,
        }
    }
}

impl SearchParams {
    /// Reads and checks JSON.
    pub fn from_json(json: &str) -> Result<Self, ParamsError> {
        let params: SearchParams =
            serde_json::from_str(json).map_err(|error| ParamsError(format!("SearchParams: {error}")))?;
        params.check()?;
        Ok(params)
    }

    /// Fails on the first parameter outside its range, and on sections that cannot be used together.
    pub fn check(&self) -> Result<(), ParamsError> {
        self.cpuct.check()?;
        self.root_cpuct.map_or(Ok(()), |cpuct| cpuct.check_as("root_cpuct"))?;
        self.fpu.check()?;
        self.root_fpu.map_or(Ok(()), |fpu| fpu.check_as("root_fpu"))?;
        within("policy_temperature", self.policy_temperature, 1e-3, 100.0)?;
        within("root_policy_temperature", self.root_policy_temperature.unwrap_or(1.0), 1e-3, 100.0)?;
        within("draw_score", self.draw_score, -1.0, 1.0)?;
        within("max_collisions", f64::from(self.max_collisions), 1.0, 30_000.0)?;
        macro_rules! check_sections {
            ($($section:ident)*) => { $(self.$section.as_ref().map_or(Ok(()), |section| section.check())?;)* };
        }
        check_sections! {
            dirichlet search_contempt second_net solver variance tree_balance prior_mixing early_visits q_average initial_trust
            wdl_contempt gumbel lower_bound forced_playouts
        }
        self.conflicts()
    }

    /// Rejects sections that exclude each other, or are not defined together.
    fn conflicts(&self) -> Result<(), ParamsError> {
        let on = self.clone().without_neutral_rules();
        if on.second_net.is_some_and(|rule| rule.small_visits > 0) {
            on.conflicts_of_two_nets()?;
        }
        if on.graph {
            on.conflicts_of_graph()?;
        }
        if let Some(gumbel) = &on.gumbel {
            let both = [
                ("dirichlet", "both are noise of the root", on.dirichlet.is_some_and(|noise| noise.epsilon > 0.0)),
                ("second_net", "both say which edge of the root is visited", on.second_net.is_some()),
                ("lower_bound", "both say which action is played", on.lower_bound.is_some()),
            ];
            if let Some((other, why, _)) = both.iter().find(|(_, _, on)| *on) {
                return Err(excluded("gumbel", other, why));
            }
            if gumbel.below_root == BelowRoot::ImprovedPolicy && on.change_scores() {
                let what = "there is no PUCT for the rules that change it";
                return Err(ParamsError(format!(
                    "SearchParams.gumbel.below_root must be puct here, got improved_policy: {what}"
                )));
            }
            if on.forced_playouts.is_some() {
                return Err(excluded("forced_playouts", "gumbel", "both say which edge of the root is visited"));
            }
        }
        Ok(())
    }

    /// Rejects rules that are not defined for a search with two nets.
    fn conflicts_of_two_nets(&self) -> Result<(), ParamsError> {
        let others = [
            ("solver", self.solver.is_some()),
            ("variance", self.variance.is_some()),
            ("q_average", self.q_average.is_some()),
            ("gumbel", self.gumbel.is_some()),
            ("lower_bound", self.lower_bound.is_some()),
            ("wdl_contempt", self.wdl_contempt.is_some()),
            ("forced_playouts", self.forced_playouts.is_some()),
            ("cache_key position", self.cache_key == CacheKey::Position),
        ];
        match others.iter().find(|(_, on)| *on) {
            Some((name, _)) => Err(ParamsError(format!(
                "second_net and {name} cannot be used together (two nets go with search_contempt, repetition, \
                 tree_balance, prior_mixing, early_visits and initial_trust)"
            ))),
            None => Ok(()),
        }
    }

    /// Rejects rules that need every visit of a node, or that give a node what belongs to one way to it.
    fn conflicts_of_graph(&self) -> Result<(), ParamsError> {
        let certain = |rule: Repetition| rule.mode == RepetitionMode::LegacyCertain;
        let others = [
            ("second_net", self.second_net.is_some_and(|rule| rule.small_visits > 0)),
            ("variance", self.variance.is_some()),
            ("lower_bound", self.lower_bound.is_some()),
            ("q_average", self.q_average.is_some()),
            ("tree_balance", self.tree_balance.is_some()),
            ("solver.clamp_to_bounds", self.solver.is_some_and(|rule| rule.clamp_to_bounds)),
            ("solver.auto_extend", self.solver.is_some_and(|rule| rule.auto_extend)),
            ("repetition.mode legacy_certain", self.repetition.is_some_and(certain)),
        ];
        match others.iter().find(|(_, on)| *on) {
            Some((name, _)) => Err(ParamsError(format!(
                "graph and {name} cannot be used together (graph search goes with the solver without clamp_to_bounds and \
                 auto_extend, and not with second_net, variance, lower_bound, q_average and tree_balance)"
            ))),
            None => Ok(()),
        }
    }

    /// The key of an evaluation: of what the network sees (`State::key`), and which colour it is shown.
    #[inline]
    pub fn evaluation_key(&self, key: u64) -> u64 {
        if self.swap_colors { key ^ SWAPPED } else { key }
    }

    /// A rule changes the scores of edges.
    pub fn change_scores(&self) -> bool {
        self.variance.is_some()
            || self.tree_balance.is_some()
            || self.prior_mixing.is_some()
            || self.early_visits.is_some()
            || self.initial_trust.is_some()
            || self.solver.is_some_and(|rule| rule.changes_scores())
            || self.second_net.is_some()
            || self.q_average.is_some_and(|rule| rule.sufficient.is_some())
    }

    /// A rule has a say in which edge is taken, at the root or below it.
    pub fn change_selection(&self) -> bool {
        let drops_priors = self.solver.is_some_and(|rule| rule.drops_prior(Some(-1)));
        self.change_scores() || self.search_contempt.is_some() || self.gumbel.is_some() || drops_priors
    }

    /// A rule changes what a visit leaves behind.
    pub fn change_backup(&self) -> bool {
        self.variance.is_some() || self.lower_bound.is_some() || self.q_average.is_some()
    }

    /// These settings without the rules that change nothing, so that a neutral rule costs nothing.
    pub fn without_neutral_rules(mut self) -> Self {
        macro_rules! drop_neutral {
            ($($section:ident)*) => { $(self.$section = self.$section.filter(|rule| !rule.is_neutral());)* };
        }
        drop_neutral! {
            search_contempt second_net variance tree_balance prior_mixing early_visits q_average initial_trust lower_bound
            wdl_contempt forced_playouts
        }
        self
    }
}

fn excluded(one: &str, other: &str, why: &str) -> ParamsError {
    ParamsError(format!("SearchParams.{one} and SearchParams.{other} exclude each other: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gumbel_and_forced_playouts_exclude_each_other() {
        let error = SearchParams::from_json(r#"{"forced_playouts": {}, "gumbel": {}}"#).unwrap_err().to_string();
        assert!(
            error.starts_with("SearchParams.forced_playouts and SearchParams.gumbel exclude each other"),
            "{error}"
        );
        assert!(SearchParams::from_json(r#"{"forced_playouts": {"k": 0}, "gumbel": {}}"#).is_ok());
    }

    #[test]
    fn json_round_trip_and_errors() {
        let params = SearchParams { dirichlet: Some(Dirichlet::default()), ..Default::default() };
        let json = serde_json::to_string(&params).unwrap();
        assert_eq!(SearchParams::from_json(&json).unwrap(), params);
        assert_eq!(SearchParams::from_json("{}").unwrap(), SearchParams::default());
        let unknown = SearchParams::from_json(r#"{"cput": 1}"#).unwrap_err().to_string();
        assert!(unknown.contains("cput"), "{unknown}");
        let range = SearchParams::from_json(r#"{"cpuct": {"init": -1}}"#).unwrap_err().to_string();
        assert_eq!(range, "SearchParams.cpuct.init must be 0 to 100, got -1");
    }
}
