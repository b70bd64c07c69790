//! Buffers that begin at a cache line: vector loads that cross one cost 10 to 20 % of a network's time.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Numbers that begin at a cache line.
pub struct Aligned<T> {
    held: Vec<T>,
    begin: usize,
    length: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// This many zeros.
    pub fn zeros(length: usize) -> Self {
        let held = vec![T::default(); length + LINE / size_of::<T>()];
        let begin = held.as_ptr().align_offset(LINE);
        Aligned { held, begin, length }
    }

    /// A copy of these numbers, filled up with zeros to `length`.
    pub fn filled(numbers: &[T], length: usize) -> Self {
        let mut aligned = Self::zeros(length);
        aligned.as_mut_slice()[..numbers.len()].copy_from_slice(numbers);
        aligned
    }

    /// All numbers.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        &self.held[self.begin..][..self.length]
    }

    /// All numbers, to write.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.held[self.begin..][..self.length]
    }

    /// The first number.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.as_slice().as_ptr()
    }

    /// The first number, to write.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.as_mut_slice().as_mut_ptr()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.held.len() * size_of::<T>()
    }
}
