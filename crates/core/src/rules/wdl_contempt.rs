//! WDL contempt of lc0: the network's win, draw and loss are shifted as if one side were stronger.

use serde::{Deserialize, Serialize};

use crate::params::{ParamsError, within};

/// Which side the contempt is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContemptMode {
    /// The player to move at the root.
    Play,
    /// White, the first player.
    WhiteSideAnalysis,
    /// Black, the second player.
    BlackSideAnalysis,
    /// Nobody.
    Disable,
}

/// Settings of the rule; names and defaults of lc0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WdlContempt {
    /// Elo by which the contempt side is stronger.
    pub contempt: f64,
    /// Which side the contempt is of.
    pub mode: ContemptMode,
    /// Greatest |contempt| that counts.
    pub max_value: f64,
    /// Elo of the contempt side; 0 = unknown, `contempt` acts alone.
    pub calibration_elo: f64,
    /// Draw rate that the network was trained at.
    pub draw_rate_reference: f64,
    /// Draw rate to assume; 0 = as it is. Only without `calibration_elo`.
    pub draw_rate_target: f64,
    /// Factor of the shift.
    pub attenuation: f64,
    /// Greatest sharpness s that is kept.
    pub max_s: f64,
    /// Score of a typical opening's end, for the conversion of Elo.
    pub book_exit_bias: f64,
    /// 1: reported values are those of an even game; 0: those that the search used.
    pub eval_objectivity: f64,
}

impl Default for WdlContempt {
    fn default() -> Self {
        WdlContempt {
            contempt: 0.0,
            mode: ContemptMode::Play,
            max_value: 420.0,
            calibration_elo: 0.0,
            draw_rate_reference: 0.5,
            draw_rate_target: 0.0,
            attenuation: 1.0,
            max_s: 1.4,
            book_exit_bias: 0.65,
            eval_objectivity: 1.0,
        }
    }
}

impl WdlContempt {
    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("wdl_contempt.contempt", self.contempt, -10_000.0, 10_000.0)?;
        within("wdl_contempt.max_value", self.max_value, 0.0, 10_000.0)?;
        within("wdl_contempt.calibration_elo", self.calibration_elo, 0.0, 10_000.0)?;
        within("wdl_contempt.draw_rate_reference", self.draw_rate_reference, 1e-4, 0.9999)?;
        within("wdl_contempt.draw_rate_target", self.draw_rate_target, 0.0, 0.9999)?;
        within("wdl_contempt.attenuation", self.attenuation, -10.0, 10.0)?;
        within("wdl_contempt.max_s", self.max_s, 0.0, 10.0)?;
        within("wdl_contempt.book_exit_bias", self.book_exit_bias, -2.0, 2.0)?;
        within("wdl_contempt.eval_objectivity", self.eval_objectivity, 0.0, 1.0)
    }
}
