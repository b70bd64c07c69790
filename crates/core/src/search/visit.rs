//! One visit: descend from the root to a leaf, expand it, back its value up.

use crate::game::{Outcome, Player};
use crate::rules::RuleVisit;
use crate::rules::second_net::Net;
use crate::search::answers::outcome_value;
use crate::search::counters::Counted;
use crate::search::graph::node_key;
use crate::search::oracle::LeafOracle;
use crate::search::select::{NodeView, Plain, best_edge};
use crate::search::setup::Backup;
use crate::search::solver::expansion::{EndedBy, scan_children};
use crate::search::{Along, Leaf, LeafSources, Search, Visit};
use crate::stats::{Edge, EdgeStats, Step, UNEVALUATED, Value};
use crate::tree::graph::Arrival;

impl Search {
    #[inline(always)]
    pub(super) fn next_visit(&mut self, sources: LeafSources) -> Visit {
        if self.turn == Net::Small { self.visit(sources) } else { self.large_visit(sources) }
    }

    /// One descent from the root to a leaf. A leaf that needs no network is backed up at once.
    pub(super) fn visit(&mut self, sources: LeafSources) -> Visit {
        if self.setup.descends_plainly { self.descend::<true>(sources) } else { self.descend::<false>(sources) }
    }

    /// `visit`, compiled twice: PLAIN looks at no rule that acts below the root, so that plain PUCT pays for none.
    fn descend<const PLAIN: bool>(&mut self, sources: LeafSources) -> Visit {
        self.path.clear();
        self.scratch.state.copy_from(self.root_state.as_ref());
        let root = if !PLAIN && self.setup.two_nets() { self.root_for_turn() } else { self.tree.root_node() };
        // Before its first evaluation the tree has no root node: the root is the leaf.
        let Some(mut node) = root else {
            return if self.root_waits() { Visit::Collision } else { self.reach_leaf(sources) };
        };
        if !PLAIN && (self.setup.freezes() || self.setup.models()) {
            // Frozen nodes are those of the opponent of this player. A later root of the other player must know
            // that the tree was not grown for it.
            self.tree.columns.frozen.set_root_player(self.tree.node(node).mover);
        }
        // Own statistics travel along, since those of a node stand on the edge that leads to it, for the mover above.
        let mut own = self.tree.root;
        loop {
            // Selection is the time in which memory can bring the children.
            self.tree.fetch_children(node);
            let edge = self.select::<PLAIN>(node, &own);
            match self.go_along::<PLAIN>(node, edge) {
                Along::Node(child, record) => (node, own) = (child, record),
                end => return self.end_along(end, sources),
            }
        }
    }

    /// Takes an edge, which has a record: to its child, or to where the visit ends.
    #[inline(always)] // the inner loop of a descent
    pub(super) fn go_along<const PLAIN: bool>(&mut self, node: u32, edge: u32) -> Along {
        let two_nets = !PLAIN && self.setup.two_nets();
        let solves = !PLAIN && self.setup.solves();
        let graph = !PLAIN && self.setup.graph();
        let mover = self.tree.node(node).mover;
        // The step is noted before its end is known: marks of virtual visits and backup need it in every case.
        self.path.push(Step { node, edge });
        let stats = self.tree.stats(node)[edge as usize];
        // An edge whose result is certain needs no network, and its value is already the mean of its visits.
        if stats.is_end() || (solves && self.tree.bounds_at(Step { node, edge }).is_proven()) {
            return Along::Known(mover, stats.value(false));
        }
        let (child, waits) = match two_nets {
            true => self.child_for_turn(Step { node, edge }, &stats),
            false => (stats.node, stats.in_flight > 0),
        };
        // Without virtual loss the same leaf is met twice: this visit is given up, and its path marked, until the answer is there.
        if child == UNEVALUATED && waits {
            return Along::Waits;
        }
        let mut own = stats;
        if graph && child != UNEVALUATED {
            own = self.tree.own_stats(child);
            // Another line has visited this node since. The edge takes the node's value in this visit without
            // going deeper, or its mean would lag behind what the graph knows (see rules/graph.rs).
            if stats.visits < own.visits {
                return Along::Grown(child);
            }
        }
        // Read before the move is played, so that memory and rules work at the same time.
        let next_mover = (child != UNEVALUATED).then(|| self.tree.fetch_node(child));
        self.scratch.state.play(self.tree.edges(node)[edge as usize].action);
        let Some(next_mover) = next_mover else { return Along::Leaf };
        Along::Node(child, if graph { own } else { stats.seen(next_mover != mover) })
    }

    /// Ends a visit where an edge has led.
    #[inline(always)]
    pub(super) fn end_along(&mut self, along: Along, sources: LeafSources) -> Visit {
        match along {
            Along::Known(mover, value) => {
                self.counters.terminal_visits += 1;
                self.finish_visit(mover, value);
                Visit::Done
            }
            Along::Grown(child) => self.catch_up(child),
            Along::Leaf => self.reach_leaf(sources),
            Along::Waits | Along::Node(..) => Visit::Collision,
        }
    }

    /// Picks an edge of a node and gives it a record.
    #[inline]
    fn select<const PLAIN: bool>(&mut self, node: u32, own: &EdgeStats) -> u32 {
        let at_root = self.path.is_empty();
        // Noise, restrictions and excluded proofs exist at the root alone, so no other node asks for them.
        let special_root = at_root && ((!PLAIN && self.setup.root_excludes_proven()) || !self.root.is_plain());
        let best = if (!PLAIN && self.setup.selects_by_rules) || special_root {
            self.edge_by_rules(node, own)
        } else {
            let view = NodeView::new(&self.setup, &self.tree, node, own, at_root);
            best_edge(&view, self.tree.edges(node), self.tree.stats(node), &Plain)
        };
        self.give_record(node, best.expect("a node has an edge that may be taken"))
    }

    /// Gives the edge that a descent takes a record, if it has none; returns its index, which changes then.
    #[inline(always)]
    pub(super) fn give_record(&mut self, node: u32, best: usize) -> u32 {
        let best = best as u32;
        let edge = self.tree.choose_edge(node, best);
        // The edge moved to the front of those without record, and the lists of the root (priors, keys,
        // restriction) have to move with it.
        if edge != best && self.path.is_empty() {
            self.root.follow(best, edge);
        }
        edge
    }

    /// Counts and backs up a visit whose value is known, for player `mover`.
    fn finish_visit(&mut self, mover: Player, value: Value) {
        // The visit counts as in flight for a moment, so that backup is the same function for all visits.
        self.tree.mark(&self.path, self.turn, 1);
        self.rules.two_nets.begin(self.turn, false);
        self.back_up(mover, value);
    }

    /// Counts and backs up a visit in flight along the present path.
    #[inline]
    pub(super) fn back_up(&mut self, mover: Player, value: Value) {
        // Plain backup moves one mean by 1 / N; rules keep more, or move it otherwise, and are out of line.
        match self.setup.backup {
            Backup::Plain => self.tree.backup(&self.path, mover, value),
            Backup::ByRules | Backup::Together => self.back_up_by_rules(mover, value),
        }
        self.counters.count_visit(self.path.len());
    }

    #[inline(never)]
    fn back_up_by_rules(&mut self, mover: Player, value: Value) {
        // Rules see the means as they were before this visit.
        if self.tree.columns.enabled.kept > 0 {
            self.keep_of_rules(mover, value);
        }
        if self.setup.backup == Backup::Together {
            return self.postpone(mover, value);
        }
        if self.setup.graph() {
            return self.back_up_graph(mover, value, Arrival::Visit);
        }
        let average = self.setup.params.q_average.as_ref();
        if self.turn != Net::Small {
            self.tree.backup_large(&self.path, self.turn, mover, value);
            self.counters.large_visits += 1;
        } else if let Some(solver) = &self.setup.params.solver {
            self.tree.backup_with_bounds(&self.path, mover, value, solver, average);
        } else {
            let step_size = average.map(|rule| |visits| rule.step_size(visits));
            self.tree.backup_by_rules(&self.path, mover, value, step_size);
        }
        if self.setup.two_nets() && self.turn == Net::Small {
            self.note_small_visit();
        }
    }

    /// Lets rules change what they keep of the edges on the present path, and of the root, before the means move.
    fn keep_of_rules(&mut self, mover: Player, value: Value) {
        let params = &self.setup.params;
        let hooks = &self.setup.hooks;
        let change = |kept: &mut [f64], stats: &EdgeStats, viewer: Player| {
            let seen = if viewer == mover { value } else { value.flipped() };
            let visit = RuleVisit { visits: stats.visits + 1, value: seen.wl, mean: stats.wl };
            for hook in hooks {
                if let Some(place) = hook.keeps {
                    (hook.rule)(params).after_backup(&mut kept[place], &visit);
                }
            }
        };
        for step in &self.path {
            let index = self.tree.stats_index(*step);
            let viewer = self.tree.node(step.node).mover;
            let stats = self.tree.stats(step.node)[step.edge as usize];
            change(self.tree.columns.kept.at_mut(index), &stats, viewer);
        }
        let viewer = self.path.first().map_or(mover, |step| self.tree.node(step.node).mover);
        let stats = self.tree.root;
        change(&mut self.tree.columns.root_kept, &stats, viewer);
    }

    /// The scratch position is a leaf: the end of a game, in the cache, or work for the network.
    pub(super) fn reach_leaf(&mut self, sources: LeafSources) -> Visit {
        loop {
            // Ends come first: a finished game must never reach the network, whose answer would be an estimate.
            if let Some((outcome, ended_by)) = self.leaf_end(sources.oracle) {
                return self.end_visit(outcome, ended_by);
            }
            if !self.setup.solves() || !self.extend_forced() {
                break;
            }
        }
        if self.setup.graph()
            && let Some(visit) = self.meet_node()
        {
            return visit;
        }
        // The cache is shared by all trees of the forest; `position` below finds nodes of this tree alone.
        let key = self.setup.params.evaluation_key(self.scratch.state.key());
        let models = self.setup.models() && self.model_here().is_some();
        let mut known = None;
        let mut counted = Counted::default();
        if !sources.cache.is_off() {
            self.counters.cache_lookups += 1;
            counted.lookups = 1;
            if let Some(seen) = sources.cache.get(key) {
                self.counters.cache_hits += 1;
                counted.hits = 1;
                // The value may be known while the model's priors are not: then only the model is asked.
                let edges = if models { sources.model.get(key).map(|model| &model.edges) } else { Some(&seen.edges) };
                if let Some(edges) = edges {
                    return self.take_evaluation(edges, seen.value);
                }
                known = Some(seen.value);
            }
        }
        let position = self.position_key(self.scratch.state.as_ref());
        if let Some(position) = position {
            if let Some(seen) = self.seen_position(position) {
                self.counters.position_hits += 1;
                return self.take_evaluation(&seen.edges, seen.value);
            }
            // Two leaves with one position: the second takes the answer of the first and needs no row. It counts
            // as a visit that ended, since the gather goes on.
            if self.is_position_in_flight(position) {
                let mut leaf = self.make_leaf(key);
                leaf.counted = counted;
                self.follow(position, leaf);
                return Visit::Done;
            }
            self.begin_position(position);
        }
        let mut leaf = self.make_leaf(key);
        leaf.models_mover = models;
        leaf.counted = counted;
        leaf.state.legal_actions(&mut leaf.actions);
        self.rules.two_nets.begin(self.turn, true);
        self.rows_in_flight += 1;
        if let Some(value) = known {
            leaf.value = value;
            self.wait_for_model(leaf);
            return Visit::Waits;
        }
        self.counters.rows += 1;
        self.counters.large_rows += u64::from(self.turn != Net::Small);
        leaf.counted.rows = 1;
        leaf.counted.large_rows = u8::from(self.turn != Net::Small);
        Visit::Row(leaf)
    }

    /// Expands the scratch position by an evaluation that is known, and backs it up.
    fn take_evaluation(&mut self, edges: &[Edge], known: Value) -> Visit {
        let mover = self.scratch.state.to_move();
        let value = self.contempt_value(mover, known);
        let (node, value) = self.expand(mover, edges, value);
        self.note_evaluation(node, known, self.position_key(self.scratch.state.as_ref()));
        if self.setup.graph() {
            self.tree.note_node(node, node_key(self.scratch.state.as_ref()));
        }
        scan_children(
            &mut self.tree,
            node,
            self.scratch.state.as_ref(),
            self.scratch.child.as_mut(),
            &self.setup.params,
        );
        self.link_path_end(node);
        self.finish_visit(mover, value);
        Visit::Done
    }

    /// The scratch position has this result: notes it on the edge that leads there, and backs it up.
    fn end_visit(&mut self, outcome: Outcome, ended_by: EndedBy) -> Visit {
        let last = *self.path.last().expect("the root is never terminal");
        // From now on descents see on the edge that the game is over there, and play no move to find out.
        self.tree.step_stats(last).node = ended_by.mark();
        self.counters.terminal_visits += 1;
        let (player, value) = outcome_value(outcome);
        if self.setup.two_nets() {
            self.tree.set_exact(last, player, value);
        }
        if self.setup.solves() {
            self.prove_end(outcome, ended_by);
            // Forced nodes above were never evaluated; their value is the one that comes up through them.
            self.value_forced(player, value, value);
        }
        self.finish_visit(player, value);
        Visit::Done
    }

    /// The result at the scratch position, by the rules, as a repeat or by the oracle. A root may be drawn by a rule, or be known,
    /// and is still searched.
    fn leaf_end(&mut self, oracle: Option<&dyn LeafOracle>) -> Option<(Outcome, EndedBy)> {
        // A node of another net does not end the visit: it is only new to this net.
        if self.path.is_empty() || (self.setup.two_nets() && self.path_ends_at_node()) {
            return None;
        }
        if let Some(outcome) = self.scratch.state.outcome() {
            return Some((outcome, EndedBy::Rules));
        }
        // After the rules of the game, since a threefold repetition is a result of its own, and before
        // tablebases, which know no past.
        if let Some((outcome, mark)) = self.repeat_at_leaf() {
            return Some((outcome, EndedBy::Repeat(mark)));
        }
        let known = oracle?.probe(self.scratch.state.as_ref())?;
        self.counters.oracle_hits += 1;
        Some((known, EndedBy::Oracle))
    }

    /// The scratch position and the present path as a leaf in flight.
    fn make_leaf(&mut self, key: u64) -> Leaf {
        let mut leaf = self.scratch.leaves.pop().unwrap_or_else(|| Leaf {
            path: Vec::new(),
            turn: self.turn,
            state: self.scratch.state.clone_box(),
            actions: Vec::new(),
            key,
            row: 0,
            node_key: 0,
            weights: Vec::new(),
            edges: Vec::new(),
            value: Value { wl: 0.0, d: 0.0 },
            models_mover: false,
            asks_model: false,
            counted: Counted::default(),
        });
        // The next descent begins with a copy of the root, so the leaf may have this position itself.
        std::mem::swap(&mut leaf.state, &mut self.scratch.state);
        std::mem::swap(&mut leaf.path, &mut self.path);
        leaf.key = key;
        (leaf.models_mover, leaf.asks_model) = (false, false);
        if self.setup.graph() {
            self.begin_waiting(&mut leaf);
        }
        leaf.turn = self.turn;
        self.tree.mark(&leaf.path, self.turn, 1);
        leaf
    }

    /// The node that an answer makes, or that it is about when two nets search, and the value to back up.
    #[inline]
    pub(super) fn expand(&mut self, mover: Player, edges: &[Edge], value: Value) -> (u32, Value) {
        if self.setup.two_nets() {
            return self.learn(mover, edges, value);
        }
        (self.tree.add_node(mover, edges, value), value)
    }

    /// Puts a new node at the end of the present path.
    #[inline]
    pub(super) fn link_path_end(&mut self, node: u32) {
        if self.setup.two_nets() {
            return; // linked before it was evaluated
        }
        match self.path.last() {
            Some(last) => self.tree.step_stats(*last).node = node,
            None => {
                self.tree.root.node = node;
                self.init_root(node);
            }
        }
        if self.setup.solves() {
            let value = self.tree.network_value(node);
            let raw = self.tree.raw_network_value(node);
            self.value_forced(self.tree.node(node).mover, value, raw);
            self.prove_node(node);
        }
    }
}
