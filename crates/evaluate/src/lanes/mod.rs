//! Vectors of floats: one trait, one implementation for each instruction set.
//!
//! Everything else of this crate is written once, against [`Lanes`]. All operations act on each lane for itself, and sums over input
//! channels run in one order, so that implementations with a fused multiply-add give the same bits, however many lanes they have.

#[cfg(not(target_arch = "wasm32"))]
pub mod emulated;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub mod simd128;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use hauteur_machine::Number;

/// A piece of work that is computed with the instructions of some lanes, into which all of it is inlined.
pub trait Work {
    /// Does the work.
    ///
    /// # Safety
    /// The processor has the instructions of `L`, and the pointers of the work are valid as it says.
    unsafe fn work<L: Lanes>(self);
}

/// Vectors of an instruction set, and the elements whose products it sums.
///
/// # Safety
/// The processor has the instructions. A pointer is valid for what is read or written: `WIDTH` floats, `WIDTH` elements (`store_element`, `load_element`),
/// `GROUP` elements (`broadcast`), `WIDTH * GROUP` elements (`load_weights`). No alignment is needed.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// Floats of a vector.
    const WIDTH: usize;
    /// Input channels that one `multiply` takes.
    const GROUP: usize;
    /// Vector registers that the accumulators of a product may fill.
    // Fewer than there are registers, which also hold an input and the weights of a step.
    const ACCUMULATORS: usize;
    /// A vector of floats.
    type Vector: Copy;
    /// A number as multiplied: a float, or one of fewer bits.
    type Element: Number + Default + Send + Sync + 'static;
    /// What `multiply` takes of each factor.
    type Operand: Copy;

    /// Does a piece of work with these instructions.
    // Only a function of its own can be compiled for instructions that the rest of the crate may not use. Whatever is
    // not inlined into it is compiled without them, and calls its intrinsics one by one: hence `inline(always)` all the
    // way down.
    unsafe fn run(work: impl Work);

    /// Reads a vector.
    unsafe fn load(from: *const f32) -> Self::Vector;
    /// Writes a vector.
    unsafe fn store(to: *mut f32, vector: Self::Vector);
    /// The same number in all lanes.
    unsafe fn splat(number: f32) -> Self::Vector;
    /// a + b.
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a - b.
    unsafe fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a b + c, rounded once where the instruction set can.
    unsafe fn mul_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The greater of a and b; b where they are equal or a is no number.
    unsafe fn max(a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Writes a vector as elements.
    unsafe fn store_element(to: *mut Self::Element, vector: Self::Vector);
    /// Reads `WIDTH` elements as floats.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "the tower of tiles alone reads elements"))]
    unsafe fn load_element(from: *const Self::Element) -> Self::Vector;
    /// `GROUP` channels of one tile, for all lanes.
    unsafe fn broadcast(from: *const Self::Element) -> Self::Operand;
    /// `GROUP` channels of `WIDTH` outputs.
    unsafe fn load_weights(from: *const Self::Element) -> Self::Operand;
    /// Asks for the cache line of some weights, into the second cache: the first has no room for what is used a block later. Any address
    /// may be named; where the instruction set has no such request, nothing happens.
    #[inline(always)]
    unsafe fn prefetch(_weights: *const Self::Element) {}
    /// sum + the product of the groups.
    unsafe fn multiply(sum: Self::Vector, a: Self::Operand, b: Self::Operand) -> Self::Vector;

    /// A weight as multiplied.
    fn element(number: f32) -> Self::Element;
    /// a b + c of single numbers, rounded as `mul_add` does.
    // Not `f32::mul_add` everywhere: where the lanes do not fuse, single numbers may not either, or results would
    // depend on which of the two computed them.
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32;
}

/// The nearest bfloat16, ties to even, as its bits.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn bfloat16(number: f32) -> u16 {
    let bits = number.to_bits();
    // The sum cannot overflow: weights are finite, which `Layers::check` saw. One that is too large for bfloat16
    // becomes infinite.
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}
