//! What a search asks: a network, or what stands in for one.

/// Computes rows of features. One evaluator serves any number of threads at once, each of which computes its own rows.
pub trait Evaluator: Send + Sync {
    /// Answers `rows` rows of `features` (a game's `row_len` floats each): policy logits, `num_actions` floats a row, and shares of
    /// win, draw and loss of the mover, three a row. Whatever fails is told in one line; the answers are then of no use.
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String>;

    /// Are the answers to a row the same bits, whatever rows stand beside it? Only then are games that share its batches
    /// independent of each other.
    fn is_exact(&self) -> bool;

    /// Rows of a batch at which it is efficient.
    fn batch_size(&self) -> usize;
}

/// Equal priors and an even value: a search without knowledge.
pub struct Uniform;

impl Evaluator for Uniform {
    fn evaluate(&self, _: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        logits.fill(0.0);
        wdl[..rows * 3].chunks_exact_mut(3).for_each(|row| row.copy_from_slice(&[0.5, 0.0, 0.5]));
        Ok(())
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn batch_size(&self) -> usize {
        64
    }
}
