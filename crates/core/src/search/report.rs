//! Reports on the tree of a search: edges of the root and of other nodes, values, the principal variation.

use crate::game::{Action, Player};
use crate::rules::second_net::Net;
use crate::rules::solver::bounds::{Bounds, FAR};
use crate::search::Search;
use crate::search::scores::NodeScores;
use crate::search::solver::threat_line::threat_line;
use crate::stats::{EdgeStats, Step, TERMINAL, Value};

/// One edge of a node, for reports.
#[derive(Clone, Debug)]
pub struct EdgeReport {
    /// The action.
    pub action: Action,
    /// Completed visits.
    pub visits: u32,
    /// Completed turns of the larger nets (second net); 0 with one net.
    pub large_visits: u32,
    /// Visits that wait for the network.
    pub in_flight: u16,
    /// Stored prior, without noise.
    pub prior: f32,
    /// Q for the node's mover, draw score included; first-play urgency when unvisited.
    pub q: f64,
    /// Exploration term.
    pub u: f64,
    /// Mean value of the visits, for the node's mover.
    pub value: Option<Value>,
    /// `value` as reported: without the shift of WDL contempt, as far as `eval_objectivity` says.
    pub reported: Option<Value>,
    /// The network's value of the position after the edge, for the node's mover.
    pub network: Option<Value>,
    /// The game is over after the edge.
    pub terminal: bool,
    /// What is proven of the result, for the node's mover (solver).
    pub bounds: Bounds,
    /// Sample variance of the values of the visits, where the search keeps it (variance, lower bound).
    pub variance: Option<f64>,
    /// Weight of the edge where the node is frozen (search-contempt), 0 = never drawn.
    pub frozen: Option<f64>,
    /// Edges of the child that were visited.
    pub replies: usize,
    /// Visits of the child, in a graph by whatever edges; 0 where there is none.
    pub node_visits: u32,
    /// The child is frozen (search-contempt).
    pub node_frozen: bool,
}

impl Search {
    /// The root's edges, the one to play first (`best_action`); without rules by visits, then Q, then prior.
    pub fn root_edges(&self) -> Vec<EdgeReport> {
        let Some(root) = self.tree.root_node() else { return Vec::new() };
        self.edge_reports(&self.root_scores(root), self.ranked_edges())
    }

    /// Visits and Q (NaN before the first visit) of the root's edges that the search may take; empty before the first evaluation.
    pub fn root_rivals(&self) -> (Vec<u32>, Vec<f32>) {
        let Some(root) = self.tree.root_node() else { return (Vec::new(), Vec::new()) };
        let scores = self.root_scores(root);
        let rival = |k: usize| {
            let (record, valued) = scores.seen(k);
            let q = || {
                if valued || self.edge_bounds(root, k).is_proven() {
                    scores.mean(&record)
                } else {
                    scores.terms(k, || 0.0).0
                }
            };
            (record.visits, if record.visits > 0 { q() as f32 } else { f32::NAN })
        };
        (0..self.tree.edges(root).len()).filter(|k| self.root.allows(*k)).map(rival).unzip()
    }

    /// The edges of the position after a line of actions, the most visited first, then those of higher Q and prior; `None` for a position
    /// that the network has not seen.
    pub fn edges_at(&self, line: &[Action]) -> Option<Vec<EdgeReport>> {
        let scores = line.iter().try_fold(self.root_scores(self.tree.root_node()?), |scores, action| {
            let edge = self.tree.edges(scores.node()).iter().position(|edge| edge.action == *action)?;
            scores.child(&self.setup, edge)
        })?;
        Some(self.edge_reports(&scores, self.most_visited_first(&scores)))
    }

    /// The edges of a node, the most visited first, then those of higher Q and prior.
    pub(super) fn most_visited_first(&self, scores: &NodeScores) -> Vec<usize> {
        let edges = self.tree.edges(scores.node());
        let rank = |k: usize| {
            let (record, valued) = scores.seen(k);
            (record.visits, if valued { scores.mean(&record) } else { f64::NEG_INFINITY }, edges[k].prior())
        };
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by(|a, b| rank(*b).partial_cmp(&rank(*a)).expect("numbers"));
        order
    }

    /// Reports of these edges of a node.
    pub(super) fn edge_reports(&self, scores: &NodeScores, order: Vec<usize>) -> Vec<EdgeReport> {
        let node = scores.node();
        let mover = self.tree.node(node).mover;
        let weights = self.tree.frozen_weights(node);
        let report = |k: usize| {
            let edge = self.tree.edges(node)[k];
            let (record, valued) = scores.seen(k);
            // Reports leave noise out: two looks at one tree must say the same.
            let (score_q, u) = scores.terms(k, || 0.0);
            let bounds = self.edge_bounds(node, k);
            // A proof without a visit (a look ahead) has a value too.
            let known = valued || bounds.is_proven();
            let child = (record.node < TERMINAL).then_some(record.node);
            EdgeReport {
                action: edge.action,
                visits: record.visits,
                large_visits: self.large_visits_of(node, k, &record),
                in_flight: record.in_flight,
                prior: self.reported_prior(node, k),
                q: if known { scores.mean(&record) } else { score_q },
                u,
                value: known.then(|| record.value(false)),
                reported: known.then(|| self.reported(mover, record.value(false))),
                network: child.map(|node| self.network_value(node, mover)),
                terminal: record.node == TERMINAL,
                bounds,
                variance: scores.sample_variance(k),
                frozen: weights.as_ref().map(|weights| weights.get(k).copied().unwrap_or(0.0)),
                replies: child.map_or(0, |node| self.tree.stats(node).len()),
                node_visits: match child {
                    Some(node) if self.setup.graph() => self.tree.own_stats(node).visits,
                    Some(_) => record.visits,
                    None => 0,
                },
                node_frozen: child.is_some_and(|node| self.tree.is_frozen(node)),
            }
        };
        order.into_iter().map(report).collect()
    }

    /// Completed visits of a net's turns to the root's edges, in the order of `root_edges`; zeros for a net that does not search.
    pub fn root_visits_of(&self, net: Net) -> Vec<u32> {
        let Some(root) = self.tree.root_node() else { return Vec::new() };
        let searches = match self.setup.params.second_net {
            Some(rule) => net.index() < rule.num_nets(),
            None => net == self.setup.only_net,
        };
        let with_record = |k: &usize| searches && *k < self.tree.stats(root).len();
        let visits = |k: usize| {
            let step = Step { node: root, edge: k as u32 };
            if self.setup.two_nets() { self.tree.net_stats(step, net).visits } else { self.tree.record(step).visits }
        };
        self.ranked_edges().into_iter().map(|k| Some(k).filter(with_record).map_or(0, visits)).collect()
    }

    /// Q of the root for its mover, draw score included; once there are visits.
    pub fn root_q(&self) -> Option<f64> {
        let scores = self.root_scores(self.tree.root_node()?);
        self.root_value().map(|_| scores.node_q())
    }

    /// The mean value of the root's visits for its mover, as reported; once there are any.
    pub fn root_reported_value(&self) -> Option<Value> {
        let mover = self.tree.node(self.tree.root_node()?).mover;
        self.root_value().map(|value| self.reported(mover, value))
    }

    fn large_visits_of(&self, node: u32, k: usize, record: &EdgeStats) -> u32 {
        match (self.setup.params.second_net, k < self.tree.stats(node).len()) {
            (Some(rule), true) => {
                let step = Step { node, edge: k as u32 };
                rule.larger().map(|net| self.tree.large_stats(step, net).visits).sum()
            }
            (None, _) if self.setup.only_net == Net::Large => record.visits,
            _ => 0,
        }
    }

    /// The network's own value of a node, for this player.
    fn network_value(&self, node: u32, player: Player) -> Value {
        let value = self.tree.raw_network_value(node);
        if self.tree.node(node).mover == player { value } else { value.flipped() }
    }

    /// The network's value of the root for its mover, once it is known.
    pub fn root_network_value(&self) -> Option<Value> {
        let root = self.tree.root_node()?;
        Some(self.network_value(root, self.tree.node(root).mover))
    }

    /// The edges of the position after a line of actions, in the order of their first visits: action, completed visits and, where the node is
    /// frozen (search-contempt), weight. Empty for a position that was never evaluated.
    pub fn edges_after(&self, line: &[Action]) -> Vec<(Action, u32, Option<f64>)> {
        let Some(node) = self.node_after(line) else { return Vec::new() };
        let stats = self.tree.stats(node);
        let weights = self.tree.frozen_weights(node);
        let weight = |k| weights.as_ref().map(|weights| weights.get(k).copied().unwrap_or(0.0));
        let edges = self.tree.edges(node).iter().enumerate();
        edges.map(|(k, edge)| (edge.action, stats.get(k).map_or(0, |record| record.visits), weight(k))).collect()
    }

    /// The node after a line of actions, once the network has seen it.
    fn node_after(&self, line: &[Action]) -> Option<u32> {
        line.iter().try_fold(self.tree.root_node()?, |node, action| {
            let edge = self.tree.edges(node).iter().position(|edge| edge.action == *action)?;
            let record = self.tree.stats(node).get(edge)?;
            (record.node < TERMINAL).then_some(record.node)
        })
    }

    /// The most visited line, beginning with `first`, else with the action to play (`best_action`); empty before any is visited. After a
    /// move that a search of threats has proven it is the line of the threats.
    pub fn principal_variation(&self, first: Option<Action>, max_length: usize) -> Vec<Action> {
        // With one visit the root alone was evaluated: there is no line yet.
        let first = first.or_else(|| self.best_action().filter(|_| self.tree.root.visits > 1));
        let mut line = Vec::new();
        let mut next = self.tree.root_node();
        while let Some(node) = next.filter(|_| line.len() < max_length) {
            let asked = first.filter(|_| line.is_empty());
            let Some((edge, action, child)) = self.line_edge(node, asked) else { break };
            line.push(action);
            if let Some(winner) = edge.and_then(|edge| self.winner_by_threats(node, edge, child)) {
                self.add_threats(&mut line, winner, max_length);
                break;
            }
            next = child;
        }
        line
    }

    /// Who wins after an edge that a search of threats has proven, where no node below it shows how.
    fn winner_by_threats(&self, node: u32, edge: usize, child: Option<u32>) -> Option<Player> {
        let bounds = self.edge_bounds(node, edge);
        let result = bounds.result().filter(|result| *result != 0 && bounds.plies != FAR)?;
        if child.is_some_and(|child| self.tree.node_bounds(child, |_| true).is_proven()) {
            return None;
        }
        let mover = self.tree.node(node).mover;
        Some(if result > 0 { mover } else { mover.other() })
    }

    /// Adds the moves by which a line that a search of threats has proven goes on.
    fn add_threats(&self, line: &mut Vec<Action>, winner: Player, max_length: usize) {
        let nodes = self.setup.params.solver.map_or(0, |rule| rule.threats);
        if nodes == 0 {
            return;
        }
        let mut place = self.root_state.clone_box();
        line.iter().for_each(|action| place.play(*action));
        let most = max_length - line.len();
        line.extend(threat_line(place.as_ref(), winner, nodes, most));
    }

    /// The edge of a node that the principal variation takes, its action and its child. No edge: one that was asked for and never visited.
    fn line_edge(&self, node: u32, asked: Option<Action>) -> Option<(Option<usize>, Action, Option<u32>)> {
        let edges = self.tree.edges(node);
        let stats = self.mixed_edge_stats(node);
        let rank = |k: usize| (self.line_rank(node, k), stats[k].visits, stats[k].wl, edges[k].prior());
        let visited = (0..stats.len()).filter(|k| match asked {
            Some(action) => edges[*k].action == action,
            None => stats[*k].visits > 0 || self.edge_bounds(node, *k).is_proven(),
        });
        // Reversed, because the last of equals is taken: the first edge wins then, as in the final choice.
        let best = visited.rev().max_by(|a, b| rank(*a).partial_cmp(&rank(*b)).expect("numbers"));
        match best {
            Some(k) => Some((Some(k), edges[k].action, (stats[k].node < TERMINAL).then_some(stats[k].node))),
            None => asked.map(|action| (None, action, None)),
        }
    }
}
