//! A network made ready for one instruction set, and the pass of rows through it.

use std::sync::{Mutex, PoisonError};

use crate::board::Board;
use crate::dense::{AddPooled, Excitation, Excite, Matrix, Pool, Pooling};
use crate::functions::shares;
use crate::lanes::Lanes;
use crate::layers::{Activation, Convolution, Layers, Policy};
use crate::winograd::{CHANNELS, Finish, Transforms, Winograd};
use crate::{Halted, Rows};
use hauteur_machine::Buffer;

/// A pass of rows through all layers of a network.
pub trait Pass: Send + Sync {
    /// Answers `rows` rows: see `Network::evaluate_unless`, which has checked the lengths.
    fn pass(&self, given: Rows, rows: usize, logits: &mut [f32], wdl: &mut [f32], halted: Halted) -> bool;

    /// Bytes of all weights.
    fn bytes(&self) -> usize;

    /// Does it read packed rows?
    fn reads_packed(&self) -> bool;
}

/// A convolution of a head, of either kind.
// A 1x1 kernel has nothing that Winograd could save: it is a product of matrices, in float32.
enum HeadPlanes<L: Lanes, F: Lanes<Vector = L::Vector>> {
    Pointwise(Matrix<F>),
    Tiles(Winograd<L>),
}

/// The policy head.
enum PolicyHead<L: Lanes, F: Lanes<Vector = L::Vector>> {
    Dense(HeadPlanes<L, F>, Matrix<F>),
    /// The places of all actions on the padded board.
    // Places on the padded board, so that logits are picked where the convolution left them and no plane is moved.
    Planes(Winograd<L>, Winograd<L>, Vec<u32>),
}

struct ReadyBlock<L: Lanes> {
    first: Winograd<L>,
    second: Winograd<L>,
    excitation: Option<Excitation>,
    pooling: Option<Pooling>,
}

/// A network whose tower computes with the elements of L, and whose dense layers with floats (F has the same vectors).
pub struct Tower<L: Lanes, F: Lanes<Vector = L::Vector, Element = f32>> {
    board: Board,
    finish: Finish,
    planes: usize,
    actions: usize,
    /// Rows that go through all layers together: few enough for the caches, enough that weights are used while they are there.
    chunk: usize,
    /// Floats between the squares of features and of boards.
    strides: [usize; 2],
    input: Winograd<L>,
    blocks: Vec<ReadyBlock<L>>,
    policy: PolicyHead<L, F>,
    value: (HeadPlanes<L, F>, Matrix<F>, Matrix<F>),
    scalar_value: bool,
    /// Squares of the value's planes, and two more where they are pooled.
    value_squares: usize,
    head_stride: usize,
    spare: Mutex<Vec<Buffers<L>>>,
}

/// The memory that a pass computes in; a thread takes one and brings it back. Borders of boards are zero and stay so.
struct Buffers<L: Lanes> {
    transforms: Transforms<L>,
    features: Buffer<f32>,
    x: Buffer<f32>,
    y: Buffer<f32>,
    /// Planes of a head that are read without their borders.
    head: Buffer<f32>,
    /// Planes of the policy that a convolution reads, borders too: no other layer, with another width, may write here.
    policy: Buffer<f32>,
    output: Buffer<f32>,
    squares: Buffer<f32>,
    numbers: Buffer<f32>,
    sums: Buffer<f32>,
    /// Numbers of excitation and pooling.
    few: Vec<f32>,
}

impl<L: Lanes, F: Lanes<Vector = L::Vector, Element = f32>> Tower<L, F> {
    /// Makes checked layers ready.
    pub fn new(layers: &Layers, chunk: usize) -> Self {
        let board = Board::new(layers.rows, layers.columns);
        let stride = layers.input.outputs.next_multiple_of(CHANNELS);
        let feature_stride = layers.input.inputs.next_multiple_of(CHANNELS);
        let block = |block: &crate::layers::Block| {
            let first = Winograd::new(&block.first, &board, stride);
            ReadyBlock {
                second: Winograd::new(&block.second, &board, first.outputs),
                first,
                excitation: block.excitation.as_ref().map(|(a, b)| Excitation::new(a, b, layers.input.outputs)),
                pooling: block.pooling.as_ref().map(Pooling::new),
            }
        };
        let planes_of = |layer: &Convolution| match layer.kernel {
            1 => HeadPlanes::Pointwise(Matrix::pointwise(layer, stride)),
            _ => HeadPlanes::Tiles(Winograd::new(layer, &board, stride)),
        };
        let over = |layer, planes: &Convolution| {
            Matrix::over_planes(layer, planes.outputs, planes.outputs.next_multiple_of(CHANNELS))
        };
        let value = &layers.value;
        let policy = match &layers.policy {
            Policy::Dense(planes, output) => PolicyHead::Dense(planes_of(planes), over(output, planes)),
            Policy::Planes(planes, output, actions) => {
                let first = Winograd::new(planes, &board, stride);
                let second: Winograd<L> = Winograd::new(output, &board, first.outputs);
                let place = |index: &u32| {
                    let plane = *index as usize / board.squares();
                    let square = *index as usize % board.squares();
                    let square = board.padded(square / board.columns, square % board.columns);
                    (square * second.outputs + plane) as u32
                };
                let places = actions.iter().map(place).collect();
                PolicyHead::Planes(first, second, places)
            }
        };
        // One buffer for the widest head: the heads are computed one after the other.
        let mut head_stride = value.planes.outputs.next_multiple_of(CHANNELS);
        head_stride = head_stride.max(match &layers.policy {
            Policy::Dense(planes, _) => planes.outputs.next_multiple_of(CHANNELS),
            Policy::Planes(planes, output, _) => planes.outputs.max(output.outputs).next_multiple_of(CHANNELS),
        });
        Tower {
            board,
            finish: match layers.activation {
                Activation::Relu => Finish::Relu,
                Activation::Mish => Finish::Mish,
            },
            planes: layers.input.inputs,
            actions: layers.actions(),
            chunk,
            strides: [feature_stride, stride],
            input: Winograd::new(&layers.input, &board, feature_stride),
            blocks: layers.blocks.iter().map(block).collect(),
            policy,
            value: (planes_of(&value.planes), over(&value.hidden, &value.planes), Matrix::dense(&value.output)),
            scalar_value: value.output.outputs == 1,
            value_squares: value.numbers(board.squares()),
            head_stride,
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Bytes of all weights.
    pub fn weight_bytes(&self) -> usize {
        let head = |planes: &HeadPlanes<L, F>| match planes {
            HeadPlanes::Pointwise(matrix) => matrix.bytes(),
            HeadPlanes::Tiles(tiles) => tiles.bytes(),
        };
        let tower: usize = self.blocks.iter().map(|block| block.first.bytes() + block.second.bytes()).sum();
        let policy = match &self.policy {
            PolicyHead::Dense(planes, output) => head(planes) + output.bytes(),
            PolicyHead::Planes(first, second, _) => first.bytes() + second.bytes(),
        };
        let (planes, hidden, output) = &self.value;
        self.input.bytes() + tower + policy + head(planes) + hidden.bytes() + output.bytes()
    }

    fn new_buffers(&self) -> Buffers<L> {
        let (chunk, squares, [feature_stride, stride]) = (self.chunk, self.value_squares, self.strides);
        let boards = chunk * self.board.padded_squares();
        let channels = stride.max(feature_stride).max(self.head_stride);
        let (policy, policy_stride) = match &self.policy {
            PolicyHead::Dense(_, output) => (output.outputs, 0),
            PolicyHead::Planes(first, _, _) => (0, first.outputs),
        };
        let (_, hidden, output) = &self.value;
        let few = self.blocks.iter().map(|block| {
            let excitation = block.excitation.as_ref().map_or(0, Excitation::scratch_len);
            excitation.max(block.pooling.as_ref().map_or(0, Pooling::scratch_len))
        });
        Buffers {
            transforms: Transforms::new(&self.board, chunk, channels),
            features: Buffer::zeros(boards * feature_stride),
            x: Buffer::zeros(boards * stride),
            y: Buffer::zeros(boards * stride),
            head: Buffer::zeros(boards * self.head_stride),
            policy: Buffer::zeros(boards * policy_stride),
            output: Buffer::zeros(boards * self.head_stride),
            squares: Buffer::zeros(chunk * squares * self.head_stride),
            numbers: Buffer::zeros(chunk * (hidden.outputs + output.outputs).max(policy)),
            sums: Buffer::zeros(chunk * stride),
            few: vec![0.0; few.max().unwrap_or(0)],
        }
    }

    /// Answers `rows` rows of features, [plane][row][column] each; false where `halted` ended that.
    ///
    /// # Safety
    /// The processor has L's instructions, and the slices are as long as `Network::evaluate` says.
    unsafe fn run(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32], halted: Halted) -> bool {
        // Taken out and not used under the lock, because several threads pass at once. The list is whole even where a
        // thread panicked: the lock is held to push and to pop alone.
        let taken = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffers = taken.unwrap_or_else(|| self.new_buffers());
        let row_length = self.planes * self.board.squares();
        let mut done = 0;
        while done < rows {
            // Chunks of equal size: a short last one would read all weights for a few rows. A row has the same bits in each.
            let left = rows - done;
            let count = left.div_ceil(left.div_ceil(self.chunk));
            self.read_features(&features[done * row_length..], count, &mut buffers.features);
            // An unfinished pass leaves any numbers on the squares, but never on a border, so that its buffers serve
            // again.
            let Some(body) = self.tower(count, &mut buffers, halted) else { break };
            self.value(count, body, &mut buffers, &mut wdl[done * 3..]);
            self.policy(count, body, &mut buffers, &mut logits[done * self.actions..]);
            done += count;
        }
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
        done == rows
    }

    /// Planes side by side become channels of squares.
    unsafe fn read_features(&self, features: &[f32], rows: usize, to: &mut Buffer<f32>) {
        let board = self.board;
        let stride = self.strides[0];
        let squares = board.squares();
        for (row, from) in features.chunks_exact(self.planes * squares).take(rows).enumerate() {
            let to = to.as_mut_ptr().add(row * board.padded_squares() * stride);
            for line in 0..board.rows {
                for column in 0..board.columns {
                    // Channels side by side from here on: the products read all channels of a square, and vectors run
                    // along them.
                    let channels = to.add(board.padded(line, column) * stride);
                    let square = from.as_ptr().add(line * board.columns + column);
                    for plane in 0..self.planes {
                        *channels.add(plane) = *square.add(plane * squares);
                    }
                }
            }
        }
    }

    /// Features to the last board of the tower, which is returned: one of the two of the buffers. None where `halted` says so
    /// between two blocks.
    unsafe fn tower(&self, rows: usize, buffers: &mut Buffers<L>, halted: Halted) -> Option<*const f32> {
        let board = self.board;
        let finish = self.finish;
        let transforms = &mut buffers.transforms;
        let mut x = buffers.x.as_mut_ptr();
        let mut y = buffers.y.as_mut_ptr();
        self.input.convolve(board, rows, transforms, buffers.features.as_ptr(), x, None, finish, None);
        for block in &self.blocks {
            // Between blocks: often enough for a stop of a slow net, and nothing that a small one notices.
            if halted() {
                return None;
            }
            let size = board.padded_squares() * self.strides[1];
            let stride = self.strides[1];
            // The pooled channels have to be known before the others are activated.
            let first_finish = if block.pooling.is_some() { Finish::None } else { finish };
            block.first.convolve(board, rows, transforms, x, y, None, first_finish, None);
            if let Some(layer) = &block.pooling {
                let shape = [board.rows, board.columns];
                let line = board.padded_columns * stride;
                for row in 0..rows {
                    let squares = y.add(row * size + board.padded(0, 0) * stride);
                    F::run(AddPooled { layer, squares, shape, line, stride, finish, scratch: &mut buffers.few });
                }
            }
            let Some(excitation) = &block.excitation else {
                // The skip is added in place: x is read at the square that is written, and nowhere else.
                block.second.convolve(board, rows, transforms, y, x, Some(x.cast_const()), finish, None);
                continue;
            };
            let sums = buffers.sums.as_mut_ptr();
            // The gates need the whole board before any square can be scaled, so that the skip cannot be added on the
            // way. y is free: it was transformed as a whole before its squares are written.
            block.second.convolve(board, rows, transforms, y, y, None, Finish::None, Some(sums));
            for row in 0..rows {
                F::run(Excite {
                    layers: excitation,
                    board,
                    sums: sums.add(row * stride),
                    x: y.add(row * size),
                    skip: x.add(row * size),
                    finish,
                    scratch: &mut buffers.few,
                });
            }
            // The block's output is in y, and the old x is what the next block may overwrite.
            core::mem::swap(&mut x, &mut y);
        }
        Some(x)
    }

    /// The planes of a head, squares side by side without border, in `buffers.squares`, where a row has `squares` of them; those
    /// beyond the board's are left as they are.
    unsafe fn head_planes(
        &self,
        planes: &HeadPlanes<L, F>,
        squares: usize,
        rows: usize,
        body: *const f32,
        buffers: &mut Buffers<L>,
    ) {
        let board = self.board;
        let finish = self.finish;
        let size = self.board.padded_squares();
        let to = buffers.squares.as_mut_ptr();
        match planes {
            HeadPlanes::Pointwise(matrix) => {
                for row in 0..rows {
                    for line in 0..board.rows {
                        let from = body.add((row * size + board.padded(line, 0)) * self.strides[1]);
                        let to = to.add((row * squares + line * board.columns) * matrix.outputs);
                        matrix.apply(from, self.strides[1], to, matrix.outputs, board.columns, finish);
                    }
                }
            }
            HeadPlanes::Tiles(tiles) => {
                let head = buffers.head.as_mut_ptr();
                tiles.convolve(board, rows, &mut buffers.transforms, body, head, None, finish, None);
                for row in 0..rows {
                    for line in 0..board.rows {
                        let from = head.add((row * size + board.padded(line, 0)) * tiles.outputs);
                        let to = to.add((row * squares + line * board.columns) * tiles.outputs);
                        // The dense layer reads a row without borders, as one line of numbers.
                        core::ptr::copy_nonoverlapping(from, to, board.columns * tiles.outputs);
                    }
                }
            }
        }
    }

    /// Means and greatest numbers of the value's planes, of `stride` channels, after the squares of each row.
    unsafe fn pool_planes(&self, stride: usize, rows: usize, buffers: &mut Buffers<L>) {
        let own = self.board.squares() * stride;
        for row in buffers.squares.as_mut_slice().chunks_exact_mut(self.value_squares * stride).take(rows) {
            let (squares, pooled) = row.split_at_mut(own);
            let (means, greatest) = pooled.split_at_mut(stride);
            let shape = [1, self.board.squares()];
            let finish = Finish::None;
            F::run(Pool { squares: squares.as_mut_ptr(), shape, line: own, stride, finish, means, greatest });
        }
    }

    unsafe fn value(&self, rows: usize, body: *const f32, buffers: &mut Buffers<L>, wdl: &mut [f32]) {
        let (planes, hidden, output) = &self.value;
        // Room for pooled numbers after the squares, so that the hidden layer takes both in one product.
        self.head_planes(planes, self.value_squares, rows, body, buffers);
        if self.value_squares > self.board.squares() {
            self.pool_planes(hidden.inputs / self.value_squares, rows, buffers);
        }
        let from = buffers.squares.as_ptr();
        let to = buffers.numbers.as_mut_ptr();
        // After all rows of the hidden layer, in the same buffer: `apply` reads the one while it writes the other.
        let last = to.add(self.chunk * hidden.outputs);
        hidden.apply(from, hidden.inputs, to, hidden.outputs, rows, self.finish);
        output.apply(to, hidden.outputs, last, output.outputs, rows, Finish::None);
        for (row, wdl) in wdl.chunks_exact_mut(3).take(rows).enumerate() {
            wdl.copy_from_slice(&shares::<L>(last.add(row * output.outputs), self.scalar_value));
        }
    }

    unsafe fn policy(&self, rows: usize, body: *const f32, buffers: &mut Buffers<L>, logits: &mut [f32]) {
        match &self.policy {
            PolicyHead::Dense(planes, output) => {
                self.head_planes(planes, self.board.squares(), rows, body, buffers);
                let to = buffers.numbers.as_mut_ptr();
                output.apply(buffers.squares.as_ptr(), output.inputs, to, output.outputs, rows, Finish::None);
                for (row, logits) in logits.chunks_exact_mut(self.actions).take(rows).enumerate() {
                    logits.copy_from_slice(&buffers.numbers.as_slice()[row * output.outputs..][..self.actions]);
                }
            }
            PolicyHead::Planes(first, second, places) => {
                let board = self.board;
                let transforms = &mut buffers.transforms;
                let planes = buffers.policy.as_mut_ptr();
                let out = buffers.output.as_mut_ptr();
                first.convolve(board, rows, transforms, body, planes, None, self.finish, None);
                second.convolve(board, rows, transforms, planes, out, None, Finish::None, None);
                let size = board.padded_squares() * second.outputs;
                for (row, logits) in logits.chunks_exact_mut(self.actions).take(rows).enumerate() {
                    let from = &buffers.output.as_slice()[row * size..][..size];
                    logits.iter_mut().zip(places).for_each(|(logit, place)| *logit = from[*place as usize]);
                }
            }
        }
    }
}

impl<L: Lanes, F: Lanes<Vector = L::Vector, Element = f32>> Pass for Tower<L, F> {
    fn pass(&self, given: Rows, rows: usize, logits: &mut [f32], wdl: &mut [f32], halted: Halted) -> bool {
        let Rows::Planes(features) = given else { unreachable!("packed rows are only given to what reads them") };
        // SAFETY: a tower of these lanes is only made where `Instructions::available` found them; the slices were checked.
        unsafe { self.run(features, rows, logits, wdl, halted) }
    }

    fn bytes(&self) -> usize {
        self.weight_bytes()
    }

    fn reads_packed(&self) -> bool {
        false
    }
}
