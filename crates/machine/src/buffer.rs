//! Numbers of a fixed count, cut from blocks of huge pages.

use std::alloc::{self, Layout};
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use crate::pages::{self, HUGE};

/// Bytes of a cache line, at which every buffer begins: vector loads that cross one cost 10 to 20 % of a network's time.
const LINE: usize = 64;

/// Bytes of a block that several buffers share. It lives as long as any of them: a larger block would be kept for the sake of one
/// small buffer.
const SHARED: usize = 2 * HUGE;

/// The block from which the next buffer is cut.
static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

/// A kind of number whose zero has no bit set, as memory comes from the system.
///
/// # Safety
/// A value whose bits are all zero is valid.
pub unsafe trait Number: Copy {}

// SAFETY: as IEEE 754 has it.
unsafe impl Number for f32 {}
// SAFETY: every pattern of bits is valid.
unsafe impl Number for u16 {}

/// Numbers that begin at a cache line, in huge pages where the system has them.
///
/// A network reads all its weights for every batch. In pages of 4 KiB these are thousands of addresses to translate, more than a
/// processor remembers, and a virtual machine translates each of them twice; that took 10 to 15 % of an evaluation's time.
pub struct Buffer<T: Number> {
    start: NonNull<T>,
    length: usize,
    /// Keeps the memory alive.
    _block: Arc<Block>,
}

// SAFETY: a buffer owns its numbers, as a `Vec` does; other buffers of its block have other bytes.
unsafe impl<T: Number + Send> Send for Buffer<T> {}
// SAFETY: as above; it is changed through `&mut` alone.
unsafe impl<T: Number + Sync> Sync for Buffer<T> {}

impl<T: Number> Buffer<T> {
    /// This many zeros.
    pub fn zeros(length: usize) -> Self {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= LINE) };
        let bytes = length.checked_mul(size_of::<T>()).expect("a buffer of fewer than 2^64 bytes");
        let (start, block) = cut(bytes);
        // Nothing is written: memory that a network asks for and does not use is never taken from the machine.
        Buffer { start: start.cast(), length, _block: block }
    }

    /// A copy of these numbers, filled up with zeros to `length`.
    pub fn filled(numbers: &[T], length: usize) -> Self {
        let mut buffer = Self::zeros(length);
        buffer.as_mut_slice()[..numbers.len()].copy_from_slice(numbers);
        buffer
    }

    /// All numbers.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the memory holds this many numbers, zero at first, begins at a multiple of their alignment, and no other buffer has its bytes.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// All numbers, to write.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and the buffer is borrowed to be changed.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// The first number.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.start.as_ptr()
    }

    /// The first number, to write.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// Bytes of all numbers.
    pub fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }
}

/// A shared block and how much of it is given away.
struct Current {
    block: Arc<Block>,
    used: usize,
}

/// Returns memory of this many bytes, all zero, that no one else has, at the beginning of a cache line, and the block that holds it.
fn cut(bytes: usize) -> (NonNull<u8>, Arc<Block>) {
    // Whole lines, so that two threads that write to neighbouring buffers never write to the same line.
    let bytes = bytes.checked_next_multiple_of(LINE).expect("a buffer of fewer than 2^64 bytes");
    if bytes > SHARED / 2 {
        // The rest of a shared block would be lost to every second buffer of this size.
        let block = Block::mapped(bytes).unwrap_or_else(|| Block::allocated(bytes));
        return (block.start, Arc::new(block));
    }
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if current.as_ref().is_none_or(|shared| SHARED - shared.used < bytes) {
        let Some(block) = Block::mapped(SHARED) else {
            let block = Block::allocated(bytes);
            return (block.start, Arc::new(block));
        };
        *current = Some(Current { block: Arc::new(block), used: 0 });
    }
    let shared = current.as_mut().expect("a block was just put there");
    // SAFETY: the block holds this many bytes from here on.
    let start = unsafe { shared.block.start.add(shared.used) };
    // Never given out again, though its buffer may end before the block: so it is as the system gave it, zero.
    shared.used += bytes;
    (start, Arc::clone(&shared.block))
}

/// Memory of its own, from the system in huge pages or from the allocator.
struct Block {
    start: NonNull<u8>,
    bytes: usize,
    /// The memory is a block of `pages`.
    mapped: bool,
}

// SAFETY: a block owns its memory, and hands it out in parts that never overlap.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// At least this many bytes in huge pages, all zero; `None` where the system has none to give.
    fn mapped(bytes: usize) -> Option<Self> {
        let bytes = bytes.checked_next_multiple_of(HUGE)?;
        let start = NonNull::new(pages::map(bytes)?)?;
        Some(Block { start, bytes, mapped: true })
    }

    /// This many bytes of the allocator, all zero.
    fn allocated(bytes: usize) -> Self {
        let bytes = bytes.max(LINE);
        let layout = Self::layout(bytes);
        // SAFETY: the layout has at least one line.
        let start = unsafe { alloc::alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| alloc::handle_alloc_error(layout));
        Block { start, bytes, mapped: false }
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, LINE).expect("a buffer of fewer than 2^63 bytes")
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the memory is that of `map` or of `alloc` with this layout, and no buffer is left that has a part of it.
        unsafe {
            if self.mapped {
                pages::unmap(self.start.as_ptr(), self.bytes);
            } else {
                alloc::dealloc(self.start.as_ptr(), Self::layout(self.bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_at_line<T: Number>(buffer: &Buffer<T>) -> bool {
        buffer.as_ptr().addr().is_multiple_of(LINE)
    }

    #[test]
    fn buffers_begin_at_lines_hold_zeros_and_never_overlap() {
        let lengths = [0, 1, 15, 16, 17, 1000, SHARED / 8, SHARED / 8 + 1, SHARED / 4, SHARED];
        let mut buffers: Vec<Buffer<f32>> = lengths.iter().map(|&length| Buffer::zeros(length)).collect();
        for (buffer, &length) in buffers.iter().zip(&lengths) {
            assert!(is_at_line(buffer));
            assert_eq!(buffer.bytes(), 4 * length);
            assert!(buffer.as_slice().len() == length && buffer.as_slice().iter().all(|&number| number == 0.0));
        }
        for (number, buffer) in buffers.iter_mut().enumerate() {
            buffer.as_mut_slice().fill(number as f32);
        }
        for (number, buffer) in buffers.iter().enumerate() {
            assert!(buffer.as_slice().iter().all(|&own| own == number as f32));
        }
    }

    #[test]
    fn memory_that_was_used_before_is_zero_again() {
        for _ in 0..50 {
            let mut buffer: Buffer<u16> = Buffer::zeros(SHARED / 5);
            assert!(buffer.as_slice().iter().all(|&number| number == 0));
            buffer.as_mut_slice().fill(7);
        }
    }

    #[test]
    fn a_block_lives_as_long_as_any_of_its_buffers() {
        let mut kept: Vec<Buffer<u16>> = Vec::new();
        for round in 0..40_u16 {
            let mut buffer = Buffer::filled(&[round], SHARED / 8);
            buffer.as_mut_slice()[SHARED / 8 - 1] = round;
            // Two of three are dropped, so that each block loses buffers while others of it are in use.
            if round % 3 == 0 {
                kept.push(buffer);
            }
        }
        for (number, buffer) in kept.iter().enumerate() {
            let own = 3 * number as u16;
            assert_eq!([buffer.as_slice()[0], buffer.as_slice()[SHARED / 8 - 1]], [own, own]);
            assert!(buffer.as_slice()[1..SHARED / 8 - 1].iter().all(|&other| other == 0));
        }
    }

    #[test]
    fn threads_cut_buffers_of_their_own() {
        let work = |own: u16| {
            for _ in 0..200 {
                let mut buffer: Buffer<u16> = Buffer::zeros(5_000);
                buffer.as_mut_slice().fill(own);
                assert!(buffer.as_slice().iter().all(|&number| number == own));
            }
        };
        std::thread::scope(|scope| {
            for own in 0..4 {
                scope.spawn(move || work(own));
            }
        });
    }

    #[test]
    fn without_huge_pages_the_allocator_gives_the_same() {
        for bytes in [0, 1, LINE, 10_000] {
            let block = Block::allocated(bytes);
            assert!(block.start.addr().get().is_multiple_of(LINE) && block.bytes >= bytes);
        }
    }
}
