//! Visits and statistics of a search with two nets or more (second net).

pub mod backup;
pub mod check;
pub mod frontier;
pub mod repeats;
pub mod view;
pub mod visit;
