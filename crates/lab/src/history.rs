//! The reports of a position's searches at even distances, for curves over their time.

use serde_json::{Value as Json, json};

use crate::position::Position;
use crate::report::Report;

/// Samples that are kept, an even number; at one more every second one goes, and only every second report is taken.
const MAX_SAMPLES: usize = 200;
/// Moves that get a curve.
const CURVES: usize = 8;

/// The reports that were kept, and the newest one; their seconds count from the first search of the position, and they have no lines.
pub struct History {
    kept: Vec<Report>,
    /// None where the last one that was kept is the newest.
    newest: Option<Report>,
    /// Every report of this number is kept.
    stride: usize,
    seen: usize,
    /// Seconds of the searches before the present one.
    before: f64,
}

impl Default for History {
    fn default() -> Self {
        History { kept: Vec::new(), newest: None, stride: 1, seen: 0, before: 0.0 }
    }
}

impl History {
    /// Notes that another search of the position begins.
    pub fn begin_search(&mut self) {
        self.before = self.seconds();
    }

    /// Keeps the next report of the search; returns it as the page takes it.
    pub fn add(&mut self, mut report: Report, position: &Position) -> Json {
        // The view is made before lines and seconds are changed: the page shows visits a second of the present
        // search.
        let mut view = report.view(position);
        report.pace.seconds += self.before;
        view["seconds"] = json!(report.pace.seconds);
        // Some 200 reports are kept, with every move of each; lines would be most of their memory, and no curve
        // shows them.
        report.moves.iter_mut().for_each(|one| one.line.clear());
        self.keep(report);
        view
    }

    fn keep(&mut self, report: Report) {
        if self.seen.is_multiple_of(self.stride) {
            self.kept.push(report);
            self.newest = None;
        } else {
            self.newest = Some(report);
        }
        self.seen += 1;
        if self.kept.len() > MAX_SAMPLES {
            // Of an odd number both ends stay, so that the newest report is still the last one that is kept.
            self.kept = std::mem::take(&mut self.kept).into_iter().step_by(2).collect();
            self.stride *= 2;
        }
    }

    /// The reports, oldest first.
    fn samples(&self) -> impl DoubleEndedIterator<Item = &Report> + Clone {
        self.kept.iter().chain(&self.newest)
    }

    /// Seconds of the newest report.
    fn seconds(&self) -> f64 {
        self.samples().next_back().map_or(0.0, |report| report.pace.seconds)
    }

    /// Visits and Q of the moves that have most visits now, as the page takes them.
    pub fn view(&self, position: &Position) -> Json {
        let samples = self.samples();
        // By the newest report: moves that were ahead only for a while would take the place of those that matter
        // now.
        let mut chosen = samples.clone().next_back().map_or(Vec::new(), |newest| newest.moves.clone());
        chosen.sort_by_key(|one| std::cmp::Reverse(one.visits));
        let curve = |action| {
            let at = |report: &Report| report.moves.iter().find(|one| one.action == action).cloned();
            let rows: Vec<_> = samples.clone().map(at).collect();
            let visits: Vec<u32> = rows.iter().map(|row| row.as_ref().map_or(0, |one| one.visits)).collect();
            // Before the first visit Q is what the search assumes, and a curve would begin with a number that was
            // never found.
            let q = rows.iter().map(|row| row.as_ref().and_then(|one| one.wdl.map(|_| one.q)));
            json!({ "a": action, "text": position.text(action), "visits": visits, "q": q.collect::<Vec<_>>() })
        };
        let moves = chosen.iter().take(CURVES).filter(|one| one.visits > 0).map(|one| curve(one.action));
        json!({
            "seconds": samples.clone().map(|report| report.pace.seconds).collect::<Vec<_>>(),
            "visits": samples.clone().map(|report| report.visits).collect::<Vec<_>>(),
            "moves": moves.collect::<Vec<_>>(),
        })
    }

    /// The report with the nearest visits, as the page takes it; None before the first one.
    pub fn moment(&self, visits: u32, position: &Position) -> Option<Json> {
        self.nearest(visits).map(|report| report.view(position))
    }

    fn nearest(&self, visits: u32) -> Option<&Report> {
        self.samples().min_by_key(|report| report.visits.abs_diff(visits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Pace;

    #[test]
    fn samples_stay_few_and_the_newest_is_among_them() {
        let mut history = History::default();
        for visits in 0..5000 {
            let moves = Vec::new();
            let wdl = [0.0; 3];
            let pace = Pace::default();
            history.keep(Report {
                moves,
                visits,
                wdl,
                value: wdl,
                seldepth: 0,
                nodes: 0,
                memory: 0,
                pace,
                reason: "".into(),
            });
            assert_eq!(history.samples().next_back().unwrap().visits, visits);
        }
        assert!((100..=202).contains(&history.samples().count()));
        assert!(history.nearest(2500).unwrap().visits.abs_diff(2500) < 64);
    }
}
