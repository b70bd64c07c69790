//! The search and the fast games of hauteur.
//!
//! This crate knows no Python, GPU or file: positions come in as [`game::State`], leaves to
//! evaluate go out as feature rows, and network answers come back as plain slices. A clock is read to tell how long things took;
//! it decides nothing.

pub mod evaluator;
pub mod forest;
pub mod game;
pub mod games;
pub mod math;
pub mod params;
pub mod picture;
pub mod play;
pub mod players;
pub mod rows;
pub mod rules;
pub mod schema;
pub mod search;
pub mod stats;
pub mod step;
pub mod stopwatch;
pub mod tree;
