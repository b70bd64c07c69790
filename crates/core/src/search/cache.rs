//! The evaluation cache of a forest: what the network said of a position, by `State::key`.
//!
//! It is read while leaves are gathered and written in row order while answers are applied, so its content is
//! the same for any number of threads. When it is full the oldest entry goes that was not found since it came or was last passed over
//! (second chance, the clock algorithm): most positions are met once, and those that come back stay.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::stats::{Edge, Value};

/// A map by the keys of positions, which are well mixed already.
pub type KeyMap<T> = HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// Takes a key as its own hash.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64")
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// An answer of the network: priors as sorted edges, and the value for the mover.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Edges of the position, sorted by prior.
    pub edges: Box<[Edge]>,
    /// Value for the mover.
    pub value: Value,
}

struct Entry {
    evaluation: Evaluation,
    /// It was found since it came, or since it was passed over; set by threads that share the cache.
    found: AtomicBool,
}

/// Bounded map from key to evaluation.
pub struct Cache {
    entries: KeyMap<Entry>,
    order: VecDeque<u64>,
    capacity: usize,
}

impl Cache {
    /// A cache of at most `capacity` positions; 0 = always empty.
    pub fn new(capacity: usize) -> Self {
        Cache { entries: KeyMap::default(), order: VecDeque::new(), capacity }
    }

    /// True when nothing can ever be found.
    pub fn is_off(&self) -> bool {
        self.capacity == 0
    }

    /// What is known of the position with this key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<&Evaluation> {
        let entry = if self.capacity == 0 { None } else { self.entries.get(&key) }?;
        // Relaxed is enough: the flag is read when the cache is written, which begins after all threads that
        // gather have been joined.
        entry.found.store(true, Ordering::Relaxed);
        Some(&entry.evaluation)
    }

    /// Stores an evaluation, unless the position is known.
    pub fn insert(&mut self, key: u64, edges: Box<[Edge]>, value: Value) {
        // The first answer stays. Batches of another size may round differently, and which of two answers
        // comes last must not matter.
        if self.capacity == 0 || self.entries.contains_key(&key) {
            return;
        }
        if self.order.len() == self.capacity {
            self.drop_one();
        }
        self.order.push_back(key);
        self.entries.insert(key, Entry { evaluation: Evaluation { edges, value }, found: AtomicBool::new(false) });
    }

    /// Drops the oldest entry that was not found; those before it are passed over once.
    fn drop_one(&mut self) {
        while let Some(oldest) = self.order.pop_front() {
            if !self.entries.get_mut(&oldest).is_some_and(|entry| std::mem::take(entry.found.get_mut())) {
                self.entries.remove(&oldest);
                return;
            }
            // A second chance moves the entry to the young end, with its flag cleared: it stays only if it is
            // found again.
            self.order.push_back(oldest);
        }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_goes_first_that_was_not_found() {
        let mut cache = Cache::new(2);
        let value = Value { wl: 0.5, d: 0.0 };
        for key in [1, 2, 1, 3] {
            cache.insert(key, Box::new([Edge::new(0, 1.0)]), value);
        }
        assert!(cache.get(1).is_none() && cache.get(2).is_some() && cache.get(3).is_some());
        assert_eq!(cache.len(), 2);
        cache.insert(4, Box::new([Edge::new(0, 1.0)]), value);
        assert!(cache.get(4).is_some() && cache.len() == 2);
        for key in 5..9 {
            cache.insert(key, Box::new([Edge::new(0, 1.0)]), value);
            assert!(cache.get(4).is_some() && cache.get(key - 1).is_none() == (key > 5));
        }
        assert!(Cache::new(0).get(1).is_none());
    }
}
