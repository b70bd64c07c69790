//! What the processor and the operating system offer to large trees, as safe interfaces: beside `hauteur-evaluate` the only crate with unsafe
//! code of our own.

mod arena;
mod pages;

pub use arena::Arena;

/// Asks the processor to fetch the item at an index, which may be beyond the end; changes nothing but time.
#[inline(always)]
pub fn prefetch<T>(items: &[T], index: usize) {
    let address = items.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults at no address; SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
