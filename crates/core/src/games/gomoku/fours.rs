//! Wins by threats. By continuous fours: every move makes a four, which the opponent has to block, until a move makes five.
//!
//! A *window* is five points in a row. One with four stones of a player and an empty point is a four: a move there makes five.
//! One with three stones and two empty points becomes a four by a stone on either. The search counts the stones of both players
//! in every window and changes the few counts that a stone touches, so a move costs some twenty additions.
//!
//! By threes: every move threatens a win by fours, and each reply that stops it is answered by such a win or another such move.

use std::sync::OnceLock;

use super::{LINE, Points};
use crate::game::{ForcedLoss, ForcedWin};

/// All windows of a board, and those of each point.
struct Board {
    windows: Vec<[u8; LINE]>,
    of_point: Vec<Vec<u16>>,
}

impl Board {
    /// The windows of a board of size x size points.
    fn new(size: usize) -> Self {
        let mut windows = Vec::new();
        for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
            for point in 0..size * size {
                windows.extend(window(size as i32, point as i32, down, right));
            }
        }
        let mut of_point = vec![Vec::new(); size * size];
        for (number, window) in windows.iter().enumerate() {
            for &point in window {
                of_point[usize::from(point)].push(number as u16);
            }
        }
        Board { windows, of_point }
    }

    /// That of a size, which is made once.
    fn of_size(size: usize) -> &'static Self {
        static BOARDS: [OnceLock<Board>; 16] = [const { OnceLock::new() }; 16];
        BOARDS[size].get_or_init(|| Board::new(size))
    }
}

/// The window that begins at a point and goes in a direction, if it is on the board.
fn window(size: i32, point: i32, down: i32, right: i32) -> Option<[u8; LINE]> {
    let last = LINE as i32 - 1;
    let row = point / size + last * down;
    let column = point % size + last * right;
    let inside = row < size && (0..size).contains(&column);
    inside.then(|| std::array::from_fn(|step| (point + step as i32 * (down * size + right)) as u8))
}

/// A position as the search of fours sees it.
struct Fours {
    board: &'static Board,
    stones: [Points; 2],
    /// Stones of the attacker and of the defender in each window.
    counts: Vec<[u8; 2]>,
    /// Positions that may still be looked at.
    nodes: u32,
    /// The win that was found last.
    line: Line,
    /// Positions that a search of threes may still look at.
    left: u32,
    /// The search of threes wanted to look deeper.
    is_cut: bool,
}

/// The points of a win by fours.
#[derive(Clone, Copy)]
struct Line {
    /// Where the attacker plays or makes five.
    attacks: Points,
    /// Where the defender has to block.
    blocks: Points,
}

impl Line {
    const EMPTY: Line = Line { attacks: Points::EMPTY, blocks: Points::EMPTY };
}

/// Most threes in a line.
const MOST_THREES: u32 = 5;
/// Positions of each search of fours in a search of threes.
const FOURS_OF_A_THREE: u32 = 40;

const ATTACKER: usize = 0;
const DEFENDER: usize = 1;

/// A win by continuous fours of the player with the first set of stones, who is to move: the shortest that a search of at most so
/// many positions finds; where there is none, a win by threes and fours that as many more positions show.
pub(super) fn forced_win(size: usize, stones: [Points; 2], nodes: u32) -> Option<ForcedWin> {
    let mut search = Fours::new(size, stones);
    search.shortest_win(nodes).or_else(|| search.win_by_threes(nodes))
}

/// The moves of the player with the first set of stones, who is to move, after which the opponent has a win by continuous fours
/// that a search of at most so many positions finds. None where the player makes five at once.
///
/// A win that the opponent would have after a pass shows most of them without a search: a move that takes none of its points
/// and makes no four on the way leaves it as it is.
pub(super) fn lost_moves(size: usize, [own, other]: [Points; 2], nodes: u32) -> Vec<ForcedLoss> {
    let mut search = Fours::new(size, [other, own]);
    if search.five(DEFENDER).is_some() {
        return Vec::new();
    }
    let Some(threat) = search.shortest_win(nodes) else { return Vec::new() };
    let line = search.line;
    let disturbing = search.disturbing_points(line);
    let mut lost = Vec::new();
    for point in (0..size * size).filter(|&point| !own.has(point) && !other.has(point)) {
        let win = if disturbing.has(point) { search.win_after(point, nodes) } else { Some(threat) };
        lost.extend(win.map(|win| ForcedLoss { action: point as u16, plies: win.plies + 1 }));
    }
    lost
}

impl Fours {
    fn new(size: usize, stones: [Points; 2]) -> Self {
        let board = Board::of_size(size);
        let counts = vec![[0; 2]; board.windows.len()];
        let mut search =
            Fours { board, stones: [Points::EMPTY; 2], counts, nodes: 0, line: Line::EMPTY, left: 0, is_cut: false };
        for side in [ATTACKER, DEFENDER] {
            for point in stones[side].squares() {
                search.put(point, side);
            }
        }
        search
    }

    /// The shortest win of the attacker, who is to move.
    fn shortest_win(&mut self, nodes: u32) -> Option<ForcedWin> {
        self.nodes = nodes;
        self.line = Line::EMPTY;
        // Deepening finds the shortest win first, and keeps a long chain of fours without an end from using up the positions.
        let mut fours = 0;
        while self.nodes > 0 {
            let mut is_cut = false;
            if let Some(win) = self.attack(fours, &mut is_cut) {
                return Some(win);
            }
            // No four was left out for want of depth: more depth finds nothing else.
            if !is_cut {
                return None;
            }
            fours += 1;
        }
        None
    }

    /// A win of the attacker, who is to move, by moves each of which threatens a win by fours.
    ///
    /// Every reply that may stop a threat is tried. Deepening finds wins of few threes first.
    fn win_by_threes(&mut self, nodes: u32) -> Option<ForcedWin> {
        self.left = nodes;
        for threes in 1..=MOST_THREES {
            self.is_cut = false;
            let win = self.attack_by_threes(threes);
            if win.is_some() || !self.is_cut || self.left == 0 {
                return win;
            }
        }
        None
    }

    /// A win of the attacker, who is to move and has none by fours, that begins with a three; at most so many in a line.
    fn attack_by_threes(&mut self, threes: u32) -> Option<ForcedWin> {
        let mut candidates = self.makers(LINE as u8 - 3);
        if let Some(point) = self.five(DEFENDER) {
            // The defender's four has to be blocked at once. The block is tried even if it makes no three of its own:
            // it may complete a threat that stood there.
            candidates = Points::square(point);
        }
        for point in candidates.squares() {
            self.put(point, ATTACKER);
            let plies = self.plies_after_three(threes);
            self.take_back(point, ATTACKER);
            if let Some(plies) = plies {
                return Some(ForcedWin { action: point as u16, plies: plies + 1 });
            }
        }
        None
    }

    /// The plies that a win takes after a move of the attacker that threatens one by fours: the defender is to move.
    fn plies_after_three(&mut self, threes: u32) -> Option<u16> {
        if self.left == 0 || self.five(DEFENDER).is_some() {
            return None;
        }
        // The defender passes in thought: without a win by fours now the move was no threat, and there is nothing to
        // stop.
        let mut longest = self.counted_win()?.plies + 1;
        // Of the threat that was just found: the searches inside the loop write their own lines over it.
        for reply in self.disturbing_points(self.line).squares() {
            self.put(reply, DEFENDER);
            let win = self.counted_win().or_else(|| self.next_three(threes));
            self.take_back(reply, DEFENDER);
            longest = longest.max(win?.plies + 1);
        }
        Some(longest)
    }

    /// A win that goes on with another three.
    fn next_three(&mut self, threes: u32) -> Option<ForcedWin> {
        if threes == 1 {
            // Another three was possible: the deepening goes on, as with fours.
            self.is_cut = true;
            return None;
        }
        self.attack_by_threes(threes - 1)
    }

    /// The shortest win by fours, whose positions are counted in those of the search of threes.
    fn counted_win(&mut self) -> Option<ForcedWin> {
        let most = self.left.min(FOURS_OF_A_THREE);
        let win = self.shortest_win(most);
        self.left -= most - self.nodes;
        win
    }

    /// The shortest win of the attacker after a stone of the defender on a point.
    fn win_after(&mut self, point: usize, nodes: u32) -> Option<ForcedWin> {
        self.put(point, DEFENDER);
        let win = self.shortest_win(nodes);
        self.take_back(point, DEFENDER);
        win
    }

    /// The empty points where a stone of the defender may stop a line: its own, and those of a four with its blocks.
    fn disturbing_points(&mut self, line: Line) -> Points {
        for block in line.blocks.squares() {
            self.put(block, DEFENDER);
        }
        let mut found = line.attacks | line.blocks;
        for (window, [attackers, defenders]) in self.counts.iter().enumerate() {
            // A four of the defender gains a move: it need not touch the line to stop it. The blocks are on the board
            // here, because they may help to make one.
            if *attackers == 0 && *defenders >= LINE as u8 - 2 {
                for point in self.empty_points(window) {
                    found |= Points::square(point);
                }
            }
        }
        for block in line.blocks.squares() {
            self.take_back(block, DEFENDER);
        }
        found
    }

    fn put(&mut self, point: usize, side: usize) {
        self.stones[side] |= Points::square(point);
        for &window in &self.board.of_point[point] {
            self.counts[usize::from(window)][side] += 1;
        }
    }

    fn take_back(&mut self, point: usize, side: usize) {
        self.stones[side] = self.stones[side] & !Points::square(point);
        for &window in &self.board.of_point[point] {
            self.counts[usize::from(window)][side] -= 1;
        }
    }

    fn is_empty(&self, point: usize) -> bool {
        !self.stones[ATTACKER].has(point) && !self.stones[DEFENDER].has(point)
    }

    /// A point where a stone of this side makes five.
    fn five(&self, side: usize) -> Option<usize> {
        let mut full = [0; 2];
        full[side] = LINE as u8 - 1;
        let window = self.counts.iter().position(|counts| *counts == full)?;
        self.empty_points(window).next()
    }

    /// The points where a stone of the attacker makes five, of those in the windows of a point.
    fn fives_around(&self, point: usize) -> Points {
        let mut found = Points::EMPTY;
        for &window in &self.board.of_point[point] {
            if self.counts[usize::from(window)] == [LINE as u8 - 1, 0] {
                for place in self.empty_points(usize::from(window)) {
                    found |= Points::square(place);
                }
            }
        }
        found
    }

    fn empty_points(&self, window: usize) -> impl Iterator<Item = usize> + '_ {
        self.board.windows[window].iter().map(|&point| usize::from(point)).filter(|&point| self.is_empty(point))
    }

    /// The empty points of the windows in which only the attacker has stones, and so many.
    fn makers(&self, stones: u8) -> Points {
        let mut found = Points::EMPTY;
        for (window, counts) in self.counts.iter().enumerate() {
            if *counts == [stones, 0] {
                for point in self.empty_points(window) {
                    found |= Points::square(point);
                }
            }
        }
        found
    }

    /// A win of the attacker, who is to move, with at most so many fours before the five. `is_cut`: set where more fours were
    /// possible.
    fn attack(&mut self, fours: u32, is_cut: &mut bool) -> Option<ForcedWin> {
        self.nodes = self.nodes.checked_sub(1)?;
        if let Some(point) = self.five(ATTACKER) {
            self.line.attacks |= Points::square(point);
            return Some(ForcedWin { action: point as u16, plies: 1 });
        }
        let mut candidates = self.makers(LINE as u8 - 2);
        // A four of the defender has to be blocked, and only a block that makes a four goes on.
        if let Some(point) = self.five(DEFENDER) {
            candidates = candidates & Points::square(point);
        }
        if fours == 0 {
            *is_cut |= !candidates.is_empty();
            return None;
        }
        candidates.squares().find_map(|point| self.four(point, fours, is_cut))
    }

    /// The win that begins with this four.
    fn four(&mut self, point: usize, fours: u32, is_cut: &mut bool) -> Option<ForcedWin> {
        self.put(point, ATTACKER);
        let plies = self.plies_after(point, fours, is_cut);
        self.take_back(point, ATTACKER);
        let plies = plies?;
        self.line.attacks |= Points::square(point);
        Some(ForcedWin { action: point as u16, plies: plies + 1 })
    }

    /// The plies that a win takes after the attacker's four on a point: the defender is to move.
    fn plies_after(&mut self, point: usize, fours: u32, is_cut: &mut bool) -> Option<u16> {
        if self.five(DEFENDER).is_some() {
            return None;
        }
        let fives = self.fives_around(point);
        if !fives.is_single() {
            self.line.attacks |= fives;
            return Some(2); // two points make five, and the defender blocks one
        }
        let block = fives.squares().next()?;
        self.put(block, DEFENDER);
        let win = self.attack(fours - 1, is_cut);
        self.take_back(block, DEFENDER);
        let win = win?;
        self.line.blocks |= Points::square(block);
        Some(win.plies + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fours, Points};
    use crate::game::{Outcome, State};
    use crate::games::make_game;
    use crate::math::rng::Stream;

    const NODES: u32 = 100_000;

    fn after(moves: &str) -> Box<dyn State> {
        let mut state = make_game("gomoku(size=9)").unwrap().initial();
        for text in moves.split_whitespace() {
            state.play(state.action_from_text(text).unwrap());
        }
        state
    }

    fn found(moves: &str) -> Option<(String, u16)> {
        let state = after(moves);
        let win = state.forced_win(NODES)?;
        Some((state.action_to_text(win.action, None).unwrap(), win.plies))
    }

    #[test]
    fn a_five_an_open_four_and_none() {
        assert_eq!(found("A1 A9 B1 B9 C1 C9 D1 D9"), Some(("E1".into(), 1)));
        assert_eq!(found("D5 A9 E5 C9 F5 E9").unwrap().1, 3);
        assert_eq!(found("D5 A9 E5 C9"), None);
        // The same three, but White has a four: the only block makes no four.
        assert_eq!(found("D5 A9 E5 B9 F5 C9 J1 D9"), None);
    }

    #[test]
    fn two_fours_that_cross_win_in_five_plies() {
        // A row of three with one end taken and a column of three that cross nowhere yet: a four in the row, then an open four.
        let win = found("A5 H5 B5 H7 C5 J8 E2 J2 E3 A9 E6 C9").unwrap();
        assert!(win.1 <= 5, "{win:?}");
    }

    /// The mover's stones and the opponent's.
    fn stones(state: &dyn State) -> [Points; 2] {
        let points = state.row_len() / 2;
        let mut row = vec![0.0; 2 * points];
        state.encode(&mut row);
        [0, points].map(|plane| {
            let taken = (0..points).filter(|&point| row[plane + point] > 0.0);
            taken.fold(Points::EMPTY, |found, point| found | Points::square(point))
        })
    }

    /// Plies of the shortest win by fours.
    fn by_fours(state: &dyn State) -> Option<u16> {
        let size = (state.row_len() / 2).isqrt();
        Fours::new(size, stones(state)).shortest_win(NODES).map(|win| win.plies)
    }

    /// Plies of the shortest win by fours, by trying every point with the rules alone.
    fn naive(state: &dyn State, fours: u32) -> Option<u16> {
        if state.win_at_once().is_some() {
            return Some(1);
        }
        if fours == 0 {
            return None;
        }
        let mut actions = Vec::new();
        state.legal_actions(&mut actions);
        let mut best: Option<u16> = None;
        for action in actions {
            let mut next = state.clone_box();
            next.play(action);
            if next.outcome().is_some() || next.win_at_once().is_some() {
                continue;
            }
            // What the attacker threatens, whatever the defender does elsewhere: every reply is tried.
            let mut replies = Vec::new();
            next.legal_actions(&mut replies);
            let mut longest = Some(0);
            let mut left = 0;
            for &reply in &replies {
                let mut then = next.clone_box();
                then.play(reply);
                if then.outcome().is_some() || then.win_at_once().is_none() {
                    left += 1;
                    // More than one reply that stops the five: the move was no four.
                    longest = if left > 1 { None } else { longest.and(naive(then.as_ref(), fours - 1)) };
                }
                if longest.is_none() {
                    break;
                }
            }
            let plies = longest.map(|plies| if left == 0 { 3 } else { plies + 2 });
            best = [best, plies].into_iter().flatten().min();
        }
        best
    }

    #[test]
    fn the_same_wins_as_by_trying_every_move() {
        let mut actions = Vec::new();
        let mut wins = 0;
        for seed in 0..60 {
            let mut random = Stream::new(seed);
            let mut state = make_game("gomoku(size=6)").unwrap().initial();
            for _ in 0..12 + seed % 9 {
                if state.outcome().is_none() {
                    let action = state.random_action(&mut random, &mut actions);
                    state.play(action);
                }
            }
            if state.outcome().is_some() {
                continue;
            }
            let plies = by_fours(state.as_ref()).filter(|&plies| plies <= 5);
            assert_eq!(plies, naive(state.as_ref(), 2), "{}", state.notation());
            wins += u32::from(plies.is_some());
        }
        assert!(wins > 5, "{wins} wins");
    }

    /// Positions of random games on 9x9, of 12 stones and more.
    fn random_positions(seeds: std::ops::Range<u64>) -> Vec<Box<dyn State>> {
        let mut actions = Vec::new();
        let mut found = Vec::new();
        for seed in seeds {
            let mut random = Stream::new(seed);
            let mut state = make_game("gomoku(size=9)").unwrap().initial();
            for _ in 0..12 + seed % 24 {
                if state.outcome().is_none() {
                    let action = state.random_action(&mut random, &mut actions);
                    state.play(action);
                }
            }
            found.push(state);
        }
        found
    }

    #[test]
    fn lost_moves_are_those_after_which_the_opponent_has_a_win() {
        let mut actions = Vec::new();
        let mut with_threat = 0;
        for state in random_positions(1000..1400) {
            if state.outcome().is_some() || state.win_at_once().is_some() {
                continue;
            }
            state.legal_actions(&mut actions);
            let mut lost = state.lost_moves(NODES);
            lost.sort_by_key(|loss| loss.action);
            let mut expected = Vec::new();
            for &action in &actions {
                let mut next = state.clone_box();
                next.play(action);
                if by_fours(next.as_ref()).is_some() {
                    expected.push(action);
                }
            }
            let found: Vec<_> = lost.iter().map(|loss| loss.action).collect();
            // A move that gives the opponent a win which a pass would not: none is looked for without a threat.
            if !found.is_empty() {
                assert_eq!(found, expected, "{}", state.notation());
                with_threat += u32::from(found.len() < actions.len());
            }
        }
        assert!(with_threat > 20, "{with_threat} positions");
    }

    #[test]
    fn an_open_three_leaves_its_two_ends() {
        let state = after("A1 D5 A9 E5 J1 F5");
        let lost = state.lost_moves(NODES);
        let mut actions = Vec::new();
        state.legal_actions(&mut actions);
        actions.retain(|action| lost.iter().all(|loss| loss.action != *action));
        let kept: Vec<_> = actions.iter().map(|&action| state.action_to_text(action, None).unwrap()).collect();
        assert_eq!(kept, ["C5", "G5"]);
        assert!(lost.iter().all(|loss| loss.plies == 4), "{lost:?}");
    }

    #[test]
    fn two_threes_at_once_win_without_a_four_before() {
        let mut state = after("D5 A9 E5 J1 F6 A1 F7 J9");
        assert_eq!(by_fours(state.as_ref()), None);
        let win = state.forced_win(NODES).unwrap();
        state.play(win.action);
        assert_eq!(state.outcome(), None);
        assert_eq!(state.lost_moves(NODES).len(), 81 - 9, "a reply stops both");
    }

    #[test]
    fn the_first_move_of_a_win_wins_against_every_reply() {
        let mut actions = Vec::new();
        for seed in 100..160 {
            let mut random = Stream::new(seed);
            let mut state = make_game("gomoku(size=9)").unwrap().initial();
            while state.outcome().is_none() {
                let Some(win) = state.forced_win(1000) else {
                    let action = state.random_action(&mut random, &mut actions);
                    state.play(action);
                    continue;
                };
                let mover = state.to_move();
                let mut left = i32::from(win.plies);
                while state.outcome().is_none() {
                    let next = state.forced_win(NODES).unwrap();
                    assert!(i32::from(next.plies) <= left);
                    state.play(next.action);
                    if state.outcome().is_some() {
                        break;
                    }
                    let reply = state.random_action(&mut random, &mut actions);
                    state.play(reply);
                    left -= 2;
                }
                assert_eq!(state.outcome(), Some(Outcome::Win(mover)));
            }
        }
    }
}
