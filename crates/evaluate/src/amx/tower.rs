//! A network made ready for tiles, and the pass of rows through it.
//!
//! Convolutions are computed as they are defined, nine products of matrices (Winograd's transforms would cost more than they save here), on
//! boards of bfloat16. A chunk of boards goes through all layers of the tower; the dense layers take 16 rows together.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use super::boards::{Boards, Buffers};
use super::features::ToFeatures;
use super::grid::{Grid, Part, ROW_CHANNELS, TILE_FLOATS, TILE_ROWS};
use super::heads::{PolicyHead, over_planes};
use super::pack::{Convolution, Dense, PANEL};
use super::products::{Convolved, Edge, Multiplied, ROW_BYTES, Tiles};
use super::work::{Excited, Gates, ToBoard, ToFloats, ToHalves, ToNumbers, ToRow, Totals};
use crate::dense::{AddPooled, Excitation, Matrix, Pooling};
use crate::functions::shares;
use crate::lanes::Lanes;
use crate::layers::{self, Activation, Layers};
use crate::tower::Pass;
use crate::winograd::Finish;
use crate::{Halted, Rows};

/// Rows that the dense layers take together.
pub const BATCH: usize = TILE_ROWS;

/// Filters from which on a panel of weights is read once for many boards: they leave no room in the cache.
const WIDE: usize = 97;

/// Rows of a tile that are computed where it has only the first of two boards.
const FIRST_OF_TWO: u16 = 0x5555;

struct ReadyBlock {
    first: Convolution,
    second: Convolution,
    excitation: Option<Excitation>,
    pooling: Option<Pooling>,
}

struct ValueHead<F: Lanes> {
    planes: Convolution,
    pools: bool,
    hidden: Dense,
    output: Matrix<F>,
    is_scalar: bool,
}

/// A network whose products T computes, and the rest L and F, which have the same bits: L with elements of bfloat16, F with floats.
pub struct TileTower<T: Tiles, L: Lanes<Element = u16>, F: Lanes<Element = f32>> {
    grid: Grid,
    finish: Finish,
    planes: usize,
    actions: usize,
    /// Boards that go through all layers together.
    chunk: usize,
    /// Parts of groups that a panel of weights meets before the next one is read.
    span: usize,
    input: Convolution,
    blocks: Vec<ReadyBlock>,
    policy: PolicyHead,
    value: ValueHead<F>,
    spare: Mutex<Vec<Buffers>>,
    computes: PhantomData<fn() -> (T, L)>,
}

/// The boards that are computed together.
#[derive(Clone, Copy)]
struct Shape {
    boards: usize,
    groups: usize,
    /// Rows of a tile that are computed, a bit each.
    computed: u16,
    /// Bytes from one of them to the next.
    step: usize,
}

/// What is computed at a time: a panel of outputs of a part of a group.
#[derive(Clone, Copy)]
struct Place {
    panel: usize,
    group: usize,
    part: Part,
}

/// Where the sums of a convolution go.
#[derive(Clone, Copy)]
enum To {
    /// Into boards, after this activation; what stands there is added before where `adds`.
    Boards { to: *mut u16, plane: usize, finish: Finish, adds: bool },
    /// They are kept, [group][panel][tile], and their totals are added where they are asked for: [board][channel].
    Sums { to: *mut f32, totals: Option<*mut f32> },
}

impl<T: Tiles, L: Lanes<Element = u16>, F: Lanes<Element = f32>> TileTower<T, L, F> {
    /// Makes checked layers ready. `chunk`: boards that go through all layers together, None for what suits the network.
    pub fn new(layers: &Layers, chunk: Option<usize>) -> Self {
        let grid = Grid::new(layers.rows, layers.columns);
        let filters = layers.input.outputs;
        let block = |block: &layers::Block| ReadyBlock {
            first: Convolution::new(&block.first),
            second: Convolution::new(&block.second),
            excitation: block.excitation.as_ref().map(|(a, b)| Excitation::new(a, b, filters)),
            pooling: block.pooling.as_ref().map(Pooling::new),
        };
        let value = &layers.value;
        TileTower {
            finish: match layers.activation {
                Activation::Relu => Finish::Relu,
                Activation::Mish => Finish::Mish,
            },
            planes: layers.input.inputs,
            actions: layers.actions(),
            chunk: chunk.unwrap_or_else(|| default_chunk(filters, grid.boards)).clamp(1, BATCH),
            span: if filters < WIDE { 2 } else { usize::MAX },
            input: Convolution::new(&layers.input),
            blocks: layers.blocks.iter().map(block).collect(),
            policy: PolicyHead::new(&layers.policy, &grid),
            value: ValueHead {
                planes: Convolution::new(&value.planes),
                pools: value.pooled,
                hidden: over_planes(&value.hidden, &value.planes),
                output: Matrix::dense(&value.output),
                is_scalar: value.output.outputs == 1,
            },
            grid,
            spare: Mutex::new(Vec::new()),
            computes: PhantomData,
        }
    }

    fn new_buffers(&self) -> Buffers {
        let convolutions = self.blocks.iter().flat_map(|block| [&block.first, &block.second]);
        let mut kept = convolutions.map(|layer| layer.panels).max().unwrap_or(0).max(self.value.planes.panels);
        let mut policy_inputs = 0;
        let mut policy_blocks = 0;
        let mut numbers = self.value.hidden.outputs;
        match &self.policy {
            PolicyHead::Dense(planes, output) => {
                kept = kept.max(planes.panels);
                policy_inputs = output.inputs;
                numbers = numbers.max(output.outputs);
            }
            PolicyHead::Planes(_, output, _) => {
                kept = kept.max(output.panels);
                policy_blocks = output.inputs;
            }
        }
        let few = self.blocks.iter().map(|block| {
            let excitation = block.excitation.as_ref().map_or(0, Excitation::scratch_len);
            excitation.max(block.pooling.as_ref().map_or(0, Pooling::scratch_len))
        });
        let groups = self.grid.groups(self.chunk);
        let channels = self.input.panels * PANEL;
        let tower_blocks = channels.div_ceil(ROW_CHANNELS);
        Buffers {
            features: Boards::new(&self.grid, groups, self.input.inputs),
            x: Boards::new(&self.grid, groups, tower_blocks),
            y: Boards::new(&self.grid, groups, tower_blocks),
            policy: Boards::new(&self.grid, groups, policy_blocks),
            sums: Buffers::sums(&self.grid, groups, kept),
            totals: Buffers::floats(groups * self.grid.boards * channels),
            gates: Buffers::floats(self.grid.boards * 2 * channels),
            floats: Buffers::floats(self.grid.squares() * channels),
            few: vec![0.0; few.max().unwrap_or(0)],
            value_rows: Buffers::rows(self.value.hidden.inputs),
            policy_rows: Buffers::rows(policy_inputs),
            numbers: Buffers::floats(BATCH * numbers),
            outputs: Buffers::floats(BATCH * self.value.output.outputs),
        }
    }

    /// Answers `rows` rows; false where `halted` ended that.
    ///
    /// # Safety
    /// The processor has the instructions of T, L and F, and this process permission to use them. The slices are as long as
    /// `Network::evaluate` says.
    unsafe fn run(&self, given: Rows, rows: usize, logits: &mut [f32], wdl: &mut [f32], halted: Halted) -> bool {
        let taken = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffers = taken.unwrap_or_else(|| self.new_buffers());
        // For one pass alone: as long as a thread has tiles, Linux saves their 8 KiB whenever it changes from one
        // thread to another or handles a signal. Configuration and release take 60 ns.
        let mut tiles = T::configured();
        let mut done = 0;
        while done < rows {
            // As many rows as a tile has: fewer would leave rows of the dense layers' tiles empty, which take as long.
            let count = BATCH.min(rows - done);
            let logits = &mut logits[done * self.actions..];
            let wdl = &mut wdl[done * 3..];
            if !self.batch(&mut tiles, given, done, count, &mut buffers, logits, halted) {
                break;
            }
            self.value(&tiles, count, &mut buffers, wdl);
            self.dense_policy(&tiles, count, &mut buffers, logits);
            done += count;
        }
        drop(tiles);
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
        done == rows
    }

    /// Computes the boards of up to 16 rows from `first` on: rows of numbers for the dense layers, and logits where no dense layer gives
    /// them. False where `halted` says so.
    #[allow(clippy::too_many_arguments)]
    unsafe fn batch(
        &self,
        tiles: &mut T,
        given: Rows,
        first: usize,
        rows: usize,
        buffers: &mut Buffers,
        logits: &mut [f32],
        halted: Halted,
    ) -> bool {
        let mut done = 0;
        while done < rows {
            let boards = self.chunk.min(rows - done);
            let shape = self.shape(boards);
            // Tiles of half the rows take less time, and half the rows are all that a lone board has.
            tiles.set_rows(shape.computed.count_ones() as usize);
            self.read(given, first + done, shape, &mut buffers.features);
            if !self.tower(tiles, shape, buffers, halted) {
                return false;
            }
            self.heads(tiles, shape, done, buffers, &mut logits[done * self.actions..]);
            done += boards;
        }
        // The dense layers multiply 16 rows whatever the last chunk was.
        tiles.set_rows(TILE_ROWS);
        true
    }

    /// A lone board of a pair is computed with tiles of half as many rows.
    fn shape(&self, boards: usize) -> Shape {
        let groups = self.grid.groups(boards);
        match boards == 1 && self.grid.boards == 2 {
            // The same squares in the same places, so the same sums. An odd number of several boards does without: the
            // last group computes the missing board again as it was left, and no row of a product sees it.
            true => Shape { boards, groups, computed: FIRST_OF_TWO, step: 2 * ROW_BYTES },
            false => Shape { boards, groups, computed: u16::MAX, step: ROW_BYTES },
        }
    }

    unsafe fn read(&self, rows: Rows, first: usize, shape: Shape, features: &mut Boards) {
        for board in 0..shape.boards {
            let flat = self.flat(board);
            let to = features.first().add(flat * ROW_CHANNELS);
            let planes = self.planes;
            let grid = &self.grid;
            let plane = features.plane;
            L::run(ToFeatures { rows, row: first + board, planes, grid, to, plane });
        }
    }

    /// Features to the last board of the tower, in `buffers.x`; false where `halted` says so between two blocks.
    unsafe fn tower(&self, tiles: &T, shape: Shape, buffers: &mut Buffers, halted: Halted) -> bool {
        let finish = self.finish;
        let sums = buffers.sums.as_mut_ptr();
        let totals = buffers.totals.as_mut_ptr();
        self.convolve(tiles, &self.input, &buffers.features, shape, activated(&mut buffers.x, finish), sums);
        for block in &self.blocks {
            if halted() {
                return false;
            }
            match &block.pooling {
                None => self.convolve(tiles, &block.first, &buffers.x, shape, activated(&mut buffers.y, finish), sums),
                Some(layer) => {
                    let kept = To::Sums { to: sums, totals: None };
                    self.convolve(tiles, &block.first, &buffers.x, shape, kept, sums);
                    // Pooling is written once, for floats on neighbouring squares: boards are brought into that form
                    // and back.
                    self.pool(layer, block.first.panels, shape, buffers);
                }
            }
            let Some(excitation) = &block.excitation else {
                let to = buffers.x.first();
                let plane = buffers.x.plane;
                // The skip connection is rounded to bfloat16 like every board: in float32 it made a prototype's error a
                // little smaller and its time 7 % longer.
                let added = To::Boards { to, plane, finish, adds: true };
                self.convolve(tiles, &block.second, &buffers.y, shape, added, sums);
                continue;
            };
            // The parts of a board are added one after the other, always from the first on: the order does not depend
            // on chunk or span.
            buffers.totals.as_mut_slice().fill(0.0);
            let kept = To::Sums { to: sums, totals: Some(totals) };
            self.convolve(tiles, &block.second, &buffers.y, shape, kept, sums);
            self.excite(excitation, block.second.panels, shape, buffers);
        }
        true
    }

    /// Global pooling of the sums that were kept, into `buffers.y`.
    unsafe fn pool(&self, layer: &Pooling, panels: usize, shape: Shape, buffers: &mut Buffers) {
        let grid = &self.grid;
        let stride = panels * PANEL;
        let squares = buffers.floats.as_mut_ptr();
        let line = grid.columns * stride;
        for board in 0..shape.boards {
            let group = board / grid.boards;
            let slots = &grid.slots[board % grid.boards..];
            for panel in 0..panels {
                let sums = buffers.sums.as_ptr().add(self.kept(panels, group, panel));
                L::run(ToFloats { sums, slots, boards: grid.boards, to: squares.add(panel * PANEL), stride });
            }
            let lines = [grid.rows, grid.columns];
            let finish = self.finish;
            L::run(AddPooled { layer, squares, shape: lines, line, stride, finish, scratch: &mut buffers.few });
            for panel in 0..panels {
                let to = buffers.y.panel(panel).add(self.flat(board) * ROW_CHANNELS);
                for row in 0..grid.rows {
                    L::run(ToHalves {
                        from: squares.add(row * line + panel * PANEL),
                        stride,
                        count: grid.columns,
                        to: to.add(row * grid.pitch * ROW_CHANNELS),
                        step: grid.boards * ROW_CHANNELS,
                    });
                }
            }
        }
    }

    /// Squeeze-excitation of the sums that were kept, added to `buffers.x`.
    unsafe fn excite(&self, layers: &Excitation, panels: usize, shape: Shape, buffers: &mut Buffers) {
        let grid = &self.grid;
        let channels = panels * PANEL;
        let finish = self.finish;
        for group in 0..shape.groups {
            for board in 0..grid.boards.min(shape.boards - group * grid.boards) {
                let totals = buffers.totals.as_ptr().add((group * grid.boards + board) * channels);
                let gates = &mut buffers.gates.as_mut_slice()[board * 2 * channels..][..2 * channels];
                let squares = grid.squares();
                let scratch = &mut buffers.few[..];
                L::run(Gates { layers, totals, squares, finish, scratch, gates });
            }
            for panel in 0..panels {
                let first = grid.lead + group * grid.stride;
                L::run(Excited {
                    sums: buffers.sums.as_ptr().add(self.kept(panels, group, panel)),
                    tiles: &grid.tiles,
                    computed: shape.computed,
                    boards: grid.boards,
                    gates: buffers.gates.as_ptr().add(panel * PANEL),
                    channels,
                    x: buffers.x.panel(panel).add(first * ROW_CHANNELS),
                    spacing: grid.spacing * ROW_CHANNELS,
                    finish,
                });
            }
        }
    }

    /// The convolutions of both heads. Dense layers get their numbers as the rows from `row` on.
    unsafe fn heads(&self, tiles: &T, shape: Shape, row: usize, buffers: &mut Buffers, logits: &mut [f32]) {
        let sums = buffers.sums.as_mut_ptr();
        let kept = To::Sums { to: sums, totals: None };
        // Both heads compute in the same memory, one after the other: the value's numbers have left it when the
        // policy's come.
        self.convolve(tiles, &self.value.planes, &buffers.x, shape, kept, sums);
        let rows = buffers.value_rows.as_mut_ptr();
        self.to_rows(&self.value.planes, self.value.pools, shape, sums, rows, row);
        match &self.policy {
            PolicyHead::Dense(planes, _) => {
                self.convolve(tiles, planes, &buffers.x, shape, kept, sums);
                self.to_rows(planes, false, shape, sums, buffers.policy_rows.as_mut_ptr(), row);
            }
            PolicyHead::Planes(planes, output, places) => {
                let to = activated(&mut buffers.policy, self.finish);
                self.convolve(tiles, planes, &buffers.x, shape, to, sums);
                self.convolve(tiles, output, &buffers.policy, shape, kept, sums);
                let group = output.panels * self.grid.tiles.len() * TILE_FLOATS;
                for (board, logits) in logits.chunks_exact_mut(self.actions).take(shape.boards).enumerate() {
                    let from = &buffers.sums.as_slice()[board / self.grid.boards * group..][..group];
                    let places = &places[board % self.grid.boards];
                    logits.iter_mut().zip(places).for_each(|(logit, place)| *logit = from[*place]);
                }
            }
        }
    }

    /// Activates the planes that were kept and writes them as rows of numbers, the first board's as number `first`.
    unsafe fn to_rows(
        &self,
        layer: &Convolution,
        pools: bool,
        shape: Shape,
        sums: *const f32,
        rows: *mut u16,
        first: usize,
    ) {
        let grid = &self.grid;
        let finish = self.finish;
        for board in 0..shape.boards {
            let slots = &grid.slots[board % grid.boards..];
            for panel in 0..layer.panels {
                L::run(ToRow {
                    sums: sums.add(self.kept(layer.panels, board / grid.boards, panel)),
                    slots,
                    boards: grid.boards,
                    rows,
                    row: first + board,
                    plane: panel * PANEL,
                    stride: layer.panels * PANEL,
                    pools,
                    finish,
                });
            }
        }
    }

    unsafe fn value(&self, tiles: &T, rows: usize, buffers: &mut Buffers, wdl: &mut [f32]) {
        let ValueHead { hidden, output, is_scalar, .. } = &self.value;
        let numbers = buffers.numbers.as_mut_ptr();
        let outputs = buffers.outputs.as_mut_ptr();
        let sums = buffers.sums.as_mut_ptr();
        self.dense(tiles, hidden, buffers.value_rows.as_ptr(), rows, sums, numbers, self.finish);
        output.apply(numbers, hidden.outputs, outputs, output.outputs, rows, Finish::None);
        for (row, wdl) in wdl.chunks_exact_mut(3).take(rows).enumerate() {
            wdl.copy_from_slice(&shares::<L>(outputs.add(row * output.outputs), *is_scalar));
        }
    }

    unsafe fn dense_policy(&self, tiles: &T, rows: usize, buffers: &mut Buffers, logits: &mut [f32]) {
        let PolicyHead::Dense(_, layer) = &self.policy else { return };
        let sums = buffers.sums.as_mut_ptr();
        let numbers = buffers.numbers.as_mut_ptr();
        self.dense(tiles, layer, buffers.policy_rows.as_ptr(), rows, sums, numbers, Finish::None);
        for (row, logits) in logits.chunks_exact_mut(self.actions).take(rows).enumerate() {
            logits.copy_from_slice(&buffers.numbers.as_slice()[row * layer.outputs..][..self.actions]);
        }
    }

    /// A dense layer of up to 16 rows, with four tiles of `sums` to compute in.
    #[allow(clippy::too_many_arguments)]
    unsafe fn dense(
        &self,
        tiles: &T,
        layer: &Dense,
        rows: *const u16,
        count: usize,
        sums: *mut f32,
        numbers: *mut f32,
        finish: Finish,
    ) {
        for product in 0..layer.products() {
            let weights = layer.weights(product);
            let bias = layer.bias(product);
            tiles.multiply(Multiplied { rows, weights, inputs: layer.inputs, sums });
            let to = numbers.add(product * bias.len());
            L::run(ToNumbers { sums, bias, rows: count, to, stride: layer.outputs, finish });
        }
    }

    /// Convolves boards. `part`: four tiles of sums to compute in, where they are not kept.
    unsafe fn convolve(&self, tiles: &T, layer: &Convolution, from: &Boards, shape: Shape, to: To, part: *mut f32) {
        let parts = self.grid.parts.len();
        let all = shape.groups * parts;
        let mut begin = 0;
        while begin < all {
            // The span of wide nets is all there is: `usize::MAX`.
            let end = begin.saturating_add(self.span).min(all);
            for panel in 0..layer.panels {
                for number in begin..end {
                    let place = Place { panel, group: number / parts, part: self.grid.parts[number % parts] };
                    let sums = match to {
                        To::Boards { .. } => part,
                        To::Sums { to, .. } => {
                            // Kept as floats: gates and dense layers read sums that were not rounded to bfloat16.
                            let kept = self.kept(layer.panels, place.group, panel);
                            to.add(kept + place.part.first * TILE_FLOATS)
                        }
                    };
                    tiles.convolve(self.job(layer, from, shape, place, sums));
                    // At once, while the sums are in the first cache: as a pass of its own over the board this took a
                    // sixth of a prototype's time.
                    self.finish(to, layer.panels, shape, place, sums);
                }
            }
            begin = end;
        }
    }

    /// The product of a part of a group with a panel of weights.
    fn job(&self, layer: &Convolution, from: &Boards, shape: Shape, place: Place, sums: *mut f32) -> Convolved {
        let (grid, Place { panel, group, part }) = (&self.grid, place);
        // The first of nine taps is a line and a column before the square.
        let tap = if layer.taps == 1 { grid.lead } else { 0 };
        let flat = tap + group * grid.stride + grid.tiles[part.first].start;
        // Products with the zeros above and below are left out: a prototype made 8 % more rows a second. It is done for
        // whole parts of four alone, for which there are kernels; the sums are the same with them.
        let is_cut = grid.has_tiles_of_lines() && layer.taps == 9 && part.count == 4;
        let edge = match is_cut {
            true if part.first == 0 => Edge::Top,
            true if part.first + 4 == grid.tiles.len() => Edge::Bottom,
            _ => Edge::Inside,
        };
        Convolved {
            squares: from.numbers.as_slice()[flat * ROW_CHANNELS..].as_ptr(),
            weights: layer.panel(panel),
            bias: layer.bias(panel),
            sums,
            tiles: part.count,
            inputs: layer.inputs,
            taps: layer.taps,
            plane: from.plane * size_of::<u16>(),
            pitch: grid.pitch * ROW_BYTES,
            across: grid.boards * ROW_BYTES,
            spacing: grid.spacing * ROW_BYTES,
            step: shape.step,
            edge,
        }
    }

    /// What happens to the sums of a part as soon as they are there.
    unsafe fn finish(&self, to: To, panels: usize, shape: Shape, place: Place, sums: *const f32) {
        let (grid, computed, Place { panel, group, part }) = (&self.grid, shape.computed, place);
        let tiles = &grid.tiles[part.first..][..part.count];
        match to {
            To::Boards { to, plane, finish, adds } => {
                let flat = grid.lead + group * grid.stride + tiles[0].start;
                let to = to.add(Boards::place(plane, panel) + flat * ROW_CHANNELS);
                L::run(ToBoard { sums, tiles, computed, to, spacing: grid.spacing * ROW_CHANNELS, adds, finish });
            }
            To::Sums { totals: Some(totals), .. } => {
                let boards = grid.boards;
                let stride = panels * PANEL;
                let totals = totals.add(group * boards * stride + panel * PANEL);
                L::run(Totals { sums, tiles, computed, boards, totals, stride });
            }
            To::Sums { totals: None, .. } => {}
        }
    }

    /// Place of the sums of a group and panel among those that are kept.
    fn kept(&self, panels: usize, group: usize, panel: usize) -> usize {
        (group * panels + panel) * self.grid.tiles.len() * TILE_FLOATS
    }

    /// The first square of a board, in flat rows.
    fn flat(&self, board: usize) -> usize {
        self.grid.lead + board / self.grid.boards * self.grid.stride + board % self.grid.boards
    }
}

impl<T: Tiles, L: Lanes<Element = u16>, F: Lanes<Element = f32>> Pass for TileTower<T, L, F> {
    fn pass(&self, given: Rows, rows: usize, logits: &mut [f32], wdl: &mut [f32], halted: Halted) -> bool {
        // SAFETY: a tower is only made where `Instructions::available` found its instructions; the slices were checked.
        unsafe { self.run(given, rows, logits, wdl, halted) }
    }

    fn bytes(&self) -> usize {
        let tower: usize = self.blocks.iter().map(|block| block.first.bytes() + block.second.bytes()).sum();
        let policy = match &self.policy {
            PolicyHead::Dense(planes, output) => planes.bytes() + output.bytes(),
            PolicyHead::Planes(planes, output, _) => planes.bytes() + output.bytes(),
        };
        let value = &self.value;
        self.input.bytes() + tower + policy + value.planes.bytes() + value.hidden.bytes() + value.output.bytes()
    }

    fn reads_packed(&self) -> bool {
        self.grid.squares() <= u64::BITS as usize
    }
}

/// Boards that go through all layers together: few where weights and boards share a cache, many where the weights fill it.
fn default_chunk(filters: usize, boards: usize) -> usize {
    // With 64 filters 2 to 16 boards were equally fast in a prototype.
    if filters < WIDE { 2 * boards } else { BATCH }
}

/// Activated sums go into boards.
fn activated(boards: &mut Boards, finish: Finish) -> To {
    To::Boards { to: boards.first(), plane: boards.plane, finish, adds: false }
}
