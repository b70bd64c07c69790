//! The statistics of all nets in one tree: ways up, further answers about a node, and the backup of larger nets' turns.

use crate::game::Player;
use crate::rules::second_net::{Net, NetSet, SecondNet, ValueReading};
use crate::stats::{Edge, EdgeStats, Prior, Step, TERMINAL, Value};
use crate::tree::Tree;

impl Tree {
    /// Whether a larger net may take the child at this step, which was pushed with these small visits.
    pub(in crate::search) fn may_take(&self, net: Net, step: Step, visits: u32) -> bool {
        let stats = self.record(step);
        let is_new = stats.node < TERMINAL && !self.nets(stats.node).known_to(net);
        let is_free = is_new && self.large_stats(step, net).in_flight == 0;
        // An entry with fewer visits than the node has now is out of date: a newer one is in the heap.
        is_free && stats.visits == visits
    }

    /// The node of a larger net's frontier with the greatest N_S + bonus N_S(parent), of equal ones the first to enter.
    pub(super) fn best_by_bonus(&self, net: Net, bonus: f64) -> Option<Step> {
        let rank = |step: Step| {
            let (parent, edge) = self.nets(step.node).parent;
            let above = if parent == u32::MAX { &self.root } else { self.record(Step { node: parent, edge }) };
            f64::from(self.record(step).visits) + bonus * f64::from(above.visits)
        };
        let steps = (0..self.num_nodes() as u32).filter(|node| self.nets(*node).known_to(net)).flat_map(|node| {
            let edges = 0..self.stats(node).len() as u32;
            edges.map(move |edge| Step { node, edge })
        });
        let may_take =
            |step: &Step| self.record(*step).visits > 0 && self.may_take(net, *step, self.record(*step).visits);
        let candidates = steps.filter(may_take).map(|step| (rank(step), self.entered(step, net), step));
        candidates.min_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))).map(|(_, _, step)| step)
    }

    /// The steps from the root to a node's edge, this one included.
    pub(super) fn path_to(&self, last: Step, path: &mut Vec<Step>) {
        path.clear();
        path.push(last);
        let mut above = self.nets(last.node).parent;
        while above.0 != u32::MAX {
            path.push(Step { node: above.0, edge: above.1 });
            above = self.nets(above.0).parent;
        }
        path.reverse();
    }

    pub(super) fn set_parent(&mut self, node: u32, step: Option<Step>) {
        let mut nets = self.nets(node);
        nets.parent = step.map_or((u32::MAX, 0), |step| (step.node, step.edge));
        self.columns.nets.set(node as usize, nets);
    }

    /// Writes every node's way up again.
    pub(super) fn link_parents(&mut self) {
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

    /// Writes what a net says of a node. Returns by how much what small means have of the node changes (reading B only).
    pub(super) fn add_answer(&mut self, rule: &SecondNet, node: u32, net: Net, edges: &[Edge], value: Value) -> Value {
        let first = self.node(node).edges as usize;
        let answered = |action| edges.iter().find(|edge| edge.action == action).expect("the same legal actions").prior;
        for k in 0..self.edges(node).len() {
            let prior: Prior = answered(self.edges(node)[k].action);
            match net {
                Net::Small => self.set_prior(node, k, prior),
                larger => self.columns.large_priors.set(larger.place(), first + k, prior.0),
            }
        }
        let mut nets = self.nets(node);
        let before = nets.known;
        nets.known = before.with(net);
        self.columns.nets.set(node as usize, nets);
        // What a small mean has of the node before this answer: the answer itself, or the mix of those that there are.
        let counted = match net {
            Net::Small => Some(value),
            _ if before.has(Net::Small) => rule.mixed_value(before, |net| self.value_by(node, net)),
            _ => None,
        };
        // A mean takes the answer as it is, the node keeps it rounded.
        let exact = |of: Net| if of == net { value } else { self.value_by(node, of) };
        let change = counted.filter(|_| !before.is_empty()).map(|counted| rule.correction(nets.known, exact, counted));
        self.columns.net_values.set(net.index(), node as usize, [value.wl as f32, value.d]);
        if let Some(mixed) = rule.mixed_value(nets.known, |net| self.value_by(node, net)).filter(|_| !before.is_empty())
        {
            self.network[node as usize] = [mixed.wl as f32, mixed.d];
        }
        change.unwrap_or(Value { wl: 0.0, d: 0.0 })
    }

    pub(super) fn set_prior(&mut self, node: u32, k: usize, prior: Prior) {
        let first = self.node(node).edges as usize;
        let record = self.node(node).stats as usize + k;
        self.edges[first + k].prior = prior;
        // A record has a copy of its edge's prior, for selection.
        if k < self.stats(node).len() {
            self.stats[record].prior = prior;
        }
    }

    /// Moves the sum of the small values along a path by `change`, for player `mover`, at unchanged visits (reading B).
    pub(super) fn shift_means(&mut self, path: &[Step], mover: Player, change: Value) {
        if change.wl == 0.0 && change.d == 0.0 {
            return;
        }
        let shift = |stats: &mut EdgeStats, wl: f64| {
            // A mean moves by the change of its sum over the visits: nothing else of the path is different.
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
    pub(in crate::search) fn mark(&mut self, path: &[Step], net: Net, change: i16) {
        if net == Net::Small {
            return self.change_in_flight(path, change);
        }
        // `None` stands for the root, which has no step that leads to it.
        for step in path.iter().map(|step| Some(*step)).chain([None]) {
            self.change_large(step, net, |large| large.in_flight = large.in_flight.wrapping_add_signed(change));
        }
    }

    /// `backup` in the statistics of a larger net.
    #[inline(never)]
    pub(in crate::search) fn backup_large(&mut self, path: &[Step], net: Net, mover: Player, value: Value) {
        let root_mover = path.first().map_or(mover, |step| self.node(step.node).mover);
        for step in path.iter().map(|step| Some(*step)).chain([None]) {
            let viewer = step.map_or(root_mover, |step| self.node(step.node).mover);
            self.change_large(step, net, |large| {
                large.in_flight -= 1;
                large.add_visit(if viewer != mover { value.flipped() } else { value });
            });
        }
    }

    /// The game is over after this step: the records of all nets know the result, whoever came first.
    pub(in crate::search) fn set_exact(&mut self, step: Step, player: Player, value: Value) {
        let flip = self.node(step.node).mover != player;
        let Value { wl, d } = if flip { value.flipped() } else { value };
        let stats = self.step_stats(step);
        // Values of the record may be an estimate of another net; the end of the game is exact for all.
        (stats.wl, stats.d) = (wl, d);
    }
}

impl SecondNet {
    /// What an answer changes in a small mean's sum: the sum of alpha_i v_i in the place of `counted` (reading B).
    fn correction(&self, nets: NetSet, value_of: impl Fn(Net) -> Value, counted: Value) -> Value {
        let mixed = self.mixed_value(nets, value_of).filter(|_| self.values == ValueReading::States);
        mixed.map_or(Value { wl: 0.0, d: 0.0 }, |mixed| Value { wl: mixed.wl - counted.wl, d: mixed.d - counted.d })
    }
}
