//! How long parts of a search take. WebAssembly by itself has no clock: there every part takes no time.

use std::time::Duration;
#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

/// A clock that is read part by part.
pub struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    since: Instant,
}

impl Stopwatch {
    /// Starts the first part.
    #[cfg(not(target_family = "wasm"))]
    pub fn start() -> Self {
        Stopwatch { since: Instant::now() }
    }

    /// Ends a part and starts the next one; returns how long the part took.
    #[cfg(not(target_family = "wasm"))]
    pub fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.since, now)
    }

    /// Starts the first part.
    #[cfg(target_family = "wasm")]
    pub fn start() -> Self {
        Stopwatch {}
    }

    /// Ends a part and starts the next one; returns how long the part took: nothing is known of it.
    #[cfg(target_family = "wasm")]
    pub fn lap(&mut self) -> Duration {
        Duration::ZERO
    }
}
