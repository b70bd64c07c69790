//! Exact solvers: what perfect play makes of a position. They judge players; no player uses them.

pub mod connect4;
