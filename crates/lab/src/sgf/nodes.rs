//! The trees of an SGF file as nodes with properties; of each tree the main line, and where its parts stand in the text.

use std::collections::BTreeMap;
use std::ops::Range;

/// Variations within variations: a review writes one within another at every move that it marks.
pub const MAX_DEPTH: usize = 10_000;

/// Values by name, of one node.
pub type Node = BTreeMap<String, Vec<String>>;

/// Where a node of the main line stands in the text.
#[derive(Clone, Debug)]
pub struct NodePlace {
    /// From its `;` to what follows its last property.
    pub text: Range<usize>,
    /// Its properties in the order of the text: the name in capitals, from its first letter to the ] of its last value, and its
    /// first value between the brackets.
    pub properties: Vec<(String, Range<usize>, Range<usize>)>,
    /// Which of the trees it stands in.
    tree: usize,
    /// Whether its tree begins with it.
    pub is_first: bool,
    /// The moves that begin other variations after this node, with the letter of their colour.
    pub variations: Vec<(String, String)>,
    /// Where the variations after it end; None where it has none.
    pub variations_end: Option<usize>,
}

/// Where the parts of a tree stand in the text.
pub struct Layout {
    /// The nodes of the main line.
    pub nodes: Vec<NodePlace>,
    /// What they hold.
    pub values: Vec<Node>,
    closed: Vec<usize>,
}

impl Layout {
    /// Where the ) of the tree stands that a node of the main line is in.
    pub fn closed(&self, node: usize) -> usize {
        self.closed[self.nodes[node].tree]
    }
}

/// The places of the parts of the first tree of a text. An error says what is wrong with the tree, or that there is none.
pub fn layout(text: &str) -> Result<Layout, String> {
    let begins = tree_start(text, 0).ok_or("no SGF: it has no (")?;
    let mut parser = Parser::new(text, begins);
    parser.tree()?;
    Ok(Layout { nodes: parser.places, values: parser.nodes, closed: parser.closed })
}

/// Where the first tree at or after a place begins; None where none follows.
pub fn begin_of_tree(text: &str, from: usize) -> Option<usize> {
    tree_start(text, from)
}

/// The tree that begins at or after a place: where it begins and ends, and the nodes of its main line. None where no tree
/// follows; text before it is passed over. An error says what is wrong with the tree.
pub fn next_tree(text: &str, from: usize) -> Option<Result<(usize, Vec<Node>), String>> {
    let begins = tree_start(text, from)?;
    let mut parser = Parser::new(text, begins);
    Some(parser.tree().map(|()| (parser.at, parser.nodes)))
}

/// Where the next `(;` stands; where there is none, the next `(`.
fn tree_start(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from..];
    let opens = || rest.match_indices('(').map(|(at, _)| at);
    // FF[4] lets any text stand before the first `(;`, and such a text may have brackets. A file with brackets but
    // without `(;` is still parsed, since the error says what is wrong with it.
    let found = opens().find(|at| rest[at + 1..].trim_start().starts_with(';')).or_else(|| opens().next());
    found.map(|at| from + at)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    in_main_line: bool,
    places: Vec<NodePlace>,
    /// The trees that are open: the number of each, and the node of the main line that it follows.
    open: Vec<(usize, Option<usize>)>,
    /// Where each tree is closed, by its number.
    closed: Vec<usize>,
    /// The last node, where it is of the main line.
    current: Option<usize>,
    /// The node of the main line after which the last node begins a variation.
    begins_after: Option<usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        let nodes = Vec::new();
        let places = Vec::new();
        let open = Vec::new();
        let closed = Vec::new();
        Parser { text, at, nodes, in_main_line: true, places, open, closed, current: None, begins_after: None }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn tree(&mut self) -> Result<(), String> {
        // A loop and a counter: a parser that calls itself would let a file of brackets end the process by its
        // stack.
        while let Some(sign) = self.peek() {
            match sign {
                '(' => {
                    if self.open.len() == MAX_DEPTH {
                        return Err(format!("has more than {MAX_DEPTH} variations within variations"));
                    }
                    self.open.push((self.closed.len(), self.current));
                    self.closed.push(self.at);
                    self.begins_after = None;
                }
                ')' => self.close(),
                // Nodes of variations are parsed, as their brackets count, and not kept: of a game with thousands
                // only one is played.
                ';' => self.begin_node(),
                sign if sign.is_whitespace() => {}
                _ => {
                    self.property()?;
                    continue;
                }
            }
            self.at += sign.len_utf8();
            if self.open.is_empty() {
                return Ok(());
            }
        }
        Err("its tree is not closed: a ) is missing".into())
    }

    fn close(&mut self) {
        self.in_main_line = false; // the first leaf of the tree ends it
        self.begins_after = None;
        let Some((tree, after)) = self.open.pop() else { return };
        self.closed[tree] = self.at;
        self.current = after;
        if let Some(node) = after {
            self.places[node].variations_end = Some(self.at + 1);
        }
    }

    fn begin_node(&mut self) {
        let (tree, after) = self.open.last().copied().unwrap_or_default();
        if !self.in_main_line {
            // Only the first node of a variation follows the node that its tree follows.
            let begins = self.current.is_some() && self.current == after;
            self.begins_after = if begins { self.current } else { None };
            self.current = None;
            return;
        }
        let is_first = self.places.last().is_none_or(|last| last.tree != tree);
        let text = self.at..self.at + 1;
        let properties = Vec::new();
        let variations = Vec::new();
        self.places.push(NodePlace { text, properties, tree, is_first, variations, variations_end: None });
        self.nodes.push(Node::new());
        self.current = Some(self.places.len() - 1);
    }

    /// Reads a property into the last node. One that a node has twice has the values of both.
    fn property(&mut self) -> Result<(), String> {
        let begins = self.at;
        let letters = self.text[begins..].find(|sign: char| !sign.is_ascii_alphabetic());
        let name = &self.text[begins..begins + letters.unwrap_or(self.text.len() - begins)];
        self.at += name.len();
        self.skip_spaces();
        if name.is_empty() || self.peek() != Some('[') {
            let got: String = self.text[begins..].chars().take(20).collect();
            return Err(format!("line {}: expected a property, such as B[aa], got {got:?}", self.line_of(begins)));
        }
        let mut values = Vec::new();
        let mut first = 0..0;
        let mut end = self.at;
        // AB and others have several values, with blanks or lines between them.
        while self.peek() == Some('[') {
            let opens = self.at;
            values.push(self.value(begins)?);
            end = self.at;
            if values.len() == 1 {
                first = opens + 1..end - 1;
            }
            self.skip_spaces();
        }
        let name = usual_name(name);
        if let (Some(node), true) = (self.begins_after, matches!(name.as_str(), "B" | "W")) {
            self.places[node].variations.push((name.clone(), values[0].trim().to_string()));
        }
        if self.in_main_line {
            // One node has a property once in FF[4]. Where it is there twice no value is dropped: a second move
            // must be seen.
            let node = self.nodes.last_mut().ok_or("has a property before the first ;")?;
            node.entry(name.clone()).or_default().append(&mut values);
            if let Some(place) = self.places.last_mut() {
                place.text.end = end;
                place.properties.push((name, begins..end, first));
            }
        }
        Ok(())
    }

    fn value(&mut self, of: usize) -> Result<String, String> {
        self.at += 1;
        let mut value = String::new();
        let mut signs = self.text[self.at..].char_indices().peekable();
        while let Some((at, sign)) = signs.next() {
            match sign {
                ']' => {
                    self.at += at + 1;
                    return Ok(value);
                }
                // FF[4]: an end of a line after it is dropped, any other sign stands for itself, a ] too.
                '\\' => match signs.next() {
                    // A line that is broken for the width of the text. CR LF is one end of a line.
                    Some((_, '\r')) => _ = signs.next_if(|(_, sign)| *sign == '\n'),
                    Some((_, '\n')) => _ = signs.next_if(|(_, sign)| *sign == '\r'),
                    Some((_, escaped)) => value.push(escaped),
                    None => {}
                },
                sign => value.push(sign),
            }
        }
        Err(format!("line {}: a value is not closed: a ] is missing", self.line_of(of)))
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn line_of(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }
}

/// The name of a property in capitals. Before FF[4] small letters might stand among them, `GaMe` is GM; programs that
/// write all of it small mean the same.
fn usual_name(name: &str) -> String {
    let capitals: String = name.chars().filter(char::is_ascii_uppercase).collect();
    if capitals.is_empty() { name.to_ascii_uppercase() } else { capitals }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_lines_are_joined_whatever_ends_them() {
        for end in ["\n", "\r", "\r\n", "\n\r"] {
            let text = format!("(;PB[one \\{end}name]C[a\\]b{end}c])");
            let (_, nodes) = next_tree(&text, 0).unwrap().unwrap();
            assert_eq!(nodes[0]["PB"], ["one name"], "{end:?}");
            assert_eq!(nodes[0]["C"], [format!("a]b{end}c")], "{end:?}");
        }
    }

    #[test]
    fn the_places_of_nodes_and_variations_are_known() {
        let text = "x (;SZ[9]C[a\\]b];B[aa] ;W[bb](;B[cc](;W[dd])(;W[ee];B[ff]))(;B[gg](;W[hh]))(;B[]))";
        let layout = layout(text).unwrap();
        let shown: Vec<&str> = layout.nodes.iter().map(|node| &text[node.text.clone()]).collect();
        assert_eq!(shown, [";SZ[9]C[a\\]b]", ";B[aa]", ";W[bb]", ";B[cc]", ";W[dd]"]);
        let firsts: Vec<bool> = layout.nodes.iter().map(|node| node.is_first).collect();
        assert_eq!(firsts, [true, false, false, true, true]);
        let moves = |node: usize| layout.nodes[node].variations.iter().map(|(_, value)| value.as_str());
        assert_eq!(moves(2).collect::<Vec<_>>(), ["gg", ""]);
        assert_eq!(moves(3).collect::<Vec<_>>(), ["ee"]);
        assert_eq!(&text[layout.nodes[3].variations_end.unwrap()..][..2], ")(");
        assert_eq!(layout.nodes[2].variations_end.unwrap(), text.len() - 1);
        assert_eq!((layout.closed(1), layout.nodes[4].variations_end), (text.len() - 1, None));
        let (name, whole, value) = &layout.nodes[0].properties[1];
        assert_eq!((name.as_str(), &text[whole.clone()], &text[value.clone()]), ("C", "C[a\\]b]", "a\\]b"));
    }
}
