//! The search ideas: one published idea a file, with its settings and its pure functions.
//!
//! A rule acts at one of six places of a visit (python/hauteur/mcts/methods/README.md). Every rule has an optional section in
//! [`SearchParams`](crate::params::SearchParams); a section that is absent or says `is_neutral` leaves plain PUCT as it is.

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
