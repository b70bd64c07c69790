//! Search-contempt (Joshi 2025): the opponent's visits are frozen after N_scl of them and sampled from then on.
//!
//! At the root and wherever the root's player moves: PUCT. At every *opponent node* s (its mover is not the root's mover):
//!
//! * while `sum_b N(s, b) < N_scl`: PUCT;
//! * the visit that finds `sum_b N(s, b) >= N_scl` for the first time freezes `N_scl(s, a) := N(s, a)` (completed visits only)
//!   and is itself sampled already (the paper lets PUCT act once more; the weights are the same);
//! * from then on every visit draws a child, independently, with probability `N_scl(s, a)^(1/T) / sum_b N_scl(s, b)^(1/T)`.
//!
//! A tree that was grown for one player at its root is of no use to the other one, and is begun anew ([`Search::grown_for_other`]).
//! Backup is unchanged. A negative `n_scl` freezes the nodes of the root's player instead, the root excepted.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::game::Player;
use crate::params::{ParamsError, within};
use crate::rules::second_net::Net;
use crate::search::Search;
use crate::side::Column;
use crate::tree::{EdgeStats, Tree};

/// N_scl from which the rule is off.
pub const OFF: i64 = 1_000_000_000;

/// Settings of the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchContempt {
    /// N_scl: visits of its children at which an opponent node freezes; negative: the root player's own nodes freeze.
    pub n_scl: i64,
    /// Frozen weights are N_scl(s, a)^(1 / temperature).
    pub temperature: f64,
    /// Share of a frozen node's visits that are sampled, 0..=1; the others stay PUCT.
    pub sampling_ratio: f64,
    /// The ratio by visits of the node, "1000:0.5 8000:0.9"; before the first step `sampling_ratio`.
    pub ratio_schedule: RatioSchedule,
    /// Opponent nodes take no proof from replies outside their frozen support ([`Tree::frozen_weights`]).
    pub proofs_respect_contempt: bool,
}

impl Default for SearchContempt {
    fn default() -> Self {
        SearchContempt {
            n_scl: OFF,
            temperature: 1.0,
            sampling_ratio: 1.0,
            ratio_schedule: RatioSchedule::default(),
            proofs_respect_contempt: false,
        }
    }
}

impl SearchContempt {
    /// Leaves the search as it is.
    pub fn is_neutral(&self) -> bool {
        self.n_scl.abs() >= OFF
    }

    /// Fails on a setting outside its range.
    pub fn check(&self) -> Result<(), ParamsError> {
        within("search_contempt.n_scl", self.n_scl as f64, -1e9, 1e9)?;
        if self.n_scl == 0 {
            return Err(ParamsError("SearchParams.search_contempt.n_scl must not be 0".into()));
        }
        within("search_contempt.temperature", self.temperature, 1e-3, 100.0)?;
        within("search_contempt.sampling_ratio", self.sampling_ratio, 0.0, 1.0)
    }

    /// May a node freeze? It is not the root, has `visits` completed visits with its own evaluation, and `is_own` when the root's player
    /// moves there.
    #[inline]
    fn acts_at(&self, visits: u32, is_own: bool) -> bool {
        i64::from(visits) > self.n_scl.abs() && is_own == (self.n_scl < 0)
    }

    /// Share of sampled visits at a frozen node with so many visits.
    fn ratio_at(&self, visits: u32) -> f64 {
        let steps = &self.ratio_schedule.0;
        let passed = steps.partition_point(|(from, _)| *from <= visits);
        if passed > 0 { steps[passed - 1].1 } else { self.sampling_ratio }
    }

    /// Running sums of the weights N_scl(s, a)^(1/T) of a node's records. With T other than 1 visits are taken relative to the greatest, so
    /// that no power overflows.
    fn running_sums(&self, stats: &[EdgeStats]) -> impl Iterator<Item = f64> {
        let exponent = 1.0 / self.temperature;
        let greatest = f64::from(stats.iter().map(|record| record.visits).max().unwrap_or(1));
        let weight = move |record: &EdgeStats| match f64::from(record.visits) {
            visits if exponent == 1.0 => visits,
            visits => (visits / greatest).powf(exponent),
        };
        stats.iter().map(weight).scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
    }
}

/// Steps of a sampling ratio, "1000:0.5 8000:0.9": from so many visits of the node on, this ratio. Visits ascend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RatioSchedule(Vec<(u32, f64)>);

impl TryFrom<String> for RatioSchedule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let steps: Option<Vec<(u32, f64)>> = text.split_whitespace().map(read_step).collect();
        let ascend = |steps: &Vec<(u32, f64)>| steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        steps.filter(ascend).map(RatioSchedule).ok_or_else(|| {
            format!(
                "search_contempt.ratio_schedule must be VISITS:RATIO pairs with ascending visits and ratios 0 to 1, \
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
    let ratio = ratio.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio))?;
    visits.bytes().all(|digit| digit.is_ascii_digit()).then_some((visits.parse().ok()?, ratio))
}

/// The weights of the frozen nodes of a tree. A node is frozen when the running sum of its last record is above 0.
#[derive(Clone, Debug, Default)]
pub struct Frozen {
    /// By record: the sum of the weights of the node's edges up to this one, 0 = the node is not frozen.
    sums: Column<f64>,
    /// The root's mover for whom the tree was grown.
    made_for: Option<Player>,
}

impl Frozen {
    /// Room for weights, or none while the rule is off.
    pub fn new(on: bool) -> Self {
        Frozen { sums: Column::new(on), made_for: None }
    }

    /// Nothing frozen, for nobody yet.
    pub fn emptied(&self) -> Self {
        Frozen::new(self.sums.is_on())
    }

    /// The visits are for this player at the root.
    #[inline]
    pub(crate) fn serve(&mut self, mover: Player) {
        self.made_for = Some(mover);
    }

    /// There are so many records now.
    pub(crate) fn resize(&mut self, records: usize) {
        self.sums.resize(records);
    }

    /// A block of records moved.
    pub(crate) fn move_records(&mut self, from: Range<usize>, to: usize) {
        self.sums.copy_within(from, to);
    }

    /// Record number `place` of a node was made, at `record`: it has no weight, so the sum stays.
    pub(crate) fn add_record(&mut self, record: usize, place: u16) {
        let sum = if place == 0 { 0.0 } else { self.sums.get(record - 1) };
        self.sums.set(record, sum);
    }

    /// A record was copied from another tree.
    pub(crate) fn copy_record(&mut self, to: usize, source: &Frozen, from: usize) {
        self.sums.set(to, source.sums.get(from));
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.sums.bytes()
    }
}

impl Tree {
    /// The running sums of the weights of a node's records; all 0 while it is not frozen.
    #[inline]
    fn frozen_sums(&self, node: u32) -> &[f64] {
        let first = self.node(node).stats as usize;
        self.side.frozen.sums.range(first..first + self.stats(node).len())
    }

    #[inline]
    fn is_frozen(&self, node: u32) -> bool {
        self.frozen_sums(node).last().is_some_and(|sum| *sum > 0.0)
    }

    /// The weights of a frozen node by index of the edge, 0 = never drawn; edges beyond the end have none. `None`: the node is not frozen.
    /// This is what a proof may rest on where `proofs_respect_contempt` is set.
    pub fn frozen_weights(&self, node: u32) -> Option<Vec<f64>> {
        let weight = |before: &mut f64, sum: &f64| Some(sum - std::mem::replace(before, *sum));
        self.is_frozen(node).then(|| self.frozen_sums(node).iter().scan(0.0, weight).collect())
    }

    /// May the opponent reply with this edge? True where nothing is frozen.
    pub fn in_frozen_support(&self, node: u32, edge: usize) -> bool {
        let sums = self.frozen_sums(node);
        let before = edge.checked_sub(1).map_or(0.0, |edge| sums.get(edge).copied().unwrap_or(f64::INFINITY));
        !self.is_frozen(node) || sums.get(edge).is_some_and(|sum| *sum > before)
    }

    fn freeze(&mut self, node: u32, rule: &SearchContempt) {
        let sums: Vec<f64> = rule.running_sums(self.stats(node)).collect();
        let first = self.node(node).stats as usize;
        self.side.frozen.sums.range_mut(first..first + sums.len()).copy_from_slice(&sums);
    }

    /// This tree was cut out of another one: it was grown for the same player, and its root is not frozen any more.
    pub(crate) fn inherit_frozen(&mut self, from: &Frozen) {
        self.side.frozen.made_for = from.made_for;
        self.thaw(0);
    }

    fn thaw(&mut self, node: u32) {
        let first = self.node(node).stats as usize;
        let records = first..first + self.stats(node).len();
        self.side.frozen.sums.range_mut(records).fill(0.0);
    }
}

impl Search {
    /// Whether the tree was grown for the other player at its root, to whom the opponent's nodes are their own.
    #[inline]
    pub(crate) fn grown_for_other(&self) -> bool {
        let Some(player) = self.tree.side.frozen.made_for else { return false };
        self.tree.root_node().is_some_and(|root| self.tree.node(root).mover != player)
    }

    /// Whether proofs hold against the other player's choice of moves only.
    pub(crate) fn rests_on_other_support(&self) -> bool {
        self.tree.side.proofs_in_support && self.grown_for_other()
    }

    /// The edge that this visit draws at a frozen node, which freezes now if it is time; `None`: PUCT decides. Not for the root.
    ///
    /// One uniform number u a draw: the first edge whose running sum is above u times the whole. u is at most 1 - 2^-53, so the product is
    /// below the whole, and edges without weight are passed over.
    #[inline]
    pub(crate) fn draw_frozen(&mut self, node: u32, own: &EdgeStats) -> Option<usize> {
        if self.turn == Net::Large {
            return None; // of two nets the small one's visits freeze
        }
        let rule = self.setup.params.search_contempt.as_ref()?;
        let is_own = self.tree.side.frozen.made_for == Some(self.tree.node(node).mover);
        if !rule.acts_at(own.visits, is_own) {
            return None;
        }
        if !self.tree.is_frozen(node) {
            self.tree.freeze(node, rule);
        }
        let ratio = rule.ratio_at(own.visits);
        if ratio < 1.0 && self.draws.uniform() >= ratio {
            return None;
        }
        let sums = self.tree.frozen_sums(node);
        let drawn = self.draws.uniform() * sums.last()?;
        Some(sums.partition_point(|sum| *sum <= drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::SearchParams;
    use crate::side::Side;
    use crate::tree::{Edge, Step, Value};

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
        for wrong in ["1000", "1000:2", "a:0.5", "-1:0.5", "+1:0.5", "8:0.5 8:0.6", "9:0.5 8:0.6", "1:nan", "1:0.5,2:1"]
        {
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

    #[test]
    fn frozen_nodes_keep_their_weights() {
        let on = SearchParams { search_contempt: Some(SearchContempt::default()), ..SearchParams::default() };
        let mut tree = Tree::with_side(Side::new(&on));
        let edges: Vec<Edge> = (0..5).map(|action| Edge::new(action, 0.2)).collect();
        let node = tree.add_node(Player::Second, &edges, Value { wl: 0.0, d: 0.0 });
        for (edge, visits) in [(0, 2), (1, 0), (2, 3)] {
            tree.choose_edge(node, edge);
            tree.step_stats(Step { node, edge }).visits = visits;
        }
        assert_eq!((tree.frozen_weights(node), tree.in_frozen_support(node, 4)), (None, true));
        tree.freeze(node, &SearchContempt::default());
        tree.choose_edge(node, 3);
        assert_eq!(tree.frozen_weights(node), Some(vec![2.0, 0.0, 3.0, 0.0]));
        let support: Vec<bool> = (0..6).map(|edge| tree.in_frozen_support(node, edge)).collect();
        assert_eq!(support, [true, false, true, false, false, false]);
        tree.thaw(node);
        assert_eq!(tree.frozen_weights(node), None);
    }
}
