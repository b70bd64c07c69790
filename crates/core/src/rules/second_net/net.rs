//! The nets of one search by number, and which of them know a node.

/// Most nets of one search.
pub const MAX_NETS: usize = 8;

/// The number of one of the networks of a search, the smallest first; where there is one only, it is the small one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Net(u8);

#[allow(non_upper_case_globals)] // most searches have these two, and read as if they were variants
impl Net {
    /// The cheap one, which searches.
    pub const Small: Net = Net(0);
    /// The second one, which corrects; of two the expensive one.
    pub const Large: Net = Net(1);

    /// The net with this number, below `MAX_NETS`.
    #[inline]
    pub fn new(number: usize) -> Net {
        debug_assert!(number < MAX_NETS);
        Net(number as u8)
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Its place among the larger nets; it is none of the small one.
    #[inline]
    pub fn place(self) -> usize {
        self.index() - 1
    }

    /// All nets that a search can have.
    pub fn all() -> impl Iterator<Item = Net> {
        (0..MAX_NETS).map(Net::new)
    }
}

/// Some of the nets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetSet(u8);

impl NetSet {
    /// These nets and one more.
    #[inline]
    #[must_use]
    pub fn with(self, net: Net) -> NetSet {
        NetSet(self.0 | 1 << net.0)
    }

    /// Whether a net is among them.
    #[inline]
    pub fn has(self, net: Net) -> bool {
        self.0 >> net.0 & 1 == 1
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Which nets know a node, and the way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeNets {
    /// The nets that have evaluated it.
    pub known: NetSet,
    /// The node above and the edge that leads here; `u32::MAX` at the root.
    pub parent: (u32, u32),
}

impl Default for NodeNets {
    fn default() -> Self {
        NodeNets { known: NetSet::default(), parent: (u32::MAX, 0) }
    }
}

impl NodeNets {
    /// Whether this net knows the node.
    #[inline]
    pub fn known_to(&self, net: Net) -> bool {
        self.known.has(net)
    }
}
