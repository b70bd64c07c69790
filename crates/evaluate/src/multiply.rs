//! Products of matrices in registers: rows of elements times weights packed in blocks of outputs.

use crate::lanes::{Lanes, Work};

/// Rows from which on weights are fetched ahead: fewer are multiplied as fast as weights come, and fetching them costs more than it saves.
const ROWS_TO_FETCH: usize = 12;
/// With this many inputs or more, the rows from which on weights are fetched ahead: the tiles of one chess board. The processor's own
/// prefetching ends at every page of 4 KiB, and does not keep up with blocks of many pages.
const ROWS_TO_FETCH_WIDE: usize = 4;
/// See `ROWS_TO_FETCH_WIDE`.
const WIDE: usize = 128;

/// The widest block of outputs, in vectors.
const MAX_VECTORS: usize = 5;

/// Vectors of outputs in a block, for this many vectors of outputs: few enough that the accumulators of some rows stay in registers,
/// and without rest where that can be.
pub fn block_vectors<L: Lanes>(vectors: usize) -> usize {
    match L::ACCUMULATORS {
        // 80 outputs, the planes of the policy in lc0's networks, are five vectors: in blocks of one each row would be
        // read five times.
        24.. if vectors == MAX_VECTORS => MAX_VECTORS,
        24.. if vectors.is_multiple_of(4) => 4,
        8.. if vectors.is_multiple_of(2) => 2,
        24.. if vectors.is_multiple_of(3) => 3,
        _ => 1,
    }
}

/// Products of some rows with weights: writes the sums over all inputs, for `count` rows and `blocks` blocks of `vectors` vectors of
/// outputs. Each sum runs over the inputs in order from zero, so that it is the same number whatever else is computed.
#[derive(Clone, Copy)]
pub struct Product<E> {
    /// The first row of elements; `row_stride` elements from one to the next.
    pub rows: *const E,
    /// See `rows`.
    pub row_stride: usize,
    /// Rows.
    pub count: usize,
    /// Weights, [block][input / GROUP][output of the block][GROUP].
    pub weights: *const E,
    /// Input channels, a multiple of GROUP.
    pub inputs: usize,
    /// Blocks of outputs.
    pub blocks: usize,
    /// Vectors of a block.
    pub vectors: usize,
    /// Sums; `out_stride` floats from one row to the next.
    pub out: *mut f32,
    /// See `out`.
    pub out_stride: usize,
}

impl<E> Work for Product<E> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        // Block widths that these lanes never choose are not compiled for them.
        match self.vectors {
            5 if L::ACCUMULATORS >= 24 => block_rows::<L, E, 5>(self),
            4 if L::ACCUMULATORS >= 24 => block_rows::<L, E, 4>(self),
            3 if L::ACCUMULATORS >= 24 => block_rows::<L, E, 3>(self),
            2 if L::ACCUMULATORS >= 8 => block_rows::<L, E, 2>(self),
            _ => block_rows::<L, E, 1>(self),
        }
    }
}

#[inline(always)]
unsafe fn block_rows<L: Lanes, E, const N: usize>(p: Product<E>) {
    for block in 0..p.blocks {
        // Blocks outside, rows inside: the weights of a block are read again for every tile of rows, while they are in
        // a near cache.
        let weights = p.weights.add(block * p.inputs * N * L::WIDTH);
        let out = p.out.add(block * N * L::WIDTH);
        let tiles = Product { weights, out, ..p };
        let mut row = 0;
        // The first tile of rows fetches the weights that follow, those of the next block or point: a tower's weights fit no second cache,
        // and while one block is multiplied the next one can come.
        let least = if p.inputs >= WIDE { ROWS_TO_FETCH_WIDE } else { ROWS_TO_FETCH };
        let fetches = p.count >= least;
        // The most rows whose accumulators fit, then fewer for the rest.
        // How many rows share a tile changes no sum: each has accumulators of its own, over the inputs in the same
        // order. So a row has the same bits in every batch.
        if L::ACCUMULATORS / N >= 12 {
            while row + 12 <= p.count {
                tile::<L, E, 12, N>(&tiles, row, fetches);
                row += 12;
            }
        }
        if L::ACCUMULATORS / N >= 6 {
            while row + 6 <= p.count {
                tile::<L, E, 6, N>(&tiles, row, fetches);
                row += 6;
            }
        }
        while row + 4 <= p.count {
            tile::<L, E, 4, N>(&tiles, row, fetches);
            row += 4;
        }
        while row + 2 <= p.count {
            tile::<L, E, 2, N>(&tiles, row, fetches);
            row += 2;
        }
        while row < p.count {
            tile::<L, E, 1, N>(&tiles, row, fetches);
            row += 1;
        }
    }
}

/// M rows from `first` on, times N vectors of outputs. `fetches`: the first rows of all fetch the weights of the next block.
#[inline(always)]
unsafe fn tile<L: Lanes, E, const M: usize, const N: usize>(p: &Product<E>, first: usize, fetches: bool) {
    // Two loops, because a choice within the loop would cost every product of a group.
    if fetches && first == 0 {
        sum_rows::<L, E, M, N, true>(p, first);
    } else {
        sum_rows::<L, E, M, N, false>(p, first);
    }
}

/// See `tile`.
#[inline(always)]
unsafe fn sum_rows<L: Lanes, E, const M: usize, const N: usize, const FETCHES: bool>(p: &Product<E>, first: usize) {
    // From zero, not from a bias: the sums at Winograd's points have none, they are transformed back before it is
    // added.
    let mut sums = [[L::splat(0.0); N]; M];
    let mut weights: *const L::Element = p.weights.cast();
    let mut inputs: *const L::Element = p.rows.cast::<L::Element>().add(first * p.row_stride);
    let block = p.inputs * N * L::WIDTH;
    for _ in 0..p.inputs / L::GROUP {
        if FETCHES {
            for vector in 0..N {
                // Beyond the last block this is no memory of ours, which a prefetch may name.
                L::prefetch(weights.wrapping_add(block + vector * L::WIDTH * L::GROUP));
            }
        }
        let mut outputs = [L::load_weights(weights); N];
        for (vector, output) in outputs.iter_mut().enumerate().skip(1) {
            *output = L::load_weights(weights.add(vector * L::WIDTH * L::GROUP));
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            // A weight is loaded once for M rows, an input once for N vectors: M N products for M + N loads are why
            // tiles are as large as registers allow.
            let input = L::broadcast(inputs.add(row * p.row_stride));
            for (sum, output) in sums.iter_mut().zip(outputs) {
                *sum = L::multiply(*sum, input, output);
            }
        }
        weights = weights.add(N * L::WIDTH * L::GROUP);
        inputs = inputs.add(L::GROUP);
    }
    for (row, sums) in sums.iter().enumerate() {
        for (vector, sum) in sums.iter().enumerate() {
            L::store(p.out.add((first + row) * p.out_stride + vector * L::WIDTH), *sum);
        }
    }
}
