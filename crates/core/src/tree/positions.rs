//! The nodes of a tree by the key of their position (`State::position_key`), so that one evaluation answers all of them.

/// Key of a node that is not found: the network was never asked about it.
const NONE: u64 = 0;
/// A free slot of the table.
const FREE: u32 = u32::MAX;
const SMALLEST: usize = 64;

/// The first node of each position, by the position's key. Takes 8 bytes a node and 5 to 11 in the table.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    on: bool,
    keys: Vec<u64>,
    /// Nodes, at the place of their key or at the next free one; a power of two long.
    table: Vec<u32>,
    used: usize,
}

impl Positions {
    pub(crate) fn new(on: bool) -> Self {
        Positions { on, ..Positions::default() }
    }

    /// True when nodes are found by their position.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The first node that was added with this key.
    pub fn find(&self, key: u64) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.place(key)]).filter(|node| *node != FREE)
    }

    /// Notes the key of a node, the newest or any after it.
    pub fn add(&mut self, node: u32, key: u64) {
        if !self.on || key == NONE {
            return;
        }
        if self.keys.len() <= node as usize {
            self.keys.resize(node as usize + 1, NONE);
        }
        self.keys[node as usize] = key;
        // Above three quarters the runs of linear probing become long.
        if self.used * 4 >= self.table.len() * 3 {
            self.grow();
        }
        self.put(node);
    }

    /// Takes the key of a node of another tree.
    pub(crate) fn copy_node(&mut self, to: u32, source: &Positions, from: u32) {
        self.add(to, source.keys.get(from as usize).copied().unwrap_or(NONE));
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.keys[..]) + size_of_val(&self.table[..])
    }

    /// The place of the node with this key, or the free one where it would be.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let last = self.table.len() - 1;
        // Linear probing in a table of indices: keys stand with the nodes, so that growing the table moves 4
        // bytes a node.
        // The upper half of the product: its low bits come from the low bits of the key alone.
        let mut place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & last;
        while self.table[place] != FREE && self.keys[self.table[place] as usize] != key {
            place = (place + 1) & last;
        }
        place
    }

    fn put(&mut self, node: u32) {
        let place = self.place(self.keys[node as usize]);
        if self.table[place] == FREE {
            self.table[place] = node;
            self.used += 1;
        }
    }

    fn grow(&mut self) {
        let len = (2 * self.table.len()).max(SMALLEST);
        let nodes = std::mem::replace(&mut self.table, vec![FREE; len]);
        self.used = 0;
        nodes.into_iter().filter(|node| *node != FREE).for_each(|node| self.put(node));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_node_of_a_position_is_found() {
        let mut positions = Positions::new(true);
        assert_eq!(positions.find(7), None);
        (0..10_000).for_each(|node| positions.add(node, 1 + u64::from(node % 5000)));
        (0..5000).for_each(|node| assert_eq!(positions.find(1 + u64::from(node)), Some(node)));
        assert_eq!(positions.find(5001), None);
        let mut copy = Positions::new(true);
        copy.copy_node(0, &positions, 5003);
        copy.copy_node(1, &positions, 3);
        copy.copy_node(2, &positions, 20_000);
        assert_eq!((copy.find(4), copy.find(1)), (Some(0), None));
    }

    #[test]
    fn nothing_is_kept_while_it_is_off() {
        let mut positions = Positions::new(false);
        positions.add(3, 5);
        assert_eq!((positions.find(5), positions.bytes()), (None, 0));
    }
}
