//! Visits with two nets: large turns, second answers about a node, and the backup of both.

use std::borrow::Cow;

use crate::game::Player;
use crate::root::Root;
use crate::rules::second_net::frontier::Frontier;
use crate::rules::second_net::turns::{Turns, turn_uniform};
use crate::rules::second_net::view::judged;
use crate::rules::second_net::{LargePriority, Net, SecondNet, ValueReading};
use crate::search::{Known, Search, Visit};
use crate::tree::{Edge, EdgeStats, Prior, Step, TERMINAL, Tree, Value};

/// What a search with two nets keeps beside its tree.
#[derive(Clone, Debug, Default)]
pub struct TwoNets {
    /// Turns begun and not taken back, over all moves: the number of the next one.
    turns: u64,
    small_in_flight: u32,
    large_in_flight: u32,
    pub(crate) frontier: Frontier,
}

impl TwoNets {
    fn in_flight(&mut self, net: Net) -> &mut u32 {
        match net {
            Net::Small => &mut self.small_in_flight,
            Net::Large => &mut self.large_in_flight,
        }
    }

    /// A turn begins.
    pub(crate) fn begin(&mut self, net: Net, waits: bool) {
        self.turns += 1;
        *self.in_flight(net) += u32::from(waits);
    }

    /// A turn that waited has its answer, or is taken back.
    pub(crate) fn end(&mut self, net: Net, taken_back: bool) {
        self.turns -= u64::from(taken_back);
        *self.in_flight(net) -= 1;
    }
}

impl Search {
    /// Whose turn it is when two nets search; `None` when both have done their part.
    pub(crate) fn next_turn(&self, rule: &SecondNet) -> Option<Net> {
        let kept = u32::from(self.favours_right_side());
        let begun = Turns {
            small: u64::from(kept * self.tree.root.visits + self.two.small_in_flight),
            large: u64::from(kept * self.tree.side.root_large.visits + self.two.large_in_flight),
        };
        rule.next_net(begun, rule.goal(begun, self.visit_limit), || turn_uniform(self.key, self.two.turns))
    }

    /// The node behind a record as this turn sees it, `UNEVALUATED` where its net does not know it, and whether it waits for this net.
    pub(crate) fn behind_for_turn(&self, step: Step, stats: &EdgeStats) -> (u32, bool) {
        let known = stats.node < TERMINAL && self.tree.nets(stats.node).known_to(self.turn);
        let node = if known || stats.is_end() { stats.node } else { crate::tree::UNEVALUATED };
        let waits = match self.turn {
            Net::Small => stats.in_flight > 0,
            Net::Large => self.tree.large_stats(step).in_flight > 0,
        };
        (node, waits)
    }

    /// The root's node if this turn's net knows it.
    pub(crate) fn root_for_turn(&self) -> Option<u32> {
        self.tree.root_node().filter(|root| self.tree.nets(*root).known_to(self.turn))
    }

    /// Does the root wait for this turn's net?
    pub(crate) fn root_waits(&self) -> bool {
        match self.turn {
            Net::Small => self.tree.root.in_flight > 0,
            Net::Large => self.tree.side.root_large.in_flight > 0,
        }
    }

    /// A node's own record, for its mover, as this turn sees it; the node ends the present path.
    pub(crate) fn judged_own(&self, rule: &SecondNet, node: u32, own: &EdgeStats) -> EdgeStats {
        let large = match self.path.last() {
            None => self.tree.side.root_large,
            Some(last) => {
                let flip = self.tree.node(last.node).mover != self.tree.node(node).mover;
                self.tree.large_stats(*last).seen(flip)
            }
        };
        judged(rule, self.turn, own, &large).0
    }

    /// A large turn: the first of the frontier, or where nothing on it has small visits the leaf that PUCT with N_L reaches.
    #[inline(never)]
    pub(crate) fn large_visit(&mut self, known: Known) -> Visit {
        let rule = self.setup.params.second_net.expect("large turns have a second net");
        if rule.priority == LargePriority::OwnPuct || self.root_for_turn().is_none() {
            return self.visit(known);
        }
        let found = match rule.priority {
            LargePriority::ParentBonus => self.tree.best_by_bonus(rule.parent_bonus),
            _ => self.two.frontier.pop(|step, visits| self.tree.may_take(step, visits)),
        };
        match found {
            Some(step) => self.take(step, known),
            None if self.two.large_in_flight == 0 => self.visit(known),
            None => {
                // What the waiting answers open will be better than what PUCT finds without them.
                self.path.clear();
                Visit::Collision
            }
        }
    }

    /// Goes straight to the node behind a step.
    fn take(&mut self, step: Step, known: Known) -> Visit {
        self.tree.path_to(step, &mut self.path);
        self.scratch.copy_from(self.root_state.as_ref());
        for step in &self.path {
            self.scratch.play(self.tree.edges(step.node)[step.edge as usize].action);
        }
        self.reach_leaf(known)
    }

    /// Does the present path end at a node that the other net knows?
    pub(crate) fn path_ends_at_node(&self) -> bool {
        let node = self.path.last().map_or(self.tree.root.node, |last| self.tree.record(*last).node);
        node < TERMINAL
    }

    /// The answer of this turn's net about the end of the present path: makes the node, or adds to it what this net says.
    /// Returns the node and the value to back up.
    #[inline(never)]
    pub(crate) fn learn(&mut self, mover: Player, edges: &[Edge], value: Value) -> (u32, Value) {
        let rule = &self.setup.params.second_net.expect("two nets have their settings");
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
            Some(_) => self.tree.sort_by_mixed_priors(rule, node),
            None if is_new => self.dress_root(node),
            None => self.root.set_priors(&mut self.tree, node, &self.setup.params),
        }
        if self.turn == Net::Large {
            self.tree.shift_means(&self.path, mover, shares);
            self.enter_children(node);
            return (node, value);
        }
        (node, Value { wl: value.wl + shares.wl, d: value.d + shares.d })
    }

    /// The children of a node that the large net has just come to know enter the frontier.
    fn enter_children(&mut self, node: u32) {
        for edge in 0..self.tree.stats(node).len() as u32 {
            self.enter(Step { node, edge });
        }
    }

    /// Puts the node behind a step on the frontier, if it belongs there.
    pub(crate) fn enter(&mut self, step: Step) {
        let stats = *self.tree.record(step);
        if stats.visits == 0 || stats.node >= TERMINAL || self.tree.nets(stats.node).large {
            return;
        }
        if self.tree.large_stats(step).entered == 0 {
            let entered = self.two.frontier.next_entry();
            self.tree.change_large(Some(step), |large| large.entered = entered);
        }
        self.two.frontier.push(step, stats.visits, self.tree.large_stats(step).entered);
    }

    /// After a small turn along the present path: the node at which it crossed the frontier has one visit more.
    #[inline(never)]
    pub(crate) fn note_small_visit(&mut self) {
        let large_knows = |search: &Search, node: u32| node < TERMINAL && search.tree.nets(node).large;
        if !large_knows(self, self.tree.root.node) {
            return;
        }
        let crossing = self.path.iter().find(|step| !large_knows(self, self.tree.record(**step).node));
        if let Some(step) = crossing.copied() {
            self.enter(step);
        }
    }

    /// After re-rooting: parents and frontier of the tree as it is now.
    pub(crate) fn rebuild_frontier(&mut self) {
        self.two.frontier.clear();
        self.tree.link_parents();
        for node in 0..self.tree.num_nodes() as u32 {
            if self.tree.nets(node).large {
                self.enter_children(node);
            }
        }
    }

    /// A node's records for reports: N_S, and V by both nets.
    pub(crate) fn judged_records(&self, node: u32) -> Cow<'_, [EdgeStats]> {
        let stats = self.tree.stats(node);
        let Some(rule) = &self.setup.params.second_net else { return Cow::Borrowed(stats) };
        let large = |edge: usize| self.tree.large_stats(Step { node, edge: edge as u32 });
        let judged = |(k, stats)| judged(rule, Net::Small, stats, &large(k)).0;
        Cow::Owned(stats.iter().enumerate().map(judged).collect())
    }

    /// The root's record, for reports: N_S, and V by both nets.
    pub(crate) fn judged_root(&self) -> EdgeStats {
        let (root, large) = (&self.tree.root, &self.tree.side.root_large);
        self.setup.params.second_net.as_ref().map_or(*root, |rule| judged(rule, Net::Small, root, large).0)
    }

    /// P of an edge, for reports: without noise, by both nets.
    pub(crate) fn reported_prior(&self, node: u32, k: usize) -> f32 {
        match &self.setup.params.second_net {
            Some(rule) => self.tree.mixed_prior(rule, node, k) as f32,
            None => self.tree.edges(node)[k].prior(),
        }
    }

    /// V of the root for its mover, once it has visits.
    pub fn root_value(&self) -> Option<Value> {
        let (root, large) = (&self.tree.root, &self.tree.side.root_large);
        match &self.setup.params.second_net {
            Some(rule) => rule.value(Net::Small, root, large),
            None => (root.visits > 0).then(|| root.value(false)),
        }
    }
}

impl Root {
    /// True when the root's edges are ordered by prior and then by action, as two nets want it.
    pub(crate) fn breaks_ties(tree: &Tree) -> bool {
        tree.side.nets.is_on()
    }
}

impl Tree {
    /// May the large net take the node behind this step, which was pushed with these small visits?
    pub(crate) fn may_take(&self, step: Step, visits: u32) -> bool {
        let stats = self.record(step);
        let is_free = stats.node < TERMINAL && !self.nets(stats.node).large && self.large_stats(step).in_flight == 0;
        is_free && stats.visits == visits
    }

    /// The frontier node with the greatest N_S + bonus N_S(parent), of equal ones the first to enter.
    fn best_by_bonus(&self, bonus: f64) -> Option<Step> {
        let rank = |step: Step| {
            let (parent, edge) = self.nets(step.node).parent;
            let above = if parent == u32::MAX { &self.root } else { self.record(Step { node: parent, edge }) };
            f64::from(self.record(step).visits) + bonus * f64::from(above.visits)
        };
        let steps = (0..self.num_nodes() as u32).filter(|node| self.nets(*node).large).flat_map(|node| {
            let edges = 0..self.stats(node).len() as u32;
            edges.map(move |edge| Step { node, edge })
        });
        let may_take = |step: &Step| self.record(*step).visits > 0 && self.may_take(*step, self.record(*step).visits);
        let candidates = steps.filter(may_take).map(|step| (rank(step), self.large_stats(step).entered, step));
        candidates.min_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))).map(|(_, _, step)| step)
    }

    /// The steps from the root to a node's edge, this one included.
    fn path_to(&self, last: Step, path: &mut Vec<Step>) {
        path.clear();
        path.push(last);
        let mut above = self.nets(last.node).parent;
        while above.0 != u32::MAX {
            path.push(Step { node: above.0, edge: above.1 });
            above = self.nets(above.0).parent;
        }
        path.reverse();
    }

    fn set_parent(&mut self, node: u32, step: Option<Step>) {
        let mut nets = self.nets(node);
        nets.parent = step.map_or((u32::MAX, 0), |step| (step.node, step.edge));
        self.side.nets.set(node as usize, nets);
    }

    /// Writes every node's way up again.
    fn link_parents(&mut self) {
        if let Some(root) = self.root_node() {
            self.set_parent(root, None);
        }
        for node in 0..self.num_nodes() as u32 {
            for edge in 0..self.stats(node).len() as u32 {
                let child = self.stats(node)[edge as usize].node;
                if child < TERMINAL {
                    self.set_parent(child, Some(Step { node, edge }));
                }
            }
        }
    }

    /// Writes what a net says of a node. Returns by how much the node's share in the small means changes (reading B only).
    fn add_answer(&mut self, rule: &SecondNet, node: u32, net: Net, edges: &[Edge], value: Value) -> Value {
        let first = self.node(node).edges as usize;
        let answered = |action| edges.iter().find(|edge| edge.action == action).expect("the same legal actions").prior;
        for k in 0..self.edges(node).len() {
            let prior: Prior = answered(self.edges(node)[k].action);
            match net {
                Net::Small => self.set_prior(node, k, prior),
                Net::Large => self.side.large_priors.set(first + k, prior.0),
            }
        }
        let mut nets = self.nets(node);
        let before = nets;
        nets.values[net as usize] = [value.wl as f32, value.d];
        match net {
            Net::Small => nets.small = true,
            Net::Large => nets.large = true,
        }
        self.side.nets.set(node as usize, nets);
        if nets.small && nets.large {
            let [small, large] = nets.values.map(|[wl, d]| Value { wl: f64::from(wl), d });
            let mixed = rule.mixed_value(small, large);
            self.network[node as usize] = [mixed.wl as f32, mixed.d];
        }
        match net {
            Net::Small if before.large => rule.correction(value, before.value(Net::Large), value),
            Net::Large if before.small => rule.correction(before.value(Net::Small), value, before.value(Net::Small)),
            _ => Value { wl: 0.0, d: 0.0 },
        }
    }

    fn set_prior(&mut self, node: u32, k: usize, prior: Prior) {
        let (first, record) = (self.node(node).edges as usize, self.node(node).stats as usize + k);
        self.edges[first + k].prior = prior;
        if k < self.stats(node).len() {
            self.stats[record].prior = prior;
        }
    }

    /// Moves the sum of the small values along a path by `change`, for player `mover`, at unchanged visits (reading B).
    fn shift_means(&mut self, path: &[Step], mover: Player, change: Value) {
        if change.wl == 0.0 && change.d == 0.0 {
            return;
        }
        let shift = |stats: &mut EdgeStats, wl: f64| {
            stats.wl += wl / f64::from(stats.visits);
            stats.d += change.d / stats.visits as f32;
        };
        for step in path {
            let wl = if self.node(step.node).mover != mover { -change.wl } else { change.wl };
            shift(self.step_stats(*step), wl);
        }
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        shift(&mut self.root, if root_mover != mover { -change.wl } else { change.wl });
    }

    /// `change_in_flight` in the statistics of a net.
    #[inline(always)]
    pub(crate) fn mark(&mut self, path: &[Step], net: Net, change: i16) {
        if net == Net::Small {
            return self.change_in_flight(path, change);
        }
        for step in path.iter().map(|step| Some(*step)).chain([None]) {
            self.change_large(step, |large| large.in_flight = large.in_flight.wrapping_add_signed(change));
        }
    }

    /// `backup` in the statistics of the large net.
    #[inline(never)]
    pub(crate) fn backup_large(&mut self, path: &[Step], mover: Player, value: Value) {
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        for step in path.iter().map(|step| Some(*step)).chain([None]) {
            let viewer = step.map_or(root_mover, |step| self.node(step.node).mover);
            self.change_large(step, |large| {
                large.in_flight -= 1;
                large.add_visit(if viewer != mover { value.flipped() } else { value });
            });
        }
    }

    /// The game is over behind this step: both nets' records know the result, whoever came first.
    pub(crate) fn set_exact(&mut self, step: Step, player: Player, value: Value) {
        let flip = self.node(step.node).mover != player;
        let Value { wl, d } = if flip { value.flipped() } else { value };
        let stats = self.step_stats(step);
        (stats.wl, stats.d) = (wl, d);
    }
}

impl SecondNet {
    /// What a second answer changes in a small mean's sum: alpha V_S + (1 - alpha) V_L in the place of `counted` (reading B).
    fn correction(&self, small: Value, large: Value, counted: Value) -> Value {
        if self.values == ValueReading::Means {
            return Value { wl: 0.0, d: 0.0 };
        }
        let mixed = self.mixed_value(small, large);
        Value { wl: mixed.wl - counted.wl, d: mixed.d - counted.d }
    }
}
