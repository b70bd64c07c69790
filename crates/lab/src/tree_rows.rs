//! Nodes of a search tree as the page's tree takes them (`hauteur.mcts.search_tree.node_row`).

use hauteur_core::game::Action;
use hauteur_core::search::Search;
use hauteur_core::search::report::EdgeReport;
use serde_json::{Value as Json, json};

use crate::position::Position;
use crate::report::{plies_to_end, proven};

/// Nodes of the first view of a tree.
const FIRST_NODES: usize = 200;
/// Rows of one opened node; other moves are counted.
const MAX_CHILDREN: usize = 400;

/// The edges of a node, of which one leads further.
struct Parent<'a> {
    position: &'a Position,
    node_visits: u32,
    /// Sum of the weights of a frozen node.
    weights: Option<f64>,
}

fn weights_of(edges: &[EdgeReport]) -> Option<f64> {
    // A frozen node has weights at all of its edges, so the first one tells.
    edges.first()?.frozen?;
    Some(edges.iter().filter_map(|edge| edge.frozen).sum())
}

/// The row of the root.
fn root_row(search: &Search, position: &Position) -> Json {
    let edges = search.edges_at(&[]).unwrap_or_default();
    let bounds = search.root_bounds();
    let visits = search.tree().root.visits;
    let reported = search.root_reported_value();
    json!({
        "line": [], "move": "", "chooser": position.to_move(), "visits": visits, "share": null,
        "large_visits": 0, "node_visits": visits, "prior": 1.0,
        // Adding zero turns -0 into 0, which pages would show with a sign.
        "q": reported.and(search.root_q()).map(|q| q + 0.0),
        "wdl": reported.map(|value| value.wdl()),
        "value": search.root_network_value().map(|value| value.wl + 0.0),
        "score": null, "terminal": false,
        "proven": proven((bounds.lower, bounds.upper)),
        "plies": plies_to_end(bounds),
        "frozen": edges.iter().any(|edge| edge.frozen.is_some()),
        "drawn": null,
        "replies": edges.iter().filter(|edge| edge.visits > 0).count(),
    })
}

/// The row of the node that an edge leads to.
fn row(parent: &Parent, line: &[Action], edge: &EdgeReport) -> Json {
    // The root's own evaluation is one of its visits, and in a graph an edge may have more of them than its parent.
    let before = u64::from(parent.node_visits.saturating_sub(1)).max(u64::from(edge.visits)).max(1);
    json!({
        "line": line,
        "move": parent.position.text(edge.action),
        "chooser": parent.position.to_move(),
        "visits": edge.visits,
        "share": f64::from(edge.visits) / before as f64,
        "large_visits": edge.large_visits,
        "node_visits": edge.node_visits,
        "prior": edge.prior,
        "q": edge.reported.map(|_| edge.q + 0.0),
        "wdl": edge.reported.map(|value| value.wdl()),
        "value": edge.network.map(|value| value.wl + 0.0),
        "score": edge.q + edge.u,
        "terminal": edge.terminal,
        "proven": proven((edge.bounds.lower, edge.bounds.upper)),
        "plies": plies_to_end(edge.bounds),
        "frozen": edge.node_frozen,
        "drawn": parent.weights.map(|sum| edge.frozen.unwrap_or(0.0) / if sum > 0.0 { sum } else { 1.0 }),
        "replies": edge.replies,
    })
}

/// The root and the most visited nodes below it, nested.
pub fn first_nodes(search: &Search, position: &Position) -> Json {
    let branches = search.branches(FIRST_NODES - 1);
    // Branches come parents first, so the line of a parent is there when its child is reached.
    let mut lines: Vec<Vec<Action>> = Vec::new();
    let mut rows: Vec<Json> = Vec::new();
    for branch in &branches {
        let mut line = branch.parent.map_or(Vec::new(), |parent| lines[parent].clone());
        let mut place = position.clone();
        line.iter().for_each(|&action| place.state.play(action));
        let visits = branch.parent.map_or(search.tree().root.visits, |parent| branches[parent].edge.node_visits);
        let frozen = branch.edge.frozen.is_some();
        let weights = if frozen { search.edges_at(&line).as_deref().and_then(weights_of) } else { None };
        line.push(branch.edge.action);
        rows.push(row(&Parent { position: &place, node_visits: visits, weights }, &line, &branch.edge));
        lines.push(line);
    }
    let mut root = root_row(search, position);
    // From the end: a row gets its children before it is put into its parent, and no row is copied.
    for branch in branches.iter().rev() {
        let child = rows.pop().unwrap_or(Json::Null); // a branch comes after its parent, which is still there
        let parent = branch.parent.map_or(&mut root, |parent| &mut rows[parent]);
        if parent.get("children").is_none() {
            parent["children"] = json!([]);
        }
        if let Some(children) = parent["children"].as_array_mut() {
            children.insert(0, child);
        }
    }
    count_left_out(&mut root);
    root
}

fn count_left_out(row: &mut Json) {
    let replies = row["replies"].as_u64().unwrap_or(0);
    let Some(children) = row.get_mut("children").and_then(Json::as_array_mut) else { return };
    children.iter_mut().for_each(count_left_out);
    let listed = children.len() as u64;
    // Only where moves are listed: without any the page asks for them when the node is opened.
    row["left_out"] = json!(replies.saturating_sub(listed));
}

/// The node after a line of actions with all its moves; an error for a move that is not there.
pub fn opened(search: &Search, position: &Position, line: &[Action]) -> Result<Json, String> {
    let mut place = position.clone();
    let mut node_visits = search.tree().root.visits;
    let mut found = root_row(search, position);
    for (ply, &action) in line.iter().enumerate() {
        let missing = || format!("the tree has no move {action} after {:?}", &line[..ply]);
        let edges = search.edges_at(&line[..ply]).ok_or_else(missing)?;
        let edge = edges.iter().find(|edge| edge.action == action).ok_or_else(missing)?;
        let parent = Parent { position: &place, node_visits, weights: weights_of(&edges) };
        found = row(&parent, &line[..=ply], edge);
        node_visits = edge.node_visits;
        place.state.play(action);
    }
    let edges = search.edges_at(line).unwrap_or_default();
    let parent = Parent { position: &place, node_visits, weights: weights_of(&edges) };
    let child = |edge: &EdgeReport| row(&parent, &[line, &[edge.action]].concat(), edge);
    found["children"] = edges.iter().take(MAX_CHILDREN).map(child).collect();
    found["left_out"] = json!(edges.len().saturating_sub(MAX_CHILDREN));
    Ok(found)
}
