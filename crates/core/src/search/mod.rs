//! One tree: gather leaves, apply answers, report.

pub mod answers;
pub mod balance;
pub mod branches;
pub mod cache;
pub mod check;
pub mod choose;
pub mod contempt;
pub mod counters;
pub mod final_choice;
pub mod forced_playouts;
pub mod graph;
pub mod gumbel_root;
pub mod lower_bounds;
pub mod mates;
pub mod noise;
pub mod opponent;
pub mod oracle;
pub mod outside;
pub mod repeats;
pub mod report;
pub mod reuse;
pub mod root;
pub mod scores;
pub mod scoring;
pub mod select;
pub mod setup;
pub mod solver;
pub mod spread;
pub mod terms;
pub mod two_nets;
pub mod visit;
pub mod wdl_contempt;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::game::{Action, Player, State};
use crate::math::rng::{CounterRng, root_rng, rule_rng};
use crate::rules::second_net::Net;
use crate::search::cache::Cache;
use crate::search::counters::{Counted, Counters};
use crate::search::gumbel_root::Halving;
use crate::search::oracle::LeafOracle;
use crate::search::outside::backup::Postponed;
use crate::search::reuse::Followers;
use crate::search::root::Root;
use crate::search::setup::Setup;
use crate::search::solver::expansion::scan_children;
use crate::search::two_nets::visit::TwoNets;
use crate::stats::{Edge, EdgeStats, Step, Value};
use crate::tree::Tree;
use crate::tree::columns::RuleColumns;

/// Maximum of rows of one tree that wait for the network; with the maximum of collisions of a gather they fit the counts of edges.
const MAX_IN_FLIGHT: usize = 30_000;
/// Visits that end without the network (terminal, cached) before a gather hands control back.
const MAX_FREE_VISITS: usize = 4096;

/// A position that waits for the network, and the path to it.
pub struct Leaf {
    path: Vec<Step>,
    /// The net in whose statistics the visit counts.
    turn: Net,
    /// The position.
    pub state: Box<dyn State>,
    actions: Vec<Action>,
    key: u64,
    /// The row of its batch that has its answer; set by the forest.
    pub(crate) row: usize,
    /// Key of its node (graph search).
    node_key: u64,
    weights: Vec<f64>,
    edges: Vec<Edge>,
    value: Value,
    /// The model of the opponent gives its priors.
    models_mover: bool,
    /// It has its value, and waits for those priors.
    asks_model: bool,
    /// What was counted for it since its last answer.
    counted: Counted,
}

impl Leaf {
    /// Key of its evaluation in the cache.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Its row is for the model of the opponent.
    pub(crate) fn asks_model(&self) -> bool {
        self.asks_model
    }
}

/// Why a tree may not grow any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// It has the bytes that the settings allow (`max_tree_bytes`).
    Bytes = 1,
    /// A counter of visits, nodes or edges has come near the end of its 32 bits.
    Counters = 2,
}

/// Where a gather looks for an evaluation before it asks the network.
#[derive(Clone, Copy)]
pub struct LeafSources<'a> {
    /// Evaluations of positions seen before.
    pub cache: &'a Cache,
    /// Priors of the model of the opponent at positions seen before.
    pub model: &'a Cache,
    /// Exact results from outside.
    pub oracle: Option<&'a dyn LeafOracle>,
}

/// How a descent ended.
pub(super) enum Visit {
    /// Backed up at once: the end of a game, or a cached evaluation.
    Done,
    /// This leaf waits for the network.
    Row(Leaf),
    /// A leaf waits for the model of the opponent.
    Waits,
    /// The leaf is in flight already.
    Collision,
}

/// Where an edge has led a descent; small, so that the loop of plain PUCT keeps it in registers.
pub(super) enum Along {
    /// To this node, whose own record is, for its mover, this one.
    Node(u32, EdgeStats),
    /// To a certain result, for this player.
    Known(Player, Value),
    /// To a leaf in flight.
    Waits,
    /// To this node, which has visits by other edges (graph search).
    Grown(u32),
    /// To a leaf.
    Leaf,
}

/// Where a step of a descent has led.
pub(super) enum Reached {
    /// To this node, whose own record is, for its mover, this one.
    Node(u32, EdgeStats),
    /// To the end of the visit.
    End(Visit),
}

/// The part of one tree in a gather.
pub struct Turn {
    net: Net,
    /// Rows that it may still add.
    free_rows: usize,
    free_visits: usize,
    collisions: Vec<Vec<Step>>,
    over: bool,
}

/// One tree and the position it stands on.
pub struct Search {
    setup: Arc<Setup>,
    /// The position at the root.
    root_state: Box<dyn State>,
    /// The root has legal moves.
    can_move: bool,
    tree: Tree,
    root: Root,
    /// Key of the tree's random draws.
    key: u64,
    /// Roots that there were until now: each has draws of its own.
    roots: u64,
    /// Visits of the root at which the search is finished; 0: never.
    visit_limit: u32,
    rows_in_flight: u32,
    /// The net in whose statistics the present visit counts.
    turn: Net,
    /// The edges from the root that the present visit has taken.
    path: Vec<Step>,
    scratch: Scratch,
    rules: RuleState,
    counters: Counters,
}

/// Positions and buffers that every visit uses anew, so that a search does not allocate.
struct Scratch {
    /// The position at the end of the present path.
    state: Box<dyn State>,
    /// A position one move after it, for looks ahead.
    child: Box<dyn State>,
    /// Legal actions of a leaf (solver).
    actions: Vec<Action>,
    /// Scores of a node's edges without noise (variance).
    scores: Vec<f64>,
    /// Leaves that are no longer in flight, with their allocations.
    leaves: Vec<Leaf>,
    /// Memory for the leaves of a batch.
    batch: Vec<Leaf>,
    /// Paths of visits that were backed up (rules from outside).
    paths: Vec<Vec<Step>>,
}

impl Scratch {
    fn new(state: &dyn State) -> Self {
        Scratch {
            state: state.clone_box(),
            child: state.clone_box(),
            actions: Vec::new(),
            scores: Vec::new(),
            leaves: Vec::new(),
            batch: Vec::new(),
            paths: Vec::new(),
        }
    }
}

/// What rules know of a search apart from the columns of its tree; without them it stays as it is in the beginning.
struct RuleState {
    /// Draws of the rules.
    draws: CounterRng,
    /// The player whom the tree's values favour (WDL contempt).
    contempt_side: Option<Player>,
    /// sigma^2 of the node that the present descent has come to (variance).
    variance: f64,
    /// Sequential halving at the root (Gumbel).
    halving: Halving,
    /// Turns of several nets, and the nodes that wait for the larger ones.
    two_nets: TwoNets,
    /// Leaves that wait for the answer to another leaf with the same position (re-use of evaluations).
    followers: Followers,
    /// Leaves in flight that wait for the model of the opponent and are in no batch.
    waiting_for_model: VecDeque<Leaf>,
    /// Keys of the nodes that wait for the network (graph search).
    pending_nodes: HashSet<u64>,
    /// Visits whose values are backed up together with those of other trees (rules from outside).
    postponed: Vec<Postponed>,
}

impl RuleState {
    fn new(key: u64) -> Self {
        RuleState {
            draws: rule_rng(key),
            contempt_side: None,
            variance: 0.0,
            halving: Halving::default(),
            two_nets: TwoNets::default(),
            followers: Followers::default(),
            waiting_for_model: VecDeque::new(),
            pending_nodes: HashSet::new(),
            postponed: Vec::new(),
        }
    }
}

impl Search {
    /// An empty tree at this position; `key` is that of its random draws.
    pub fn new(setup: Arc<Setup>, state: Box<dyn State>, key: u64) -> Self {
        let mut actions = Vec::new();
        state.legal_actions(&mut actions);
        Search {
            tree: Tree::with_columns(RuleColumns::new(setup.columns())),
            setup,
            can_move: !actions.is_empty(),
            scratch: Scratch::new(state.as_ref()),
            root_state: state,
            root: Root::default(),
            key,
            roots: 0,
            visit_limit: 0,
            rows_in_flight: 0,
            turn: Net::Small,
            path: Vec::new(),
            rules: RuleState::new(key),
            counters: Counters::default(),
        }
    }

    /// Visits of the root at which the search is finished; 0 = never.
    pub fn set_visit_limit(&mut self, visits: u32) {
        self.visit_limit = visits;
    }

    /// Returns an empty buffer for the leaves of a batch, which comes back by `keep_buffer`: batches of many trees would otherwise
    /// ask the system for memory at each of their leaves.
    pub(crate) fn take_buffer(&mut self) -> Vec<Leaf> {
        std::mem::take(&mut self.scratch.batch)
    }

    /// Takes an empty buffer back.
    pub(crate) fn keep_buffer(&mut self, buffer: Vec<Leaf>) {
        debug_assert!(buffer.is_empty());
        self.scratch.batch = buffer;
    }

    /// Rows that wait for the network.
    pub fn rows_in_flight(&self) -> u32 {
        self.rows_in_flight
    }

    /// No more visits are due, and none is in flight.
    pub fn is_finished(&self) -> bool {
        self.rows_in_flight == 0 && !self.wants_visit()
    }

    fn wants_visit(&self) -> bool {
        self.next_net().is_some()
    }

    /// Why the tree may not grow any more; `None` while it may.
    pub fn full(&self) -> Option<Full> {
        let max_bytes = self.setup.params.max_tree_bytes;
        if max_bytes > 0 && self.tree.bytes() as u64 >= max_bytes {
            return Some(Full::Bytes);
        }
        self.tree.is_full().then_some(Full::Counters)
    }

    /// The net that the next visit is for; `None` when no visit is due.
    #[inline(always)]
    pub fn next_net(&self) -> Option<Net> {
        // This runs before every descent. `bytes` is a sum of lengths, so the limit costs no walk over the
        // tree; the tree exceeds it by what is in flight.
        let max_bytes = self.setup.params.max_tree_bytes;
        let below_cap = max_bytes == 0 || (self.tree.bytes() as u64) < max_bytes;
        if !self.can_move || !below_cap || self.tree.is_full() || (self.setup.solves() && self.is_decided()) {
            return None;
        }
        if self.setup.two_nets() {
            return self.setup.params.second_net.as_ref().and_then(|rule| self.next_turn(rule));
        }
        // A tree that was grown for the other side is dropped when the next gather begins, so none of its
        // visits counts towards the limit.
        let visits = if self.favours_right_side() { self.tree.root.visits } else { 0 };
        // Visits in flight count as made. Otherwise a search with large batches would exceed its limit by
        // almost one batch.
        let below_limit = self.visit_limit == 0 || visits + self.visits_in_flight() < self.visit_limit;
        below_limit.then_some(self.setup.only_net)
    }

    /// Adds leaves that wait for this net until there are `quota` of them, or no more visit of this net is due, or possible.
    pub fn gather(&mut self, quota: usize, net: Net, sources: LeafSources, leaves: &mut Vec<Leaf>) {
        let mut turn = self.begin_turn(quota, net);
        while self.may_go_on(&turn) {
            let visit = self.next_visit(sources);
            self.end_descent(&mut turn, visit, leaves);
        }
        self.end_turn(&turn);
    }

    /// Begins a gather of this tree.
    pub(super) fn begin_turn(&mut self, quota: usize, net: Net) -> Turn {
        self.settle_contempt();
        // With one net all statistics are those of the small one, even where the only net is the large one:
        // nothing below has to ask which it is.
        self.turn = if self.setup.two_nets() { net } else { Net::Small };
        // Visits that follow another leaf (re-use of evaluations) have no row, but they count in the 16 bits
        // of `in_flight` too.
        let free_rows = quota.min(MAX_IN_FLIGHT.saturating_sub(self.visits_in_flight() as usize));
        Turn { net, free_rows, free_visits: 0, collisions: Vec::new(), over: false }
    }

    /// Another descent may begin.
    #[inline(always)]
    pub(super) fn may_go_on(&mut self, turn: &Turn) -> bool {
        // Visits that end without the network take no row, so among finished lines a gather could continue
        // without end; MAX_FREE_VISITS stops it.
        turn.free_rows > 0 && !turn.over && self.may_descend(turn.net) && turn.free_visits < MAX_FREE_VISITS
    }

    /// Counts a descent that has ended.
    #[inline(always)]
    pub(super) fn end_descent(&mut self, turn: &mut Turn, visit: Visit, leaves: &mut Vec<Leaf>) {
        match visit {
            Visit::Done => turn.free_visits += 1,
            Visit::Row(leaf) => {
                turn.free_rows -= 1;
                leaves.push(leaf);
            }
            Visit::Waits => turn.free_rows -= 1,
            Visit::Collision => {
                self.counters.collisions += 1;
                // A collision says that PUCT wants a leaf whose answer is not there yet. Its path is marked as in
                // flight until the end of the gather, so that the next descent prefers another leaf: lc0's
                // collisions, with the effect of a virtual loss that takes no value away.
                let max_collisions = self.setup.params.max_collisions as usize;
                // An empty path: the root itself waits, or a large turn prefers to wait. No other descent could
                // help.
                turn.over = self.path.is_empty() || turn.collisions.len() + 1 >= max_collisions;
                if !turn.over {
                    self.tree.mark(&self.path, self.turn, 1);
                    turn.collisions.push(self.path.clone());
                }
            }
        }
    }

    /// Ends a gather of this tree: the paths of collisions are no longer marked.
    pub(super) fn end_turn(&mut self, turn: &Turn) {
        for path in &turn.collisions {
            self.tree.mark(path, self.turn, -1);
        }
    }

    /// Sets the priors that a new root selects with, and proves what an exact search of its moves finds.
    pub(super) fn init_root(&mut self, node: u32) {
        // Every root of a game has a stream of its own: its noise does not depend on how many numbers earlier
        // roots took.
        let mut rng = root_rng(self.key, self.roots);
        self.roots += 1;
        self.prove_root_moves(node); // before the priors: a proof gives its edge a record, which moves the others
        self.root.init(&mut self.tree, node, &self.setup.params, &mut rng);
        self.refresh_root_bounds();
        self.rules.halving = Halving::default();
        self.prepare_root_balance();
    }

    /// Expands and backs up a leaf whose answer was read.
    pub fn apply(&mut self, mut leaf: Leaf, keep_in_cache: impl FnOnce(u64, &[Edge], Value)) {
        // Such a leaf needs two answers. The first gives its value, and it waits again; the second gives its
        // priors and ends the wait.
        if self.setup.models() && leaf.models_mover {
            keep_in_cache(leaf.key, &leaf.edges, leaf.value);
            leaf.counted = Counted::default();
            return if leaf.asks_model { self.end_wait(leaf) } else { self.wait_for_model(leaf) };
        }
        self.rows_in_flight -= 1;
        self.rules.two_nets.end(leaf.turn, false);
        let edges = std::mem::take(&mut leaf.edges);
        let value = leaf.value;
        let position = self.position_key(leaf.state.as_ref());
        self.grow(&mut leaf, &edges, value, position);
        keep_in_cache(leaf.key, &edges, value);
        leaf.edges = edges;
        // Leaves are used again with all their buffers, so that a search stops allocating once its batches
        // have their size.
        self.scratch.leaves.push(leaf);
        if let Some(key) = position {
            self.answer_followers(key);
        }
    }

    /// Expands a leaf in flight by the network's answer, and backs it up.
    fn grow(&mut self, leaf: &mut Leaf, edges: &[Edge], known: Value, position: Option<u64>) {
        // Backup reads the present path, and answers come later than the descents that asked for them.
        std::mem::swap(&mut self.path, &mut leaf.path);
        self.turn = leaf.turn;
        let mover = leaf.state.to_move();
        let value = self.contempt_value(mover, known);
        let (node, value) = self.expand(mover, edges, value);
        self.note_evaluation(node, known, position);
        if self.setup.graph() {
            self.stop_waiting(leaf);
            self.tree.note_node(node, leaf.node_key);
        }
        scan_children(&mut self.tree, node, leaf.state.as_ref(), self.scratch.child.as_mut(), &self.setup.params);
        self.link_path_end(node);
        self.back_up(mover, value);
    }

    /// Takes back the visit of a leaf.
    pub fn cancel(&mut self, leaf: Leaf) {
        self.rows_in_flight -= 1;
        self.counters.take_back(leaf.counted);
        // A cancelled turn gives its number back: the turns after it draw as if it had never begun.
        self.rules.two_nets.end(leaf.turn, true);
        self.tree.mark(&leaf.path, leaf.turn, -1);
        self.stop_waiting(&leaf);
        // The node left the frontier when its turn began. It enters again under its old number, which decides
        // between equals.
        if let Some(last) = leaf.path.last().filter(|_| leaf.turn != Net::Small) {
            self.enter(*last, leaf.turn);
        }
        if let Some(key) = self.position_key(leaf.state.as_ref()) {
            self.cancel_followers(key);
        }
        self.scratch.leaves.push(leaf);
    }

    /// Restricts the root to these actions; empty = all.
    pub fn restrict_root(&mut self, only: Vec<Action>) {
        self.settle_contempt();
        self.root.restrict(only);
        self.rules.halving = Halving::default();
        if let Some(node) = self.tree.root_node() {
            self.root.prepare(&mut self.tree, node);
        }
        self.refresh_root_bounds();
    }

    /// Plays an action, which is legal, and re-roots. Nothing may be in flight.
    pub fn advance(&mut self, action: Action) {
        debug_assert_eq!(self.rows_in_flight, 0);
        let edge = self.tree.root_node().and_then(|root| self.tree.edges(root).iter().position(|e| e.action == action));
        match edge {
            // The reach of a model of the opponent is counted from the root, so an old tree would have its priors
            // at other depths.
            Some(edge) if self.setup.params.keeps_tree() => {
                self.tree.re_root(edge as u32);
                self.reopen_repeats();
            }
            _ => self.reset(),
        }
        // Depths are counted from the root, which has come one ply nearer to the deepest visit.
        self.counters.depth_max = self.counters.depth_max.saturating_sub(1);
        self.root_state.play(action);
        let mut actions = Vec::new();
        self.root_state.legal_actions(&mut actions);
        self.can_move = !actions.is_empty();
        self.root = self.root.successor();
        if let Some(node) = self.tree.root_node() {
            self.init_root(node);
        }
        self.refresh_root_bounds();
        if self.setup.two_nets() {
            self.rebuild_frontiers();
        }
    }

    /// Forgets the tree. What the root is restricted to stays.
    pub(super) fn reset(&mut self) {
        self.tree = Tree::with_columns(RuleColumns::new(self.setup.columns()));
        self.rebuild_frontiers();
        self.root.clear();
        self.counters.depth_max = 0;
    }

    /// The actions from the root to a leaf in flight.
    pub fn line_to(&self, leaf: &Leaf) -> Vec<Action> {
        leaf.path.iter().map(|step| self.tree.edges(step.node)[step.edge as usize].action).collect()
    }

    /// The position that the tree stands on.
    pub fn root_state(&self) -> &dyn State {
        self.root_state.as_ref()
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Totals since the search began.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;
    use crate::params::SearchParams;

    fn search() -> Search {
        let setup = Arc::new(Setup::new(SearchParams::default()));
        Search::new(setup, make_game("tictactoe").unwrap().initial(), 0)
    }

    fn run(search: &mut Search, visits: u64) {
        search.run(visits, |_, _, _| [0.4, 0.2, 0.4], 9);
    }

    #[test]
    fn a_search_stops_before_its_visits_wrap() {
        let mut search = search();
        run(&mut search, 2000);
        search.tree.root.visits = (1 << 31) - 500;
        run(&mut search, 5000);
        assert!(search.is_finished());
        assert_eq!((search.full(), search.tree.root.visits), (Some(Full::Counters), 1 << 31));
        assert!(search.tree.root.wl.abs() <= 1.0);
    }

    #[test]
    fn a_search_stops_when_its_tree_has_all_the_edges_that_it_may() {
        let mut search = search();
        search.tree.set_most(512);
        run(&mut search, 5000);
        assert!(search.is_finished() && search.full() == Some(Full::Counters));
        assert!((512..530).contains(&search.tree.num_edges()));
        search.advance(0);
        assert_eq!(search.full(), None);
    }
}
