//! How much memory a network takes: what no machine should give is refused before any is asked for.

use crate::board::Board;
use crate::layers::{Layers, NetworkError, product};
use crate::winograd::CHANNELS;

/// The most bytes of boards, or of weights, that a network may take: 64 GiB, and what the addresses of this machine reach (32 bits:
/// WebAssembly). A file of some megabytes can ask for thousands of times its size.
const MAX_BYTES: u64 = 1 << 36;

/// Refuses a network whose boards take too much.
pub fn check(layers: &Layers, chunk: usize) -> Result<(), NetworkError> {
    // All 36 points for each padded square: more than any one buffer takes, and no second place that knows their
    // layouts.
    let squares = Board::new(layers.rows, layers.columns).padded_squares();
    let channels = layers.widest().next_multiple_of(CHANNELS);
    check_boards(product(&[chunk, squares, channels, 36 * size_of::<f32>()]), squares, channels)
}

fn check_boards(bytes: Option<usize>, squares: usize, channels: usize) -> Result<(), NetworkError> {
    if is_possible(bytes) {
        return Ok(());
    }
    Err(NetworkError(format!("boards of {squares} squares with {channels} channels are too large for this machine")))
}

fn is_possible(bytes: Option<usize>) -> bool {
    // No vector is larger than isize::MAX: asking for one would be a panic in the place of an error.
    bytes.is_some_and(|bytes| bytes as u64 <= MAX_BYTES && bytes <= isize::MAX as usize)
}

/// Rows whose transforms take a third of a core's second cache, the rest of which passes the weights; at least 4, and 16 where the weights
/// fit no cache, so that each is read once for many rows.
pub fn default_chunk(layers: &Layers) -> usize {
    // 640 KiB, as it was first, left the weights no room.
    const CACHE: usize = 320 * 1024;
    const LARGE: usize = 32 * 1024 * 1024;
    let (tiles, filters) = (Board::new(layers.rows, layers.columns).tiles(), layers.input.outputs);
    let row = (tiles * 36).saturating_mul(filters * 2 * size_of::<f32>());
    let weights = (layers.blocks.len() * 2 * 36).saturating_mul(filters * filters).saturating_mul(size_of::<f32>());
    (CACHE / row).clamp(if weights > LARGE { 16 } else { 4 }, 32)
}

#[cfg(not(target_arch = "wasm32"))]
pub use tiles::check_tiles;
#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
pub use tiles::weight_bytes;

#[cfg(not(target_arch = "wasm32"))]
mod tiles {
    use super::{check_boards, is_possible};
    use crate::amx::grid::{ROW_CHANNELS, TILE_ROWS};
    use crate::amx::pack::{DENSE_WIDTH, PANEL};
    use crate::amx::tower::BATCH;
    use crate::layers::{Convolution, Dense, Layers, NetworkError, Policy, product};

    /// Refuses a network of tiles whose boards, of bfloat16 and sums of float32, or whose weights take too much.
    pub fn check_tiles(layers: &Layers) -> Result<(), NetworkError> {
        // Two boards, a line and a column of zeros around each, and what the last tile has beyond them.
        let squares = (layers.rows + 3) * (layers.columns + 2) + 3 * TILE_ROWS;
        let channels = layers.widest().next_multiple_of(ROW_CHANNELS);
        check_boards(product(&[BATCH, squares, channels, size_of::<f32>()]), squares, channels)?;
        if is_possible(weight_bytes(layers)) {
            return Ok(());
        }
        Err(NetworkError(
            "the weights of this network, filled up to whole tiles, are too large for this machine".into(),
        ))
    }

    /// Bytes of the weights as tiles.
    pub fn weight_bytes(layers: &Layers) -> Option<usize> {
        let value = &layers.value;
        let mut bytes = convolution(&layers.input)?;
        for block in &layers.blocks {
            bytes = bytes.checked_add(convolution(&block.first)?)?.checked_add(convolution(&block.second)?)?;
        }
        bytes = bytes.checked_add(convolution(&value.planes)?)?;
        bytes = bytes.checked_add(over_planes(&value.hidden, &value.planes)?)?;
        let (planes, output) = match &layers.policy {
            Policy::Dense(planes, output) => (planes, over_planes(output, planes)?),
            Policy::Planes(planes, output, _) => (planes, convolution(output)?),
        };
        bytes.checked_add(convolution(planes)?)?.checked_add(output)
    }

    fn convolution(layer: &Convolution) -> Option<usize> {
        let (outputs, inputs) = (layer.outputs.next_multiple_of(PANEL), layer.inputs.next_multiple_of(ROW_CHANNELS));
        product(&[outputs, inputs, layer.kernel, layer.kernel, size_of::<u16>()])
    }

    fn over_planes(layer: &Dense, planes: &Convolution) -> Option<usize> {
        let numbers = layer.inputs / planes.outputs;
        let (outputs, stride) = (layer.outputs.next_multiple_of(DENSE_WIDTH), planes.outputs.next_multiple_of(PANEL));
        product(&[outputs, numbers, stride, size_of::<u16>()])
    }
}
