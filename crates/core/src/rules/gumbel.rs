//! Gumbel root (Danihelka et al. 2022): actions are sampled without replacement and halved sequentially; completed Q.

use serde::{Deserialize, Serialize};

use crate::params::{ParamsError, within};

/// Settings of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gumbel {
    /// m: actions that are considered at the root, 1 or more.
    pub considered: u32,
    /// sigma(q) = (c_visit + max_b N(b)) c_scale q.
    pub c_visit: f64,
    /// See `c_visit`.
    pub c_scale: f64,
    /// Factor of the Gumbel noise; 0 = none, the search is deterministic.
    pub noise: f64,
}

impl Default for Gumbel {
    fn default() -> Self {
        Gumbel { considered: 16, c_visit: 50.0, c_scale: 1.0, noise: 1.0 }
    }
}

impl Gumbel {
    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("gumbel.considered", f64::from(self.considered), 1.0, 65_535.0)?;
        within("gumbel.c_visit", self.c_visit, 0.0, 1e6)?;
        within("gumbel.c_scale", self.c_scale, 0.0, 1e3)?;
        within("gumbel.noise", self.noise, 0.0, 10.0)
    }
}
