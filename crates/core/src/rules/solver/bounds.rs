//! What is proven of a result, and how it passes from the edges of a node to the node.

use crate::game::{Outcome, Player};
use crate::stats::Value;

/// Plies to an end whose distance is not known (an oracle's result).
pub const FAR: u16 = u16::MAX;

/// Bounds of the result of an edge, for the mover of the edge's node: -1 loss, 0 draw, 1 win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The mover gets this at least.
    pub lower: i8,
    /// The mover gets this at most.
    pub upper: i8,
    /// The result rests on what was played before (repetition, fifty moves), so it is one of this line of play only.
    pub path_dependent: bool,
    /// Plies to the end of the game, the edge's own move included: the shortest win or the longest loss that was found;
    /// [`FAR`] where only an oracle knows the result. Of use once the bounds meet.
    pub plies: u16,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds::OPEN
    }
}

impl Bounds {
    /// Nothing is proven.
    pub const OPEN: Bounds = Bounds { lower: -1, upper: 1, path_dependent: false, plies: 0 };

    /// A result that is certain, `plies` away.
    pub fn exact(result: i8, plies: u16, path_dependent: bool) -> Self {
        Bounds { lower: result, upper: result, path_dependent, plies }
    }

    /// Nothing is proven.
    #[inline]
    pub fn is_open(self) -> bool {
        self.lower == -1 && self.upper == 1
    }

    /// The result is certain.
    #[inline]
    pub fn is_proven(self) -> bool {
        self.lower == self.upper
    }

    /// The certain result; `None` while the bounds are apart.
    #[inline]
    pub fn result(self) -> Option<i8> {
        self.is_proven().then_some(self.lower)
    }

    /// These bounds and others together; `None` if the others say nothing new.
    pub fn tightened(self, by: Bounds) -> Option<Self> {
        let lower = self.lower.max(by.lower);
        let upper = self.upper.min(by.upper);
        // Bounds that cross come from repeats on different paths; the ones that are known stay.
        let is_new = (lower, upper) != (self.lower, self.upper) && lower <= upper;
        is_new.then_some(Bounds { lower, upper, path_dependent: self.path_dependent | by.path_dependent, ..by })
    }

    /// The value of a certain result.
    pub fn value(self) -> Value {
        debug_assert!(self.is_proven());
        Value { wl: f64::from(self.lower), d: if self.lower == 0 { 1.0 } else { 0.0 } }
    }

    /// These bounds of a node as bounds of the edge that leads to it, whose node has another mover if `flip` is set.
    pub fn seen_from_parent(self, flip: bool) -> Self {
        // What is far stays far: `FAR` is the greatest number.
        let (lower, upper) = if flip { (-self.upper, -self.lower) } else { (self.lower, self.upper) };
        Bounds { lower, upper, plies: self.plies.saturating_add(1), ..self }
    }

    /// A value that is not outside of these bounds.
    pub fn clamp(self, value: Value) -> Value {
        if self.is_proven() {
            return self.value();
        }
        Value { wl: value.wl.clamp(f64::from(self.lower), f64::from(self.upper)), d: value.d }
    }
}

/// Bounds of a node, for its mover, from those of its edges; `complete` when these are all of its edges.
///
/// lower = max lower, upper = max upper, where an edge that is missing has -1 and 1. A win rests on its shortest edge, every
/// other proof on all edges.
pub fn of_node(edges: impl Iterator<Item = Bounds>, complete: bool) -> Bounds {
    let mut node = Bounds { upper: if complete { -1 } else { 1 }, ..Bounds::OPEN };
    let mut longest = 0;
    let mut to_draw = FAR;
    let mut win: Option<Bounds> = None;
    for edge in edges {
        node.lower = node.lower.max(edge.lower);
        node.upper = node.upper.max(edge.upper);
        node.path_dependent |= edge.path_dependent;
        longest = longest.max(edge.plies);
        match edge.result() {
            Some(1) if win.is_none_or(|win| edge.plies < win.plies) => win = Some(edge),
            Some(0) => to_draw = to_draw.min(edge.plies),
            _ => (),
        }
    }
    match (win, node.result()) {
        // One winning reply proves a node, so the others' dependence on the past does not matter.
        (Some(win), _) => win,
        (None, Some(0)) => Bounds { plies: to_draw, ..node },
        (None, Some(_)) => Bounds { plies: longest, ..node },
        (None, None) => node,
    }
}

/// The result of a finished game for a player.
pub fn result_for(outcome: Outcome, player: Player) -> i8 {
    match outcome {
        Outcome::Draw => 0,
        Outcome::Win(winner) if winner == player => 1,
        Outcome::Win(_) => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds((lower, upper): (i8, i8)) -> Bounds {
        Bounds { lower, upper, ..Bounds::OPEN }
    }

    #[test]
    fn bounds_of_a_parent() {
        let win = (1, 1);
        let draw = (0, 0);
        let loss = (-1, -1);
        let open = (-1, 1);
        let table = [
            ([win, open], (-1, -1)),
            ([loss, loss], (1, 1)),
            ([loss, draw], (0, 0)),
            ([loss, open], (-1, 1)),
            ([draw, open], (-1, 0)),
            ([draw, draw], (0, 0)),
            ([(-1, 0), loss], (0, 1)),
            ([(-1, 0), draw], (0, 0)),
            ([(0, 1), open], (-1, 0)),
            ([(0, 1), loss], (-1, 0)),
        ];
        for (children, parent) in table {
            let found = of_node(children.into_iter().map(bounds), true).seen_from_parent(true);
            assert_eq!((found.lower, found.upper), parent, "{children:?}");
        }
        assert!(of_node([bounds(loss)].into_iter(), false).is_open());
    }

    #[test]
    fn wins_are_short_and_losses_long() {
        let wins = [Bounds::exact(1, 5, false), Bounds::OPEN, Bounds::exact(1, 3, true), Bounds::exact(1, FAR, false)];
        assert_eq!(of_node(wins.into_iter(), false), Bounds::exact(1, 3, true));
        let losses = [Bounds::exact(-1, 4, false), Bounds::exact(-1, 2, true)];
        assert_eq!(of_node(losses.into_iter(), true), Bounds::exact(-1, 4, true));
        assert_eq!(Bounds::exact(-1, FAR, false).seen_from_parent(true), Bounds::exact(1, FAR, false));
        let draws = [Bounds::exact(0, 7, false), Bounds::exact(-1, 9, false), Bounds::exact(0, 3, false)];
        assert_eq!(of_node(draws.into_iter(), true), Bounds::exact(0, 3, false));
    }

    #[test]
    fn bounds_only_tighten() {
        let draw_at_least = bounds((0, 1));
        assert_eq!(draw_at_least.tightened(Bounds::OPEN), None);
        assert_eq!(draw_at_least.tightened(draw_at_least), None);
        assert_eq!(draw_at_least.tightened(bounds((-1, 0))), Some(bounds((0, 0))));
        assert_eq!(draw_at_least.tightened(Bounds::exact(1, 3, true)), Some(Bounds::exact(1, 3, true)));
        assert_eq!(Bounds::exact(1, 5, false).tightened(Bounds::exact(1, 3, false)), None);
    }

    #[test]
    fn values_keep_within_bounds() {
        let value = Value { wl: -0.4, d: 0.3 };
        assert_eq!(bounds((0, 1)).clamp(value), Value { wl: 0.0, d: 0.3 });
        assert_eq!(bounds((-1, 0)).clamp(value), value);
        assert_eq!(bounds((0, 0)).clamp(value), Value { wl: 0.0, d: 1.0 });
        assert_eq!(bounds((1, 1)).clamp(value), Value { wl: 1.0, d: 0.0 });
    }
}
