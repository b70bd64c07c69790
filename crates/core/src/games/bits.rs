//! Sets of up to 64 * W squares.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of squares; square `i` is bit `i % 64` of word `i / 64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits<const W: usize>(pub [u64; W]);

impl<const W: usize> Bits<W> {
    /// No square.
    pub const EMPTY: Self = Bits([0; W]);

    /// The one square.
    #[inline]
    pub fn square(square: usize) -> Self {
        let mut words = [0; W];
        words[square / 64] = 1 << (square % 64);
        Bits(words)
    }

    /// The squares 0 to `count` - 1.
    pub fn first(count: usize) -> Self {
        Bits(std::array::from_fn(|i| match count.saturating_sub(64 * i) {
            0 => 0,
            left => u64::MAX >> (64 - left.min(64)),
        }))
    }

    /// The squares below `count` for which `holds` is true.
    pub fn filter(count: usize, holds: impl Fn(usize) -> bool) -> Self {
        (0..count).filter(|&square| holds(square)).fold(Self::EMPTY, |set, square| set | Self::square(square))
    }

    /// Whether the set has no square.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether the set has exactly one square.
    #[inline]
    pub fn is_single(self) -> bool {
        let mut any = 0;
        let mut more = 0;
        for word in self.0 {
            // No count and no early end: a few operations for all words, without a branch that is hard to predict.
            more |= word & word.wrapping_sub(1) | if any == 0 { 0 } else { word };
            any |= word;
        }
        any != 0 && more == 0
    }

    /// Whether the set has this square.
    #[inline]
    pub fn has(self, square: usize) -> bool {
        self.0[square / 64] >> (square % 64) & 1 == 1
    }

    /// Number of squares.
    #[inline]
    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Every square moved up by `step` (1 to 63) places; those beyond the last word are lost.
    #[inline]
    pub fn up(self, step: usize) -> Self {
        // A step of 0 or 64 would shift a word by all its bits: hence the bounds.
        let carry = |i: usize| if i == 0 { 0 } else { self.0[i - 1] >> (64 - step) };
        Bits(std::array::from_fn(|i| self.0[i] << step | carry(i)))
    }

    /// Every square moved down by `step` (1 to 63) places; those below 0 are lost.
    #[inline]
    pub fn down(self, step: usize) -> Self {
        let carry = |i: usize| if i + 1 == W { 0 } else { self.0[i + 1] << (64 - step) };
        Bits(std::array::from_fn(|i| self.0[i] >> step | carry(i)))
    }

    /// The square that has `n` squares of the set below it; `n` is less than their number.
    #[inline]
    pub fn nth(self, mut n: usize) -> usize {
        for (i, mut word) in self.0.into_iter().enumerate() {
            let count = word.count_ones() as usize;
            if n < count {
                (0..n).for_each(|_| word &= word - 1);
                return 64 * i + word.trailing_zeros() as usize;
            }
            n -= count;
        }
        unreachable!("the set has more than n squares")
    }

    /// The squares, ascending.
    #[inline]
    pub fn squares(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, word)| Ones(word).map(move |bit| 64 * i + bit))
    }
}

/// The set bits of a word, ascending.
struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (bit < 64).then_some(bit)
    }
}

impl<const W: usize> BitAnd for Bits<W> {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Bits(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl<const W: usize> BitOr for Bits<W> {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Bits(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl<const W: usize> BitOrAssign for Bits<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl<const W: usize> Not for Bits<W> {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Bits(self.0.map(|word| !word))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_behave_like_a_set(squares in prop::collection::btree_set(0..192usize, 0..60), step in 1..64usize) {
            let bits = squares.iter().fold(Bits::<3>::EMPTY, |set, &s| set | Bits::square(s));
            let collect = |bits: Bits<3>| bits.squares().collect::<BTreeSet<_>>();
            prop_assert_eq!(bits.count() as usize, squares.len());
            prop_assert_eq!(bits.is_empty(), squares.is_empty());
            prop_assert_eq!(bits.is_single(), squares.len() == 1);
            prop_assert!(!Bits::<3>::EMPTY.is_single() && Bits::<3>::square(step).is_single());
            prop_assert!((0..192).all(|s| bits.has(s) == squares.contains(&s)));
            prop_assert!((0..192).all(|s| Bits::<3>::first(step).has(s) == (s < step)));
            prop_assert_eq!(Bits::<3>::first(3 * step), Bits::filter(3 * step, |_| true));
            prop_assert!(squares.iter().enumerate().all(|(n, &square)| bits.nth(n) == square));
            prop_assert_eq!(collect(bits.up(step)), squares.iter().map(|s| s + step).filter(|&s| s < 192).collect());
            prop_assert_eq!(collect(bits.down(step)), squares.iter().filter_map(|s| s.checked_sub(step)).collect());
            prop_assert_eq!(collect(!bits).len(), 192 - squares.len());
        }
    }
}
