//! Forced wins of a bounded length, such as a mate in three: exact, in any game, by proof-number search
//! (Allis, van der Meulen, van den Herik 1994).
//!
//! The attacker must win by its `moves`-th move at the latest, whatever the other player does. A node of the tree keeps how
//! many positions must at least be proven to prove it, and how many refuted to refute it; the search goes on where the fewest
//! are missing, so that lines in which the defender has few replies come first. Positions know their past, so that
//! draws by repetition count as such.

use crate::game::{Action, Outcome, Player, State};

/// Maximum of moves of the attacker.
pub const MAX_MOVES: u32 = 50;

/// Maximum of positions of one search; those that become nodes take 32 bytes each.
const MAX_NODES: u64 = 1 << 26;

/// A number that no sum of others reaches: what can never be proven, or never refuted.
const NEVER: u32 = u32::MAX;

/// What is known of forced wins within a number of moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The shortest win: the attacker's moves, and the replies that hold out longest.
    Win(Vec<Action>),
    /// There is none.
    None,
    /// The search came to its limit.
    Unknown,
}

/// A position of the tree; its children are neighbours in memory.
struct Node {
    action: Action,
    parent: u32,
    first: u32,
    children: u32,
    proof: u32,
    refutation: u32,
    /// Moves that the attacker has left.
    left: u32,
    is_attacker: bool,
}

/// Searches for a win of the player to move within `moves` own moves; looks at about `nodes` positions.
///
/// A position in which the game is over has none. A win is then shortened, with the same number of positions once
/// more.
pub fn forced_win(state: &dyn State, moves: u32, nodes: u64) -> Found {
    let found = within(state, moves.min(MAX_MOVES), nodes);
    let Found::Win(line) = &found else { return found };
    let longest = line.len().div_ceil(2) as u32;
    // Proof-number search finds a win, not the shortest one, so shorter ones are searched for afterwards.
    let shorter = (1..longest).map(|length| within(state, length, nodes));
    shorter.into_iter().find(|one| matches!(one, Found::Win(_))).unwrap_or(found)
}

/// Searches for a win within this number of moves, not for the shortest.
fn within(state: &dyn State, moves: u32, nodes: u64) -> Found {
    if moves == 0 {
        return Found::None;
    }
    let mut tree = Tree::new(state, moves);
    tree.search(state, nodes);
    match (tree.nodes[0].proof, tree.nodes[0].refutation) {
        (0, _) => Found::Win(tree.line(0)),
        (_, 0) => Found::None,
        _ => Found::Unknown,
    }
}

struct Tree {
    nodes: Vec<Node>,
    attacker: Player,
    /// The position of the node that is visited.
    visited: Box<dyn State>,
    /// A position one move after it.
    child: Box<dyn State>,
    actions: Vec<Action>,
    /// Positions looked at so far.
    looked_at: u64,
}

impl Tree {
    fn new(state: &dyn State, moves: u32) -> Tree {
        let is_over = state.outcome().is_some();
        let (proof, refutation) = if is_over { (NEVER, 0) } else { (1, 1) };
        let root =
            Node { action: 0, parent: 0, first: 0, children: 0, proof, refutation, left: moves, is_attacker: true };
        Tree {
            nodes: vec![root],
            attacker: state.to_move(),
            visited: state.clone_box(),
            child: state.clone_box(),
            actions: Vec::new(),
            looked_at: 0,
        }
    }

    /// Expands nodes until the root is proven or refuted, or this many positions were looked at.
    fn search(&mut self, state: &dyn State, limit: u64) {
        let limit = limit.min(MAX_NODES);
        while self.nodes[0].proof != 0 && self.nodes[0].refutation != 0 && self.looked_at < limit {
            // Positions are played again from the root, since a tree of positions would need far more memory than
            // moves.
            self.visited.copy_from(state);
            let mut place = 0;
            while self.nodes[place].children > 0 {
                place = self.most_proving(place);
                self.visited.play(self.nodes[place].action);
            }
            self.expand(place);
        }
    }

    fn children(&self, place: usize) -> std::ops::Range<usize> {
        let first = self.nodes[place].first as usize;
        first..first + self.nodes[place].children as usize
    }

    /// The child by which the fewest positions are missing: to a proof for the attacker, to a refutation for the other player.
    fn most_proving(&self, place: usize) -> usize {
        let is_attacker = self.nodes[place].is_attacker;
        let missing = |child: &usize| {
            let node = &self.nodes[*child];
            if is_attacker { node.proof } else { node.refutation }
        };
        self.children(place).min_by_key(missing).expect("a node with children")
    }

    /// Gives a leaf its children, up to one that decides it; the attacker's last moves become nodes only where they win.
    fn expand(&mut self, place: usize) {
        let is_attacker = self.nodes[place].is_attacker;
        let left = self.nodes[place].left - u32::from(is_attacker);
        let first = self.nodes.len();
        let mut actions = std::mem::take(&mut self.actions);
        self.visited.legal_actions(&mut actions);
        for &action in &actions {
            self.child.copy_from(self.visited.as_ref());
            self.child.play(action);
            self.looked_at += 1;
            let (proof, refutation) = self.first_numbers(left);
            if left == 0 && proof != 0 {
                continue;
            }
            self.nodes.push(Node {
                action,
                parent: place as u32,
                first: 0,
                children: 0,
                proof,
                refutation,
                left,
                is_attacker: self.child.to_move() == self.attacker,
            });
            let decides = if is_attacker { proof == 0 } else { refutation == 0 };
            if decides {
                break;
            }
        }
        self.actions = actions;
        self.nodes[place].first = first as u32;
        self.nodes[place].children = (self.nodes.len() - first) as u32;
        self.update_from(place);
    }

    /// The numbers of the position after a move: exact at the end of the game and of the attacker's moves; else by the number of
    /// replies.
    fn first_numbers(&self, left: u32) -> (u32, u32) {
        match self.child.outcome() {
            Some(Outcome::Win(winner)) if winner == self.attacker => (0, NEVER),
            Some(_) => (NEVER, 0),
            None if left == 0 => (NEVER, 0),
            None if self.child.to_move() == self.attacker => (1, 1),
            // Every reply has to be answered, so their number is a first guess of the proof's size: lines that
            // leave few replies come first.
            None => (self.child.num_legal() as u32, 1),
        }
    }

    /// Renews the numbers of a node with children, and of those above it as far as they change.
    fn update_from(&mut self, mut place: usize) {
        loop {
            let children = &self.nodes[self.children(place)];
            let sum = |numbers: &dyn Fn(&Node) -> u32| {
                // A sum must never reach NEVER by itself: that means "impossible", and many large numbers are only
                // "far".
                let total = children.iter().fold(0u32, |sum, child| sum.saturating_add(numbers(child)));
                if children.iter().any(|child| numbers(child) == NEVER) { NEVER } else { total.min(NEVER - 1) }
            };
            let least = |numbers: &dyn Fn(&Node) -> u32| children.iter().map(numbers).min().unwrap_or(NEVER);
            let (proof, refutation) = if self.nodes[place].is_attacker {
                (least(&|child| child.proof), sum(&|child| child.refutation))
            } else {
                (sum(&|child| child.proof), least(&|child| child.refutation))
            };
            let node = &mut self.nodes[place];
            let is_same = (node.proof, node.refutation) == (proof, refutation);
            (node.proof, node.refutation) = (proof, refutation);
            // Above a node whose numbers stay nothing changes.
            if place == 0 || is_same {
                return;
            }
            place = node.parent as usize;
        }
    }

    /// The moves from a proven node to the win: the attacker's shortest, the other player's longest.
    fn line(&self, place: usize) -> Vec<Action> {
        let lines = self.children(place).filter(|&child| self.nodes[child].proof == 0).map(|child| {
            let mut line = vec![self.nodes[child].action];
            line.extend(self.line(child));
            line
        });
        let chosen =
            if self.nodes[place].is_attacker { lines.min_by_key(Vec::len) } else { lines.max_by_key(Vec::len) };
        chosen.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::make_game;

    const ENOUGH: u64 = 5_000_000;

    fn moves_of(spec: &str, moves: u32, nodes: u64) -> Option<String> {
        let mut state = make_game(spec).unwrap().initial();
        match forced_win(state.as_ref(), moves, nodes) {
            Found::Win(line) => {
                let mut texts = Vec::new();
                for action in line {
                    texts.push(state.action_to_text(action, None).unwrap());
                    state.play(action);
                }
                assert!(matches!(state.outcome(), Some(Outcome::Win(_))), "{spec}: {texts:?} does not win");
                Some(texts.join(" "))
            }
            Found::None => None,
            Found::Unknown => Some("unknown".into()),
        }
    }

    fn chess(fen: &str) -> String {
        format!("chess(fen={fen})")
    }

    #[test]
    fn mates_are_the_shortest_and_their_lines_end_in_mate() {
        let back_rank = chess("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
        assert_eq!(moves_of(&back_rank, 3, ENOUGH).as_deref(), Some("d1d8"));
        let opera = chess("4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16");
        assert_eq!(moves_of(&opera, 1, ENOUGH), None);
        assert_eq!(moves_of(&opera, 2, ENOUGH).as_deref(), Some("b3b8 d7b8 d1d8"));
        assert_eq!(moves_of(&opera, 4, ENOUGH).as_deref(), Some("b3b8 d7b8 d1d8"));
        let two_rooks = chess("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1");
        assert_eq!(moves_of(&two_rooks, 1, ENOUGH), None);
        assert_eq!(moves_of(&two_rooks, 2, ENOUGH).unwrap().split(' ').count(), 3);
    }

    #[test]
    fn a_stalemate_and_a_draw_by_the_rules_are_no_wins() {
        assert_eq!(moves_of(&chess("k7/8/1Q6/8/8/8/8/7K w - - 0 1"), 1, ENOUGH), None);
        assert_eq!(moves_of(&chess("k7/7R/1K6/8/8/8/8/8 w - - 99 80"), 1, ENOUGH).as_deref(), Some("h7h8"));
        assert_eq!(moves_of(&chess("7k/8/8/8/8/8/R7/1R4K1 w - - 99 80"), 2, ENOUGH), None);
    }

    #[test]
    fn the_limit_of_positions_leaves_it_open() {
        assert_eq!(moves_of("chess", 3, 1_000).as_deref(), Some("unknown"));
        assert_eq!(moves_of("chess", 1, ENOUGH), None);
    }

    #[test]
    fn every_game_has_them() {
        let three = make_game("connect4").unwrap();
        let mut state = three.initial();
        for column in [2, 2, 3, 3] {
            state.play(column);
        }
        assert!(matches!(forced_win(state.as_ref(), 1, ENOUGH), Found::None));
        let Found::Win(line) = forced_win(state.as_ref(), 2, ENOUGH) else { panic!("an open three") };
        assert_eq!(line.len(), 3);
        assert_eq!(moves_of("tictactoe", 5, ENOUGH), None);
    }
}
