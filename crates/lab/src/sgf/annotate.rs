//! What a review says of a game's moves, written into the SGF text of the game; all else of the text stays as it is.

use std::collections::BTreeMap;
use std::ops::Range;

use hauteur_core::game::{Action, Game};

use super::nodes::{Layout, NodePlace, layout};
use super::setup::Opening;
use super::write::{escaped, first_of, move_text};

/// Begins the lines of comments that are a review's.
pub const OWN: &str = "hauteur: ";
/// Properties that judge a move; FF[4] has at most one of them in a node.
const JUDGEMENTS: [&str; 4] = ["BM", "DO", "IT", "TE"];
/// What programs show as Black's chances in per cent: Sabaki's graph is made of it.
const CHANCES: &str = "SBKV";

/// What a review says of a move.
#[derive(Clone, Debug, Default)]
pub struct MoveNote {
    /// In a line, for people.
    pub comment: String,
    /// The property that judges the move, such as `BM[2]`; empty for none.
    pub judgement: String,
    /// Black's expected score after the move, in per cent.
    pub chances: f64,
    /// The better line in place of the move; empty for none.
    pub line: Vec<Action>,
    /// What the first move of the better line says.
    pub line_comment: String,
}

/// The first tree of a text with what a review says of its moves, by ply. `game`: that it was read as; `annotator`: who says so;
/// `before`: Black's expected score before the first move, in per cent. An error says why the text is no tree.
pub fn annotated(
    text: &str,
    game: &dyn Game,
    annotator: &str,
    before: Option<f64>,
    notes: &BTreeMap<usize, MoveNote>,
) -> Result<String, String> {
    let layout = layout(text)?;
    let mut edits = Edits::default();
    let root = layout.nodes.first().ok_or("has no nodes")?;
    // Where the first node has a move, which FF[4] advises against, its chances are those after the move.
    let before = before.filter(|_| moves_in(root) == 0);
    edit_root(&mut edits, text, root, annotator, before);
    let opening = if game.info().name == "go" { Opening::of(&layout.values) } else { Opening::usual() };
    let mut ply = 0;
    for (number, node) in layout.nodes.iter().enumerate() {
        // Stones of a handicap that are written as moves are where the game begins.
        if opening.stones.contains(&number) {
            continue;
        }
        // Old files have two moves in one node, which FF[4] forbids: what is said of both stands in it.
        let moves = moves_in(node);
        let said: Vec<&MoveNote> = (ply..ply + moves).filter_map(|ply| notes.get(&ply)).collect();
        edit_node(&mut edits, text, node, &said);
        if let Some(note) = notes.get(&ply).filter(|note| moves > 0 && number > 0 && !note.line.is_empty()) {
            add_line(&mut edits, &layout, number, game, ply, note);
        }
        ply += moves;
    }
    Ok(edits.applied(text))
}

fn moves_in(node: &NodePlace) -> usize {
    node.properties.iter().filter(|(name, ..)| matches!(name.as_str(), "B" | "W")).count()
}

/// Pieces of a text that others take the place of.
#[derive(Default)]
struct Edits {
    /// Each with its rank among those at one place.
    pieces: Vec<(Range<usize>, usize, String)>,
}

impl Edits {
    fn replace(&mut self, piece: Range<usize>, by: impl Into<String>) {
        self.pieces.push((piece, 0, by.into()));
    }

    fn insert(&mut self, at: usize, rank: usize, text: impl Into<String>) {
        self.pieces.push((at..at, rank, text.into()));
    }

    fn applied(self, text: &str) -> String {
        let mut pieces = self.pieces;
        pieces.sort_by_key(|(piece, rank, _)| (piece.start, *rank));
        let mut out = String::with_capacity(2 * text.len());
        let mut at = 0;
        for (piece, _, by) in pieces {
            out += &text[at..piece.start];
            out += &by;
            at = piece.end;
        }
        out + &text[at..]
    }
}

fn edit_root(edits: &mut Edits, text: &str, root: &NodePlace, annotator: &str, before: Option<f64>) {
    let mut more = String::new();
    if let Some(before) = before {
        drop_all(edits, root, &[CHANCES]);
        more += &chances(before);
    }
    // The text was decoded by the old name, and is written as UTF-8.
    drop_all(edits, root, &["CA"]);
    more += "CA[UTF-8]";
    let known = root.properties.iter().find(|(name, ..)| name == "AN").map(|(_, _, value)| text[value.clone()].trim());
    // One who has annotated it before stays; an earlier review of ours does not.
    let others = known.unwrap_or("").split("; ").filter(|one| !one.is_empty() && !one.starts_with("hauteur"));
    let all: Vec<String> = others.map(str::to_string).chain([escaped(annotator)]).collect();
    drop_all(edits, root, &["AN"]);
    more += &format!("AN[{}]", all.join("; "));
    edits.insert(root.text.end, 0, more);
}

fn edit_node(edits: &mut Edits, text: &str, node: &NodePlace, said: &[&MoveNote]) {
    let Some(last) = said.last() else { return };
    let mut more = String::new();
    let lines: Vec<String> = said.iter().map(|note| format!("{OWN}{}", escaped(&note.comment))).collect();
    let own = lines.join("\n");
    match node.properties.iter().find(|(name, ..)| name == "C") {
        None => more += &format!("C[{own}]"),
        Some((_, _, value)) => {
            // An earlier review's words are replaced, and everybody else's stay.
            let kept: Vec<&str> = text[value.clone()].lines().filter(|line| !line.starts_with(OWN)).collect();
            let kept = kept.join("\n");
            let kept = kept.trim_end();
            let gap = if kept.is_empty() { "" } else { "\n\n" };
            edits.replace(value.clone(), format!("{kept}{gap}{own}"));
        }
    }
    drop_all(edits, node, &[CHANCES]);
    more += &chances(last.chances);
    if let Some(judged) = said.iter().rev().find(|note| !note.judgement.is_empty()) {
        drop_all(edits, node, &JUDGEMENTS);
        more += &judged.judgement;
    }
    edits.insert(node.text.end, 0, more);
}

/// Adds a better line as a variation, unless the text has one with the same first move.
fn add_line(edits: &mut Edits, layout: &Layout, number: usize, game: &dyn Game, ply: usize, note: &MoveNote) {
    let first = first_of(game);
    let moves = note.line.iter().enumerate().map(|(at, &action)| move_text(game, action, first + ply + at));
    let moves: Vec<(&str, String)> = moves.collect();
    let begins = (moves[0].0.to_string(), moves[0].1.clone());
    let parent = &layout.nodes[number - 1];
    if parent.variations.contains(&begins) {
        return;
    }
    let mut variation = String::new();
    for (at, (colour, point)) in moves.iter().enumerate() {
        variation += &format!(";{colour}[{point}]");
        if at == 0 {
            variation += &format!("TE[1]C[{OWN}{}]", escaped(&note.line_comment));
        }
    }
    let node = &layout.nodes[number];
    // Where several variations end at one place, those of later moves are inside of the others.
    let rank = layout.nodes.len() - number;
    if node.is_first {
        let end = parent.variations_end.unwrap_or_else(|| layout.closed(number - 1));
        edits.insert(end, rank, format!("\n({variation})"));
        return;
    }
    // The move and what follows it become a tree of their own, beside which the better line stands.
    edits.insert(node.text.start, rank, "(");
    edits.insert(layout.closed(number), rank, format!(")\n({variation})"));
}

/// Deletes the properties of these names.
fn drop_all(edits: &mut Edits, node: &NodePlace, names: &[&str]) {
    for (name, whole, _) in &node.properties {
        if names.contains(&name.as_str()) {
            edits.replace(whole.clone(), "");
        }
    }
}

fn chances(percent: f64) -> String {
    format!("{CHANCES}[{percent:.2}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hauteur_core::games::make_game;

    fn note(comment: &str, judgement: &str, line: &[Action]) -> MoveNote {
        let comment = comment.to_string();
        let judgement = judgement.to_string();
        MoveNote { comment, judgement, chances: 12.5, line: line.to_vec(), line_comment: "better".into() }
    }

    fn reviewed(text: &str, notes: &[(usize, MoveNote)]) -> String {
        let game = make_game("go(size=9)").unwrap();
        annotated(text, game.as_ref(), "hauteur, a net", Some(50.0), &notes.iter().cloned().collect()).unwrap()
    }

    #[test]
    fn what_is_said_stands_beside_what_the_text_has() {
        let text = "(;GM[1]SZ[9]CA[GB2312]AN[Kim]; B[aa]C[good\\]]TE[1]LB[aa:x];W[bb]BM[1];B[cc])";
        let notes = [(0, note("W [1]", "", &[])), (1, note("bad", "BM[2]", &[1, 2]))];
        let out = reviewed(text, &notes);
        let root = "(;GM[1]SZ[9]SBKV[50.00]CA[UTF-8]AN[Kim; hauteur, a net]";
        let first = "; B[aa]C[good\\]\n\nhauteur: W [1\\]]TE[1]LB[aa:x]SBKV[12.50]";
        let second = "(;W[bb]C[hauteur: bad]SBKV[12.50]BM[2];B[cc])";
        let line = "\n(;W[ba]TE[1]C[hauteur: better];B[ca]))";
        assert_eq!(out, format!("{root}{first}{second}{line}"));
        // A second review takes the place of the first one, whose variation is there already.
        assert_eq!(reviewed(&out, &notes), out);
    }

    #[test]
    fn the_stones_of_a_handicap_are_no_moves() {
        let text = "(;GM[1]SZ[9]HA[2]KM[0.5];B[cc];B[gg];W[ee];B[aa])";
        let game: std::sync::Arc<dyn Game> = make_game(&super::super::spec_of_text(text, "").unwrap()).unwrap().into();
        let notes = [(0, note("first", "", &[])), (1, note("second", "BM[1]", &[8]))].into_iter().collect();
        let out = annotated(text, game.as_ref(), "hauteur", Some(50.0), &notes).unwrap();
        assert!(out.contains(";B[cc];B[gg];W[ee]C[hauteur: first]"), "{out}");
        assert!(out.contains("(;B[aa]C[hauteur: second]") && out.contains("(;B[ia]TE[1]"), "{out}");
        assert_eq!(super::super::read(&out, Some(&game))[0].played.as_ref().unwrap().actions, [40, 0]);
    }

    #[test]
    fn variations_stay_and_lines_are_put_beside_them() {
        let text = "(;GM[1]SZ[9];B[aa](;W[bb];B[cc];W[dd])(;W[ee];B[ff]))";
        let notes = [(1, note("x", "BM[1]", &[8])), (2, note("y", "DO[]", &[80, 79])), (3, note("z", "", &[7]))];
        let out = reviewed(text, &notes);
        assert!(out.contains("(;W[ee];B[ff])\n(;W[ia]TE[1]C[hauteur: better])"), "{out}");
        let layout = layout(&out).unwrap();
        let moves: Vec<usize> = layout.nodes.iter().map(|node| node.variations.len()).collect();
        assert_eq!(moves, [0, 2, 1, 1, 0], "{out}");
        let game: std::sync::Arc<dyn Game> = make_game("go(size=9)").unwrap().into();
        let again = super::super::read(&out, Some(&game));
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].played.as_ref().unwrap().actions, [0, 10, 20, 30], "{out}");
    }
}
