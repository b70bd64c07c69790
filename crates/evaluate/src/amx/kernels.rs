//! The tile instructions of the processor: configuration, and the products, each kernel one block of assembly.
//!
//! Rust's compiler knows no tiles on its stable channel, so their data never lives from one `asm!` block to the next: a kernel loads what
//! its sums begin with, and ends by storing them. Between blocks only the configuration lives, which a [`Hardware`] guards: compiled code
//! never touches it. A block reads and writes what its job names, nothing else, and no stack.

use core::arch::asm;
use core::marker::PhantomData;

use super::grid::{PART_TILES, TILE_ROWS};
use super::products::{Convolved, Edge, Multiplied, ROW_BYTES, Tiles};

/// Bytes of a tile of weights.
const TILE_BYTES: usize = 1024;

/// Weights are fetched so many bytes before they are loaded.
// In a prototype 1 to 4 tiles were equally good, 6 and 8 up to 12 % slower, none up to 6 %.
const AHEAD: usize = 3 * TILE_BYTES;

/// Tiles 0 to 3 are sums, 4 to 6 squares (or weights of dense layers), 7 is weights.
const WEIGHTS: usize = 7;

/// What LDTILECFG reads: palette 1, rows and bytes of a row of each tile.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    // The processor faults where one of these is not zero.
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl Configuration {
    /// Tiles of 64 bytes a row: the weights have 16 rows, all others `rows`.
    fn new(rows: usize) -> Self {
        let mut found =
            Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        found.row_bytes[..=WEIGHTS].fill(ROW_BYTES as u16);
        found.rows[..WEIGHTS].fill(rows as u8);
        found.rows[WEIGHTS] = TILE_ROWS as u8;
        found
    }
}

/// The tiles of the processor, of this thread: each thread has its own configuration.
pub struct Hardware {
    // A pointer is neither Send nor Sync, and so this is not: a configuration that another thread dropped would be
    // missing here.
    of_one_thread: PhantomData<*const ()>,
}

impl Hardware {
    /// # Safety
    /// `permission::granted` is Ok.
    unsafe fn load(configuration: &Configuration) {
        // SAFETY: reads the 64 bytes of the configuration, which the processor accepts; tiles hold nothing that is used.
        unsafe {
            asm!(
                "ldtilecfg [{configuration}]",
                configuration = in(reg) configuration,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, readonly),
            );
        }
    }
}

impl Drop for Hardware {
    fn drop(&mut self) {
        // SAFETY: it was made where there are tiles; they hold nothing that is used.
        unsafe {
            asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, nomem),
            );
        }
    }
}

impl Tiles for Hardware {
    unsafe fn configured() -> Self {
        Self::load(&Configuration::new(TILE_ROWS));
        Hardware { of_one_thread: PhantomData }
    }

    fn set_rows(&mut self, rows: usize) {
        // Other numbers fault at LDTILECFG, which would end the process without a word.
        assert!((1..=TILE_ROWS).contains(&rows));
        // SAFETY: `configured` had permission.
        unsafe { Self::load(&Configuration::new(rows)) }
    }

    unsafe fn convolve(&self, job: Convolved) {
        // Steps are parts of the instructions' addresses, for want of registers: so each grid's steps are compiled,
        // which are 16, 17 and 18 rows.
        match (job.taps, job.across, job.spacing) {
            (1, _, 1024) => pointwise::<1024>(job),
            (1, _, 1088) => pointwise::<1088>(job),
            (1, _, 1152) => pointwise::<1152>(job),
            (9, 64, 1024) => three_by_three::<64, 1024>(job),
            (9, 64, 1088) => three_by_three::<64, 1088>(job),
            (9, 128, 1152) => three_by_three::<128, 1152>(job),
            other => unreachable!("no grid has taps, columns and tiles {other:?}"),
        }
    }

    unsafe fn multiply(&self, job: Multiplied) {
        dense(job)
    }
}

/// Sums of a tile begin with the biases.
macro_rules! begin {
    ([$($tile:literal)*]) => {
        // With a step of zero every row is the same 16 biases: no copy of them, and no addition when the sums are done.
        concat!($("tileloadd tmm", $tile, ", [{bias} + {zero}*1]\n"),*)
    };
}

/// Stores the sums.
macro_rules! end {
    ([$($tile:literal)*]) => {
        // Sums have the step of the squares: rows that a lone board does not compute are left out here too, and every
        // square is where it is for two.
        concat!($("tilestored [{sums} + {step}*1 + ", $tile, "*1024], tmm", $tile, "\n"),*)
    };
}

/// One tile of squares times the weights in tile 7. The squares of tiles take turns in tiles 4, 5 and 6.
macro_rules! product {
    (0, $column:literal) => {
        product!("0", "4", $column)
    };
    (1, $column:literal) => {
        product!("1", "5", $column)
    };
    (2, $column:literal) => {
        product!("2", "6", $column)
    };
    (3, $column:literal) => {
        product!("3", "4", $column)
    };
    ($tile:literal, $squares:literal, $column:literal) => {
        concat!(
            "tileloadd tmm",
            $squares,
            ", [{squares} + {step}*1 + ",
            $tile,
            "*{spacing} + ",
            $column,
            "*{across}]\n",
            "tdpbf16ps tmm",
            $tile,
            ", tmm",
            $squares,
            ", tmm7\n",
        )
    };
}

/// Fetches a tile of weights that will soon be needed.
macro_rules! fetch {
    () => {
        fetch!("0" "64" "128" "192" "256" "320" "384" "448" "512" "576" "640" "704" "768" "832" "896" "960")
    };
    ($($byte:literal)*) => {
        concat!($("prefetcht0 [{weights} + {ahead} + ", $byte, "]\n"),*)
    };
}

/// One tap of the kernel, on some of the tiles.
macro_rules! tap {
    ([$($tile:tt)*], $column:tt) => {
        concat!(
            // The weights' step is always 64, also where squares skip every second row.
            "tileloadd tmm7, [{weights} + {row}*1]\n",
            $(product!($tile, $column),)*
            fetch!(),
            "add {weights}, 1024\n",
        )
    };
}

/// Three taps side by side, then one line down.
macro_rules! line {
    ($tiles:tt) => {
        concat!(tap!($tiles, "0"), tap!($tiles, "1"), tap!($tiles, "2"), "add {squares}, {pitch}\n")
    };
}

/// A 3x3 convolution of some tiles, and those of them that have squares in the line above, and below.
macro_rules! three_by_three {
    ($name:ident, $tiles:tt, above: $above:tt, below: $below:tt) => {
        /// # Safety
        /// As `Tiles::convolve`, for a job of as many tiles with this edge.
        unsafe fn $name<const ACROSS: usize, const SPACING: usize>(job: Convolved) {
            // SAFETY: reads squares, weights and biases of the job, writes its sums, uses tiles and the registers named.
            unsafe {
                asm!(
                    begin!($tiles),
                    // Not 0 or 1: an assembler in Intel's syntax may read "0b" and "1b" as binary numbers.
                    "2:",
                    line!($above),
                    line!($tiles),
                    line!($below),
                    "add {squares}, {back}",
                    "dec {inputs}",
                    "jnz 2b",
                    end!($tiles),
                    squares = inout(reg) job.squares => _,
                    weights = inout(reg) job.weights => _,
                    inputs = inout(reg) job.inputs => _,
                    bias = in(reg) job.bias,
                    sums = in(reg) job.sums,
                    row = in(reg) ROW_BYTES,
                    step = in(reg) job.step,
                    zero = in(reg) 0_usize,
                    pitch = in(reg) job.pitch,
                    // Three lines down, then back up and on to the next block of channels; less than zero where a block
                    // is short.
                    back = in(reg) job.plane.wrapping_sub(3 * job.pitch),
                    across = const ACROSS,
                    spacing = const SPACING,
                    ahead = const AHEAD,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}

three_by_three!(one_tile, [0], above: [0], below: [0]);
three_by_three!(two_tiles, [0 1], above: [0 1], below: [0 1]);
three_by_three!(three_tiles, [0 1 2], above: [0 1 2], below: [0 1 2]);
three_by_three!(four_tiles, [0 1 2 3], above: [0 1 2 3], below: [0 1 2 3]);
three_by_three!(four_tiles_at_the_top, [0 1 2 3], above: [1 2 3], below: [0 1 2 3]);
three_by_three!(four_tiles_at_the_bottom, [0 1 2 3], above: [0 1 2 3], below: [0 1 2]);

/// # Safety
/// As `Tiles::convolve`, for a job of nine taps with these steps.
unsafe fn three_by_three<const ACROSS: usize, const SPACING: usize>(job: Convolved) {
    debug_assert!(job.edge == Edge::Inside || job.tiles == PART_TILES);
    match (job.tiles, job.edge) {
        (1, _) => one_tile::<ACROSS, SPACING>(job),
        (2, _) => two_tiles::<ACROSS, SPACING>(job),
        (3, _) => three_tiles::<ACROSS, SPACING>(job),
        (_, Edge::Inside) => four_tiles::<ACROSS, SPACING>(job),
        (_, Edge::Top) => four_tiles_at_the_top::<ACROSS, SPACING>(job),
        (_, Edge::Bottom) => four_tiles_at_the_bottom::<ACROSS, SPACING>(job),
    }
}

/// A 1x1 convolution of some tiles.
macro_rules! pointwise {
    ($name:ident, $tiles:tt) => {
        /// # Safety
        /// As `Tiles::convolve`, for a job of as many tiles.
        unsafe fn $name<const SPACING: usize>(job: Convolved) {
            // SAFETY: reads squares, weights and biases of the job, writes its sums, uses tiles and the registers named.
            unsafe {
                asm!(
                    begin!($tiles),
                    "2:",
                    tap!($tiles, "0"),
                    "add {squares}, {plane}",
                    "dec {inputs}",
                    "jnz 2b",
                    end!($tiles),
                    squares = inout(reg) job.squares => _,
                    weights = inout(reg) job.weights => _,
                    inputs = inout(reg) job.inputs => _,
                    bias = in(reg) job.bias,
                    sums = in(reg) job.sums,
                    row = in(reg) ROW_BYTES,
                    step = in(reg) job.step,
                    zero = in(reg) 0_usize,
                    plane = in(reg) job.plane,
                    across = const 0,
                    spacing = const SPACING,
                    ahead = const AHEAD,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}

pointwise!(one_tile_of_points, [0]);
pointwise!(two_tiles_of_points, [0 1]);
pointwise!(three_tiles_of_points, [0 1 2]);
pointwise!(four_tiles_of_points, [0 1 2 3]);

/// # Safety
/// As `Tiles::convolve`, for a job of one tap with this step.
unsafe fn pointwise<const SPACING: usize>(job: Convolved) {
    match job.tiles {
        1 => one_tile_of_points::<SPACING>(job),
        2 => two_tiles_of_points::<SPACING>(job),
        3 => three_tiles_of_points::<SPACING>(job),
        _ => four_tiles_of_points::<SPACING>(job),
    }
}

/// # Safety
/// As `Tiles::multiply`.
unsafe fn dense(job: Multiplied) {
    // SAFETY: reads rows and weights of the job, writes its sums, uses tiles and the registers named.
    unsafe {
        asm!(
            // Here the sums begin at zero: the biases are added with the activation, which reads the sums once more in
            // any case.
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            // Rows are loaded once for four panels; weights take turns in two tiles, because each serves one product
            // alone.
            "tileloadd tmm4, [{rows} + {step}*1]",
            "tileloadd tmm5, [{weights} + {step}*1]",
            "tdpbf16ps tmm0, tmm4, tmm5",
            "tileloadd tmm6, [{weights} + {step}*1 + 1024]",
            "tdpbf16ps tmm1, tmm4, tmm6",
            "tileloadd tmm5, [{weights} + {step}*1 + 2048]",
            "tdpbf16ps tmm2, tmm4, tmm5",
            "tileloadd tmm6, [{weights} + {step}*1 + 3072]",
            "tdpbf16ps tmm3, tmm4, tmm6",
            "add {rows}, 1024",
            "add {weights}, 4096",
            "dec {inputs}",
            "jnz 2b",
            "tilestored [{sums} + {step}*1], tmm0",
            "tilestored [{sums} + {step}*1 + 1024], tmm1",
            "tilestored [{sums} + {step}*1 + 2048], tmm2",
            "tilestored [{sums} + {step}*1 + 3072], tmm3",
            rows = inout(reg) job.rows => _,
            weights = inout(reg) job.weights => _,
            inputs = inout(reg) job.inputs => _,
            sums = in(reg) job.sums,
            step = in(reg) ROW_BYTES,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _,
            options(nostack),
        );
    }
}
