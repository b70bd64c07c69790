//! The search ideas: one published idea a file, with its settings and its pure functions.
//!
//! A rule acts at one of six places of a visit (python/hauteur/mcts/methods/README.md). Every rule has an optional section in
//! [`SearchParams`](crate::params::SearchParams); a section that is absent or says `is_neutral` leaves plain PUCT unchanged.

/// One row a rule, in the order in which rules that act at the same place do so: its section, which is its file too, and its type.
///
/// Calls a macro with what it is given in braces, and the rows.
// The one list of rules: settings, hooks and schema are made of it, so that none can be in one and missing in another.
macro_rules! with_rules {
    ($then:ident! { $($given:tt)* }) => {
        $then! { { $($given)* }
            /// Opponent nodes freeze and are sampled.
            search_contempt: SearchContempt;
            /// A model of the opponent gives the priors of their nodes.
            opponent_net: OpponentNet;
            /// A second, large network searches with.
            second_net: SecondNet;
            /// Proven results travel up the tree.
            solver: Solver;
            /// Second occurrences count as draws.
            repetition: Repetition;
            /// The spread of results changes selection.
            variance: Variance;
            /// Numbers of replies change exploration.
            tree_balance: TreeBalance;
            /// Priors are mixed with the uniform policy.
            prior_mixing: PriorMixing;
            /// The first visits of an edge cost less.
            early_visits: EarlyVisits;
            /// Later results count more.
            q_average: QAverage;
            /// First visits are trusted less.
            initial_trust: InitialTrust;
            /// One side counts as stronger.
            wdl_contempt: WdlContempt;
            /// The root is searched by sequential halving.
            gumbel: Gumbel;
            /// The move is chosen by its lower confidence bound.
            lower_bound: LowerBound;
            /// Forced playouts of the root and pruned policy targets.
            forced_playouts: ForcedPlayouts;
            /// The policy target is what visits approach.
            posterior: Posterior;
        }
    };
}
pub(crate) use with_rules;

pub mod early_visits;
pub mod forced_playouts;
pub mod graph;
pub mod gumbel;
pub mod initial_trust;
pub mod lower_bound;
pub mod opponent_net;
pub mod posterior;
pub mod prior_mixing;
pub mod q_average;
pub mod repetition;
pub mod search_contempt;
pub mod second_net;
pub mod setting;
pub mod solver;
pub mod tree_balance;
pub mod variance;
pub mod wdl_contempt;

/// An edge whose score a rule changes, for the node's mover.
#[derive(Clone, Copy, Debug)]
pub struct RuleEdge {
    /// N(s, a): completed visits.
    pub visits: u32,
    /// N(s, a) + F(s, a): with those in flight.
    pub begun: u32,
    /// The game is known to be over after it.
    pub ended: bool,
    /// First-play urgency: Q of an edge without visits.
    pub unvisited_q: f64,
    /// What the rule keeps of the edge; 0 before the first visit.
    pub kept: f64,
}

/// The node whose edges are compared.
#[derive(Clone, Copy, Debug)]
pub struct RuleNode {
    /// 1 at the root.
    pub depth: usize,
    /// Legal moves.
    pub edges: usize,
    /// N(s): completed visits, its own evaluation included.
    pub visits: u32,
    /// Q(s): mean of the visits for its mover, draws at their score.
    pub q: f64,
}

/// A visit that is backed up through an edge, or the root.
#[derive(Clone, Copy, Debug)]
pub struct RuleVisit {
    /// N of the edge, this visit included.
    pub visits: u32,
    /// W - L of the visit for the player who chose the edge, at a root for its mover.
    pub value: f64,
    /// The mean before it.
    pub mean: f64,
}

/// What a rule is to a search. A rule in `changes_scores` is asked at every edge by the methods of places 1 to 3; the scores of rules with
/// state of another kind, or with a loop of their own, are made by `search/scores.rs`.
pub trait Rule: Sync {
    /// Place 1: Q(s, a), which plain PUCT and the rows above have made `q`.
    fn value(&self, q: f64, _edge: &RuleEdge, _node: &RuleNode) -> f64 {
        q
    }

    /// Place 2: P(s, a) as it counts in U.
    fn prior(&self, prior: f64, _edge: &RuleEdge, _node: &RuleNode) -> f64 {
        prior
    }

    /// Place 3: what divides P in U, 1 + N + F in plain PUCT.
    fn divisor(&self, divisor: f64, _edge: &RuleEdge) -> f64 {
        divisor
    }

    /// Place 3: U(s, a).
    fn bonus(&self, u: f64, _edge: &RuleEdge, _node: &RuleNode) -> f64 {
        u
    }

    /// Of two edges without visits the one with the smaller prior may have the greater score: all are looked at.
    // Careful by default. A rule under which the order by priors stays says so, and is faster for it.
    fn reorders(&self) -> bool {
        self.is_asked()
    }

    /// Keeps a number of every visited edge, 0 at first: a column of the tree while the rule is on.
    fn keeps(&self) -> bool {
        false
    }

    /// Place 5: changes that number after a visit.
    fn after_backup(&self, _kept: &mut f64, _visit: &RuleVisit) {}

    /// It is asked at every edge; rules that `search/scores.rs` names are not.
    fn is_asked(&self) -> bool {
        self.changes_scores()
    }

    /// These settings leave the search unchanged.
    fn is_neutral(&self) -> bool {
        false
    }

    /// Changes the scores of edges.
    fn changes_scores(&self) -> bool {
        false
    }

    /// Has a say in which edge is taken, at the root or below it.
    fn changes_selection(&self) -> bool {
        self.changes_scores()
    }

    /// Changes how a visit is backed up, or what is kept of it.
    fn changes_backup(&self) -> bool {
        self.keeps()
    }

    /// Has a meaning in a search with two nets.
    fn goes_with_two_nets(&self) -> bool {
        false
    }

    /// What of it cannot be used with graph search, as it follows the rule's name: empty for all of it; `None` where nothing is.
    fn against_graph(&self) -> Option<&'static str> {
        // What is kept of every single visit has no meaning where a visit counts for several lines.
        self.keeps().then_some("")
    }
}
