//! All settings of a search. Python's `SearchParams` is written from them (`tools/settings_schema.py`), and comes as JSON.
//!
//! Every published rule has one optional section, a row of `rules/mod.rs`; absent means off, and all off is plain PUCT.

use crate::math::arithmetic::Arithmetic;
use crate::rules::gumbel::BelowRoot;
use crate::rules::search_contempt::OFF as SEARCH_CONTEMPT_OFF;
use crate::rules::setting::{ParamsError, Setting, choices, settings};
use crate::rules::{Rule, with_rules};

settings! {
    /// Exploration of PUCT: c_puct(N) = init + factor * ln((N + base) / base), N = parent visits (lc0, AlphaZero).
    Cpuct: Copy {
        /// c_puct of a young node.
        init: f64 = 1.745, 0.0 => 100.0;
        /// Visits at which growth sets in.
        base: f64 = 38739.0, 1.0 => 1e9;
        /// Strength of the growth; 0: constant.
        factor: f64 = 3.894, 0.0 => 1000.0;
    }
}

impl Cpuct {
    /// c_puct at a node with `n` visits.
    #[inline]
    pub fn at(&self, n: f64, arithmetic: Arithmetic) -> f64 {
        // A constant c_puct needs no logarithm.
        if self.factor == 0.0 {
            return self.init;
        }
        self.init + self.factor * arithmetic.ln((n + self.base) / self.base)
    }
}

choices! {
    /// How the Q of an edge without visits is made.
    pub enum FpuKind {
        /// Q of the parent - value * sqrt(sum of the priors of visited edges).
        Reduction,
        /// The value itself.
        Absolute,
        /// The network's own value of the parent, less the reduction.
        ParentValue,
    }
}

settings! {
    /// First-play urgency: the Q of an edge without visits. reduction: Q(parent) - value * sqrt(sum of the priors of visited
    /// edges); absolute: value; parent_value: reduction with the network's own value of the parent in the place of its mean.
    Fpu: Copy {
        /// The formula.
        kind: FpuKind = FpuKind::Reduction;
        /// The reduction, or the value.
        value: f64 = 0.33, -100.0 => 100.0;
    }
}

settings! {
    /// Noise on the root's priors: P <- (1 - epsilon) P + epsilon * Dir(alpha), once per root.
    Dirichlet: Copy {
        /// Share of the noise.
        epsilon: f64 = 0.25, 0.0 => 1.0;
        /// Concentration.
        alpha: f64 = 0.3, 1e-6 => 1000.0;
    }
}

choices! {
    /// Which positions share an evaluation of the network.
    pub enum CacheKey {
        /// Those that the network cannot tell apart.
        Exact,
        /// Within a tree also those that differ in their past alone (`State::position_key`).
        Position,
    }
}

/// Tells evaluations with swapped colours from the others.
const SWAPPED: u64 = 0x9E37_79B9_7F4A_7C15;

/// A rule that is asked at every edge, found in the settings that it was taken from.
#[derive(Clone, Copy, Debug)]
pub struct RuleHook {
    /// The rule.
    // A function and not a reference: the hooks stand beside the settings that they look into, in one `Setup`.
    pub rule: fn(&SearchParams) -> &dyn Rule,
    /// Place of what it keeps of an edge, where it keeps something.
    pub keeps: Option<usize>,
}

macro_rules! search_params {
    ({ $($settings:tt)* } $($(#[doc = $doc:literal])* $rule:ident: $Rule:ident;)*) => {
        settings! {
            /// All settings of the search: a rule has an optional section, which is off where it is absent.
            SearchParams + conflicts {
                $($settings)*
                $($(#[doc = $doc])* $rule: Option<crate::rules::$rule::$Rule> = None;)*
            }
        }

        /// Sections of rules, by name.
        pub const RULES: &[&str] = &[$(stringify!($rule)),*];

        impl SearchParams {
            /// The rules that have a section.
            fn rules(&self) -> impl Iterator<Item = (&'static str, &dyn Rule)> {
                let all = [$((stringify!($rule), self.$rule.as_ref().map(|rule| rule as &dyn Rule))),*];
                all.into_iter().filter_map(|(name, rule)| Some((name, rule?)))
            }

            /// The rules that are asked at edges, or keep a number of them, and the place of that number.
            pub fn hooks(&self) -> Vec<RuleHook> {
                let mut hooks: Vec<RuleHook> = Vec::new();
                $(if let Some(rule) = self.$rule.as_ref().filter(|rule| rule.is_asked() || rule.keeps()) {
                    let before = hooks.iter().filter(|hook| hook.keeps.is_some()).count();
                    let keeps = rule.keeps().then_some(before);
                    hooks.push(RuleHook { rule: |params| params.$rule.as_ref().expect("the rule is on"), keeps });
                })*
                hooks
            }

            /// These settings without the rules that change nothing, so that a neutral rule costs nothing.
            pub fn without_neutral_rules(mut self) -> Self {
                $(self.$rule = self.$rule.filter(|rule| !rule.is_neutral());)*
                self
            }
        }
    };
}

with_rules! { search_params! {
    /// Exploration below the root, and at it unless `root_cpuct` is given.
    cpuct: Cpuct = Cpuct::default();
    /// Exploration at the root.
    root_cpuct: Option<Cpuct> = None;
    /// First-play urgency below the root, and at it unless `root_fpu` is given.
    fpu: Fpu = Fpu::default();
    /// First-play urgency at the root.
    root_fpu: Option<Fpu> = None;
    /// Priors are softmax(logits / temperature).
    policy_temperature: f64 = 1.359, 1e-3 => 100.0;
    /// The same for the root alone; stored priors keep `policy_temperature`.
    root_policy_temperature: Option<f64> = None, 1e-3 => 100.0;
    /// How exp (of that softmax) and ln (of c_puct) are computed; lc0: by its polynomials, for comparing searches.
    arithmetic: Arithmetic = Arithmetic::Exact;
    /// Noise on the root's priors.
    dirichlet: Option<Dirichlet> = None;
    /// Value of a draw for the first player.
    draw_score: f64 = 0.0, -1.0 => 1.0;
    /// Keep the subtree of the move played.
    reuse_tree: bool = true;
    /// Rows that one tree may have in flight; 0 = its share of the batch, 1 = exactly sequential search.
    max_in_flight: u32 = 0, 0.0 => 1e6;
    /// Visits that may end at a leaf already in flight before a gather leaves the tree.
    max_collisions: u32 = 32, 1.0 => 30_000.0;
    /// Positions in the evaluation cache; 0: none.
    cache_size: usize = 200_000, 0.0 => 1e9;
    /// Positions that share an evaluation: those that the network cannot tell apart, or, within a tree, also those that
    /// differ in the moves that led to them (`State.position_key`).
    cache_key: CacheKey = CacheKey::Exact;
    /// Graph search: a position that is reached by two orders of moves is one node (mcts/methods/graph-search.md).
    graph: bool = false;
    /// Show the net the other colour: the plane of the side to move is inverted in every row (chess alone has one).
    swap_colors: bool = false;
    /// Bytes a tree may take before it stops growing; 0: no cap.
    max_tree_bytes: u64 = 0, 0.0 => 1e15;
} }

impl SearchParams {
    /// Reads and checks JSON.
    pub fn from_json(json: &str) -> Result<Self, ParamsError> {
        let params: SearchParams = serde_json::from_str(json).map_err(|error| ParamsError::unread(&error))?;
        params.check()?;
        Ok(params)
    }

    /// Fails on the first parameter outside its range, and on sections that cannot be used together.
    pub fn check(&self) -> Result<(), ParamsError> {
        self.check_as("")
    }

    /// Rejects sections that exclude each other, or are not defined together.
    fn conflicts(&self) -> Result<(), ParamsError> {
        // A section that changes nothing excludes nothing.
        let on = self.clone().without_neutral_rules();
        // Without small visits the large net searches alone, and every rule of one net is defined.
        if on.second_net.is_some_and(|rule| rule.small_visits > 0) {
            on.conflicts_of_two_nets()?;
        }
        if on.graph {
            on.conflicts_of_graph()?;
        }
        on.conflicts_of_model()?;
        if let Some(gumbel) = &on.gumbel {
            let both = [
                ("dirichlet", "both are noise of the root", on.dirichlet.is_some_and(|noise| noise.epsilon > 0.0)),
                ("second_net", "both say which edge of the root is visited", on.second_net.is_some()),
                ("lower_bound", "both say which action is played", on.lower_bound.is_some()),
                ("forced_playouts", "both say which edge of the root is visited", on.forced_playouts.is_some()),
                ("posterior", "both are the policy target", on.posterior.is_some()),
            ];
            if let Some((other, why, _)) = both.iter().find(|(_, _, on)| *on) {
                return Err(ParamsError(format!("gumbel and {other} exclude each other: {why}")));
            }
            if gumbel.below_root == BelowRoot::ImprovedPolicy && on.change_scores() {
                let why = "there is no PUCT for the rules that change it";
                return Err(ParamsError(format!("gumbel.below_root must be puct here, got improved_policy: {why}")));
            }
        }
        Ok(())
    }

    /// Rejects what is not defined with a model of the opponent, or without one.
    fn conflicts_of_model(&self) -> Result<(), ParamsError> {
        let n_scl = self.search_contempt.as_ref().map(|rule| rule.n_scl);
        let Some(model) = &self.opponent_net else {
            return match n_scl {
                Some(0) => Err(ParamsError(format!(
                    "search_contempt.n_scl must not be 0 without opponent_net, got 0 ({SEARCH_CONTEMPT_OFF} turns search-contempt off)"
                ))),
                _ => Ok(()),
            };
        };
        let deeper = "with plies the priors of a node depend on the way to it";
        let others = [
            ("second_net", "both bring a second net", self.second_net.is_some()),
            ("search_contempt.n_scl below 0", "the model is of the opponent", n_scl.is_some_and(|n_scl| n_scl < 0)),
            (
                "search_contempt.proofs_respect_contempt",
                "a proof holds against all replies",
                self.search_contempt.as_ref().is_some_and(|rule| rule.proofs_respect_contempt),
            ),
            ("graph", deeper, model.plies.is_some() && self.graph),
            ("cache_key position", deeper, model.plies.is_some() && self.cache_key == CacheKey::Position),
        ];
        match others.iter().find(|(_, _, on)| *on) {
            Some((other, why, _)) => {
                Err(ParamsError(format!("opponent_net and {other} cannot be used together: {why}")))
            }
            None => Ok(()),
        }
    }

    /// The subtree of a played action stays: not where nodes below a number of plies have other priors (opponent_net).
    pub fn keeps_tree(&self) -> bool {
        self.reuse_tree && self.opponent_net.is_none_or(|model| model.plies.is_none())
    }

    /// Rejects rules that are not defined for a search with two nets.
    fn conflicts_of_two_nets(&self) -> Result<(), ParamsError> {
        let rule = self.rules().find(|(_, rule)| !rule.goes_with_two_nets()).map(|(name, _)| name);
        let by_position = (self.cache_key == CacheKey::Position).then_some("cache_key position");
        match rule.or(by_position) {
            Some(name) => Err(ParamsError(format!(
                "second_net and {name} cannot be used together (two nets go with search_contempt, repetition, \
                 tree_balance, prior_mixing, early_visits and initial_trust)"
            ))),
            None => Ok(()),
        }
    }

    /// Rejects rules that need every visit of a node, or that give a node what belongs to one way to it.
    fn conflicts_of_graph(&self) -> Result<(), ParamsError> {
        match self.rules().find_map(|(name, rule)| Some(format!("{name}{}", rule.against_graph()?))) {
            Some(name) => Err(ParamsError(format!(
                "graph and {name} cannot be used together (graph search goes with the solver without clamp_to_bounds and \
                 auto_extend, and not with second_net, variance, lower_bound, q_average and tree_balance)"
            ))),
            None => Ok(()),
        }
    }

    /// The key of an evaluation: of what the network sees (`State::key`), and which colour it is shown.
    #[inline]
    pub fn evaluation_key(&self, key: u64) -> u64 {
        // Two forests may share positions but not evaluations of the other colour.
        if self.swap_colors { key ^ SWAPPED } else { key }
    }

    /// A rule changes the scores of edges.
    pub fn change_scores(&self) -> bool {
        self.rules().any(|(_, rule)| rule.changes_scores())
    }

    /// A rule has a say in which edge is taken, at the root or below it.
    pub fn change_selection(&self) -> bool {
        self.rules().any(|(_, rule)| rule.changes_selection())
    }

    /// A rule changes how a visit is backed up, or what is kept of it.
    pub fn change_backup(&self) -> bool {
        self.rules().any(|(_, rule)| rule.changes_backup())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gumbel_and_forced_playouts_exclude_each_other() {
        let error = SearchParams::from_json(r#"{"forced_playouts": {}, "gumbel": {}}"#).unwrap_err().to_string();
        assert!(error.starts_with("gumbel and forced_playouts exclude each other"), "{error}");
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
        assert_eq!(range, "cpuct.init must be 0 to 100, got -1");
    }
}
