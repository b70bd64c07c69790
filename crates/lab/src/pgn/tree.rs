//! A game with its variations, comments and glyphs.

use hauteur_core::game::{Action, State as _};
use hauteur_core::games::chess::Position;

use super::languages::Language;
use super::line::{GameLine, Lines, is_glyph, read_word};
use super::tokens::{RawGame, Token};
use super::words;

/// A move of a tree; the first node is the start of the game and has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The move; None at the start of the game.
    pub action: Option<Action>,
    /// As UCI.
    pub uci: String,
    /// As SAN.
    pub san: String,
    /// The comment before it, where it begins a variation.
    pub before: String,
    /// The comment after it.
    pub comment: String,
    /// Its glyphs by number.
    pub nags: Vec<u8>,
    /// The moves after it, the main one first.
    pub children: Vec<usize>,
}

/// A game as a tree.
pub struct Tree {
    /// Its main line, and where it begins.
    pub line: GameLine,
    /// The nodes, each after the one that it follows; the first is the start.
    pub nodes: Vec<Node>,
    /// What a user should know, a line each.
    pub notes: Vec<String>,
}

/// Where the next move is added.
#[derive(Clone)]
struct Place {
    node: usize,
    position: Position,
    /// The node and the position before the last move, which a variation takes the place of.
    before: Option<(usize, Position)>,
    /// A word of the variation could not be read: the rest of it is passed over.
    is_lost: bool,
}

/// The tree of a game whose tokens were all kept. An error says in one line why its main line cannot be read; a variation that
/// cannot be read ends at the word, which a note names.
pub fn read(lines: &Lines, raw: &RawGame) -> Result<Tree, String> {
    let line = lines.play(raw)?;
    let position = line.start.position();
    let mut builder = Builder { language: line.language, nodes: vec![Node::default()], notes: line.notes.clone() };
    let mut stack: Vec<Place> = Vec::new();
    let mut place = Place { node: 0, position, before: None, is_lost: false };
    let mut pending = String::new();
    for (index, token) in raw.tokens.iter().enumerate() {
        match *token {
            Token::Begin => {
                // The outer place is kept whole: where the variation ends, the main line goes on from after the
                // move it replaces.
                let next = variation_at(&place);
                stack.push(std::mem::replace(&mut place, next));
            }
            Token::End => {
                if let Some(outer) = stack.pop() {
                    place = outer;
                }
                // A comment in brackets without any move has no node of its own and is still an annotator's text.
                join(&mut builder.nodes[place.node].comment, &std::mem::take(&mut pending));
            }
            Token::Nag(nag) if !place.is_lost => builder.add_nag(place.node, nag),
            Token::Comment(part) => {
                // Before its first move a comment is about the variation, and not about the move that it replaces.
                let begins_variation = !stack.is_empty() && place.before.is_none();
                let text = if begins_variation { &mut pending } else { &mut builder.nodes[place.node].comment };
                join(text, raw.text(part));
            }
            Token::Move(part, _) if place.before.is_some() && is_glyph(&place.position, raw, part, index) => {}
            Token::Move(part, at) if !place.is_lost => builder.add_move(&mut place, raw.text(part), at, &mut pending),
            Token::Null(part, at) if !place.is_lost => {
                // What follows has no position that the rules of chess reach.
                place.is_lost = true;
                // In the main line `play` has noted it.
                if !stack.is_empty() {
                    let word = raw.text(part);
                    builder.notes.push(format!("line {at}: {word:?} is a null move, where its variation ends"));
                }
            }
            _ => {}
        }
    }
    Ok(Tree { line, nodes: builder.nodes, notes: builder.notes })
}

/// Where a variation begins: before the last move, which it replaces.
fn variation_at(place: &Place) -> Place {
    // A variation inside of one that could not be read cannot be read either, so that mark goes down with it.
    match &place.before {
        Some((node, position)) => {
            Place { node: *node, position: position.clone(), before: None, is_lost: place.is_lost }
        }
        // Brackets before any move replace none: the variation begins where the line does.
        None => Place { before: None, ..place.clone() },
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

struct Builder {
    language: &'static Language,
    nodes: Vec<Node>,
    notes: Vec<String>,
}

impl Builder {
    fn add_nag(&mut self, node: usize, nag: u8) {
        let nags = &mut self.nodes[node].nags;
        // `e4! $1`: programs write a glyph as sign and as number.
        if !nags.contains(&nag) {
            nags.push(nag);
        }
    }

    fn add_move(&mut self, place: &mut Place, word: &str, line: u32, pending: &mut String) {
        let action = match read_word(&place.position, word, self.language) {
            Ok(action) => action,
            Err(what) => {
                place.is_lost = true;
                self.notes.push(format!("line {line}, in a variation: {what}"));
                return;
            }
        };
        // Annotators repeat the moves that variations share: one node for them, or the page would show a move
        // twice.
        let known =
            self.nodes[place.node].children.iter().copied().find(|&child| self.nodes[child].action == Some(action));
        let node = known.unwrap_or_else(|| self.new_node(place, action));
        // The comment waited for the node of the first move of its variation.
        join(&mut self.nodes[node].before, &std::mem::take(pending));
        for nag in words::split_glyphs(word).1 {
            self.add_nag(node, nag);
        }
        place.before = Some((place.node, place.position.clone()));
        place.position.play(action);
        place.node = node;
    }

    fn new_node(&mut self, place: &Place, action: Action) -> usize {
        let uci = place.position.uci(action);
        // The move is legal here, so the other arm is never taken; a text is still better than a panic.
        let san = place.position.action_to_text(action, Some("san")).unwrap_or_else(|_| uci.clone());
        let node = self.nodes.len();
        self.nodes.push(Node { action: Some(action), uci, san, ..Node::default() });
        self.nodes[place.node].children.push(node);
        node
    }
}
