//! A growing array for the nodes and edges of a tree.

use std::alloc::{self, Layout};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use crate::pages::{self, HUGE};

/// Bytes from which on memory comes from the system in huge pages; small trees are many, and live on the heap.
const LARGE: usize = 2 * HUGE;
/// Items of the smallest array.
const FIRST: usize = 16;

/// An array that grows like a `Vec`; a large one has huge pages, and grows by moving them and not by copying, so that there is never
/// more memory in use than items, and one huge page.
pub struct Arena<T: Copy> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
    /// The memory is a block of `pages`, of `capacity` items rounded up to whole pages.
    mapped: bool,
}

// SAFETY: an arena owns its items, as a `Vec` does.
unsafe impl<T: Copy + Send> Send for Arena<T> {}
// SAFETY: as above; it is changed through `&mut` alone.
unsafe impl<T: Copy + Sync> Sync for Arena<T> {}

impl<T: Copy> Arena<T> {
    /// An empty array, which has no memory yet.
    pub const fn new() -> Self {
        const { assert!(size_of::<T>() > 0) };
        Arena { start: NonNull::dangling(), len: 0, capacity: 0, mapped: false }
    }

    /// Adds an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.reserve(1);
        // SAFETY: the memory holds one more item.
        unsafe { self.start.add(self.len).write(item) };
        self.len += 1;
    }

    /// Adds many items.
    #[inline]
    pub fn extend_from_slice(&mut self, items: &[T]) {
        self.reserve(items.len());
        // SAFETY: the memory holds that many more, and `items` cannot lie within memory that is borrowed to be changed.
        unsafe { ptr::copy_nonoverlapping(items.as_ptr(), self.start.add(self.len).as_ptr(), items.len()) };
        self.len += items.len();
    }

    /// Grows to `len` items, new ones as given; an array that has as many or more stays.
    #[inline]
    pub fn grow_to(&mut self, len: usize, item: T) {
        let more = len.saturating_sub(self.len);
        self.reserve(more);
        for _ in 0..more {
            // SAFETY: the memory holds that many more.
            unsafe { self.start.add(self.len).write(item) };
            self.len += 1;
        }
    }

    #[inline]
    fn reserve(&mut self, more: usize) {
        if more > self.capacity - self.len {
            self.enlarge(more);
        }
    }

    #[cold]
    fn enlarge(&mut self, more: usize) {
        let least = self.len.checked_add(more).expect("an array of fewer than 2^64 items");
        let capacity = least.max(2 * self.capacity).max(FIRST);
        let bytes = capacity.checked_mul(size_of::<T>()).expect("an array of fewer than 2^64 bytes");
        let blocks = bytes.next_multiple_of(HUGE);
        let large = if bytes < LARGE {
            None
        } else if self.mapped {
            // SAFETY: the memory is a block, and its old place is forgotten below.
            unsafe { pages::grow(self.start.as_ptr().cast(), self.block_bytes(), blocks) }
        } else {
            pages::map(blocks)
        };
        let (start, mapped) = match large {
            Some(start) => (start, true),
            None => {
                let layout = layout::<T>(capacity);
                // SAFETY: the layout has at least one item of at least one byte.
                (unsafe { alloc::alloc(layout) }, false)
            }
        };
        let Some(start) = NonNull::new(start.cast::<T>()) else { alloc::handle_alloc_error(layout::<T>(capacity)) };
        if !(self.mapped && mapped) {
            // SAFETY: the new memory is another one, and holds all items. The old one is not used any more.
            unsafe {
                ptr::copy_nonoverlapping(self.start.as_ptr(), start.as_ptr(), self.len);
                self.release();
            }
        }
        (self.start, self.mapped) = (start, mapped);
        self.capacity = if mapped { blocks / size_of::<T>() } else { capacity };
    }

    /// Bytes of the block, where the memory is one.
    fn block_bytes(&self) -> usize {
        (self.capacity * size_of::<T>()).next_multiple_of(HUGE)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// It is not used any more.
    unsafe fn release(&mut self) {
        // SAFETY: the memory came from `pages` or from the allocator, with these sizes.
        unsafe {
            if self.mapped {
                pages::unmap(self.start.as_ptr().cast(), self.block_bytes());
            } else if self.capacity > 0 {
                alloc::dealloc(self.start.as_ptr().cast(), layout::<T>(self.capacity));
            }
        }
    }
}

fn layout<T>(items: usize) -> Layout {
    Layout::array::<T>(items).expect("an array of fewer than 2^63 bytes")
}

impl<T: Copy> Drop for Arena<T> {
    fn drop(&mut self) {
        // SAFETY: no one can use it after this.
        unsafe { self.release() };
    }
}

impl<T: Copy> Deref for Arena<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: this many items were written, and are borrowed with the array.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Arena<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> Default for Arena<T> {
    fn default() -> Self {
        Arena::new()
    }
}

impl<T: Copy> Clone for Arena<T> {
    fn clone(&self) -> Self {
        let mut copy = Arena::new();
        copy.extend_from_slice(self);
        copy
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Arena<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_holds_what_a_vector_holds_over_every_growth() {
        let mut arena = Arena::new();
        let mut vector = Vec::new();
        for round in 0..20_000_u64 {
            let items = [[round, 1, 2]; 31];
            arena.push([round, 0, 0]);
            arena.extend_from_slice(&items);
            arena.grow_to(arena.len() + 9, [7, 7, round]);
            vector.push([round, 0, 0]);
            vector.extend_from_slice(&items);
            vector.resize(vector.len() + 9, [7, 7, round]);
        }
        assert!(arena.mapped == cfg!(target_os = "linux") && arena[..] == vector[..]);
        assert!(arena.clone()[..] == vector[..]);
    }

    #[test]
    fn small_arenas_are_on_the_heap_and_large_ones_begin_at_huge_pages() {
        let mut arena = Arena::<u8>::new();
        assert!(arena.is_empty());
        arena.grow_to(LARGE / 2, 1);
        assert!(!arena.mapped);
        arena.grow_to(LARGE / 2 + 1, 2);
        if arena.mapped {
            assert_eq!((arena.start.as_ptr() as usize % HUGE, arena.capacity), (0, LARGE));
        }
        assert_eq!((arena[0], arena[LARGE / 2]), (1, 2));
    }
}
