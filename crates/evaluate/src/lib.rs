//! Residual networks of board games, evaluated on the processor.
//!
//! The answer to a row is the same bits whatever the other rows are, and in float32 the same bits on every processor with a fused
//! multiply-add (AVX-512, AVX2, NEON): each number is a sum over input channels in one order in a lane of its own. So a game, a tree or a
//! training run does not depend on batches, threads or machines. WebAssembly has no fused multiply-add; its bits are those of
//! [`Instructions::Unfused`].

mod amx;
mod board;
mod dense;
mod functions;
mod instructions;
mod lanes;
pub mod layers;
mod memory;
mod multiply;
mod points;
mod tower;
mod winograd;

pub use instructions::{Instructions, Precision};
use layers::{Layers, NetworkError};
use tower::Pass;

/// Says whether a computation should be given up. It is asked between layers, by several threads, and has to be quick.
pub type Halted<'a> = &'a (dyn Fn() -> bool + Sync);

/// Rows of features.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    /// [plane][row][column] each.
    Planes(&'a [f32]),
    /// A mask and a value of each plane: the value where bit `row * columns + column` is set, else 0. Boards of at most 64 squares.
    Packed(&'a [u64], &'a [f32]),
}

/// A network made ready for this processor. It may be used by any number of threads at once; each computes its own rows.
pub struct Network {
    // A trait object: kernels are compiled for one instruction set each, and which one there is shows when the network is
    // made.
    pass: Box<dyn Pass>,
    planes: usize,
    row_length: usize,
    actions: usize,
    instructions: Instructions,
    precision: Precision,
}

impl Network {
    /// Makes layers ready. `instructions`: None for the best that this processor has for the precision; `chunk`: rows that go through all layers together,
    /// None for what suits the network (no number depends on it).
    pub fn new(
        layers: &Layers,
        precision: Precision,
        instructions: Option<Instructions>,
        chunk: Option<usize>,
    ) -> Result<Self, NetworkError> {
        layers.check()?;
        // Without instructions for the precision the best ones are named all the same: `ready` refuses them with a
        // reason that tells the user what this processor lacks.
        let best = || Instructions::best_for(precision).unwrap_or_else(Instructions::best);
        let instructions = instructions.unwrap_or_else(best);
        Ok(Network {
            pass: instructions::ready(layers, precision, instructions, chunk)?,
            planes: layers.input.inputs,
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
        self.evaluate_unless(Rows::Planes(features), rows, logits, wdl, &|| false).map(|_| ())
    }

    /// `evaluate`, until `halted` says that the answers are not wanted any more: it then returns false, and they are of no use. Packed
    /// rows are an error where the network does not read them.
    pub fn evaluate_unless(
        &self,
        given: Rows,
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
        halted: Halted,
    ) -> Result<bool, NetworkError> {
        // The one check of lengths: below it all is pointers.
        self.check_lengths(given, rows, logits.len(), wdl.len())?;
        let done = self.pass.pass(given, rows, logits, wdl, halted);
        // The answers alone are looked at, not every layer: no activation turns what is no number into one, so an
        // overflow in the tower arrives here.
        if done && let Some(row) = self.first_overflow(logits, wdl) {
            return Err(NetworkError(format!(
                "row {row}: the numbers of this network overflow: an answer is not finite"
            )));
        }
        Ok(done)
    }

    fn check_lengths(&self, given: Rows, rows: usize, logits: usize, wdl: usize) -> Result<(), NetworkError> {
        let (what, features, length) = match given {
            Rows::Planes(features) => ("features", features.len(), self.row_length),
            Rows::Packed(..) if !self.reads_packed() => {
                return Err(NetworkError("this network reads planes, not packed rows".into()));
            }
            Rows::Packed(masks, values) if masks.len() != values.len() => {
                let masks = masks.len();
                let values = values.len();
                return Err(NetworkError(format!("packed rows have a value for each mask, got {masks} and {values}")));
            }
            // Masks are one a plane, so that the length of a packed row does not depend on the board.
            Rows::Packed(masks, _) => ("masks", masks.len(), self.planes),
        };
        let got = [features, logits, wdl];
        let expected = [rows * length, rows * self.actions, rows * 3];
        if got != expected {
            return Err(NetworkError(format!("{rows} rows are {expected:?} {what}, logits and shares, got {got:?}")));
        }
        Ok(())
    }

    /// `count` rows from number `first` on of rows for this network.
    pub fn part<'a>(&self, rows: Rows<'a>, first: usize, count: usize) -> Rows<'a> {
        match rows {
            Rows::Planes(features) => Rows::Planes(&features[first * self.row_length..][..count * self.row_length]),
            Rows::Packed(masks, values) => {
                let begin = first * self.planes;
                let length = count * self.planes;
                Rows::Packed(&masks[begin..][..length], &values[begin..][..length])
            }
        }
    }

    /// Does it read packed rows, which are shorter?
    pub fn reads_packed(&self) -> bool {
        self.pass.reads_packed()
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
