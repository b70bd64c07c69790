//! How much memory a network takes: what no machine should give is refused before any is asked for.

use crate::board::Board;
use crate::layers::{Layers, NetworkError, product};
use crate::winograd::CHANNELS;

/// The most bytes of boards, or of weights, that a network may take: 64 GiB, and what the addresses of this machine reach (32 bits:
/// WebAssembly). A file of some megabytes can ask for thousands of times its size.
const MAX_BYTES: u64 = 1 << 36;

/// Refuses a network whose boards take too much.
pub fn check(layers: &Layers, chunk: usize) -> Result<(), NetworkError> {
    // All points of a tile for each padded square: more than any one buffer takes, and no second place that knows their
    // layouts.
    let board = Board::new(layers.rows, layers.columns);
    let squares = board.padded_squares();
    let channels = layers.widest().next_multiple_of(CHANNELS);
    check_boards(product(&[chunk, squares, channels, board.points(), size_of::<f32>()]), squares, channels)
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

/// The most rows that are chosen.
const MAX_CHUNK: usize = 32;

/// Rows whose transforms take a third of a core's second cache, the rest of which passes the weights; at least 4, and 16 where the weights
/// fit no cache, so that each is read once for many rows.
pub fn default_chunk(layers: &Layers) -> usize {
    const USUAL_CACHE: usize = 1024 * 1024;
    let board = Board::new(layers.rows, layers.columns);
    let second_cache = hauteur_machine::second_cache().unwrap_or(USUAL_CACHE);
    chunk_for(&board, layers.input.outputs, layers.blocks.len(), second_cache)
}

/// `default_chunk` for a tower of `filters` and `blocks`, and a second cache of so many bytes.
fn chunk_for(board: &Board, filters: usize, blocks: usize, second_cache: usize) -> usize {
    const LARGE: usize = 32 * 1024 * 1024;
    let points = board.points();
    let row = (board.tiles() * points).saturating_mul(filters * 2 * size_of::<f32>());
    let weights = (blocks * 2 * points).saturating_mul(filters * filters).saturating_mul(size_of::<f32>());
    let least = if weights > LARGE { 16 } else { 4 };
    // Of 1 MiB this is 320 KiB: 640, as it was first, left the weights no room.
    let share = second_cache / 16 * 5;
    (share / row).clamp(least, MAX_CHUNK)
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
        let outputs = layer.outputs.next_multiple_of(PANEL);
        let inputs = layer.inputs.next_multiple_of(ROW_CHANNELS);
        product(&[outputs, inputs, layer.kernel, layer.kernel, size_of::<u16>()])
    }

    fn over_planes(layer: &Dense, planes: &Convolution) -> Option<usize> {
        let numbers = layer.inputs / planes.outputs;
        let outputs = layer.outputs.next_multiple_of(DENSE_WIDTH);
        let stride = planes.outputs.next_multiple_of(PANEL);
        product(&[outputs, numbers, stride, size_of::<u16>()])
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, chunk_for};

    const KIB: usize = 1024;

    #[test]
    fn a_larger_second_cache_takes_more_rows() {
        let chess = &Board::new(8, 8);
        assert_eq!(chunk_for(chess, 64, 6, 256 * KIB), 4);
        assert_eq!(chunk_for(chess, 64, 6, 1024 * KIB), 4);
        assert_eq!(chunk_for(chess, 64, 6, 2048 * KIB), 8);
        assert_eq!(chunk_for(chess, 32, 4, 2048 * KIB), 17);
        assert_eq!(chunk_for(chess, 1, 1, 2048 * KIB), 32);
    }

    #[test]
    fn weights_that_fit_no_cache_are_read_for_many_rows() {
        let chess = &Board::new(8, 8);
        let go = &Board::new(19, 19);
        assert_eq!(chunk_for(chess, 256, 20, 1024 * KIB), 16);
        assert_eq!(chunk_for(chess, 256, 20, 64 * KIB), 16);
        assert_eq!(chunk_for(go, 512, 40, 2048 * KIB), 16);
    }

    #[test]
    fn a_chunk_has_a_least_and_a_greatest_size() {
        for side in 1..=19 {
            let board = &Board::new(side, side);
            for filters in [16, 64, 96, 512, 1 << 20] {
                for cache in [0, 256 * KIB, 1 << 40] {
                    assert!((4..=32).contains(&chunk_for(board, filters, 10, cache)));
                }
            }
        }
    }
}
