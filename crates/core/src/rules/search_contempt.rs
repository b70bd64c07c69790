//! Search-contempt (Joshi 2025): the opponent's visits are frozen after N_scl of them and sampled from then on.
//!
//! At the root and wherever the root's player moves: PUCT. At every *opponent node* s (its mover is not the root's mover):
//!
//! * while `sum_b N(s, b) < N_scl`: PUCT;
//! * the visit that finds `sum_b N(s, b) >= N_scl` for the first time freezes `N_scl(s, a) := N(s, a)` (completed visits only)
//!   and is itself sampled already (the paper lets PUCT act once more; the weights are the same);
//! * from then on every visit draws a child, independently, with probability `N_scl(s, a)^(1/T) / sum_b N_scl(s, b)^(1/T)`.
//!
//! A tree that was grown for one player at its root is of no use to the other one, and is begun anew.
//! Backup is unchanged. A negative `n_scl` freezes the nodes of the root's player instead, the root excepted.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rules::Rule;
use crate::rules::setting::{Setting, settings};
use crate::stats::EdgeStats;

/// N_scl from which the rule is off.
pub const OFF: i64 = 1_000_000_000;

settings! {
    /// Search-contempt (Joshi 2025): the opponent's visits freeze after N_scl of them and are sampled from then on.
    SearchContempt {
        /// Visits of its children at which an opponent node freezes; negative: the root player's own nodes freeze; 0, with
        /// `opponent_net` alone: every visit draws from the model's priors.
        n_scl: i64 = OFF, -1e9 => 1e9;
        /// Frozen weights are N_scl(s, a)^(1 / temperature).
        temperature: f64 = 1.0, 1e-3 => 100.0;
        /// Share of a frozen node's visits that are sampled; the others stay PUCT.
        sampling_ratio: f64 = 1.0, 0.0 => 1.0;
        /// The ratio by visits of the node, "1000:0.5 8000:0.9"; before the first step `sampling_ratio`.
        ratio_schedule: RatioSchedule = RatioSchedule::default();
        /// Opponent nodes take no proof from replies outside their frozen support.
        proofs_respect_contempt: bool = false;
    }
}

impl Rule for SearchContempt {
    fn is_neutral(&self) -> bool {
        self.n_scl.abs() >= OFF
    }

    fn changes_selection(&self) -> bool {
        true
    }

    fn goes_with_two_nets(&self) -> bool {
        true
    }
}

impl SearchContempt {
    /// Whether a node may freeze, which is not the root, has `visits` completed visits with its own evaluation, and `is_own` when the root's player
    /// moves there.
    #[inline]
    pub fn acts_at(&self, visits: u32, is_own: bool) -> bool {
        // Visits include the node's own evaluation, so more than N_scl of them are N_scl visits of children.
        i64::from(visits) > self.n_scl.abs() && is_own == (self.n_scl < 0)
    }

    /// Share of sampled visits at a frozen node with `visits` visits.
    pub fn ratio_at(&self, visits: u32) -> f64 {
        let steps = &self.ratio_schedule.0;
        let passed = steps.partition_point(|(from, _)| *from <= visits);
        if passed > 0 { steps[passed - 1].1 } else { self.sampling_ratio }
    }

    /// Running sums of the weights N_scl(s, a)^(1/T) of a node's visited edges. With T other than 1 visits are taken relative to the greatest, so
    /// that no power overflows.
    pub fn running_sums(&self, stats: &[EdgeStats]) -> impl Iterator<Item = f64> {
        let exponent = 1.0 / self.temperature;
        let greatest = f64::from(stats.iter().map(|record| record.visits).max().unwrap_or(1));
        let weight = move |record: &EdgeStats| match f64::from(record.visits) {
            // Without a temperature the weights are the counts themselves, exact and without a power.
            visits if exponent == 1.0 => visits,
            visits => (visits / greatest).powf(exponent),
        };
        stats.iter().map(weight).scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
    }
}

/// Steps of a sampling ratio, "1000:0.5 8000:0.9": from this number of visits of the node on, this ratio. Visits ascend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RatioSchedule(Vec<(u32, f64)>);

impl Setting for RatioSchedule {
    fn kind() -> Value {
        json!({ "kind": "str" })
    }
}

impl TryFrom<String> for RatioSchedule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let steps: Option<Vec<(u32, f64)>> = text.split_whitespace().map(read_step).collect();
        let ascend = |steps: &Vec<(u32, f64)>| steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        steps.filter(ascend).map(RatioSchedule).ok_or_else(|| {
            format!(
                "ratio_schedule must be VISITS:RATIO pairs with ascending visits and ratios 0 to 1, \
                 such as \"1000:0.5 8000:0.9\", got {text:?}"
            )
        })
    }
}

impl From<RatioSchedule> for String {
    fn from(schedule: RatioSchedule) -> String {
        let steps: Vec<String> = schedule.0.iter().map(|(visits, ratio)| format!("{visits}:{ratio}")).collect();
        steps.join(" ")
    }
}

fn read_step(step: &str) -> Option<(u32, f64)> {
    let (visits, ratio) = step.split_once(':')?;
    let is_plain = ratio.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ratio = ratio.parse().ok().filter(|_| is_plain).filter(|ratio| (0.0..=1.0).contains(ratio))?;
    visits.bytes().all(|digit| digit.is_ascii_digit()).then_some((visits.parse().ok()?, ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(text: &str) -> Result<RatioSchedule, String> {
        RatioSchedule::try_from(text.to_string())
    }

    #[test]
    fn schedules_are_read_and_written() {
        let rule = SearchContempt {
            ratio_schedule: schedule(" 1000:0.5  8000:0.9").unwrap(),
            sampling_ratio: 0.25,
            ..SearchContempt::default()
        };
        let ratios: Vec<f64> = [0, 999, 1000, 7999, 8000].map(|visits| rule.ratio_at(visits)).to_vec();
        assert_eq!(ratios, [0.25, 0.25, 0.5, 0.5, 0.9]);
        assert_eq!(String::from(rule.ratio_schedule), "1000:0.5 8000:0.9");
        assert_eq!(schedule("").unwrap(), RatioSchedule::default());
        for wrong in [
            "1000",
            "1000:2",
            "a:0.5",
            "-1:0.5",
            "+1:0.5",
            "8:0.5 8:0.6",
            "9:0.5 8:0.6",
            "1:nan",
            "1:1e-1",
            "1:0.5,2:1",
        ] {
            assert!(schedule(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn weights_follow_the_temperature() {
        let visited = |visits| EdgeStats { visits, ..EdgeStats::FRESH_ROOT };
        let stats = [visited(8), visited(0), visited(2)];
        let sums = |temperature| {
            let rule = SearchContempt { temperature, ..SearchContempt::default() };
            rule.running_sums(&stats).collect::<Vec<f64>>()
        };
        assert_eq!(sums(1.0), [8.0, 8.0, 10.0]);
        assert_eq!(sums(0.5), [1.0, 1.0, 1.0625]);
        assert_eq!(sums(2.0), [1.0, 1.0, 1.5]);
        assert_eq!(sums(1e-3), [1.0, 1.0, 1.0]);
    }
}
