//! WDL contempt in a search: for whom the tree's values are shifted, and what reports take back.

use crate::game::Player;
use crate::search::Search;
use crate::stats::Value;

impl Search {
    /// The network's value of a position with this mover, as the search takes it.
    #[inline]
    pub(super) fn contempt_value(&self, mover: Player, value: Value) -> Value {
        match &self.setup.contempt {
            None => value,
            Some(rescale) => rescale.shifted(value, self.contempt_sign(mover)),
        }
    }

    /// A value of the search for this player, as reported.
    pub fn reported(&self, player: Player, value: Value) -> Value {
        match &self.setup.contempt {
            None => value,
            Some(rescale) => rescale.reported(value, self.contempt_sign(player)),
        }
    }

    fn contempt_sign(&self, player: Player) -> f64 {
        match self.rules.contempt_side {
            None => 0.0,
            Some(side) if side == player => 1.0,
            Some(_) => -1.0,
        }
    }

    /// Whether the tree was grown for the side of this root, as far as sides differ.
    #[inline]
    pub(super) fn favours_right_side(&self) -> bool {
        !self.grown_for_other() && (self.setup.contempt.is_none() || self.wanted_side() == self.rules.contempt_side)
    }

    fn wanted_side(&self) -> Option<Player> {
        self.setup.params.wdl_contempt.and_then(|rule| rule.side(self.root_state().to_move()))
    }

    /// Before a search: a tree that was grown for another side than the one of this root is begun anew.
    #[inline]
    pub(super) fn settle_contempt(&mut self) {
        // Values were shifted for the other side when they were backed up, and a mean cannot be shifted
        // afterwards.
        if !self.favours_right_side() {
            debug_assert_eq!(self.rows_in_flight(), 0);
            self.reset();
            self.rules.contempt_side = self.wanted_side();
        }
    }
}
