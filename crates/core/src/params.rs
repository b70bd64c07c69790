//! All that the search can be told. Mirrors `hauteur.config.SearchParams`, from which it comes as JSON.
//!
//! Every published rule has one optional section; absent means off, and all off is plain PUCT.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A parameter outside its range, or JSON that is no `SearchParams`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ParamsError(String);

/// Exploration of PUCT: c_puct(N) = init + factor ln((N + base) / base), N = visits of the parent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cpuct {
    /// c_puct of a young node.
    pub init: f64,
    /// Visits at which growth sets in.
    pub base: f64,
    /// Strength of the growth; 0 = constant.
    pub factor: f64,
}

impl Default for Cpuct {
    fn default() -> Self {
        Cpuct { init: 1.745, base: 38739.0, factor: 3.894 }
    }
}

impl Cpuct {
    /// c_puct at a node with `n` visits.
    #[inline]
    pub fn at(&self, n: f64) -> f64 {
        if self.factor == 0.0 { self.init } else { self.init + self.factor * ((n + self.base) / self.base).ln() }
    }
}

/// How the Q of an edge without visits is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FpuKind {
    /// Q of the parent - value * sqrt(sum of the priors of visited edges).
    Reduction,
    /// The value itself.
    Absolute,
}

/// First-play urgency: the Q of an edge without visits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fpu {
    /// Which formula.
    pub kind: FpuKind,
    /// Its parameter.
    pub value: f64,
}

impl Default for Fpu {
    fn default() -> Self {
        Fpu { kind: FpuKind::Reduction, value: 0.33 }
    }
}

/// Noise on the root's priors: P <- (1 - epsilon) P + epsilon Dir(alpha).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dirichlet {
    /// Share of the noise, 0..=1.
    pub epsilon: f64,
    /// Concentration, > 0.
    pub alpha: f64,
}

impl Default for Dirichlet {
    fn default() -> Self {
        Dirichlet { epsilon: 0.25, alpha: 0.3 }
    }
}

/// The exponential function of the softmax that makes priors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exponential {
    /// exp(x).
    #[default]
    Exact,
    /// lc0's polynomial, off by up to 0.4 %: gives the very priors of lc0, for comparing searches with it.
    Fast,
}

impl Exponential {
    /// The exponential of a number that is not positive.
    #[inline]
    pub fn of(self, x: f64) -> f64 {
        match self {
            Exponential::Exact => x.exp(),
            Exponential::Fast => f64::from(fast_exp(x as f32)),
        }
    }
}

/// exp(x) = 2^(k + f) with k whole and 0 <= f < 1, and 2^f ~ 1 + f (0.6602339 + 0.33976606 f); 0 below 2^-126.
fn fast_exp(x: f32) -> f32 {
    let power = std::f32::consts::LOG2_E * x;
    if power < -126.0 {
        return 0.0;
    }
    let whole = power.floor();
    let rest = power - whole;
    let mantissa = 1.0 + rest * (0.660_233_9 + 0.339_766_06 * rest);
    mantissa * f32::from_bits(((whole as i32 + 127) as u32) << 23)
}

/// All that the search can be told; see the Python class of the same name for ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchParams {
    /// Exploration below the root (and at it, unless `root_cpuct` is given).
    pub cpuct: Cpuct,
    /// Exploration at the root.
    pub root_cpuct: Option<Cpuct>,
    /// First-play urgency below the root (and at it, unless `root_fpu` is given).
    pub fpu: Fpu,
    /// First-play urgency at the root.
    pub root_fpu: Option<Fpu>,
    /// Priors are softmax(logits / temperature).
    pub policy_temperature: f64,
    /// The exponential in that softmax.
    pub policy_exponential: Exponential,
    /// The temperature for the priors that the root selects with; stored priors keep `policy_temperature`.
    pub root_policy_temperature: Option<f64>,
    /// Noise on the root's priors.
    pub dirichlet: Option<Dirichlet>,
    /// Value of a draw for the first player, -1..=1.
    pub draw_score: f64,
    /// Keep the subtree of the played action on `advance`.
    pub reuse_tree: bool,
    /// Rows that one tree may have in flight; 0 = its share of the batch, 1 = exactly sequential search.
    pub max_in_flight: u32,
    /// Visits that may end at a leaf already in flight before a gather leaves the tree.
    pub max_collisions: u32,
    /// Positions in the evaluation cache of the forest; 0 = none.
    pub cache_size: usize,
    /// Bytes a tree may take before it stops growing; 0 = no cap.
    pub max_tree_bytes: u64,
}

impl Default for SearchParams {
    fn default() -> Self {
        SearchParams {
            cpuct: Cpuct::default(),
            root_cpuct: None,
            fpu: Fpu::default(),
            root_fpu: None,
            policy_temperature: 1.359,
            policy_exponential: Exponential::Exact,
            root_policy_temperature: None,
            dirichlet: None,
            draw_score: 0.0,
            reuse_tree: true,
            max_in_flight: 0,
            max_collisions: 32,
            cache_size: 200_000,
            max_tree_bytes: 0,
        }
    }
}

impl SearchParams {
    /// Reads and checks JSON.
    pub fn from_json(json: &str) -> Result<Self, ParamsError> {
        let params: SearchParams =
            serde_json::from_str(json).map_err(|error| ParamsError(format!("SearchParams: {error}")))?;
        params.check()?;
        Ok(params)
    }

    /// Fails on the first parameter outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        for (name, cpuct) in [("cpuct", Some(self.cpuct)), ("root_cpuct", self.root_cpuct)] {
            let Some(cpuct) = cpuct else { continue };
            within(&format!("{name}.init"), cpuct.init, 0.0, 100.0)?;
            within(&format!("{name}.base"), cpuct.base, 1.0, 1e9)?;
            within(&format!("{name}.factor"), cpuct.factor, 0.0, 1000.0)?;
        }
        for (name, fpu) in [("fpu", Some(self.fpu)), ("root_fpu", self.root_fpu)] {
            let Some(fpu) = fpu else { continue };
            within(&format!("{name}.value"), fpu.value, -100.0, 100.0)?;
        }
        within("policy_temperature", self.policy_temperature, 1e-3, 100.0)?;
        within("root_policy_temperature", self.root_policy_temperature.unwrap_or(1.0), 1e-3, 100.0)?;
        if let Some(noise) = self.dirichlet {
            within("dirichlet.epsilon", noise.epsilon, 0.0, 1.0)?;
            within("dirichlet.alpha", noise.alpha, 1e-6, 1000.0)?;
        }
        within("draw_score", self.draw_score, -1.0, 1.0)?;
        within("max_collisions", f64::from(self.max_collisions), 1.0, 30_000.0)
    }
}

fn within(name: &str, value: f64, least: f64, most: f64) -> Result<(), ParamsError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParamsError(format!("SearchParams.{name} must be {least} to {most}, got {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_and_errors() {
        let params = SearchParams { dirichlet: Some(Dirichlet::default()), ..Default::default() };
        let json = serde_json::to_string(&params).unwrap();
        assert_eq!(SearchParams::from_json(&json).unwrap(), params);
        assert_eq!(SearchParams::from_json("{}").unwrap(), SearchParams::default());
        let unknown = SearchParams::from_json(r#"{"cput": 1}"#).unwrap_err().to_string();
        assert!(unknown.contains("cput"), "{unknown}");
        let range = SearchParams::from_json(r#"{"cpuct": {"init": -1}}"#).unwrap_err().to_string();
        assert_eq!(range, "SearchParams.cpuct.init must be 0 to 100, got -1");
    }

    #[test]
    fn the_fast_exponential_is_within_half_a_per_cent() {
        for step in 0..8000 {
            let x = -f64::from(step) / 100.0;
            let (fast, exact) = (Exponential::Fast.of(x), Exponential::Exact.of(x));
            assert!((fast / exact - 1.0).abs() < 5e-3, "exp({x}): {fast} {exact}");
        }
        assert_eq!(Exponential::Fast.of(0.0), 1.0);
        assert_eq!(Exponential::Fast.of(-1000.0), 0.0);
    }
}
