//! A search of a comparison at its end: its report, and the nodes of its tree (`hauteur.studies.explain.question`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use hauteur_core::game::Action;
use hauteur_core::params::SearchParams;
use hauteur_core::search::Search;
use hauteur_core::search::report::EdgeReport;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::report::{Report, proven};
use crate::settings::search_of;

/// Nodes of a tree that are read, the most visited first, unless more or fewer are asked for.
pub const MAX_NODES: usize = 50_000;
/// A node, by the actions from the root.
pub type Line = Vec<Action>;

/// Nets and settings of a search.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Side {
    /// Settings as words, for people.
    pub text: String,
    /// Name of its net.
    pub net: String,
    /// Name of the second one; empty: none.
    pub large: String,
    /// Settings as they were given, nested.
    pub values: Map<String, Json>,
}

/// An edge with visits.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The action.
    pub action: Action,
    /// Completed visits.
    pub visits: u32,
    /// Mean of the visits for the player who chooses it.
    pub q: f64,
    /// Prior.
    pub prior: f32,
    /// Proven result.
    pub proven: Option<i8>,
    /// Weight in a frozen node.
    pub frozen: Option<f64>,
}

/// A node that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Visits.
    pub visits: u32,
    /// Mean of its visits for the player who chose it.
    pub q: f64,
    /// Its edges with visits, the most visited first.
    pub children: Vec<Edge>,
}

impl Node {
    /// The sum of the weights by which replies are drawn, of a node frozen by search-contempt.
    pub fn weights(&self) -> Option<f64> {
        // A frozen node has weights at all of its edges, so the first one tells.
        self.children.first()?.frozen?;
        Some(self.children.iter().filter_map(|edge| edge.frozen).sum())
    }
}

/// A search at its end.
pub struct Explained {
    /// What searched.
    pub side: Side,
    /// Its root.
    pub report: Report,
    /// Hash of the whole tree.
    pub digest: String,
    /// Q of the root for its mover.
    pub q: f64,
    /// What computed it.
    pub evaluator: String,
    /// Replies that were drawn by search-contempt.
    pub contempt_draws: u64,
    /// Nodes by their lines.
    pub nodes: HashMap<Line, Node>,
    /// The lines of these nodes, the most visited first.
    pub lines: Vec<Line>,
    /// These are all nodes of the tree.
    pub complete: bool,
}

impl Side {
    /// Its settings of a search.
    pub fn search(&self) -> Result<SearchParams, String> {
        search_of(&self.values, "settings")
    }

    /// Sections and settings that are not as by default; neutral rules are.
    pub fn changed(&self) -> Result<Vec<String>, String> {
        // Rules without effect are no difference: each of them would cost a search that finds none.
        let ours = serde_json::to_value(self.search()?.without_neutral_rules()).map_err(|error| error.to_string())?;
        let usual = serde_json::to_value(SearchParams::default()).map_err(|error| error.to_string())?;
        let ours = ours.as_object().cloned().unwrap_or_default();
        let mut names: Vec<String> = ours
            .iter()
            .filter(|(name, value)| usual.get(name.as_str()) != Some(value))
            .map(|(name, _)| name.clone())
            .collect();
        let has_role = names.iter().any(|name| name == "second_net" || name == "opponent_net");
        // A second net without a section has the role by default, as the analysis gives it.
        if !self.large.is_empty() && !has_role {
            names.push("second_net".into());
        }
        Ok(names)
    }

    /// The side with a section or setting at its default, and without the net that it needs.
    pub fn without(&self, name: &str) -> Side {
        let mut side = self.clone();
        side.values.remove(name);
        if name == "second_net" || name == "opponent_net" {
            side.large.clear();
        }
        let n_scl = side.values.get("search_contempt").and_then(|rule| rule.get("n_scl")).cloned();
        if name == "opponent_net" && n_scl == Some(0.into()) {
            side.values.remove("search_contempt"); // it has no meaning without a model
        }
        side
    }

    /// What tells searches apart.
    pub fn key(&self) -> Result<String, String> {
        let search =
            serde_json::to_string(&self.search()?.without_neutral_rules()).map_err(|error| error.to_string())?;
        // By what decides the search, and not by the text: `on` and a default mean the same tree.
        Ok(format!("{} {} {search}", self.net, self.large))
    }
}

impl Explained {
    /// Reads a search that is over, its most visited `most` nodes. `report`: with the lines of all moves.
    pub fn read(side: Side, search: &Search, report: Report, evaluator: String, most: usize) -> Self {
        let (nodes, lines, complete) = nodes_of(search, most);
        Explained {
            side,
            report,
            digest: format!("{:016x}", search.tree().digest()),
            q: search.root_q().unwrap_or(0.0),
            evaluator,
            contempt_draws: search.counters().contempt_draws,
            nodes,
            lines,
            complete,
        }
    }

    /// Visits of a node, 0 where there is none.
    pub fn visits(&self, line: &[Action]) -> u32 {
        self.nodes.get(line).map_or(0, |node| node.visits)
    }
}

fn edge_of(edge: &EdgeReport) -> Edge {
    let bounds = (edge.bounds.lower, edge.bounds.upper);
    let action = edge.action;
    let visits = edge.visits;
    let frozen = edge.frozen;
    Edge { action, visits, q: edge.q, prior: edge.prior, proven: proven(bounds), frozen }
}

/// The nodes of a tree that have visits, the most visited ones, their lines in that order, and whether they are all.
fn nodes_of(search: &Search, most: usize) -> (HashMap<Line, Node>, Vec<Line>, bool) {
    let mut found = HashMap::new();
    let mut lines = Vec::new();
    let mut waiting = BinaryHeap::new();
    let mut added = 0u64;
    let root = (search.tree().root.visits, search.root_q().unwrap_or(0.0));
    // Kept until a node is read: Q of a node is at its parent's edge.
    let mut values: HashMap<Line, (f64, bool)> = HashMap::from([(Vec::new(), (root.1, false))]);
    // Among equal visits the one found first, so that the list is the same in each run.
    waiting.push((root.0, Reverse(0), Vec::new()));
    while let Some((visits, _, line)) = waiting.pop() {
        // Readers look at the top of a tree; all nodes of a large one would be in memory a second time.
        if found.len() == most {
            return (found, lines, false);
        }
        let (q, is_leaf) = values.remove(&line).unwrap_or((0.0, true));
        // A node without visited replies has no edge to show, and most nodes are such.
        let edges = if is_leaf { Vec::new() } else { search.edges_at(&line).unwrap_or_default() };
        let visited = edges.iter().filter(|edge| edge.visits > 0);
        let mut children = Vec::new();
        for edge in visited {
            added += 1;
            let child = [line.as_slice(), &[edge.action]].concat();
            values.insert(child.clone(), (edge.q, edge.replies == 0));
            waiting.push((edge.visits, Reverse(added), child));
            children.push(edge_of(edge));
        }
        lines.push(line.clone());
        found.insert(line, Node { visits, q, children });
    }
    (found, lines, true)
}
