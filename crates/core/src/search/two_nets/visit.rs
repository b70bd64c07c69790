//! Visits with two nets or more: turns of the larger ones, further answers about a node, and the backup of all.

use std::borrow::Cow;

use crate::game::Player;
use crate::rules::second_net::turns::turn_uniform;
use crate::rules::second_net::{LargePriority, MAX_NETS, Net, SecondNet};
use crate::search::root::Root;
use crate::search::two_nets::frontier::Frontier;
use crate::search::two_nets::view::mixed_stats;
use crate::search::{LeafSources, Search, Visit};
use crate::stats::{Edge, EdgeStats, Step, TERMINAL, Value};
use crate::tree::Tree;

/// What a search with several nets keeps in addition to its tree.
#[derive(Clone, Debug, Default)]
pub struct TwoNets {
    /// Turns begun and not taken back, over all moves: the number of the next one.
    turns: u64,
    /// Turns of each net that wait for an answer.
    in_flight: [u32; MAX_NETS],
    /// The leaves of each larger net's tree, by the net's place.
    frontiers: [Frontier; MAX_NETS - 1],
}

impl TwoNets {
    /// A turn begins.
    pub(in crate::search) fn begin(&mut self, net: Net, waits: bool) {
        self.turns += 1;
        self.in_flight[net.index()] += u32::from(waits);
    }

    /// A turn that waited has its answer, or is taken back.
    pub(in crate::search) fn end(&mut self, net: Net, taken_back: bool) {
        self.turns -= u64::from(taken_back);
        self.in_flight[net.index()] -= 1;
    }

    /// The leaves of a larger net's tree.
    pub(super) fn frontier(&self, net: Net) -> &Frontier {
        &self.frontiers[net.place()]
    }
}

impl Search {
    /// Whose turn it is when several nets search; `None` when all have done their part.
    pub(in crate::search) fn next_turn(&self, rule: &SecondNet) -> Option<Net> {
        // A tree that will be dropped has no turns.
        let kept = u32::from(self.favours_right_side());
        let mut begun = [0; MAX_NETS];
        for net in rule.nets() {
            let visits = kept * self.tree.root_stats(net).visits + self.rules.two_nets.in_flight[net.index()];
            begun[net.index()] = u64::from(visits);
        }
        let goal = rule.goal(&begun, self.visit_limit);
        rule.next_net(&begun, &goal, || turn_uniform(self.key, self.rules.two_nets.turns))
    }

    /// The child of a record as this turn sees it, `UNEVALUATED` where its net does not know it, and whether it waits for this net.
    pub(in crate::search) fn child_for_turn(&self, step: Step, stats: &EdgeStats) -> (u32, bool) {
        let known = stats.node < TERMINAL && self.tree.nets(stats.node).known_to(self.turn);
        let node = if known || stats.is_end() { stats.node } else { crate::stats::UNEVALUATED };
        let waits = match self.turn {
            Net::Small => stats.in_flight > 0,
            larger => self.tree.large_stats(step, larger).in_flight > 0,
        };
        (node, waits)
    }

    /// The root's node if this turn's net knows it.
    pub(in crate::search) fn root_for_turn(&self) -> Option<u32> {
        self.tree.root_node().filter(|root| self.tree.nets(*root).known_to(self.turn))
    }

    /// Whether the root waits for this turn's net.
    pub(in crate::search) fn root_waits(&self) -> bool {
        // With one net there is no record of another one.
        if self.setup.two_nets() { self.tree.root_stats(self.turn).in_flight > 0 } else { self.tree.root.in_flight > 0 }
    }

    /// A node's own record, for its mover, as this turn sees it; the node ends the present path.
    pub(in crate::search) fn own_stats(&self, rule: &SecondNet, node: u32, own: &EdgeStats) -> EdgeStats {
        let large = |net: Net| match self.path.last() {
            None => self.tree.root_stats(net),
            Some(last) => {
                let flip = self.tree.node(last.node).mover != self.tree.node(node).mover;
                self.tree.large_stats(*last, net).seen(flip)
            }
        };
        mixed_stats(rule, self.turn, own, large).0
    }

    /// A turn of a larger net: the first of its frontier, or where nothing on it has small visits the leaf that PUCT with the net's own
    /// visits reaches.
    #[inline(never)]
    pub(in crate::search) fn large_visit(&mut self, sources: LeafSources) -> Visit {
        let rule = self.setup.params.second_net.expect("large turns have a second net");
        let net = self.turn;
        let priority = rule.priority_of(net);
        if priority == LargePriority::OwnPuct || self.root_for_turn().is_none() {
            return self.visit(sources);
        }
        let found = match priority {
            LargePriority::ParentBonus => self.tree.best_by_bonus(net, rule.parent_bonus),
            _ => self.rules.two_nets.frontiers[net.place()].pop(|step, visits| self.tree.may_take(net, step, visits)),
        };
        match found {
            Some(step) => self.take(step, sources),
            None if self.rules.two_nets.in_flight[net.index()] == 0 => self.visit(sources),
            None => {
                // What the waiting answers open will be better than what PUCT finds without them.
                self.path.clear();
                Visit::Collision
            }
        }
    }

    /// Goes straight to the child at a step.
    fn take(&mut self, step: Step, sources: LeafSources) -> Visit {
        self.tree.path_to(step, &mut self.path);
        self.scratch.state.copy_from(self.root_state.as_ref());
        for step in &self.path {
            self.scratch.state.play(self.tree.edges(step.node)[step.edge as usize].action);
        }
        self.reach_leaf(sources)
    }

    /// Whether the present path ends at a node that another net knows.
    pub(in crate::search) fn path_ends_at_node(&self) -> bool {
        let node = self.path.last().map_or(self.tree.root.node, |last| self.tree.record(*last).node);
        node < TERMINAL
    }

    /// The answer of this turn's net about the end of the present path: makes the node, or adds to it what this net says.
    /// Returns the node and the value to back up.
    #[inline(never)]
    pub(in crate::search) fn learn(&mut self, mover: Player, edges: &[Edge], value: Value) -> (u32, Value) {
        let setup = self.setup.clone();
        let rule = setup.params.second_net.as_ref().expect("two nets have their settings");
        let last = self.path.last().copied();
        let old = last.map_or(self.tree.root.node, |last| self.tree.record(last).node);
        let is_new = old >= TERMINAL;
        let node = if is_new { self.tree.add_node(mover, edges, value) } else { old };
        if is_new {
            match last {
                Some(step) => self.tree.step_stats(step).node = node,
                None => self.tree.root.node = node,
            }
            self.tree.set_parent(node, last);
        }
        let shares = self.tree.add_answer(rule, node, self.turn, edges, value);
        match last {
            // A further answer changes the priors, so the order of edges without record has to be made again.
            Some(_) => self.tree.sort_by_mixed_priors(rule, node),
            None if is_new => self.init_root(node),
            None => self.root.set_priors(&mut self.tree, node, &self.setup.params),
        }
        if self.turn != Net::Small {
            // The node's value is now that of one net more; what small visits had brought up changes in all
            // means above.
            self.tree.shift_means(&self.path, mover, shares);
            self.enter_children(node, self.turn);
            return (node, value);
        }
        (node, Value { wl: value.wl + shares.wl, d: value.d + shares.d })
    }

    /// The children of a node that a larger net has just come to know enter its frontier.
    fn enter_children(&mut self, node: u32, net: Net) {
        for edge in 0..self.tree.stats(node).len() as u32 {
            self.enter(Step { node, edge }, net);
        }
    }

    /// Puts the child at a step on the frontier of a larger net, if it belongs there.
    pub(in crate::search) fn enter(&mut self, step: Step, net: Net) {
        let stats = *self.tree.record(step);
        if stats.visits == 0 || stats.node >= TERMINAL || self.tree.nets(stats.node).known_to(net) {
            return;
        }
        let frontier = &mut self.rules.two_nets.frontiers[net.place()];
        if self.tree.entered(step, net) == 0 {
            let index = self.tree.stats_index(step);
            self.tree.columns.entered.set(net.place(), index, frontier.next_entry());
        }
        frontier.push(step, stats.visits, self.tree.entered(step, net));
    }

    /// After a small turn along the present path: the node at which it crossed a frontier has one visit more.
    #[inline(never)]
    pub(in crate::search) fn note_small_visit(&mut self) {
        let larger = self.setup.params.second_net.as_ref().map(SecondNet::larger);
        for net in larger.into_iter().flatten() {
            let knows = |node: u32| node < TERMINAL && self.tree.nets(node).known_to(net);
            if !knows(self.tree.root.node) {
                continue;
            }
            // The frontier is made of the nodes that the small net knows and the larger one does not, right
            // below those that it knows: a path crosses it once.
            let crossing = self.path.iter().find(|step| !knows(self.tree.record(**step).node));
            if let Some(step) = crossing.copied() {
                self.enter(step, net);
            }
        }
    }

    /// After re-rooting: parents and frontiers of the present tree.
    pub(in crate::search) fn rebuild_frontiers(&mut self) {
        self.rules.two_nets.frontiers.iter_mut().for_each(Frontier::clear);
        self.tree.link_parents();
        let larger = self.setup.params.second_net.as_ref().map(SecondNet::larger);
        for net in larger.into_iter().flatten() {
            for node in 0..self.tree.num_nodes() as u32 {
                if self.tree.nets(node).known_to(net) {
                    self.enter_children(node, net);
                }
            }
        }
    }

    /// A node's records for reports: N_S, and V by all nets.
    pub(in crate::search) fn mixed_edge_stats(&self, node: u32) -> Cow<'_, [EdgeStats]> {
        let stats = self.tree.stats(node);
        let Some(rule) = &self.setup.params.second_net else { return Cow::Borrowed(stats) };
        let mixed = |(edge, stats): (usize, &EdgeStats)| {
            let step = Step { node, edge: edge as u32 };
            mixed_stats(rule, Net::Small, stats, |net| self.tree.large_stats(step, net)).0
        };
        Cow::Owned(stats.iter().enumerate().map(mixed).collect())
    }

    /// The root's record, for reports: N_S, and V by all nets.
    pub(in crate::search) fn mixed_root_stats(&self) -> EdgeStats {
        let mixed = |rule| mixed_stats(rule, Net::Small, &self.tree.root, |net| self.tree.root_stats(net)).0;
        self.setup.params.second_net.as_ref().map_or(self.tree.root, mixed)
    }

    /// P of an edge, for reports: without noise, by all nets.
    pub(in crate::search) fn reported_prior(&self, node: u32, k: usize) -> f32 {
        match &self.setup.params.second_net {
            Some(rule) => self.tree.mixed_prior(rule, node, k) as f32,
            None => self.tree.edges(node)[k].prior(),
        }
    }

    /// V of the root for its mover, once it has visits.
    pub fn root_value(&self) -> Option<Value> {
        match &self.setup.params.second_net {
            Some(rule) => rule.value(Net::Small, |net| self.tree.root_stats(net)),
            None => (self.tree.root.visits > 0).then(|| self.tree.root.value(false)),
        }
    }
}

impl Root {
    /// True when the root's edges are ordered by prior and then by action, as two nets want it.
    pub(in crate::search) fn breaks_ties(tree: &Tree) -> bool {
        tree.columns.nets.is_on()
    }
}
