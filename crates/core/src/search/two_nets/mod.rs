//! Visits and statistics of a search with two nets (second net).

pub mod backup;
pub mod check;
pub mod frontier;
pub mod view;
pub mod visit;
