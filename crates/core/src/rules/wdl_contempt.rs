//! WDL contempt of lc0: the network's win, draw and loss are shifted as if one side were stronger.

use crate::game::Player;
use crate::math::arithmetic::Arithmetic;
use crate::rules::Rule;
use crate::rules::setting::{ParamsError, choices, settings, within};
use crate::stats::Value;

/// A share of wins, draws or losses that is no greater leaves a value unchanged: the logistic parameters would say nothing.
const MIN_SHARE: f64 = 1e-4;
/// Elo from which on an advantage counts less, and over how many Elo that sets in.
const SOFT_ELO: (f64, f64) = (2737.0, 250.0);
/// The sharpness of players by their Elo: s(e) = 1 / (1 / ZERO + exp(e / SLOPE - OFFSET)).
const SLOPE: f64 = 425.0;
const OFFSET: f64 = 6.75;
const ZERO: f64 = 15.0;

choices! {
    /// Which side the contempt is of.
    pub enum ContemptMode {
        /// The player to move at the root of the search.
        Play,
        /// White, the first player.
        WhiteSideAnalysis,
        /// Black, the second player.
        BlackSideAnalysis,
        /// No side.
        Disable,
    }
}

settings! {
    /// WDL contempt of lc0: the network's win, draw and loss are shifted as if one side were stronger.
    WdlContempt: Copy + check_more {
        /// Elo by which the contempt side is stronger.
        contempt: f64 = 0.0, -10_000.0 => 10_000.0;
        /// The side that the contempt is of; play: the player to move at the root.
        mode: ContemptMode = ContemptMode::Play;
        /// Greatest |contempt| that counts.
        max_value: f64 = 420.0, 0.0 => 10_000.0;
        /// Elo of the contempt side; 0: unknown, `contempt` acts alone.
        calibration_elo: f64 = 0.0, 0.0 => 10_000.0;
        /// Draw rate that the network was trained at.
        draw_rate_reference: f64 = 0.5, 1e-4 => 0.9999;
        /// Draw rate to assume; 0: unchanged. Only without `calibration_elo`.
        draw_rate_target: f64 = 0.0, 0.0 => 0.9999;
        /// Factor of the shift.
        attenuation: f64 = 1.0, -10.0 => 10.0;
        /// Greatest sharpness s that is kept.
        max_s: f64 = 1.4, 0.01 => 10.0;
        /// mu of the positions in which books end, where `contempt` counts in full. Only without `calibration_elo`.
        book_exit_bias: f64 = 0.65, -2.0 => 2.0;
        /// Share of the shift that reports take back. 1: values of an even game; 0: those that the search used.
        eval_objectivity: f64 = 1.0, 0.0 => 1.0;
    }
}

impl Rule for WdlContempt {
    fn is_neutral(&self) -> bool {
        let (ratio, diff) = self.ratio_and_diff();
        ratio == 1.0 && (diff == 0.0 || self.mode == ContemptMode::Disable)
    }
}

impl WdlContempt {
    fn check_more(&self) -> Result<(), ParamsError> {
        if self.draw_rate_target != 0.0 {
            within("draw_rate_target, unless 0,", self.draw_rate_target, 1e-3, 0.9999)?;
        }
        Ok(())
    }

    /// The player whom the values favour in a search from a root with this mover.
    pub fn side(&self, root_mover: Player) -> Option<Player> {
        match self.mode {
            ContemptMode::Play => Some(root_mover),
            ContemptMode::WhiteSideAnalysis => Some(Player::First),
            ContemptMode::BlackSideAnalysis => Some(Player::Second),
            ContemptMode::Disable => None,
        }
    }

    /// What sharpness is multiplied by, and the shift of mu in units of s^2.
    pub fn ratio_and_diff(&self) -> (f64, f64) {
        let reference = sharpness_at(self.draw_rate_reference);
        if self.calibration_elo == 0.0 { self.by_draw_rate(reference) } else { self.by_elo(reference) }
    }

    /// Contempt alone: an Elo advantage at the positions in which books end, at mu = +-bias, moves mu by
    ///
    /// diff = s_t / s_ref^2 / (sech^2((1 - bias) / (2 s_t)) + sech^2((1 + bias) / (2 s_t))) ln 10 / 200 contempt attenuation
    fn by_draw_rate(&self, reference: f64) -> (f64, f64) {
        let target = if self.draw_rate_target == 0.0 { reference } else { sharpness_at(self.draw_rate_target) };
        let slope = |bias: f64| 1.0 / (0.5 * (1.0 + bias) / target).cosh().powi(2);
        let slopes = slope(-self.book_exit_bias) + slope(self.book_exit_bias);
        let advantage = self.contempt.clamp(-self.max_value, self.max_value);
        let elo = std::f64::consts::LN_10 / 200.0 * advantage * self.attenuation;
        (target / reference, target / (reference * reference) / slopes * elo)
    }

    /// The contempt side has `calibration_elo`, its opponent `contempt` less: the mean square of their sharpnesses, and the
    /// difference of their mu in an equal position, in units of s_ref^2.
    fn by_elo(&self, reference: f64) -> (f64, f64) {
        let own = softened(self.calibration_elo);
        let opponent = softened(self.calibration_elo - self.contempt);
        let sharpness = |elo: f64| 1.0 / (1.0 / ZERO + (elo / SLOPE - OFFSET).exp());
        let target = ((sharpness(own).powi(2) + sharpness(opponent).powi(2)) / 2.0).sqrt();
        let diff = (mu_of_elo(own) - mu_of_elo(opponent)) / (reference * reference) * self.attenuation;
        (target / reference, diff)
    }
}

/// s of players who draw this share of games from equal positions: 1 / ln((1 + D) / (1 - D)).
fn sharpness_at(draw_rate: f64) -> f64 {
    1.0 / ((1.0 + draw_rate) / (1.0 - draw_rate)).ln()
}

/// Elo on a scale on which equal differences mean the same among weak players too: e + 125 ln(1 + exp((2737 - e) / 250)).
fn softened(elo: f64) -> f64 {
    let (from, width) = SOFT_ELO;
    elo + width / 2.0 * (1.0 + ((from - elo) / width).exp()).ln()
}

/// mu of a player with this (softened) Elo: -ln 10 / 200 * 15 * 425 ln(1 + exp(6.75 - e / 425) / 15).
fn mu_of_elo(elo: f64) -> f64 {
    let logarithm = (1.0 + (OFFSET - elo / SLOPE).exp() / ZERO).ln();
    -std::f64::consts::LN_10 / 200.0 * ZERO * SLOPE * logarithm
}

/// What the rule does to values, computed from its settings once.
#[derive(Clone, Copy, Debug)]
pub struct Rescale {
    rule: WdlContempt,
    ratio: f64,
    diff: f64,
    arithmetic: Arithmetic,
}

impl Rescale {
    /// Of a rule that is on, and the arithmetic of its search.
    pub fn new(rule: WdlContempt, arithmetic: Arithmetic) -> Rescale {
        let (ratio, diff) = rule.ratio_and_diff();
        Rescale { rule, ratio, diff, arithmetic }
    }

    /// A value of the network as the search takes it; `sign`: +1 for a mover whom the values favour, -1 for the other, 0: none.
    ///
    /// s = min(2 / (a + b), max_s) and mu = (a - b) / (a + b) with a = ln(1 / l - 1), b = ln(1 / w - 1) become s' = s ratio and
    /// mu' = mu + sign s^2 diff; then w' = logistic((mu' - 1) / s'), l' = logistic((-mu' - 1) / s'), d' = 1 - w' - l'.
    pub fn shifted(&self, value: Value, sign: f64) -> Value {
        let Some((s, mu)) = self.logistic_parameters(value) else { return value };
        let s = s.min(self.rule.max_s);
        self.value_of(s * self.ratio, mu + sign * s * s * self.diff)
    }

    /// A value of the search as reported: the shift is taken back, times `eval_objectivity`; the sharpness stays.
    pub fn reported(&self, value: Value, sign: f64) -> Value {
        let Some((s, mu)) = self.logistic_parameters(value) else { return value };
        // The shift was made with the sharpness before the ratio, so it is taken back with that.
        let before = (s / self.ratio).min(self.rule.max_s);
        self.value_of(s, mu - sign * before * before * self.diff * self.rule.eval_objectivity)
    }

    fn logistic_parameters(&self, value: Value) -> Option<(f64, f64)> {
        let d = f64::from(value.d);
        let w = (1.0 + value.wl - d) / 2.0;
        let l = (1.0 - value.wl - d) / 2.0;
        // The logistic parameters go to infinity there: a certain result has no sharpness.
        if w.min(l).min(d) <= MIN_SHARE {
            return None;
        }
        let a = self.arithmetic.ln(1.0 / l - 1.0);
        let b = self.arithmetic.ln(1.0 / w - 1.0);
        Some((2.0 / (a + b), (a - b) / (a + b)))
    }

    fn value_of(&self, s: f64, mu: f64) -> Value {
        let w = self.arithmetic.logistic((mu - 1.0) / s);
        let l = self.arithmetic.logistic((-mu - 1.0) / s);
        Value { wl: w - l, d: (1.0 - w - l).max(0.0) as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rescale(rule: WdlContempt) -> Rescale {
        Rescale::new(rule, Arithmetic::Exact)
    }

    #[test]
    fn neutral_settings() {
        assert!(WdlContempt::default().is_neutral());
        assert!(!WdlContempt { contempt: 100.0, ..Default::default() }.is_neutral());
        assert!(!WdlContempt { draw_rate_target: 0.3, ..Default::default() }.is_neutral());
        assert!(WdlContempt { contempt: 100.0, mode: ContemptMode::Disable, ..Default::default() }.is_neutral());
    }

    #[test]
    fn a_report_takes_the_shift_back() {
        let rule = WdlContempt { contempt: 200.0, ..Default::default() };
        let value = Value { wl: 0.1, d: 0.5 };
        let shifted = rescale(rule).shifted(value, 1.0);
        assert!(shifted.wl > 0.2, "{shifted:?}");
        let reported = rescale(rule).reported(shifted, 1.0);
        assert!((reported.wl - value.wl).abs() < 1e-6 && (reported.d - value.d).abs() < 1e-6, "{reported:?}");
        let as_searched = WdlContempt { eval_objectivity: 0.0, ..rule };
        assert!((rescale(as_searched).reported(shifted, 1.0).wl - shifted.wl).abs() < 1e-6);
    }

    #[test]
    fn certain_results_stay() {
        let rule = WdlContempt { contempt: 200.0, ..Default::default() };
        for value in [Value { wl: 1.0, d: 0.0 }, Value { wl: 0.0, d: 1.0 }, Value { wl: 0.5, d: 0.0 }] {
            assert_eq!(rescale(rule).shifted(value, 1.0), value);
        }
    }
}
