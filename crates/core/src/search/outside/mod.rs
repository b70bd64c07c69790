//! Search rules from outside the core. They act on the nodes of one depth of all trees of a gather at once, and on all visits that are
//! backed up together: what they are given, and give back, are arrays.

pub mod backup;
pub mod choose;
pub mod lockstep;

use std::fmt::Debug;

use crate::game::Action;

/// What rules from outside have a say in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    /// Place 2: priors.
    pub priors: bool,
    /// Places 1 and 3: Q and U; or the edge that is taken.
    pub terms: bool,
    /// Place 4: step sizes.
    pub steps: bool,
    /// Place 5: what is kept after a backup.
    pub backup: bool,
    /// Place 6: the final choice.
    pub choice: bool,
}

impl Places {
    /// They have a say in backup.
    pub fn backs_up(self) -> bool {
        self.steps || self.backup
    }

    /// They have a say in selection.
    pub fn selects(self) -> bool {
        self.priors || self.terms
    }
}

/// Random numbers that a rule wants for every edge it scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeDraws {
    /// In [0, 1).
    Uniform,
    /// N(0, 1).
    Normal,
}

/// The rules have failed; they know why. What they were asked for stays as it was.
#[derive(Clone, Copy, Debug)]
pub struct Failed;

/// Search rules from outside the core, as one.
///
/// Slices have an item an edge, [E], or a step of a way, [S], in the order of the rows that are shown with them.
pub trait OutsideRules: Send + Sync + Debug {
    /// What they have a say in.
    fn places(&self) -> Places;
    /// Whether they have failed.
    fn has_failed(&self) -> bool;
    /// Floats that they keep of every edge.
    fn columns(&self) -> usize;
    /// The random numbers that they want for every edge: an item a rule that wants some.
    fn draws(&self) -> &[EdgeDraws];
    /// Place 2: changes the priors that count in U, [E].
    fn priors(&self, rows: &NodeRows, priors: &mut [f64]) -> Result<(), Failed>;
    /// Places 1 and 3: changes Q and U, [E]. `picks`, [n], are -1; a node's edge by its index there, which the search may take, is taken in the place of the one
    /// with the greatest sum.
    fn terms(&self, rows: &NodeRows, q: &mut [f64], u: &mut [f64], picks: &mut [i64]) -> Result<(), Failed>;
    /// Place 4: changes how far each visit moves the means on its way, [S].
    fn steps(&self, ways: &WayRows, steps: &mut [f64]) -> Result<(), Failed>;
    /// Place 5: changes the columns, [S] each, of all edges on the ways of visits that are backed up.
    fn after_backup(&self, ways: &WayRows, columns: &mut [Vec<f64>]) -> Result<(), Failed>;
    /// Place 6: scores by which the action to play is chosen, [E]; none where no rule decides.
    fn final_scores(&self, rows: &NodeRows) -> Result<Vec<f64>, Failed>;
}

/// Nodes of one depth, one a tree, and their edges one node after another. Means are of win - loss, of nodes and edges for the node's
/// mover.
#[derive(Clone, Debug, Default)]
pub struct NodeRows {
    /// Plies below the root.
    pub depth: usize,
    /// The tree of each node, [n].
    pub trees: Vec<i64>,
    /// Where the edges of each node begin, and where the last ones end, [n + 1].
    pub starts: Vec<i64>,
    /// The edge of the rows one ply above that leads here, [n]; -1 where no rule was asked there.
    pub via: Vec<i64>,
    /// Visits, mean, share of draws, the network's win - loss, +1 or -1 for the mover, then columns of the node itself, [n] each.
    pub nodes: Vec<Vec<f64>>,
    /// The action of each edge, [E].
    pub actions: Vec<Action>,
    /// Visits, visits in flight, mean, share of draws, stored prior, 1 where the game is over, 1 where the result is proven, 1 where the
    /// search may take it; then columns, then random numbers, [E] each.
    pub edges: Vec<Vec<f64>>,
}

/// Facts of a node in `NodeRows::nodes` before its columns.
pub const NODE_FACTS: usize = 5;
/// Where `NodeRows::edges` has which edges the search may take.
const ALLOWED: usize = 7;
/// Facts of an edge in `NodeRows::edges` before its columns.
pub const EDGE_FACTS: usize = 8;

impl NodeRows {
    /// No rows, with storage for this many columns and random numbers.
    pub fn new(columns: usize, draws: usize) -> Self {
        NodeRows {
            nodes: vec![Vec::new(); NODE_FACTS + columns],
            edges: vec![Vec::new(); EDGE_FACTS + columns + draws],
            ..NodeRows::default()
        }
    }

    /// Forgets the rows: those of another depth follow.
    fn clear(&mut self, depth: usize) {
        self.depth = depth;
        self.trees.clear();
        self.starts.clear();
        self.starts.push(0);
        self.via.clear();
        self.actions.clear();
        self.nodes.iter_mut().chain(&mut self.edges).for_each(Vec::clear);
    }
}

/// The ways of visits that are backed up together, one a tree: for each the edge that leads to the leaf, and so on up to the root, which
/// comes last and stands for itself.
#[derive(Clone, Debug, Default)]
pub struct WayRows {
    /// The tree of each way, [m].
    pub trees: Vec<i64>,
    /// Where each way begins, and where the last one ends, [m + 1].
    pub starts: Vec<i64>,
    /// Visits with this one, the visit's win - loss and share of draws, the mean before it, +1 or -1 for who sees all that (the mover
    /// above the edge; at the root its own), the step size, [S] each.
    pub steps: Vec<Vec<f64>>,
}

/// Facts of a step in `WayRows::steps`; the last is the step size.
pub const STEP_FACTS: usize = 6;
