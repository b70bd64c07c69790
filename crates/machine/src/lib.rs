//! What the processor and the operating system offer to large trees and to networks, behind safe interfaces.

mod arena;
mod buffer;
mod pages;

pub use arena::Arena;
pub use buffer::{Buffer, Number};

/// Bytes of a core's second cache, as the processor tells them; `None` where it does not.
pub fn second_cache() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    return x86_second_cache();
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)] // CPUID is safe from Rust 1.92 on
fn x86_second_cache() -> Option<usize> {
    use std::arch::x86_64::__cpuid;

    // Extended leaf 6: Intel and AMD both tell the size there, in KiB.
    const EXTENDED: u32 = 0x8000_0000;
    const SECOND_CACHE: u32 = EXTENDED + 6;
    // SAFETY: every processor of this architecture has CPUID.
    let last = unsafe { __cpuid(EXTENDED).eax };
    if last < SECOND_CACHE {
        return None;
    }
    // SAFETY: as above, and the leaf exists.
    let leaf = unsafe { __cpuid(SECOND_CACHE) };
    let kibibytes = (leaf.ecx >> 16) as usize;
    // A virtual machine may hide it.
    (kibibytes > 0).then_some(kibibytes << 10)
}

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
