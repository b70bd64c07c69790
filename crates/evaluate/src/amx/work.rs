//! What happens to sums between the products: activations, means, and the way into the next layer as bfloat16.

use super::grid::{ROW_CHANNELS, TILE_FLOATS, TILE_ROWS, Tile};
use super::pack::PANEL;
use super::products::TILE_HALVES;
use crate::dense::Excitation;
use crate::functions::mish;
use crate::lanes::{Lanes, Work};
use crate::winograd::Finish;

/// The activation of a vector.
#[inline(always)]
unsafe fn activated<L: Lanes>(vector: L::Vector, finish: Finish) -> L::Vector {
    match finish {
        Finish::None => vector,
        Finish::Relu => L::max(L::splat(0.0), vector), // what is no number stays so
        Finish::Mish => {
            // Number by number: `exp` needs integer lanes, which `Lanes` does not have. Half of the array is unused
            // where vectors have 8.
            let mut numbers = [0.0; PANEL];
            L::store(numbers.as_mut_ptr(), vector);
            numbers[..L::WIDTH].iter_mut().for_each(|x| *x = mish::<L>(*x));
            L::load(numbers.as_ptr())
        }
    }
}

/// Rows of a tile that are computed squares.
#[inline(always)]
fn rows_of(tile: &Tile, computed: u16) -> impl Iterator<Item = usize> {
    let squares = tile.squares & computed;
    // Rows of the border are computed as well, and left out here: written they would be no zeros, and the next layer
    // reads them.
    (0..TILE_ROWS).filter(move |row| squares >> row & 1 == 1)
}

/// Writes the sums of some tiles, activated, into a board.
pub struct ToBoard<'a> {
    /// The sums, a tile after the other.
    pub sums: *const f32,
    /// The tiles.
    pub tiles: &'a [Tile],
    /// The rows of a tile that are computed, a bit each.
    pub computed: u16,
    /// Row 0 of the first tile in the board, at the first of 16 channels.
    pub to: *mut u16,
    /// Numbers from a tile to the next in the board.
    pub spacing: usize,
    /// Whether what stands in the board is added first: the skip connection.
    pub adds: bool,
    /// The activation.
    pub finish: Finish,
}

impl Work for ToBoard<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for (number, tile) in self.tiles.iter().enumerate() {
            for row in rows_of(tile, self.computed) {
                let sums = self.sums.add(number * TILE_FLOATS + row * PANEL);
                let to = self.to.add(number * self.spacing + row * ROW_CHANNELS);
                for channel in (0..PANEL).step_by(L::WIDTH) {
                    let to = to.add(channel).cast::<L::Element>();
                    let mut sum = L::load(sums.add(channel));
                    if self.adds {
                        // Before the activation, and in float32: only what is written is rounded.
                        sum = L::add(sum, L::load_element(to));
                    }
                    L::store_element(to, activated::<L>(sum, self.finish));
                }
            }
        }
    }
}

/// Adds the sums of some tiles over the squares of each board.
pub struct Totals<'a> {
    /// The sums, a tile after the other.
    pub sums: *const f32,
    /// The tiles.
    pub tiles: &'a [Tile],
    /// See `ToBoard`.
    pub computed: u16,
    /// Boards of the group.
    pub boards: usize,
    /// 16 totals of the first board; `stride` floats to the next one's.
    pub totals: *mut f32,
    /// See `totals`.
    pub stride: usize,
}

impl Work for Totals<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for channel in (0..PANEL).step_by(L::WIDTH) {
            // Rows take turns: row r of every tile belongs to board r mod `boards`, and no sum waits for the one before.
            let mut turns = [L::splat(0.0); 4];
            for (number, tile) in self.tiles.iter().enumerate() {
                for row in rows_of(tile, self.computed) {
                    let sum = L::load(self.sums.add(number * TILE_FLOATS + row * PANEL + channel));
                    turns[row % 4] = L::add(turns[row % 4], sum);
                }
            }
            // A fixed tree of additions, the same for one board of a pair and for two: a row's bits do not depend on
            // its neighbour.
            let [even, odd] = [L::add(turns[0], turns[2]), L::add(turns[1], turns[3])];
            let of_boards = if self.boards == 2 { [even, odd] } else { [L::add(even, odd); 2] };
            for (board, total) in of_boards.into_iter().enumerate().take(self.boards) {
                let to = self.totals.add(board * self.stride + channel);
                L::store(to, L::add(L::load(to), total));
            }
        }
    }
}

/// What each channel of a board is scaled by, and what is added: `Excitation::gates`.
pub struct Gates<'a> {
    /// The layers.
    pub layers: &'a Excitation,
    /// The sum of each channel of the board.
    pub totals: *const f32,
    /// Squares of the board.
    pub squares: usize,
    /// The activation between the layers.
    pub finish: Finish,
    /// Numbers to compute with.
    pub scratch: &'a mut [f32],
    /// Gets the scales of all channels, and what is added to them.
    pub gates: &'a mut [f32],
}

impl Work for Gates<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        let (scales, added) = self.layers.gates::<L>(self.totals, self.squares, self.finish, self.scratch);
        let (to_scales, to_added) = self.gates.split_at_mut(scales.len());
        to_scales.copy_from_slice(scales);
        to_added.copy_from_slice(added);
    }
}

/// x = finish(scale sum + added + x) on tiles of a group, of 16 channels.
pub struct Excited<'a> {
    /// The sums, a tile after the other.
    pub sums: *const f32,
    /// The tiles.
    pub tiles: &'a [Tile],
    /// See `ToBoard`.
    pub computed: u16,
    /// Boards of the group.
    pub boards: usize,
    /// Scales of the 16 channels of the first board; `channels` floats further what is added to them.
    pub gates: *const f32,
    /// Channels of a board: the gates of the next one follow two times as many floats further.
    pub channels: usize,
    /// Row 0 of the first tile in the board, at the first of the 16 channels.
    pub x: *mut u16,
    /// Numbers from a tile to the next in the board.
    pub spacing: usize,
    /// The activation.
    pub finish: Finish,
}

impl Work for Excited<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for channel in (0..PANEL).step_by(L::WIDTH) {
            let first = self.gates.add(channel);
            // Boards of a pair take turns row by row. With one board a group both are the same, and there is no branch.
            let last = first.add((self.boards - 1) * 2 * self.channels);
            let scales = [L::load(first), L::load(last)];
            let added = [L::load(first.add(self.channels)), L::load(last.add(self.channels))];
            for (number, tile) in self.tiles.iter().enumerate() {
                for row in rows_of(tile, self.computed) {
                    let sum = L::load(self.sums.add(number * TILE_FLOATS + row * PANEL + channel));
                    let x = self.x.add(number * self.spacing + row * ROW_CHANNELS + channel).cast::<L::Element>();
                    let scaled = L::mul_add(scales[row % 2], sum, added[row % 2]);
                    L::store_element(x, activated::<L>(L::add(scaled, L::load_element(x)), self.finish));
                }
            }
        }
    }
}

/// Writes the sums of one board and 16 planes, activated, into a row of numbers for a dense layer: square by square, `stride` numbers each,
/// and after the squares the means and the greatest numbers of the planes where `pools`.
pub struct ToRow<'a> {
    /// The sums of all tiles of the group.
    pub sums: *const f32,
    /// Where the sums of each square are: every `boards`-th number from the first one is `16 * tile + row`.
    pub slots: &'a [usize],
    /// Boards of the group.
    pub boards: usize,
    /// The rows, as `Multiplied` reads them.
    pub rows: *mut u16,
    /// Number of the row, 0 to 15.
    pub row: usize,
    /// Number of the first plane.
    pub plane: usize,
    /// Numbers of a square, a multiple of 16.
    pub stride: usize,
    /// Whether means and greatest numbers follow.
    pub pools: bool,
    /// The activation.
    pub finish: Finish,
}

impl Work for ToRow<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for channel in (0..PANEL).step_by(L::WIDTH) {
            let place = |square: usize| {
                let number = square * self.stride + self.plane + channel;
                let block = number / ROW_CHANNELS * TILE_HALVES;
                self.rows.add(block + self.row * ROW_CHANNELS + number % ROW_CHANNELS).cast::<L::Element>()
            };
            let mut total = L::splat(0.0);
            let mut greatest = L::splat(f32::NEG_INFINITY);
            let mut squares = 0;
            for slot in self.slots.iter().step_by(self.boards) {
                let number = activated::<L>(L::load(self.sums.add(slot * PANEL + channel)), self.finish);
                L::store_element(place(squares), number);
                total = L::add(total, number);
                greatest = L::max(number, greatest);
                squares += 1;
            }
            if self.pools {
                let part = L::splat(1.0 / squares as f32);
                // Lanes have no plain product.
                L::store_element(place(squares), L::mul_add(total, part, L::splat(0.0)));
                L::store_element(place(squares + 1), greatest);
            }
        }
    }
}

/// Adds the biases to the four tiles of a product, and activates: the numbers of a dense layer's rows.
pub struct ToNumbers<'a> {
    /// Four tiles of sums.
    pub sums: *const f32,
    /// 64 numbers.
    pub bias: &'a [f32],
    /// Rows that are wanted.
    pub rows: usize,
    /// Gets 64 numbers a row; `stride` floats from one to the next.
    pub to: *mut f32,
    /// See `to`.
    pub stride: usize,
    /// The activation.
    pub finish: Finish,
}

impl Work for ToNumbers<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        // Rows beyond those wanted hold numbers of earlier batches: they were multiplied, because a tile has 16, and go
        // nowhere.
        for row in 0..self.rows {
            for number in (0..self.bias.len()).step_by(L::WIDTH) {
                let sums = self.sums.add(number / PANEL * TILE_FLOATS + row * PANEL + number % PANEL);
                let sum = L::add(L::load(sums), L::load(self.bias.as_ptr().add(number)));
                L::store(self.to.add(row * self.stride + number), activated::<L>(sum, self.finish));
            }
        }
    }
}

/// Moves the sums of one board and 16 channels to neighbouring squares, as floats.
pub struct ToFloats<'a> {
    /// See `ToRow`.
    pub sums: *const f32,
    /// See `ToRow`.
    pub slots: &'a [usize],
    /// See `ToRow`.
    pub boards: usize,
    /// The first square, at the first of the channels.
    pub to: *mut f32,
    /// Floats from a square to the next.
    pub stride: usize,
}

impl Work for ToFloats<'_> {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for (square, slot) in self.slots.iter().step_by(self.boards).enumerate() {
            for channel in (0..PANEL).step_by(L::WIDTH) {
                let sum = L::load(self.sums.add(slot * PANEL + channel));
                L::store(self.to.add(square * self.stride + channel), sum);
            }
        }
    }
}

/// Writes one line of squares of 16 channels as bfloat16.
pub struct ToHalves {
    /// The first square; `stride` floats from one to the next.
    pub from: *const f32,
    /// See `from`.
    pub stride: usize,
    /// Squares.
    pub count: usize,
    /// Where the first one goes; `step` numbers from one to the next.
    pub to: *mut u16,
    /// See `to`.
    pub step: usize,
}

impl Work for ToHalves {
    #[inline(always)]
    unsafe fn work<L: Lanes>(self) {
        for square in 0..self.count {
            for channel in (0..PANEL).step_by(L::WIDTH) {
                let number = L::load(self.from.add(square * self.stride + channel));
                L::store_element(self.to.add(square * self.step + channel).cast(), number);
            }
        }
    }
}
