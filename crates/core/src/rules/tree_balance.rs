//! Tree balance: edges after which the opponent has few replies are explored more (place 3), or valued more (place 1).

use crate::rules::Rule;
use crate::rules::setting::{ParamsError, choices, settings, within};

choices! {
    /// Which form.
    pub enum TreeBalanceMode {
        /// (mean / replies)^many or ^few, clipped, then divided by its mean under the priors.
        Normalised,
        /// The fork's b = (mean / replies / scale)^left or ^right.
        Legacy,
        /// The fork's version 2.0: b = min(mean / replies / scale, 1)^left.
        Capped,
        /// Q += (mean - replies - scale) left, in place of a factor.
        Additive,
        /// Q += (mean - replies - scale) / mean * left.
        AdditiveRelative,
    }
}

settings! {
    /// Tree balance: edges after which there are few replies are explored more.
    TreeBalance: Copy + check_more {
        /// The clean form, or one of the fork's.
        mode: TreeBalanceMode = TreeBalanceMode::Normalised;
        /// Exponent where there are more replies than the mean (`normalised`).
        many: f64 = 1.0, 0.0 => 10.0;
        /// Exponent where there are fewer (`normalised`).
        few: f64 = 0.2, 0.0 => 10.0;
        /// Divide by the mean factor under the priors, so that c_puct keeps its meaning (`normalised`).
        normalise: bool = true;
        /// Factors are clipped to 1 / clip ... clip (`normalised`).
        clip: f64 = 4.0, 1.0 => 1e6;
        /// The fork's --tree-balance.
        scale: f64 = 1.1, -1000.0 => 1000.0;
        /// The fork's --tree-scale-left.
        left: f64 = 2.0, -100.0 => 100.0;
        /// The fork's --tree-scale-right.
        right: f64 = 0.3, -1.0 => 100.0;
        /// Additive forms act while an edge has at most this number of visits.
        until: Option<u32> = None, 0.0 => 4e9;
    }
}

impl Rule for TreeBalance {
    fn is_neutral(&self) -> bool {
        match self.mode {
            TreeBalanceMode::Normalised => self.many == 0.0 && self.few == 0.0,
            TreeBalanceMode::Legacy => self.left == 0.0 && self.right == 0.0,
            TreeBalanceMode::Capped | TreeBalanceMode::Additive | TreeBalanceMode::AdditiveRelative => self.left == 0.0,
        }
    }

    fn changes_scores(&self) -> bool {
        true
    }

    fn goes_with_two_nets(&self) -> bool {
        true
    }

    fn against_graph(&self) -> Option<&'static str> {
        Some("")
    }

    fn is_asked(&self) -> bool {
        false
    }
}

impl TreeBalance {
    fn check_more(&self) -> Result<(), ParamsError> {
        let least = if self.is_additive() { -1000.0 } else { 0.01 };
        within("scale, but in the additive modes,", self.scale, least, 1000.0)
    }

    /// Something is added to Q, and no factor is there.
    pub fn is_additive(&self) -> bool {
        matches!(self.mode, TreeBalanceMode::Additive | TreeBalanceMode::AdditiveRelative)
    }

    /// The factor of U of an edge after which there are `replies` legal moves (0 = the game is over), `mean` over all edges.
    pub fn factor(&self, replies: f64, mean: f64) -> f64 {
        match self.mode {
            // The game is over there: divided by 0, the edge would be explored without end.
            TreeBalanceMode::Normalised if replies == 0.0 => 1.0,
            TreeBalanceMode::Normalised => {
                // Many replies and few may count differently: the one is uncertainty, the other is force.
                let exponent = if replies > mean { self.many } else { self.few };
                (mean / replies).powf(exponent).clamp(1.0 / self.clip, self.clip)
            }
            TreeBalanceMode::Legacy | TreeBalanceMode::Capped => self.legacy_factor(replies, mean),
            TreeBalanceMode::Additive | TreeBalanceMode::AdditiveRelative => 1.0,
        }
    }

    fn legacy_factor(&self, replies: f64, mean: f64) -> f64 {
        let b = if replies == 0.0 { 1.0 } else { mean / replies } / self.scale;
        if b < 1.0 {
            b.powf(self.left)
        } else if self.mode == TreeBalanceMode::Legacy {
            b.powf(self.right)
        } else {
            1.0
        }
    }

    /// What is added to Q of an edge with these replies, `mean` over all edges, while it has few visits.
    pub fn bonus(&self, replies: f64, mean: f64) -> f64 {
        match self.mode {
            _ if replies == 0.0 => 0.0,
            TreeBalanceMode::Additive => (mean - replies - self.scale) * self.left,
            TreeBalanceMode::AdditiveRelative => (mean - replies - self.scale) / mean * self.left,
            _ => 0.0,
        }
    }

    /// Something is added to Q of an edge with `visits` visits.
    pub fn adds(&self, visits: u32) -> bool {
        self.until.is_none_or(|until| visits <= until)
    }

    /// Factors are divided by their mean under the priors.
    pub fn is_normalised(&self) -> bool {
        self.mode == TreeBalanceMode::Normalised && self.normalise
    }
}
