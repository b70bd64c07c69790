//! 3x3 convolutions by Winograd's minimal filtering (Lavin and Gray 2016, "Fast Algorithms for Convolutional Neural Networks").
//!
//! F(4x4, 3x3): a tile of 4x4 outputs takes 6x6 products of each pair of channels, 2.25 an output instead of 9. Where a board is cut into
//! lines of three with less waste, tiles have 3 rows or columns of outputs, and 5 of points. The transforms are
//! y = A^T [(G g G^T) (B^T d B)] A; those of kernels are computed once, in float64.

use crate::board::Board;
use crate::functions::mish;
use crate::lanes::{Lanes, Work};
use crate::layers::Convolution;
use crate::multiply::{Product, block_vectors};
use crate::points::{MOST_OUTPUTS, input_points, kernel_matrix, kernel_transform, output_points};
use hauteur_machine::Buffer;

/// Floats between the points of a transform beyond their own, so that points do not share places in the cache.
const STAGGER: usize = 16;

/// Outputs that are multiplied and transformed back at a time, at most: their sums stay in the cache of a core.
const PANEL: usize = 128;

/// Channels are stored in multiples of this many.
// The widest vector, for all lanes: boards and weights have one layout on every processor.
pub const CHANNELS: usize = 16;

/// What happens to the outputs of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// Nothing.
    None,
    /// max(0, x).
    Relu,
    /// Mish.
    Mish,
}

/// A 3x3 convolution as its kernel's transform.
pub struct Winograd<L: Lanes> {
    /// Input channels that are multiplied, a multiple of GROUP.
    inputs: usize,
    /// Floats from a square to the next in the input.
    input_stride: usize,
    /// Output channels, a multiple of CHANNELS: floats from a square to the next in the output.
    pub outputs: usize,
    /// Vectors of a block, and blocks.
    vectors: usize,
    blocks: usize,
    /// Points of a tile's transform.
    points: usize,
    /// [panel of blocks][point][block][input / GROUP][output of the block][GROUP].
    kernel: Buffer<L::Element>,
    bias: Buffer<f32>,
}

/// Buffers for the transforms of a chunk of rows.
pub struct Transforms<L: Lanes> {
    inputs: Buffer<L::Element>,
    sums: Buffer<f32>,
}

impl<L: Lanes> Transforms<L> {
    /// Buffers for `rows` boards of at most `channels` channels.
    pub fn new(board: &Board, rows: usize, channels: usize) -> Self {
        let points = board.points();
        let tiles = rows * board.tiles();
        let panel = channels.min(PANEL).next_multiple_of(PANEL_UNIT);
        Transforms {
            // STAGGER floats are a cache line; elements of bfloat16 are half as wide, so it takes twice as many.
            inputs: Buffer::zeros(points * (tiles * channels + STAGGER * L::GROUP)),
            sums: Buffer::zeros(points * (tiles * panel + STAGGER)),
        }
    }
}

/// A panel is a whole number of blocks, which have at most 5 vectors of 16 floats.
const PANEL_UNIT: usize = 160;

impl<L: Lanes> Winograd<L> {
    /// Transforms a 3x3 kernel for the tiles of a board. The layer before has `input_stride` channels, of which this one reads those it
    /// knows.
    pub fn new(layer: &Convolution, board: &Board, input_stride: usize) -> Self {
        let outputs = layer.outputs.next_multiple_of(CHANNELS);
        let inputs = layer.inputs.next_multiple_of(L::GROUP);
        let all_vectors = outputs / L::WIDTH;
        let vectors = block_vectors::<L>(all_vectors);
        let width = vectors * L::WIDTH;
        let blocks = all_vectors / vectors;
        // Elements that come in pairs are of bfloat16: they need the balanced points. The transforms of inputs and
        // outputs ask the same.
        let down = kernel_matrix(board.tile_rows, L::GROUP > 1);
        let across = kernel_matrix(board.tile_columns, L::GROUP > 1);
        let tile_points = board.points();
        let mut kernel = Buffer::zeros(tile_points * inputs * outputs);
        let shape = Winograd::<L> {
            inputs,
            input_stride,
            outputs,
            vectors,
            blocks,
            points: tile_points,
            kernel: Buffer::zeros(0),
            bias: Buffer::filled(&layer.bias, outputs),
        };
        let numbers = kernel.as_mut_slice();
        let panel_blocks = shape.panel_blocks();
        // The points of a block's outputs, [point][output]: written from here they fill whole lines of the cache, where single numbers
        // would be as many pages apart as there are points.
        let mut points = vec![0.0_f32; tile_points * width];
        for block in 0..blocks {
            let panel = block / panel_blocks;
            let here = panel_blocks.min(blocks - panel * panel_blocks);
            // Outputs beyond the layer's keep weights and bias of zero: their squares stay zero through every layer,
            // and add nothing where the next one multiplies them.
            let known = layer.outputs.saturating_sub(block * width).min(width);
            for input in 0..layer.inputs {
                for lane in 0..known {
                    let weights = &layer.weights[((block * width + lane) * layer.inputs + input) * 9..][..9];
                    let transform = kernel_transform(&down, &across, weights);
                    let lines = points.chunks_exact_mut(board.points_across() * width);
                    for (line, values) in lines.zip(&transform) {
                        for (point, value) in line.chunks_exact_mut(width).zip(values) {
                            point[lane] = *value as f32;
                        }
                    }
                }
                for (number, values) in points.chunks_exact(width).enumerate() {
                    // In the order in which `convolve` multiplies: for a panel the points one after the other, so that
                    // weights are read forwards, once a chunk.
                    let point = panel * panel_blocks * tile_points + number * here;
                    let group = (point + block % panel_blocks) * (inputs / L::GROUP) + input / L::GROUP;
                    let places = &mut numbers[group * width * L::GROUP..][..width * L::GROUP];
                    for (place, value) in places.chunks_exact_mut(L::GROUP).zip(&values[..known]) {
                        place[input % L::GROUP] = L::element(*value);
                    }
                }
            }
        }
        Winograd { kernel, ..shape }
    }

    /// Bytes of the kernel.
    pub fn bytes(&self) -> usize {
        self.kernel.bytes()
    }

    /// Blocks that are multiplied for all points before their sums are transformed back.
    #[inline(always)]
    fn panel_blocks(&self) -> usize {
        (PANEL / (self.vectors * L::WIDTH)).clamp(1, self.blocks)
    }

    /// Convolves `rows` boards: input and output are padded boards of `input_stride` and `outputs` channels. With `skip` (a padded
    /// board like the output, which may be the output) that is added before the finish. `pool`: gets the sums of each board's
    /// channels, before skip and finish.
    ///
    /// # Safety
    /// Pointers are valid for `rows` boards, `transforms` were made for as many rows and channels.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn convolve(
        &self,
        board: Board,
        rows: usize,
        transforms: &mut Transforms<L>,
        input: *const f32,
        output: *mut f32,
        skip: Option<*const f32>,
        finish: Finish,
        pool: Option<*mut f32>,
    ) {
        let tiles = rows * board.tiles();
        let channels = self.inputs.next_multiple_of(CHANNELS);
        let input_points = tiles * channels + STAGGER * L::GROUP;
        let size = board.padded_squares();
        let transformed = transforms.inputs.as_mut_ptr();
        // All rows are transformed before the first output is written: that is why the output may be the input's own
        // memory.
        for row in 0..rows {
            L::run(Forward::<L::Element> {
                board,
                from: input.add(row * size * self.input_stride),
                stride: self.input_stride,
                to: transformed.add(row * board.tiles() * channels),
                channels,
                point_stride: input_points,
            });
        }
        let width = self.vectors * L::WIDTH;
        let panel_blocks = self.panel_blocks();
        let mut block = 0;
        while block < self.blocks {
            let blocks = panel_blocks.min(self.blocks - block);
            let panel = blocks * width;
            let sum_points = tiles * panel + STAGGER;
            let sums = transforms.sums.as_mut_ptr();
            let weights = self.kernel.as_ptr().add(block * width * self.inputs * self.points);
            // A point is multiplied for all tiles of the chunk: its weights, up to four times as many as the kernel has,
            // then pass through the caches once.
            for point in 0..self.points {
                L::run(Product {
                    rows: transformed.add(point * input_points).cast_const(),
                    row_stride: channels,
                    count: tiles,
                    weights: weights.add(point * self.inputs * panel),
                    inputs: self.inputs,
                    blocks,
                    vectors: self.vectors,
                    out: sums.add(point * sum_points),
                    out_stride: panel,
                });
            }
            for row in 0..rows {
                let from = sums.add(row * board.tiles() * panel).cast_const();
                let place = row * size * self.outputs + block * width;
                let bias = self.bias.as_ptr().add(block * width);
                let to = output.add(place);
                let pool = pool.map(|pool| pool.add(row * self.outputs + block * width));
                let skip = skip.map(|skip| skip.add(place));
                // max(0, x) is taken while a number is in a register. Mish is a pass of its own over the finished
                // board.
                let stride = self.outputs;
                let relu = finish == Finish::Relu;
                L::run(Back { board, from, sum_points, panel, bias, to, stride, pool, skip, relu });
            }
            block += blocks;
        }
        if finish == Finish::Mish {
            for row in 0..rows {
                L::run(Activate { board, from: output.add(row * size * self.outputs), stride: self.outputs });
            }
        }
    }
}

/// B^T d B of every tile of a board.
struct Forward<E> {
    board: Board,
    from: *const f32,
    stride: usize,
    to: *mut E,
    channels: usize,
    point_stride: usize,
}

impl<E> Work for Forward<E> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        match (self.board.tile_rows, self.board.tile_columns) {
            (3, 3) => self.tiles::<L, 5, 5>(),
            (3, _) => self.tiles::<L, 5, 6>(),
            (_, 3) => self.tiles::<L, 6, 5>(),
            _ => self.tiles::<L, 6, 6>(),
        }
    }
}

impl<E> Forward<E> {
    /// The tiles, of DOWN times ACROSS points.
    #[inline(always)]
    unsafe fn tiles<L: Lanes, const DOWN: usize, const ACROSS: usize>(&self) {
        let board = self.board;
        for down in 0..board.tiles_down {
            for across in 0..board.tiles_across {
                let square = down * board.tile_rows * board.padded_columns + across * board.tile_columns;
                let tile = self.from.add(square * self.stride);
                let to = self.to.cast::<L::Element>().add((down * board.tiles_across + across) * self.channels);
                let mut channel = 0;
                while channel < self.channels {
                    self.tile::<L, DOWN, ACROSS>(tile.add(channel), to.add(channel));
                    channel += L::WIDTH;
                }
            }
        }
    }

    /// One tile of a vector of channels.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // columns become rows
    unsafe fn tile<L: Lanes, const DOWN: usize, const ACROSS: usize>(&self, from: *const f32, to: *mut L::Element) {
        let zero = L::splat(0.0);
        let mut half = [[zero; ACROSS]; DOWN];
        for j in 0..ACROSS {
            let mut column = [zero; DOWN];
            for (i, value) in column.iter_mut().enumerate() {
                *value = L::load(from.add((i * self.board.padded_columns + j) * self.stride));
            }
            let column = input_points::<L, DOWN>(column);
            for i in 0..DOWN {
                half[i][j] = column[i];
            }
        }
        for (i, row) in half.iter().enumerate() {
            for (j, value) in input_points::<L, ACROSS>(*row).iter().enumerate() {
                L::store_element(to.add((i * ACROSS + j) * self.point_stride), *value);
            }
        }
    }
}

/// A^T m A and the bias of every tile of one board and one panel of outputs; then the skip connection and max(0, x), where given.
struct Back {
    board: Board,
    from: *const f32,
    sum_points: usize,
    panel: usize,
    bias: *const f32,
    to: *mut f32,
    stride: usize,
    pool: Option<*mut f32>,
    skip: Option<*const f32>,
    relu: bool,
}

impl Work for Back {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        match (self.board.tile_rows, self.board.tile_columns) {
            (3, 3) => self.tiles::<L, 5, 5>(),
            (3, _) => self.tiles::<L, 5, 6>(),
            (_, 3) => self.tiles::<L, 6, 5>(),
            _ => self.tiles::<L, 6, 6>(),
        }
    }
}

impl Back {
    /// The tiles, of DOWN times ACROSS points.
    #[inline(always)]
    unsafe fn tiles<L: Lanes, const DOWN: usize, const ACROSS: usize>(&self) {
        let mut channel = 0;
        while channel < self.panel {
            // Tiles inside, channels outside: the sum over the board stays in a register, and has one order whatever
            // the width of the lanes.
            let mut pooled = L::splat(0.0);
            for down in 0..self.board.tiles_down {
                for across in 0..self.board.tiles_across {
                    pooled = self.tile::<L, DOWN, ACROSS>(down, across, channel, pooled);
                }
            }
            if let Some(pool) = self.pool {
                L::store(pool.add(channel), pooled);
            }
            channel += L::WIDTH;
        }
    }

    /// One tile of a vector of channels; returns the sums of its channels added to `pooled`.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // columns become rows
    unsafe fn tile<L: Lanes, const DOWN: usize, const ACROSS: usize>(
        &self,
        down: usize,
        across: usize,
        channel: usize,
        mut pooled: L::Vector,
    ) -> L::Vector {
        let board = self.board;
        let zero = L::splat(0.0);
        let bias = L::load(self.bias.add(channel));
        let from = self.from.add((down * board.tiles_across + across) * self.panel + channel);
        let mut half = [[zero; ACROSS]; MOST_OUTPUTS];
        for j in 0..ACROSS {
            let mut column = [zero; DOWN];
            for (i, value) in column.iter_mut().enumerate() {
                *value = L::load(from.add((i * ACROSS + j) * self.sum_points));
            }
            let column = output_points::<L, DOWN>(column);
            for i in 0..MOST_OUTPUTS {
                half[i][j] = column[i];
            }
        }
        for (i, line) in half.iter().take(DOWN - 2).enumerate() {
            let row = down * board.tile_rows + i;
            // What a tile has beyond the board is not written: it is the border of the next layer, and has to stay
            // zero.
            if row >= board.rows {
                break;
            }
            let line = output_points::<L, ACROSS>(*line);
            for (j, value) in line.iter().take(ACROSS - 2).enumerate() {
                let column = across * board.tile_columns + j;
                if column >= board.columns {
                    break;
                }
                let place = board.padded(row, column) * self.stride + channel;
                let mut value = L::add(*value, bias);
                // Before skip and activation: squeeze-excitation takes the mean of the convolution's own output.
                pooled = L::add(pooled, value);
                if let Some(skip) = self.skip {
                    // Read and written at one place alone, so that the skip's board may be the output's.
                    value = L::add(value, L::load(skip.add(place)));
                }
                if self.relu {
                    value = L::max(zero, value); // what is no number stays so
                }
                L::store(self.to.add(place), value);
            }
        }
        pooled
    }
}

/// Mish of every square of a padded board.
pub struct Activate {
    /// The board.
    pub board: Board,
    /// Its first square, border included.
    pub from: *mut f32,
    /// Floats from a square to the next.
    pub stride: usize,
}

impl Work for Activate {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for row in 0..self.board.rows {
            let line = self.from.add(self.board.padded(row, 0) * self.stride);
            let line = core::slice::from_raw_parts_mut(line, self.board.columns * self.stride);
            line.iter_mut().for_each(|x| *x = mish::<L>(*x));
        }
    }
}
