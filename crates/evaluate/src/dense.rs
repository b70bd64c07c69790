//! Dense layers, 1x1 convolutions, squeeze-excitation and global pooling.

use crate::board::Board;
use crate::functions::{mish, sigmoid};
use crate::lanes::{Lanes, Work};
use crate::layers::{Convolution, Dense};
use crate::multiply::{Product, block_vectors};
use crate::winograd::{Activate, CHANNELS, Finish};
use hauteur_machine::Buffer;

/// A matrix of weights, packed for products of float32.
pub struct Matrix<L: Lanes> {
    /// Numbers of a row, a multiple of CHANNELS.
    pub inputs: usize,
    /// Outputs, a multiple of CHANNELS; those that the layer does not have are zero.
    pub outputs: usize,
    vectors: usize,
    weights: Buffer<L::Element>,
    bias: Buffer<f32>,
}

impl<L: Lanes> Matrix<L> {
    /// Packs `weight(output, input)` for `inputs` numbers, a multiple of GROUP.
    fn pack(inputs: usize, bias: &[f32], weight: impl Fn(usize, usize) -> f32) -> Self {
        let outputs = bias.len().next_multiple_of(CHANNELS);
        let vectors = block_vectors::<L>(outputs / L::WIDTH);
        let width = vectors * L::WIDTH;
        let mut weights = Buffer::zeros(inputs * outputs);
        for output in 0..bias.len() {
            for input in 0..inputs {
                let group = (output / width) * (inputs / L::GROUP) + input / L::GROUP;
                let place = (group * width + output % width) * L::GROUP + input % L::GROUP;
                weights.as_mut_slice()[place] = L::element(weight(output, input));
            }
        }
        Matrix { inputs, outputs, vectors, weights, bias: Buffer::filled(bias, outputs) }
    }

    /// A dense layer as it stands.
    pub fn dense(layer: &Dense) -> Self {
        let stride = layer.inputs.next_multiple_of(CHANNELS);
        let weight = |output: usize, input: usize| match input < layer.inputs {
            true => layer.weights[output * layer.inputs + input],
            false => 0.0,
        };
        Self::pack(stride, &layer.bias, weight)
    }

    /// A dense layer over planes, which lie square by square here, in `stride` channels of which `planes` are its own. What is pooled of
    /// them lies after the squares as further ones.
    pub fn over_planes(layer: &Dense, planes: usize, stride: usize) -> Self {
        let squares = layer.inputs / planes;
        // The layer was learned on planes one after the other, and boards here have their channels side by side:
        // weights are sorted once, so that no board has to be.
        let weight = |output: usize, input: usize| match input % stride < planes {
            true => layer.weights[output * layer.inputs + (input % stride) * squares + input / stride],
            false => 0.0,
        };
        Self::pack(squares * stride, &layer.bias, weight)
    }

    /// A 1x1 convolution, square by square.
    pub fn pointwise(layer: &Convolution, stride: usize) -> Self {
        let weight = |output: usize, input: usize| match input < layer.inputs {
            true => layer.weights[output * layer.inputs + input],
            false => 0.0,
        };
        Self::pack(stride, &layer.bias, weight)
    }

    /// Bytes of the weights.
    pub fn bytes(&self) -> usize {
        self.weights.bytes()
    }

    /// Multiplies `count` rows, adds the biases, and finishes.
    ///
    /// # Safety
    /// `rows` holds `count` rows of `inputs` numbers, `row_stride` apart; `out` holds `count` rows of `outputs`, `out_stride` apart.
    pub unsafe fn apply(
        &self,
        rows: *const L::Element,
        row_stride: usize,
        out: *mut f32,
        out_stride: usize,
        count: usize,
        finish: Finish,
    ) {
        L::run(Product {
            rows,
            row_stride,
            count,
            weights: self.weights.as_ptr(),
            inputs: self.inputs,
            blocks: self.outputs / (self.vectors * L::WIDTH),
            vectors: self.vectors,
            out,
            out_stride,
        });
        // After the product, whose sums begin at zero: see `multiply`.
        L::run(AddBias { bias: self.bias.as_slice(), out, out_stride, count, finish });
    }
}

/// Adds the biases to rows of sums, and finishes them.
struct AddBias<'a> {
    bias: &'a [f32],
    out: *mut f32,
    out_stride: usize,
    count: usize,
    finish: Finish,
}

impl Work for AddBias<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for row in 0..self.count {
            let numbers = core::slice::from_raw_parts_mut(self.out.add(row * self.out_stride), self.bias.len());
            for (x, bias) in numbers.iter_mut().zip(self.bias) {
                *x = finished::<L>(*x + bias, self.finish);
            }
        }
    }
}

/// max(0, x); what is no number stays so.
#[inline(always)]
fn relu(x: f32) -> f32 {
    // Not `max`, which would make zero of what is no number and hide an overflow.
    if x < 0.0 { 0.0 } else { x }
}

/// `finish` of one number.
#[inline(always)]
fn finished<L: Lanes>(x: f32, finish: Finish) -> f32 {
    match finish {
        Finish::None => x,
        Finish::Relu => relu(x),
        Finish::Mish => mish::<L>(x),
    }
}

/// Squeeze-excitation with the skip connection of its block.
pub struct Excitation {
    /// [input][output], without padding of the inputs.
    reduce: Vec<f32>,
    reduce_bias: Vec<f32>,
    /// [input][2][channels of the board, a multiple of CHANNELS].
    expand: Buffer<f32>,
    expand_bias: Buffer<f32>,
    filters: usize,
    channels: usize,
}

impl Excitation {
    /// Both layers, for boards of `filters` channels.
    pub fn new(reduce: &Dense, expand: &Dense, filters: usize) -> Self {
        let few = reduce.outputs;
        let channels = filters.next_multiple_of(CHANNELS);
        let turned = (0..filters).flat_map(|input| (0..few).map(move |output| (output, input)));
        let mut wide = Buffer::zeros(few * 2 * channels);
        let mut bias = Buffer::zeros(2 * channels);
        for output in 0..2 * filters {
            // Scales and what is added are filled up to whole vectors apart. What fills them up has sigmoid(0) as its
            // scale, but zeros to be scaled and nothing to be added: these channels stay zero.
            let place = (output / filters) * channels + output % filters;
            bias.as_mut_slice()[place] = expand.bias[output];
            for input in 0..few {
                wide.as_mut_slice()[input * 2 * channels + place] = expand.weights[output * few + input];
            }
        }
        Excitation {
            reduce: turned.map(|(output, input)| reduce.weights[output * filters + input]).collect(),
            reduce_bias: reduce.bias.clone(),
            expand: wide,
            expand_bias: bias,
            filters,
            channels,
        }
    }

    /// Numbers that `gates` needs to compute.
    pub fn scratch_len(&self) -> usize {
        self.reduce_bias.len() + 2 * self.channels
    }

    /// What each channel of a board of `squares` squares is scaled by, and what is then added, from the sums of the channels.
    ///
    /// # Safety
    /// `sums` holds a number for each of the board's channels. The processor has L's instructions.
    #[inline(always)]
    pub unsafe fn gates<'a, L: Lanes>(
        &self,
        sums: *const f32,
        squares: usize,
        finish: Finish,
        scratch: &'a mut [f32],
    ) -> (&'a [f32], &'a [f32]) {
        let channels = self.channels;
        // The mean is taken of a sum that the convolution made on its way: the board is not read once more.
        let part = 1.0 / squares as f32;
        let (few, wide) = scratch.split_at_mut(self.reduce_bias.len());
        // Inputs outside, outputs side by side: each sum has its terms in the order of the inputs, in a lane of its
        // own. A sum along the inputs would be cut into as many parts as the lanes are wide, and its bits would depend
        // on the processor.
        few.copy_from_slice(&self.reduce_bias);
        for (input, weights) in self.reduce.chunks_exact(few.len()).enumerate().take(self.filters) {
            let mean = *sums.add(input) * part;
            few.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = L::mul_add_one(mean, *weight, *sum));
        }
        let wide = &mut wide[..2 * channels];
        wide.copy_from_slice(self.expand_bias.as_slice());
        for (input, weights) in few.iter().zip(self.expand.as_slice().chunks_exact(2 * channels)) {
            let input = if finish == Finish::Mish { mish::<L>(*input) } else { relu(*input) };
            wide.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = L::mul_add_one(input, *weight, *sum));
        }
        let (gammas, betas) = wide.split_at_mut(channels);
        gammas.iter_mut().for_each(|gamma| *gamma = sigmoid::<L>(*gamma));
        (gammas, betas)
    }
}

/// x = finish(sigmoid(gamma) x + beta + skip) on one padded board, gamma and beta from the means of its channels.
pub struct Excite<'a> {
    /// The layers.
    pub layers: &'a Excitation,
    /// The board.
    pub board: Board,
    /// The sum of each channel of the board.
    pub sums: *const f32,
    /// A padded board of the layers' channels.
    pub x: *mut f32,
    /// Another one.
    pub skip: *const f32,
    /// What comes last.
    pub finish: Finish,
    /// Numbers to compute with, as many as the layers say.
    pub scratch: &'a mut [f32],
}

impl Work for Excite<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        let layers = self.layers;
        let board = self.board;
        let channels = self.layers.channels;
        let (gammas, betas) = layers.gates::<L>(self.sums, board.squares(), self.finish, self.scratch);
        let mut channel = 0;
        while channel < channels {
            let gamma = L::load(gammas.as_ptr().add(channel));
            let beta = L::load(betas.as_ptr().add(channel));
            for row in 0..board.rows {
                for column in 0..board.columns {
                    let place = board.padded(row, column) * channels + channel;
                    let scaled = L::mul_add(gamma, L::load(self.x.add(place)), beta);
                    let mut sum = L::add(scaled, L::load(self.skip.add(place)));
                    if self.finish == Finish::Relu {
                        sum = L::max(L::splat(0.0), sum);
                    }
                    L::store(self.x.add(place), sum);
                }
            }
            channel += L::WIDTH;
        }
        if self.finish == Finish::Mish {
            Activate { board, from: self.x, stride: channels }.work::<L>();
        }
    }
}

/// Mean and greatest number of the first `channels` of lines of squares, after the finish, which stays in them.
pub struct Pool<'a> {
    /// The first square; `line` floats from a line to the next, `stride` from a square to the next.
    pub squares: *mut f32,
    /// Lines of squares, and squares of a line.
    pub shape: [usize; 2],
    /// Floats from a line to the next.
    pub line: usize,
    /// Floats from a square to the next.
    pub stride: usize,
    /// What comes before.
    pub finish: Finish,
    /// Gets the means, one a pooled channel.
    pub means: &'a mut [f32],
    /// Gets the greatest numbers, as many.
    pub greatest: &'a mut [f32],
}

impl Work for Pool<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        let [lines, columns] = self.shape;
        self.means.fill(0.0);
        // Not from zero: after Mish, or without a finish, all squares may be negative.
        self.greatest.fill(f32::NEG_INFINITY);
        for line in 0..lines {
            for column in 0..columns {
                let square = self.squares.add(line * self.line + column * self.stride);
                let numbers = core::slice::from_raw_parts_mut(square, self.means.len());
                if self.finish != Finish::None {
                    // Stays in the board: the pooled channels are read again, activated, by the next convolution.
                    numbers.iter_mut().for_each(|x| *x = finished::<L>(*x, self.finish));
                }
                self.means.iter_mut().zip(&*numbers).for_each(|(sum, x)| *sum += x);
                // `f32::max` is free to give either of 0 and -0, and processors differ.
                self.greatest.iter_mut().zip(&*numbers).for_each(|(top, x)| *top = if *x > *top { *x } else { *top });
            }
        }
        let part = 1.0 / (lines * columns) as f32;
        self.means.iter_mut().for_each(|sum| *sum *= part);
    }
}

/// Global pooling inside a block.
pub struct Pooling {
    /// [pooled channel][mean, greatest][other channel].
    weights: Vec<f32>,
    bias: Vec<f32>,
    pooled: usize,
}

impl Pooling {
    /// The layer of a block.
    pub fn new(layer: &Dense) -> Self {
        let turned = (0..layer.inputs).flat_map(|input| (0..layer.outputs).map(move |output| (output, input)));
        Pooling {
            weights: turned.map(|(output, input)| layer.weights[output * layer.inputs + input]).collect(),
            bias: layer.bias.clone(),
            pooled: layer.inputs / 2,
        }
    }

    /// Numbers that `AddPooled` needs to compute.
    pub fn scratch_len(&self) -> usize {
        2 * self.pooled + self.bias.len()
    }
}

/// On the squares of one board, without the finish: finishes the pooled channels, adds what follows from them to the others, and finishes
/// these.
pub struct AddPooled<'a> {
    /// The layer.
    pub layer: &'a Pooling,
    /// The first square, of the layer's channels, the pooled ones first; see `Pool`.
    pub squares: *mut f32,
    /// Lines of squares, and squares of a line.
    pub shape: [usize; 2],
    /// Floats from a line to the next.
    pub line: usize,
    /// Floats from a square to the next.
    pub stride: usize,
    /// What comes last.
    pub finish: Finish,
    /// Numbers to compute with, as many as the layer says.
    pub scratch: &'a mut [f32],
}

impl Work for AddPooled<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        let AddPooled { layer, squares, shape, line, stride, .. } = self;
        let (means, rest) = self.scratch.split_at_mut(layer.pooled);
        let (greatest, rest) = rest.split_at_mut(layer.pooled);
        Pool { squares, shape, line, stride, finish: self.finish, means, greatest }.work::<L>();
        // The same number goes to every square of a channel, so that it is computed once a board.
        let added = &mut rest[..layer.bias.len()];
        added.copy_from_slice(&layer.bias);
        // Mean and greatest number of a channel side by side: the order in which the layer was learned.
        let inputs = means.iter().zip(&*greatest).flat_map(|(mean, top)| [*mean, *top]);
        for (input, weights) in inputs.zip(layer.weights.chunks_exact(added.len())) {
            added.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = L::mul_add_one(input, *weight, *sum));
        }
        for row in 0..shape[0] {
            for column in 0..shape[1] {
                let others = squares.add(row * line + column * stride + layer.pooled);
                let others = core::slice::from_raw_parts_mut(others, added.len());
                others.iter_mut().zip(&*added).for_each(|(x, more)| *x = finished::<L>(*x + more, self.finish));
            }
        }
    }
}
