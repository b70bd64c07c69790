use proptest::prelude::*;

use super::*;

/// The rules read literally, on a list of points: 0 empty, 1 Black, 2 White.
struct Naive {
    rows: usize,
    columns: usize,
    points: Vec<u8>,
}

impl Naive {
    fn neighbours(&self, point: usize) -> Vec<usize> {
        let r = point / self.columns;
        let c = point % self.columns;
        let mut all = Vec::new();
        if r > 0 {
            all.push(point - self.columns);
        }
        if r + 1 < self.rows {
            all.push(point + self.columns);
        }
        if c > 0 {
            all.push(point - 1);
        }
        if c + 1 < self.columns {
            all.push(point + 1);
        }
        all
    }

    fn has_liberty(&self, point: usize) -> bool {
        let mut seen = vec![point];
        let mut stack = vec![point];
        while let Some(here) = stack.pop() {
            for next in self.neighbours(here) {
                if self.points[next] == 0 {
                    return true;
                }
                if self.points[next] == self.points[point] && !seen.contains(&next) {
                    seen.push(next);
                    stack.push(next);
                }
            }
        }
        false
    }

    /// Legal: the point is empty, and after the move every chain on the board has a liberty.
    fn legal(&mut self, colour: u8) -> Vec<usize> {
        let count = self.points.len();
        let mut legal = Vec::new();
        for point in 0..count {
            if self.points[point] == 0 {
                self.points[point] = colour;
                if (0..count).all(|p| self.points[p] == 0 || self.has_liberty(p)) {
                    legal.push(point);
                }
                self.points[point] = 0;
            }
        }
        legal
    }
}

fn agrees_along_a_random_game<const W: usize>(rows: usize, columns: usize, choices: &[u16]) {
    let mut position = Position::<W>::new(rows, columns);
    let mut naive = Naive { rows, columns, points: vec![0; rows * columns] };
    for choice in choices {
        for player in [Player::First, Player::Second] {
            assert_eq!(position.legal(player).squares().collect::<Vec<_>>(), naive.legal(player as u8 + 1));
        }
        let mut legal = Vec::new();
        position.legal_actions(&mut legal);
        assert_eq!(legal.is_empty(), position.outcome().is_some());
        if legal.is_empty() {
            return;
        }
        let action = legal[usize::from(*choice) % legal.len()];
        naive.points[usize::from(action)] = position.to_move() as u8 + 1;
        position.play(action);
    }
    panic!("a game of {rows}x{columns} lasts at most {} plies", rows * columns - 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn legal_sets_agree_with_the_rules_read_literally(
        rows in 2..=13usize, columns in 2..=13usize, choices in prop::collection::vec(any::<u16>(), 169)
    ) {
        match (rows * columns).div_ceil(64) {
            1 => agrees_along_a_random_game::<1>(rows, columns, &choices),
            2 => agrees_along_a_random_game::<2>(rows, columns, &choices),
            _ => agrees_along_a_random_game::<3>(rows, columns, &choices),
        }
    }
}
