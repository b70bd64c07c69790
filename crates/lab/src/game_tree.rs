//! Games as the page Analyse takes them: a tree of moves with comments and glyphs.

use std::sync::Arc;

use hauteur_core::game::Game;

use crate::pgn::read_tree;
use crate::pgn::tree::Node;
use crate::texts::{Form, form_of};
use serde_json::{Map, Value as Json, json};

use crate::game_text;
use crate::played::Played;

/// The game of a text, with the fields of `do_read` in `python/hauteur/web/sessions/analyse.py`. `game`: that moves and FENs are of.
pub fn view(text: &str, game: &Arc<dyn Game>) -> Result<Json, String> {
    if form_of(text) == Form::Pgn {
        return pgn_view(text);
    }
    let read = game_text::read(text, game)?;
    let played = Played::new(read.game.clone(), &read.actions)?;
    // A game of any other form has one line, as a tree without variations: the page has one way to show games.
    let nodes: Vec<Json> = played
        .texts
        .iter()
        .enumerate()
        .map(|(number, text)| row(number as i64 - 1, &Node { san: text.clone(), ..Node::default() }))
        .collect();
    let tree = json!({ "headers": {}, "comment": "", "nodes": nodes });
    Ok(json!({ "game": read.game.info().spec, "tree": tree, "notes": read.notes }))
}

fn pgn_view(text: &str) -> Result<Json, String> {
    let (raw, tree) = read_tree(text)?;
    let mut headers = Map::new();
    for (name, value) in raw.tags.iter().rev() {
        headers.insert(name.clone(), json!(value)); // of several the first
    }
    let shown = json!({ "headers": headers, "comment": tree.nodes[0].comment, "nodes": rows(&tree.nodes) });
    Ok(json!({ "game": tree.line.start.game.info().spec, "tree": shown, "notes": tree.notes }))
}

/// The moves of a tree, each after the one that it follows.
fn rows(nodes: &[Node]) -> Vec<Json> {
    let mut found = Vec::with_capacity(nodes.len());
    // A stack of its own: a line has a node for each ply, and a function that calls itself would be as deep as the
    // game. Children are put on it in reverse, so that the main line comes off first.
    let mut waiting: Vec<(usize, i64)> = nodes[0].children.iter().rev().map(|&child| (child, -1)).collect();
    while let Some((at, parent)) = waiting.pop() {
        let number = found.len() as i64;
        waiting.extend(nodes[at].children.iter().rev().map(|&child| (child, number)));
        found.push(row(parent, &nodes[at]));
    }
    found
}

fn row(parent: i64, node: &Node) -> Json {
    json!({
        "parent": parent,
        "move": node.san,
        "before": node.before,
        "comment": node.comment,
        "glyphs": node.nags,
    })
}
