//! The trees of an SGF file as nodes with properties; of each tree the main line.

use std::collections::BTreeMap;

/// Variations within variations.
pub const MAX_DEPTH: usize = 1000;

/// Values by name, of one node.
pub type Node = BTreeMap<String, Vec<String>>;

/// The tree that begins at or after a place: where it begins and ends, and the nodes of its main line. None where no tree
/// follows; text before it is passed over. An error says what is wrong with the tree.
pub fn next_tree(text: &str, from: usize) -> Option<Result<(usize, Vec<Node>), String>> {
    let begins = tree_start(text, from)?;
    let mut parser = Parser { text, at: begins, nodes: Vec::new(), depth: 0, in_main_line: true };
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
    depth: usize,
    in_main_line: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn tree(&mut self) -> Result<(), String> {
        // A loop and a counter: a parser that calls itself would let a file of brackets end the process by its
        // stack.
        while let Some(sign) = self.peek() {
            match sign {
                '(' => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(format!("has more than {MAX_DEPTH} variations within variations"));
                    }
                }
                ')' => {
                    self.depth -= 1;
                    self.in_main_line = false; // the first leaf of the tree ends it
                }
                // Nodes of variations are parsed, as their brackets count, and not kept: of a game with thousands
                // only one is played.
                ';' if self.in_main_line => self.nodes.push(Node::new()),
                ';' => {}
                sign if sign.is_whitespace() => {}
                _ => {
                    self.property()?;
                    continue;
                }
            }
            self.at += sign.len_utf8();
            if self.depth == 0 {
                return Ok(());
            }
        }
        Err("its tree is not closed: a ) is missing".into())
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
        // AB and others have several values, with blanks or lines between them.
        while self.peek() == Some('[') {
            values.push(self.value(begins)?);
            self.skip_spaces();
        }
        if self.in_main_line {
            // One node has a property once in FF[4]. Where it is there twice no value is dropped: a second move
            // must be seen.
            let node = self.nodes.last_mut().ok_or("has a property before the first ;")?;
            node.entry(usual_name(name)).or_default().append(&mut values);
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
}
