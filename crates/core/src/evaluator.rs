//! Evaluators of a search: a network, or a substitute for one.

use std::any::Any;
use std::sync::Arc;

use crate::game::{Action, State};

/// The form in which an evaluator reads the positions of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Rows of features.
    Planes,
    /// Masks and values of bit planes (boards of at most 64 squares).
    Packed,
    /// Nothing: the answers are the same for all positions.
    Nothing,
    /// The positions themselves.
    Positions,
}

/// Where a line of moves begins: whatever the caller of the core needs to know of it.
pub type Origin = Arc<dyn Any + Send + Sync>;

/// A position of a batch, and how it was reached.
pub struct Position<'a> {
    /// The position.
    pub state: &'a dyn State,
    /// Where the line begins.
    pub origin: Option<Origin>,
    /// The moves since.
    pub moves: Vec<Action>,
}

/// The rows of a batch as an evaluator reads them.
pub enum Batch<'a> {
    /// Features, a game's `row_len` floats a row.
    Planes(&'a [f32]),
    /// Masks and values, a game's number of planes of each a row.
    Packed(&'a [u64], &'a [f32]),
    /// Nothing.
    Nothing,
    /// One a row.
    Positions(&'a [Position<'a>]),
}

/// Whether the answers of a batch are no longer wanted. It may be called often and by several threads.
pub type Halted<'a> = &'a (dyn Fn() -> bool + Sync);

/// Computes rows of features. One evaluator serves any number of threads at once, each of which computes its own rows.
pub trait Evaluator: Send + Sync {
    /// Answers `rows` rows of `features` (a game's `row_len` floats each): policy logits, `num_actions` floats a row, and shares of
    /// win, draw and loss of the mover, three a row. An error is one line; the answers are then undefined.
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String>;

    /// Rows of a batch at which it is efficient.
    fn batch_size(&self) -> usize;

    /// The form that it reads; for others than features `evaluate_batch` is called.
    fn reads(&self) -> Reads {
        Reads::Planes
    }

    /// As `evaluate`, for a batch of the kind that it reads.
    fn evaluate_batch(&self, batch: Batch, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        match batch {
            Batch::Planes(features) => self.evaluate(features, rows, logits, wdl),
            _ => Err("this evaluator reads features".into()),
        }
    }

    /// As `evaluate_batch`, but it may stop early when `halted` is true: it then returns false, and the answers are undefined.
    fn evaluate_unless(
        &self,
        batch: Batch,
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
        _halted: Halted,
    ) -> Result<bool, String> {
        self.evaluate_batch(batch, rows, logits, wdl).map(|()| true)
    }
}

/// Equal priors and an even value: a search without knowledge.
pub struct Uniform;

impl Evaluator for Uniform {
    fn evaluate(&self, _: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        logits.fill(0.0);
        wdl[..rows * 3].chunks_exact_mut(3).for_each(|row| row.copy_from_slice(&[0.5, 0.0, 0.5]));
        Ok(())
    }

    fn batch_size(&self) -> usize {
        64
    }

    fn reads(&self) -> Reads {
        // No features are written for answers that do not look at them.
        Reads::Nothing
    }

    fn evaluate_batch(&self, _: Batch, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        self.evaluate(&[], rows, logits, wdl)
    }
}
