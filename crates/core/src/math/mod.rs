//! Arithmetic that knows nothing of games or trees.

pub mod arithmetic;
pub mod rng;
pub mod streams;
pub mod welford;
