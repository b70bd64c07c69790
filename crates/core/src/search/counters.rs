//! Totals of a search since it began.

/// Totals since a search began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Completed visits.
    pub visits: u64,
    /// Rows sent to the network; those of a batch that was cancelled are not counted.
    pub rows: u64,
    /// Of these visits, large turns of a search with two nets.
    pub large_visits: u64,
    /// Of these rows, those of large turns.
    pub large_rows: u64,
    /// Leaves looked up in the cache.
    pub cache_lookups: u64,
    /// Of these, leaves whose evaluation was there.
    pub cache_hits: u64,
    /// Leaves that took the evaluation of the same position elsewhere in the tree.
    pub position_hits: u64,
    /// Visits that took the value of a node with more visits than the edge that led there (graph search).
    pub transpositions: u64,
    /// Visits that ended at the end of a game, or at a repeat that counts as one.
    pub terminal_visits: u64,
    /// Leaves whose result the oracle knew.
    pub oracle_hits: u64,
    /// Replies that descents drew at frozen nodes, those of collisions and cancelled visits too (search-contempt).
    pub contempt_draws: u64,
    /// Descents that ended at a leaf in flight.
    pub collisions: u64,
    /// Sum of the lengths of all completed visits' paths.
    pub depth_sum: u64,
    /// Longest path from the present root.
    pub depth_max: u64,
}

/// What was counted for a leaf whose answer has not come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// Its lookups in the cache.
    pub lookups: u8,
    /// Of these, those that found something.
    pub hits: u8,
    /// Its rows.
    pub rows: u8,
    /// Of these, those of large turns.
    pub large_rows: u8,
}

impl Counters {
    /// Takes back what was counted for a leaf that is given up: the leaf will be reached, and counted, again.
    pub fn take_back(&mut self, counted: Counted) {
        self.cache_lookups -= u64::from(counted.lookups);
        self.cache_hits -= u64::from(counted.hits);
        self.rows -= u64::from(counted.rows);
        self.large_rows -= u64::from(counted.large_rows);
    }

    /// Adds another search's totals.
    pub fn add(&mut self, other: &Counters) {
        self.visits += other.visits;
        self.rows += other.rows;
        self.large_visits += other.large_visits;
        self.large_rows += other.large_rows;
        self.cache_lookups += other.cache_lookups;
        self.cache_hits += other.cache_hits;
        self.position_hits += other.position_hits;
        self.transpositions += other.transpositions;
        self.terminal_visits += other.terminal_visits;
        self.oracle_hits += other.oracle_hits;
        self.contempt_draws += other.contempt_draws;
        self.collisions += other.collisions;
        self.depth_sum += other.depth_sum;
        self.depth_max = self.depth_max.max(other.depth_max);
    }

    /// One more completed visit, whose path has `depth` steps.
    pub fn count_visit(&mut self, depth: usize) {
        self.visits += 1;
        self.depth_sum += depth as u64;
        self.depth_max = self.depth_max.max(depth as u64);
    }
}
