//! Mates by continuous checks, in games of chess: every move of the attacker gives check, and every reply of the defender is tried.
//!
//! A check leaves few replies, so a search of some hundred positions looks many moves ahead where there is an attack at all.

/// A position of a game in which a king is mated, with as much of the past as its game keeps cheaply.
pub trait Board: Clone {
    /// A legal move.
    type Move: Copy;

    /// The legal moves, with the positions after them.
    fn after_moves(&self) -> Vec<(Self::Move, Self)>;
    /// Those that give check.
    fn after_checks(&self) -> Vec<(Self::Move, Self)>;
    /// Number of legal moves.
    fn num_moves(&self) -> usize;
    /// Whether the game is drawn here by a rule, of a position in which the player to move is not mated.
    fn is_drawn(&self) -> bool;
    /// The same pieces with the opponent to move; `None` in check, where no one can pass.
    fn passed(&self) -> Option<Self>;
}

/// A forced mate.
pub struct Mate<Move> {
    /// Its first move.
    pub first: Move,
    /// Its length.
    pub plies: u16,
}

/// The shortest mate of the player to move by checks alone that a search of at most so many positions finds.
pub fn shortest_mate<B: Board>(board: &B, nodes: u32) -> Option<Mate<B::Move>> {
    let mut search = Checks { left: nodes, is_cut: false };
    // Deepening by one check at a time finds the shortest first.
    for most in 1.. {
        search.is_cut = false;
        let mate = search.attack(board, most);
        // Without a line that was cut for want of depth, more depth finds nothing else.
        if mate.is_some() || !search.is_cut || search.left == 0 {
            return mate;
        }
    }
    None
}

/// The moves after which the opponent mates by checks that a search of at most so many positions each finds, with the plies to it.
///
/// None is looked for where the opponent would have no such mate after a pass: few moves allow one that was not there before.
pub fn mates_allowed<B: Board>(board: &B, nodes: u32) -> Vec<Mate<B::Move>> {
    let is_threatened = match board.passed() {
        Some(passed) => shortest_mate(&passed, nodes).is_some(),
        None => true,
    };
    if !is_threatened {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (first, after) in board.after_moves() {
        if after.is_drawn() {
            continue;
        }
        if let Some(mate) = shortest_mate(&after, nodes) {
            found.push(Mate { first, plies: mate.plies + 1 });
        }
    }
    found
}

struct Checks {
    /// Positions that may still be looked at.
    left: u32,
    /// A line was left for want of depth.
    is_cut: bool,
}

impl Checks {
    /// A mate of the player to move by at most so many checks, 1 or more.
    fn attack<B: Board>(&mut self, board: &B, most: u32) -> Option<Mate<B::Move>> {
        let mut attacks = Vec::new();
        for (check, after) in board.after_checks() {
            if self.left == 0 {
                return None;
            }
            self.left -= 1;
            let replies = after.num_moves();
            if replies == 0 {
                return Some(Mate { first: check, plies: 1 });
            }
            if !after.is_drawn() {
                attacks.push((replies, check, after));
            }
        }
        if most == 1 {
            self.is_cut |= !attacks.is_empty();
            return None;
        }
        // The fewer replies a check leaves, the less it takes to try it.
        attacks.sort_by_key(|(replies, ..)| *replies);
        attacks.into_iter().find_map(|(_, first, after)| {
            let plies = self.plies_after(&after, most)?;
            Some(Mate { first, plies: plies + 1 })
        })
    }

    /// The plies that a mate takes after a check to which the player to move has replies; `None` if one of them escapes.
    fn plies_after<B: Board>(&mut self, checked: &B, most: u32) -> Option<u16> {
        let mut longest = 0;
        for (_, after) in checked.after_moves() {
            if after.is_drawn() {
                return None;
            }
            let mate = self.attack(&after, most - 1)?;
            longest = longest.max(mate.plies + 1);
        }
        Some(longest)
    }
}
