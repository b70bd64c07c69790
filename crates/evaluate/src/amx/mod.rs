//! Networks computed by Intel's Advanced Matrix Extensions: products of tiles of 16 rows of 32 bfloat16 numbers with 16 outputs.
//!
//! A second form of `Precision::Bfloat16`, several times as fast as vectors where the processor has it and Linux gives permission. The
//! tiles themselves are in `kernels`, or in plain Rust with the same bits in `emulated`; all else is written once, against `Tiles` and
//! `Lanes`. A page of WebAssembly has none of it but the reason.
//!
//! What it costs, on a processor like Sapphire Rapids at 3 GHz (a prototype of these kernels, measured; these here were written and tested
//! on a processor without tiles): a product of 16 rows 5.4 ns on zeros and 6.7 on random numbers, about a cycle a row; the load of a tile
//! 2.4 ns from the first cache, hidden by products, and 2.4 times that where rows do not begin at a cache line; its store 4.9 ns, not
//! hidden; configuration and release together 60 ns. A chess position through 64 filters and 6 blocks is 4,338 products.

#[cfg(not(target_arch = "wasm32"))]
mod boards;
#[cfg(not(target_arch = "wasm32"))]
pub mod emulated;
#[cfg(not(target_arch = "wasm32"))]
mod features;
#[cfg(not(target_arch = "wasm32"))]
pub mod grid;
#[cfg(not(target_arch = "wasm32"))]
mod heads;
#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod interpreter;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod kernels;
#[cfg(not(target_arch = "wasm32"))]
pub mod pack;
pub mod permission;
#[cfg(not(target_arch = "wasm32"))]
mod products;
#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests;
#[cfg(not(target_arch = "wasm32"))]
pub mod tower;
#[cfg(not(target_arch = "wasm32"))]
mod work;
