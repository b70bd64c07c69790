//! Resignation, with a share of the games played on to see how often it would have been wrong.

use crate::math::streams::{Purpose, Stream};
use crate::play::settings::Resignation;

/// Follows the root values of one game.
#[derive(Clone, Debug)]
pub struct Watch {
    settings: Resignation,
    plays_through: bool,
    in_a_row: [u32; 2],
    /// The side that was the first to have reason to resign.
    pub side: Option<usize>,
}

impl Watch {
    /// An observer of the game with this seed.
    pub fn new(settings: Resignation, seed: u64) -> Self {
        // Drawn before the game begins: whether it is played out must not depend on how it goes, or the false
        // resignations would be counted wrongly.
        let plays_through = Stream::new(seed, Purpose::PlayThrough, 0).uniform() < settings.play_through;
        Watch { settings, plays_through, in_a_row: [0; 2], side: None }
    }

    /// Takes the root value that a side found before its move at this ply; NaN: none.
    pub fn see(&mut self, side: usize, value: f64, ply: usize) {
        // NaN (a player without a search) compares as false.
        let hopeless = value <= self.settings.threshold;
        self.in_a_row[side] = if hopeless { self.in_a_row[side] + 1 } else { 0 };
        if self.side.is_none() && ply >= self.settings.earliest_ply && self.in_a_row[side] >= self.settings.moves {
            self.side = Some(side);
        }
    }

    /// The side that resigns now.
    pub fn resigns(&self) -> Option<usize> {
        self.side.filter(|_| !self.plays_through)
    }
}
