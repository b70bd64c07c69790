//! The comparison of two searches as the page Explain takes it: the JSON of `hauteur explain` (`hauteur.studies.explain.explain`).

use hauteur_core::game::Action;
use hauteur_core::params::SearchParams;
use serde_json::{Value as Json, json};

use crate::explained::{Edge, Explained, Line, Node};
use crate::position::Position;
use crate::report::{Report, RootMove, proven};
use crate::settings::leaves;

/// Nodes that a list of the difference of two trees names, and frozen nodes that are listed.
const SHOWN_NODES: usize = 20;
const SHOWN_FROZEN: usize = 5;

/// What is compared.
pub struct Question {
    /// The position.
    pub position: Position,
    /// Of each search.
    pub visits: u32,
    /// Of all random draws.
    pub seed: u64,
    /// Most rows of a batch.
    pub batch_size: usize,
}

/// The whole comparison. `rules`: what each rule did (`effect_of_rule`).
pub fn explanation(question: &Question, a: &Explained, b: &Explained, rules: Vec<Json>) -> Json {
    let position = &question.position;
    let first = |side: &Explained| side.report.moves.first().map(|one| one.action);
    json!({
        "game": position.spec(),
        "position": position.state.notation(),
        "to_move": position.to_move(),
        "visits": question.visits,
        "seed": question.seed,
        "batch_size": question.batch_size,
        "sides": { "a": side(a, position), "b": side(b, position) },
        "same_best": first(a) == first(b),
        "visits_moved": visits_moved(&a.report, &b.report),
        "moves": moves(a, b, position),
        "lines": lines(a, b, position),
        "tree": trees(a, b, position),
        "rules": rules,
    })
}

fn best_text(report: &Report, position: &Position) -> String {
    report.moves.first().map_or(String::new(), |best| position.text(best.action))
}

fn side(search: &Explained, position: &Position) -> Json {
    let side = &search.side;
    let report = &search.report;
    json!({
        "settings": side.text,
        "net": side.net,
        "large_net": if side.large.is_empty() { Json::Null } else { json!(side.large) },
        "search": side.values,
        "evaluator": search.evaluator,
        "digest": search.digest,
        "visits": report.visits,
        "ended_by": report.reason,
        "evaluations": report.pace.rows,
        "depth": report.pace.depth,
        "seldepth": report.seldepth,
        "best": best_text(report, position),
        "q": search.q,
        "wdl": report.wdl,
        "network_wdl": report.value,
    })
}

/// What a rule of a side did: its own facts, and the comparison with the search without it. `name`: of the side, `a` or `b`; `key`: the
/// section or setting; `on`, `off`: the searches with it and without; `page`: of the rule.
pub fn effect_of_rule(
    name: &str,
    key: &str,
    on: &Explained,
    off: &Explained,
    position: &Position,
    page: Option<&str>,
) -> Json {
    let facts = facts_of(key, on);
    let mut words = Vec::new();
    if let Some(value) = on.side.values.get(key) {
        leaves(key, value, &mut words);
    }
    let settings = if words.is_empty() { format!("large_net={}", on.side.large) } else { words.join(" ") };
    let mut found = json!({
        "side": name,
        "name": key,
        "settings": settings,
        "page": page,
        "measured_by": if facts.is_empty() { vec!["ablation"] } else { vec!["facts", "ablation"] },
        "facts": facts,
        "ablation": ablation(on, off, position),
    });
    if key == "search_contempt" {
        found["frozen"] = frozen_nodes(on, position);
    }
    found
}

fn ablation(on: &Explained, off: &Explained, position: &Position) -> Json {
    let first = &on.report;
    let second = &off.report;
    let best = [first, second].map(|report| best_text(report, position));
    let mut found = json!({
        "visits_moved": visits_moved(first, second),
        "visits": first.moves.iter().map(|one| u64::from(one.visits)).sum::<u64>(),
        "best": best[0],
        "best_without": best[1],
        "best_changed": best[0] != best[1],
        "q": on.q,
        "q_without": off.q,
        "tree_changed": on.digest != off.digest,
        "evaluations": first.pace.rows,
        "evaluations_without": second.pace.rows,
    });
    let pairs = on.nodes.iter().filter_map(|(line, node)| Some((node, off.nodes.get(line)?)));
    let mut both = 0u64;
    let mut changes = Vec::new();
    for (one, other) in pairs {
        both += 1;
        if one.visits > 0 && other.visits > 0 && one.q != other.q {
            changes.push((one.q - other.q).abs());
        }
    }
    changes.sort_by(f64::total_cmp); // the sum does not depend on the order of a table
    let mean = if changes.is_empty() { 0.0 } else { changes.iter().sum::<f64>() / changes.len() as f64 };
    found["nodes_in_both"] = json!(both);
    found["values_changed"] = json!(changes.len());
    found["mean_change"] = json!(mean);
    found["greatest_change"] = json!(changes.last().copied().unwrap_or(0.0));
    found
}

/// The visits that one search gave to other moves of the root than the other search did.
fn visits_moved(a: &Report, b: &Report) -> u64 {
    let other = |action: Action| b.moves.iter().find(|one| one.action == action).map_or(0, |one| one.visits);
    a.moves.iter().map(|one| u64::from(one.visits.saturating_sub(other(one.action)))).sum()
}

/// The frozen nodes, the most visited first.
fn frozen(search: &Explained) -> Vec<(&Line, &Node)> {
    let nodes = search.lines.iter().filter_map(|line| Some((line, search.nodes.get(line)?)));
    nodes.filter(|(_, node)| node.weights().is_some()).collect()
}

/// What was measured of search-contempt in its own terms; of other rules nothing.
fn facts_of(name: &str, search: &Explained) -> Vec<Json> {
    if name != "search_contempt" {
        return Vec::new();
    }
    let nodes = frozen(search);
    let visits: u64 = nodes.iter().flat_map(|(_, node)| &node.children).map(|edge| u64::from(edge.visits)).sum();
    let fact = |name: &str, value: u64, how: &str| json!({ "name": name, "value": value, "how": how });
    let mut facts = vec![
        fact("frozen nodes", nodes.len() as u64, "tree"),
        fact("replies drawn from frozen weights", search.contempt_draws, "counter"),
        fact("visits behind frozen nodes", visits, "tree"),
    ];
    // The settings were read before, or there would be no search; a default has no rule, and so no fact is added.
    let rule = search.side.search().unwrap_or_else(|_| SearchParams::default()).search_contempt;
    // Weights are the visits before freezing only at temperature 1; otherwise nothing says how many there were.
    if rule.is_some_and(|rule| rule.temperature == 1.0) {
        let before: f64 = nodes.iter().filter_map(|(_, node)| node.weights()).sum();
        facts.push(fact("of them after freezing", visits.saturating_sub(before.round() as u64), "tree"));
    }
    // Numbers of a part would be read as those of the tree.
    if !search.complete {
        facts.push(fact("nodes that these are of, the most visited", search.nodes.len() as u64, "tree"));
    }
    facts
}

/// The most visited frozen nodes: their line, and weight and visits of every reply.
fn frozen_nodes(search: &Explained, position: &Position) -> Json {
    let view = |(line, node): (&Line, &Node)| {
        let mut before = position.clone();
        line.iter().for_each(|&action| before.state.play(action));
        let total = node.weights().filter(|sum| *sum > 0.0).unwrap_or(1.0);
        let reply = |edge: &Edge| {
            let weight = edge.frozen.unwrap_or(0.0) / total;
            json!({ "move": before.text(edge.action), "weight": weight, "visits": edge.visits })
        };
        let replies: Vec<Json> = node.children.iter().map(reply).collect();
        json!({ "line": line, "moves": position.line_texts(line), "visits": node.visits, "replies": replies })
    };
    frozen(search).into_iter().take(SHOWN_FROZEN).map(view).collect()
}

fn moves(a: &Explained, b: &Explained, position: &Position) -> Vec<Json> {
    let totals = [a, b].map(|side| side.report.moves.iter().map(|one| u64::from(one.visits)).sum::<u64>().max(1));
    let view = |one: &RootMove, total: u64| {
        json!({
            "visits": one.visits,
            "share": f64::from(one.visits) / total as f64,
            "prior": one.prior,
            "q": (one.visits > 0).then_some(one.q),
            "wdl": one.wdl,
            "value": one.value,
            "proven": proven(one.bounds),
            "line": position.line_texts(&one.line),
        })
    };
    let mut rows: Vec<(u32, Json)> = Vec::new();
    for one in &a.report.moves {
        // Both have searched one position, so each move of one is in the other; a search with fewer moves would end
        // its row.
        let Some(other) = b.report.moves.iter().find(|other| other.action == one.action) else { continue };
        let row = json!({
            "action": one.action,
            "move": position.text(one.action),
            "text": position.plain_text(one.action),
            "a": view(one, totals[0]),
            "b": view(other, totals[1]),
            "shift": i64::from(other.visits) - i64::from(one.visits),
        });
        rows.push((one.visits.max(other.visits), row));
    }
    rows.sort_by_key(|(visits, _)| std::cmp::Reverse(*visits));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The best lines of both, and the ply at which they part; null where the shorter one never does.
fn lines(a: &Explained, b: &Explained, position: &Position) -> Json {
    let line = |side: &Explained| side.report.moves.first().map_or(Vec::new(), |best| best.line.clone());
    let one = line(a);
    let other = line(b);
    let parts = one.iter().zip(&other).position(|(x, y)| x != y);
    json!({ "a": position.line_texts(&one), "b": position.line_texts(&other), "parts_at": parts })
}

/// What two trees have in common and what not: counts, the largest shifts of visits, and the first line at which they differ.
fn trees(a: &Explained, b: &Explained, position: &Position) -> Json {
    let both: Vec<&Line> = a.lines.iter().filter(|line| b.nodes.contains_key(*line)).collect();
    let mut changed: Vec<&Line> = both.iter().copied().filter(|line| a.visits(line) != b.visits(line)).collect();
    changed.sort_by_key(|line| std::cmp::Reverse(a.visits(line).abs_diff(b.visits(line))));
    let only = |mine: &'_ Explained, theirs: &Explained| -> Vec<Line> {
        let mut lines: Vec<Line> =
            mine.lines.iter().filter(|line| !theirs.nodes.contains_key(*line)).cloned().collect();
        lines.sort_by(|x, y| {
            let rank = |line: &Line| (std::cmp::Reverse(mine.visits(line)), line.len());
            rank(x).cmp(&rank(y)).then_with(|| x.cmp(y))
        });
        lines
    };
    let only_a = only(a, b);
    let only_b = only(b, a);
    let most = |line: &Line| a.visits(line).max(b.visits(line));
    // The shortest line at which anything differs: what comes after it differs because of it.
    let all = changed.iter().copied().chain(&only_a).chain(&only_b);
    let first = all.min_by_key(|line| (line.len(), std::cmp::Reverse(most(line))));
    let place = |line: &Line| {
        let figures = |side: &Explained| {
            let node = side.nodes.get(line);
            node.map(|node| json!({ "visits": node.visits, "q": (node.visits > 0).then_some(node.q) }))
        };
        json!({ "line": line, "moves": position.line_texts(line), "a": figures(a), "b": figures(b) })
    };
    json!({
        "equal": a.digest == b.digest,
        "complete": a.complete && b.complete,
        "nodes": { "a": a.nodes.len(), "b": b.nodes.len(), "both": both.len() },
        "same_visits": both.len() - changed.len(),
        "only": { "a": only_a.len(), "b": only_b.len() },
        "shifts": changed.iter().take(SHOWN_NODES).map(|line| place(line)).collect::<Vec<_>>(),
        "first": first.map(place),
    })
}

/// The moves after a line of actions that either search visited, the most visited first; an error for a line of neither tree.
pub fn children(a: &Explained, b: &Explained, position: &Position, line: &Line) -> Result<Json, String> {
    let places = [a.nodes.get(line), b.nodes.get(line)];
    if places == [None, None] {
        return Err(format!("neither tree has a node after {line:?}"));
    }
    let mut before = position.clone();
    // `play` checks: the line comes from a page, and `State::play` of an illegal action is undefined.
    line.iter().try_for_each(|&action| before.play(action))?;
    let mut actions: Vec<Action> = Vec::new();
    for edge in places.iter().flatten().flat_map(|node| &node.children) {
        if !actions.contains(&edge.action) {
            actions.push(edge.action);
        }
    }
    let mut rows: Vec<(u32, Json)> = Vec::new();
    for action in actions {
        let child = [line.as_slice(), &[action]].concat();
        let next = [a.nodes.get(&child), b.nodes.get(&child)];
        let edges = places.map(|node| node.and_then(|node| node.children.iter().find(|edge| edge.action == action)));
        let view = |side: usize| {
            edges[side].map(|edge| {
                json!({
                    "visits": edge.visits,
                    "q": edge.q,
                    "prior": edge.prior,
                    "proven": edge.proven,
                    "weight": places[side].and_then(Node::weights).map(|sum| edge.frozen.unwrap_or(0.0) / sum),
                    "frozen": next[side].is_some_and(|node| node.weights().is_some()),
                })
            })
        };
        let more = next.iter().flatten().any(|node| !node.children.is_empty());
        let text = before.text(action);
        let row = json!({ "line": child, "move": text, "a": view(0), "b": view(1), "more": more });
        rows.push((edges.iter().flatten().map(|edge| edge.visits).max().unwrap_or(0), row));
    }
    rows.sort_by_key(|(visits, _)| std::cmp::Reverse(*visits));
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}
