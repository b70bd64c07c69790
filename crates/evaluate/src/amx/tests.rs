//! The kernels' machine code against plain Rust: on the processor's tiles where it has them, else by the interpreter.

use super::emulated::Emulated;
use super::grid::{Grid, ROW_CHANNELS, TILE_FLOATS, TILE_ROWS};
use super::interpreter;
use super::kernels::Hardware;
use super::pack::PANEL;
use super::permission;
use super::products::{Convolved, DENSE_PANELS, Edge, Multiplied, ROW_BYTES, TILE_HALVES, Tiles};
use super::tower::TileTower;
use crate::Rows;
use crate::lanes::bfloat16;
use crate::lanes::emulated::Halves;
use crate::lanes::portable::Portable;
use crate::layers::{Activation, Block, Convolution, Dense, Layers, Policy, Value};
use crate::memory::weight_bytes;
use crate::tower::Pass;
use hauteur_machine::Buffer;

/// Numbers in (-1, 1), the same everywhere (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / 8_388_608.0 - 1.0
    }

    fn floats(&mut self, count: usize) -> Buffer<f32> {
        let numbers: Vec<f32> = (0..count).map(|_| self.next()).collect();
        Buffer::filled(&numbers, count)
    }

    fn halves(&mut self, count: usize) -> Buffer<u16> {
        let numbers: Vec<u16> = (0..count).map(|_| bfloat16(self.next())).collect();
        Buffer::filled(&numbers, count)
    }

    fn convolution(&mut self, inputs: usize, outputs: usize, kernel: usize) -> Convolution {
        let count = outputs * inputs * kernel * kernel;
        let scale = (3.0 / (inputs * kernel * kernel) as f32).sqrt();
        let weights = (0..count).map(|_| self.next() * scale).collect();
        Convolution { inputs, outputs, kernel, weights, bias: (0..outputs).map(|_| self.next()).collect() }
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> Dense {
        let scale = (3.0 / inputs as f32).sqrt();
        let weights = (0..outputs * inputs).map(|_| self.next() * scale).collect();
        Dense { inputs, outputs, weights, bias: (0..outputs).map(|_| self.next()).collect() }
    }
}

fn let_tiles_be_interpreted_where_there_are_none() {
    if permission::granted().is_err() {
        interpreter::install();
    }
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// The sums of a convolution of a board's part with random numbers; those that it does not write stay as they were.
fn convolved<T: Tiles>(grid: &Grid, tiles: usize, inputs: usize, taps: usize, edge: Edge, rows: usize) -> Vec<u32> {
    let mut numbers = Numbers(88 + inputs as u64);
    let flat_rows = grid.flat_rows(1);
    let squares = numbers.halves(flat_rows * ROW_CHANNELS * inputs);
    let weights = numbers.halves(inputs * taps * TILE_HALVES);
    let bias = numbers.floats(PANEL);
    // Not zeros, so that a kernel that writes fewer or more tiles than its job has is seen.
    let mut sums = numbers.floats(4 * TILE_FLOATS);
    // SAFETY: the board has as many flat rows as a group of this grid takes; there are tiles, or they are interpreted.
    unsafe {
        let mut machine = T::configured();
        machine.set_rows(rows);
        machine.convolve(Convolved {
            squares: squares.as_ptr(),
            weights: weights.as_ptr(),
            bias: bias.as_ptr(),
            sums: sums.as_mut_ptr(),
            tiles,
            inputs,
            taps,
            plane: flat_rows * ROW_BYTES,
            pitch: grid.pitch * ROW_BYTES,
            across: grid.boards * ROW_BYTES,
            spacing: grid.spacing * ROW_BYTES,
            step: ROW_BYTES * TILE_ROWS / rows,
            edge,
        });
    }
    bits(sums.as_slice())
}

#[test]
fn kernels_of_convolutions_have_the_bits_of_plain_rust() {
    let_tiles_be_interpreted_where_there_are_none();
    let lines = [Edge::Inside, Edge::Top, Edge::Bottom];
    for (rows, columns) in [(8, 8), (9, 9), (5, 16)] {
        let grid = Grid::new(rows, columns);
        for (tiles, inputs, taps) in
            [(1, 1, 9), (2, 2, 9), (3, 1, 9), (4, 3, 9), (1, 2, 1), (2, 1, 1), (3, 3, 1), (4, 2, 1)]
        {
            let edges = if (tiles, taps) == (4, 9) { &lines[..] } else { &lines[..1] };
            for edge in edges {
                let found = convolved::<Hardware>(&grid, tiles, inputs, taps, *edge, TILE_ROWS);
                let expected = convolved::<Emulated>(&grid, tiles, inputs, taps, *edge, TILE_ROWS);
                assert_eq!(found, expected, "{rows}x{columns}, {tiles} tiles, {taps} taps, {edge:?}");
            }
        }
    }
}

#[test]
fn kernels_of_a_lone_board_have_the_bits_of_the_first_of_two() {
    let_tiles_be_interpreted_where_there_are_none();
    let grid = Grid::new(8, 8);
    for taps in [9, 1] {
        let whole = convolved::<Emulated>(&grid, 4, 2, taps, Edge::Inside, TILE_ROWS);
        let halves = [
            convolved::<Hardware>(&grid, 4, 2, taps, Edge::Inside, TILE_ROWS / 2),
            convolved::<Emulated>(&grid, 4, 2, taps, Edge::Inside, TILE_ROWS / 2),
        ];
        assert_eq!(halves[0], halves[1]);
        let rows = |sums: &[u32]| sums.chunks(PANEL).step_by(2).flatten().copied().collect::<Vec<u32>>();
        assert_eq!(rows(&halves[0]), rows(&whole));
    }
}

#[test]
fn kernels_of_dense_layers_have_the_bits_of_plain_rust() {
    fn multiplied<T: Tiles>(inputs: usize) -> Vec<u32> {
        let mut numbers = Numbers(5);
        let rows = numbers.halves(inputs * TILE_HALVES);
        let weights = numbers.halves(inputs * 4 * TILE_HALVES);
        let mut sums = numbers.floats(DENSE_PANELS * TILE_FLOATS);
        // SAFETY: rows, weights and sums have their lengths; there are tiles, or they are interpreted.
        unsafe {
            let job = Multiplied { rows: rows.as_ptr(), weights: weights.as_ptr(), inputs, sums: sums.as_mut_ptr() };
            T::configured().multiply(job);
        }
        bits(sums.as_slice())
    }
    let_tiles_be_interpreted_where_there_are_none();
    for inputs in [1, 2, 7] {
        assert_eq!(multiplied::<Hardware>(inputs), multiplied::<Emulated>(inputs), "{inputs} blocks");
    }
}

/// A small network with every kind of layer.
fn layers(rows: usize, columns: usize, filters: usize, activation: Activation, dense_policy: bool) -> Layers {
    let mut numbers = Numbers(7);
    let squares = rows * columns;
    let block = |numbers: &mut Numbers, pools: bool| Block {
        first: numbers.convolution(filters, filters, 3),
        second: numbers.convolution(filters, filters, 3),
        excitation: Some((numbers.dense(filters, 4), numbers.dense(4, 2 * filters))),
        pooling: pools.then(|| numbers.dense(2 * 6, filters - 6)),
    };
    let input = numbers.convolution(5, filters, 3);
    let blocks = vec![block(&mut numbers, false), block(&mut numbers, true)];
    let policy = if dense_policy {
        Policy::Dense(numbers.convolution(filters, 20, 1), numbers.dense(20 * squares, 70))
    } else {
        let actions = (0..30).map(|action| action * 7 % (18 * squares as u32)).collect();
        Policy::Planes(numbers.convolution(filters, 40, 3), numbers.convolution(40, 18, 3), actions)
    };
    let value = Value {
        planes: numbers.convolution(filters, 12, 1),
        hidden: numbers.dense(12 * (squares + 2), 33),
        pooled: true,
        output: numbers.dense(33, 3),
    };
    Layers { rows, columns, activation, input, blocks, policy, value }
}

#[test]
fn whole_networks_have_the_bits_of_plain_rust() {
    fn answers<T: Tiles>(layers: &Layers, rows: usize) -> Vec<u32> {
        let tower = TileTower::<T, Halves, Portable<true>>::new(layers, None);
        let mut numbers = Numbers(11);
        let count = rows * layers.input.inputs * layers.rows * layers.columns;
        // Whole numbers, which bfloat16 has exactly.
        let features: Vec<f32> = (0..count).map(|_| numbers.next().round()).collect();
        let mut logits = vec![f32::NAN; rows * layers.actions()];
        let mut wdl = vec![f32::NAN; rows * 3];
        assert!(tower.pass(Rows::Planes(&features), rows, &mut logits, &mut wdl, &|| false));
        assert!(logits.iter().chain(&wdl).all(|x| x.is_finite()));
        bits(&[logits, wdl].concat())
    }
    let_tiles_be_interpreted_where_there_are_none();
    let chess = layers(8, 8, 48, Activation::Relu, false);
    let connect = layers(6, 7, 32, Activation::Mish, true);
    for (layers, rows) in [(&chess, 1), (&chess, 5), (&connect, 1), (&connect, 18)] {
        assert_eq!(answers::<Hardware>(layers, rows), answers::<Emulated>(layers, rows), "{rows} rows");
    }
}

#[test]
fn the_memory_of_weights_is_known_before_they_are_packed() {
    let chess = layers(8, 8, 48, Activation::Relu, false);
    let connect = layers(6, 7, 32, Activation::Mish, true);
    for layers in [&chess, &connect] {
        let tower = TileTower::<Emulated, Halves, Portable<true>>::new(layers, None);
        let expected = weight_bytes(layers).unwrap();
        // Beyond that: the value's last layer, in float32, and the beginning of each at a cache line.
        assert!((expected..expected + 8192).contains(&tower.bytes()), "{expected}, {}", tower.bytes());
    }
}
