//! Residual networks of board games, evaluated on the processor.
//!
//! The answer to a row is the same bits whatever rows stand beside it, and in float32 the same bits on every processor with a fused
//! multiply-add (AVX-512, AVX2, NEON): each number is a sum over input channels in one order in a lane of its own. So a game, a tree or a
//! training run does not depend on batches, threads or machines. WebAssembly has no fused multiply-add; its bits are those of
//! [`Instructions::Unfused`].

mod aligned;
mod board;
mod dense;
mod functions;
mod instructions;
mod lanes;
pub mod layers;
mod multiply;
mod tower;
mod winograd;

pub use instructions::{Instructions, Precision};
use layers::{Layers, NetworkError};
use tower::Pass;

/// Says whether a computation should be given up. It is asked between layers, by several threads, and has to be quick.
pub type Halted<'a> = &'a (dyn Fn() -> bool + Sync);

/// A network made ready for this processor. It may be used by any number of threads at once; each computes its own rows.
pub struct Network {
    pass: Box<dyn Pass>,
    row_length: usize,
    actions: usize,
    instructions: Instructions,
    precision: Precision,
}

impl Network {
    /// Makes layers ready. `instructions`: None for the best that this processor has; `chunk`: rows that go through all layers together,
    /// None for what suits the network (no number depends on it).
    pub fn new(
        layers: &Layers,
        precision: Precision,
        instructions: Option<Instructions>,
        chunk: Option<usize>,
    ) -> Result<Self, NetworkError> {
        layers.check()?;
        let instructions = instructions.unwrap_or_else(Instructions::best);
        let chunk = chunk.unwrap_or_else(|| default_chunk(layers)).clamp(1, 256);
        check_memory(layers, chunk)?;
        Ok(Network {
            pass: instructions::ready(layers, precision, instructions, chunk)?,
            row_length: layers.input.inputs * layers.rows * layers.columns,
            actions: layers.actions(),
            instructions,
            precision,
        })
    }

    /// Answers `rows` rows: `features` [plane][row][column] each; `logits` gets the actions of each row, `wdl` win, draw and loss of the
    /// player to move, which sum to one. Slices of other lengths are an error, and answers that are not finite.
    pub fn evaluate(
        &self,
        features: &[f32],
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
    ) -> Result<(), NetworkError> {
        self.evaluate_unless(features, rows, logits, wdl, &|| false).map(|_| ())
    }

    /// `evaluate`, until `halted` says that the answers are not wanted any more: it then returns false, and they are of no use.
    pub fn evaluate_unless(
        &self,
        features: &[f32],
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
        halted: Halted,
    ) -> Result<bool, NetworkError> {
        let (got, expected) =
            ([features.len(), logits.len(), wdl.len()], [rows * self.row_length, rows * self.actions, rows * 3]);
        if got != expected {
            return Err(NetworkError(format!("{rows} rows are {expected:?} features, logits and shares, got {got:?}")));
        }
        let done = self.pass.pass(features, rows, logits, wdl, halted);
        if done && let Some(row) = self.first_overflow(logits, wdl) {
            return Err(NetworkError(format!(
                "row {row}: the numbers of this network overflow: an answer is not finite"
            )));
        }
        Ok(done)
    }

    /// The first row with an answer that is not finite.
    fn first_overflow(&self, logits: &[f32], wdl: &[f32]) -> Option<usize> {
        let mut rows = logits.chunks_exact(self.actions).zip(wdl.chunks_exact(3));
        rows.position(|(logits, wdl)| !logits.iter().chain(wdl).all(|number| number.is_finite()))
    }

    /// Floats of a row of features.
    pub fn row_length(&self) -> usize {
        self.row_length
    }

    /// Logits of a row.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The instructions that it computes with.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// What the tower's products are taken of.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Bytes of all weights, as they are multiplied.
    pub fn bytes(&self) -> usize {
        self.pass.bytes()
    }
}

/// Refuses a network whose boards no address of this machine reaches (32 bits: WebAssembly).
fn check_memory(layers: &Layers, chunk: usize) -> Result<(), NetworkError> {
    let squares = board::Board::new(layers.rows, layers.columns).padded_squares();
    let channels = layers.widest().next_multiple_of(winograd::CHANNELS);
    match layers::product(&[chunk, squares, channels, 36 * size_of::<f32>()]) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(()),
        _ => Err(NetworkError(format!(
            "boards of {squares} squares with {channels} channels are too large for this machine"
        ))),
    }
}

/// Rows whose transforms take a third of a core's second cache, the rest of which passes the weights; at least 4, and 16 where the weights
/// fit no cache, so that each is read once for many rows.
fn default_chunk(layers: &Layers) -> usize {
    const CACHE: usize = 320 * 1024;
    const LARGE: usize = 32 * 1024 * 1024;
    let (tiles, filters) = (board::Board::new(layers.rows, layers.columns).tiles(), layers.input.outputs);
    let row = (tiles * 36).saturating_mul(filters * 2 * size_of::<f32>());
    let weights = (layers.blocks.len() * 2 * 36).saturating_mul(filters * filters).saturating_mul(size_of::<f32>());
    (CACHE / row).clamp(if weights > LARGE { 16 } else { 4 }, 32)
}
