//! Large blocks of memory from the operating system, in huge pages where it has them: a tree is read at random places, and with
//! pages of 4 KiB the search for the page takes as long as the read.

/// Bytes of a huge page; blocks begin at multiples of it and have whole ones.
pub(crate) const HUGE: usize = 2 << 20;

/// A block of this many bytes, a multiple of [`HUGE`]; `None` where the system has none to give.
#[cfg(target_os = "linux")]
pub(crate) fn map(bytes: usize) -> Option<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let whole = bytes.checked_add(HUGE)?;
    // SAFETY: a new mapping at an address of the system's choice touches no other memory.
    let found = unsafe { libc::mmap(std::ptr::null_mut(), whole, access, kind | libc::MAP_NORESERVE, -1, 0) };
    if found == libc::MAP_FAILED {
        return None;
    }
    let before = found.align_offset(HUGE);
    let start = found.wrapping_byte_add(before);
    // SAFETY: what is unmapped are the ends of the mapping just made, and no one has them. Advice changes no content; where it is not
    // taken, pages are small.
    unsafe {
        if before > 0 {
            libc::munmap(found, before);
        }
        if before < HUGE {
            libc::munmap(start.wrapping_byte_add(bytes), HUGE - before);
        }
        libc::madvise(start, bytes, libc::MADV_HUGEPAGE);
    }
    Some(start.cast())
}

/// Makes a block of `map` greater, with its content and without a copy; the old place is gone. `None`: all is as it was.
///
/// # Safety
/// `start` and `bytes` are those of a block, and nothing refers to its old place any more.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn grow(start: *mut u8, bytes: usize, more: usize) -> Option<*mut u8> {
    let target = map(more)?;
    // SAFETY: the target is a block of this many bytes that no one uses; the pages of the old one take its place.
    unsafe {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if libc::mremap(start.cast(), bytes, more, flags, target.cast::<libc::c_void>()) == libc::MAP_FAILED {
            libc::munmap(target.cast(), more);
            return None;
        }
    }
    Some(target)
}

/// Gives a block of `map` back.
///
/// # Safety
/// `start` and `bytes` are those of a block, and nothing refers to it any more.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: as above.
    unsafe {
        libc::munmap(start.cast(), bytes);
    }
}

/// Other systems: memory comes from the allocator alone.
#[cfg(not(target_os = "linux"))]
pub(crate) fn map(_: usize) -> Option<*mut u8> {
    None
}

/// # Safety
/// There are no blocks to call it for.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn grow(_: *mut u8, _: usize, _: usize) -> Option<*mut u8> {
    None
}

/// # Safety
/// There are no blocks to call it for.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn unmap(_: *mut u8, _: usize) {}
