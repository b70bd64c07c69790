//! Where proofs begin: the ends of games, a look one ply ahead, and chains of forced moves.

use crate::game::{Action, Outcome, Player, State};
use crate::params::SearchParams;
use crate::players::exact::values_of;
use crate::rules::repetition::RepetitionMode;
use crate::rules::solver::bounds::{Bounds, FAR, result_for};
use crate::search::Search;
use crate::stats::{Edge, KNOWN, Step, TERMINAL, Value};
use crate::tree::Tree;

/// Who says that a leaf's result is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The rules of the game.
    Rules,
    /// Exact knowledge from outside.
    Oracle,
    /// The rule for repeats; with the mark of the record.
    Repeat(u32),
}

impl EndedBy {
    /// What stands in place of a child at the edge.
    pub fn mark(self) -> u32 {
        match self {
            EndedBy::Rules => TERMINAL,
            EndedBy::Oracle => KNOWN,
            EndedBy::Repeat(mark) => mark,
        }
    }
}

impl Search {
    /// The search has nothing more to find out: a win of the root is proven, or the result of every move that it may choose.
    pub(in crate::search) fn is_decided(&self) -> bool {
        if !self.setup.params.solver.is_some_and(|rule| rule.root_excludes_proven) || self.rests_on_other_support() {
            return false;
        }
        let (Some(root), Some(result)) = (self.tree.root_node(), self.root_bounds().result()) else { return false };
        result != 0 || (0..self.tree.edges(root).len()).all(|edge| self.is_settled(root, edge))
    }

    /// An edge of the root is forbidden or proven.
    fn is_settled(&self, root: u32, edge: usize) -> bool {
        let chosen = edge < self.tree.stats(root).len();
        !self.root.allows(edge) || (chosen && self.tree.bounds_at(Step { node: root, edge: edge as u32 }).is_proven())
    }

    /// What is proven of the root, over the moves that it may choose, for its mover.
    pub fn root_bounds(&self) -> Bounds {
        self.tree.columns.root_bounds
    }

    /// Takes the bounds of the root from its edges.
    pub(in crate::search) fn refresh_root_bounds(&mut self) {
        if self.setup.params.solver.is_none() {
            return;
        }
        let bounds = self.tree.root_node().map(|root| self.tree.node_bounds(root, |edge| self.root.allows(edge)));
        self.tree.columns.root_bounds = bounds.unwrap_or_default();
    }

    /// The scratch position is the end of a game, or its result is known: what that proves.
    /// A repeat is a value and no proof, but for the legacy rule.
    pub(in crate::search) fn prove_end(&mut self, outcome: Outcome, ended_by: EndedBy) {
        if self.setup.graph() && self.scratch.state.outcome_depends_on_path() {
            return; // other lines lead to the same node
        }
        let last = *self.path.last().expect("the root is never terminal");
        let result = result_for(outcome, self.tree.node(last.node).mover);
        let bounds = match ended_by {
            EndedBy::Rules => Bounds::exact(result, 1, self.scratch.state.outcome_depends_on_path()),
            // Tables of win, draw and loss do not know how far the end is.
            EndedBy::Oracle => Bounds::exact(result, FAR, false),
            EndedBy::Repeat(_) if self.repeats_are_certain() => Bounds::exact(result, 1, true),
            EndedBy::Repeat(_) => return,
        };
        let record = self.tree.stats_index(last);
        self.tree.columns.bounds.set(record, bounds);
        if self.tree.spread_bounds(&self.path) {
            self.refresh_root_bounds();
        }
    }

    fn repeats_are_certain(&self) -> bool {
        self.setup.params.repetition.is_some_and(|rule| rule.mode == RepetitionMode::LegacyCertain)
    }

    /// A node was made at the end of the present path: what its edges prove.
    pub(in crate::search) fn prove_node(&mut self, node: u32) {
        let has_proofs = self.setup.params.solver.is_some_and(|rule| rule.proves_new_nodes());
        if has_proofs && self.tree.spread_node(&self.path, node) {
            self.refresh_root_bounds();
        }
    }

    /// If the scratch position has a single legal move, makes its node without asking the network, and plays that move.
    pub(in crate::search) fn extend_forced(&mut self) -> bool {
        let extends = self.setup.params.solver.is_some_and(|rule| rule.auto_extend);
        if !extends || self.path.is_empty() {
            return false;
        }
        self.scratch.state.legal_actions(&mut self.scratch.actions);
        // With one legal move there is nothing for the policy to say, and the value is that of the position
        // after it.
        let [action] = self.scratch.actions[..] else { return false };
        let mover = self.scratch.state.to_move();
        let node = self.tree.add_node(mover, &[Edge::new(action, 1.0)], Value { wl: 0.0, d: 0.0 });
        self.tree.mark_forced(node);
        scan_children(
            &mut self.tree,
            node,
            self.scratch.state.as_ref(),
            self.scratch.child.as_mut(),
            &self.setup.params,
        );
        self.link_path_end(node);
        let edge = self.tree.choose_edge(node, 0);
        self.path.push(Step { node, edge });
        self.scratch.state.play(action);
        true
    }

    /// Solves the moves of a new root exactly, where a rule wants that and they can be solved, and proves those that differ: the
    /// worse ones, and the best where they win. Moves that are all alike are left to the search, which chooses among them.
    pub(in crate::search) fn prove_root_moves(&mut self, root: u32) {
        let nodes = self.setup.params.solver.map_or(0, |rule| rule.exact);
        if nodes == 0 || self.tree.edges(root).len() < 2 {
            return;
        }
        let Some(values) = values_of(self.root_state.as_ref(), nodes) else { return };
        let Some(&best) = values.iter().max() else { return };
        if values.iter().all(|value| *value == best) {
            return;
        }
        self.scratch.actions.clear();
        self.root_state.legal_actions(&mut self.scratch.actions);
        for (&action, value) in self.scratch.actions.iter().zip(values) {
            if value < best || best == 1 {
                prove_edge(&mut self.tree, root, action, Bounds::exact(value, FAR, false));
            }
        }
    }

    /// The forced nodes at the end of the present path have the value that came up through them as their own; `raw`: before contempt.
    pub(in crate::search) fn value_forced(&mut self, mover: Player, value: Value, raw: Value) {
        for step in self.path.iter().rev() {
            if !self.tree.node(step.node).forced {
                break;
            }
            let flip = self.tree.node(step.node).mover != mover;
            let seen = |value: Value| if flip { value.flipped() } else { value };
            self.tree.set_network_value(step.node, seen(value), seen(raw));
        }
    }
}

/// Looks at the positions after each edge of a new node, where a rule wants that. `state`: the position of the node.
#[inline]
pub(in crate::search) fn scan_children(
    tree: &mut Tree,
    node: u32,
    state: &dyn State,
    child: &mut dyn State,
    params: &SearchParams,
) {
    let Some(rule) = &params.solver else { return };
    if tree.node(node).forced {
        return;
    }
    if rule.lookahead > 0 {
        prove_finished(tree, node, state, child);
    }
    if rule.threats > 0 && !prove_forced_win(tree, node, state, rule.threats) {
        prove_lost_moves(tree, node, state, rule.threats);
    }
}

/// Gives the first move of a win by threats a record that says so, unless the edge is proven already; false without such a win.
///
/// The game goes on after that move, but as with the result of an oracle no visit needs to look further.
fn prove_forced_win(tree: &mut Tree, node: u32, state: &dyn State, nodes: u32) -> bool {
    let Some(win) = state.forced_win(nodes) else { return false };
    prove_edge(tree, node, win.action, Bounds::exact(1, win.plies, false));
    true
}

/// Gives the moves after which the opponent wins by threats records that say so.
fn prove_lost_moves(tree: &mut Tree, node: u32, state: &dyn State, nodes: u32) {
    for loss in state.lost_moves(nodes) {
        prove_edge(tree, node, loss.action, Bounds::exact(-1, loss.plies, false));
    }
}

/// Makes the edge of an action the end of its line with this result, unless the edge is proven already or left out.
fn prove_edge(tree: &mut Tree, node: u32, action: Action, bounds: Bounds) {
    // A record moves the edges, so the place is looked up for each.
    let Some(place) = tree.edges(node).iter().position(|edge| edge.action == action) else { return };
    let edge = tree.choose_edge(node, place as u32);
    let step = Step { node, edge };
    if tree.bounds_at(step).is_proven() {
        return;
    }
    let record = tree.stats_index(step);
    if tree.stats[record].node < TERMINAL {
        // What was searched after the move stays: it still says how the line goes on.
        tree.columns.bounds.set(record, bounds);
    } else {
        record_end(tree, step, bounds, KNOWN);
    }
}

/// Makes an edge of a new node the end of its line, with this result. `mark`: `TERMINAL` or `KNOWN`.
fn record_end(tree: &mut Tree, step: Step, bounds: Bounds, mark: u32) {
    let record = tree.stats_index(step);
    let stats = &mut tree.stats[record];
    (stats.node, stats.wl, stats.d) = (mark, bounds.value().wl, bounds.value().d);
    tree.columns.bounds.set(record, bounds);
}

/// Gives every edge of a new node after which the game is over a record that says so. `state`: the position of the node.
fn prove_finished(tree: &mut Tree, node: u32, state: &dyn State, child: &mut dyn State) {
    let actions: Vec<_> = tree.edges(node).iter().map(|edge| edge.action).collect();
    for action in actions {
        child.copy_from(state);
        child.play(action);
        let Some(outcome) = child.outcome() else { continue };
        // A node of a graph is reached by several lines, and the result holds for this one alone.
        if tree.columns.enabled.graph && child.outcome_depends_on_path() {
            continue;
        }
        // The record moved the edges, so the place is looked up again for each.
        let place = tree.edges(node).iter().position(|edge| edge.action == action).expect("an edge of the node");
        let edge = tree.choose_edge(node, place as u32);
        let result = result_for(outcome, tree.node(node).mover);
        let bounds = Bounds::exact(result, 1, child.outcome_depends_on_path());
        record_end(tree, Step { node, edge }, bounds, TERMINAL);
    }
}
