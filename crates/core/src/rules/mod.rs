//! The search ideas: one published idea a file, with its settings and its pure functions.
//!
//! A rule acts at one of six places of a visit (python/hauteur/mcts/methods/README.md). Every rule has an optional section in
//! [`SearchParams`](crate::params::SearchParams); a section that is absent or says `is_neutral` leaves plain PUCT as it is.

/// One row a rule, in the order in which rules that act at the same place do so: its section, which is its file too, and its type.
///
/// Calls a macro with what it is given in braces, and the rows.
macro_rules! with_rules {
    ($then:ident! { $($given:tt)* }) => {
        $then! { { $($given)* }
            /// Opponent nodes freeze and are sampled.
            search_contempt: SearchContempt;
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

/// What a search has to know of a rule before it begins.
pub trait Rule {
    /// These settings leave the search as it is.
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

    /// Changes what a visit leaves behind.
    fn changes_backup(&self) -> bool {
        false
    }

    /// Has a meaning in a search with two nets.
    fn goes_with_two_nets(&self) -> bool {
        false
    }

    /// What of it cannot be used with graph search, as it follows the rule's name: empty for all of it; `None` where nothing is.
    fn against_graph(&self) -> Option<&'static str> {
        None
    }
}
