//! What tiles compute: sums of products of bfloat16, by the processor or in plain Rust with the same bits.

/// Bytes from a row of a tile to the next where nothing lies between.
pub const ROW_BYTES: usize = 64;

/// bfloat16 numbers of a tile.
pub const TILE_HALVES: usize = 512;

/// Panels of 16 outputs that a product of a dense layer computes.
pub const DENSE_PANELS: usize = 4;

/// Products that need not be computed: they are those with the border's zeros. It is for parts of four tiles that hold one line each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// All are computed.
    Inside,
    /// Nothing lies above the first tile.
    Top,
    /// Nothing lies below the fourth tile.
    Bottom,
}

/// One to four tiles of squares, convolved with a panel of weights to 16 output channels.
#[derive(Clone, Copy)]
pub struct Convolved {
    /// The first row of the first tile at the first tap of the kernel: 32 channels of bfloat16.
    pub squares: *const u16,
    /// [block of 32 inputs][tap], a tile each: [pair of inputs][output][2].
    pub weights: *const u16,
    /// What each sum begins with: 16 floats.
    pub bias: *const f32,
    /// Gets the sums, a tile of 16 rows of 16 floats after the other.
    pub sums: *mut f32,
    /// Tiles of squares, 1 to 4.
    pub tiles: usize,
    /// Blocks of 32 input channels, at least 1.
    pub inputs: usize,
    /// Taps of the kernel: 9 or 1.
    pub taps: usize,
    /// Bytes from a block of 32 input channels to the next.
    pub plane: usize,
    /// Bytes from a line of squares to the next.
    pub pitch: usize,
    /// Bytes from a column of squares to the next.
    pub across: usize,
    /// Bytes from a tile of squares to the next.
    pub spacing: usize,
    /// Bytes from a row of a tile, of squares and of sums, to the next: 64, or 128 where tiles have 8 rows, every second square.
    pub step: usize,
    /// What is left out; `Inside` unless there are four tiles and nine taps.
    pub edge: Edge,
}

/// 16 rows of numbers times four panels of weights.
#[derive(Clone, Copy)]
pub struct Multiplied {
    /// [block of 32 numbers], a tile each: [row][number].
    pub rows: *const u16,
    /// [block of 32 numbers][panel], a tile each: [pair of numbers][output][2].
    pub weights: *const u16,
    /// Blocks of 32 numbers, at least 1.
    pub inputs: usize,
    /// Gets four tiles of sums, 16 rows of 16 floats each.
    pub sums: *mut f32,
}

/// Tiles that are configured for the thread that has them, until they are dropped.
pub trait Tiles: Sized {
    /// Configures tiles of 16 rows.
    ///
    /// # Safety
    /// `permission::granted` is Ok, unless they are emulated. The thread has no other tiles.
    unsafe fn configured() -> Self;

    /// Configures tiles of squares and sums that have `rows` rows, 8 or 16.
    fn set_rows(&mut self, rows: usize);

    /// Convolves.
    ///
    /// # Safety
    /// All that the job names can be read, and its sums written. Pointers are multiples of 64 bytes.
    unsafe fn convolve(&self, job: Convolved);

    /// Multiplies. The tiles have 16 rows.
    ///
    /// # Safety
    /// As for `convolve`.
    unsafe fn multiply(&self, job: Multiplied);
}
