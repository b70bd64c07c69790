//! Backup in many trees together, where rules from outside have a say in it.

use crate::game::Player;
use crate::search::Search;
use crate::search::outside::{Failed, OutsideRules, STEP_FACTS, WayRows};
use crate::stats::{EdgeStats, Step, Value};

/// A visit whose value, for player `mover`, waits to be backed up.
#[derive(Clone, Debug)]
pub struct Postponed {
    /// Its way from the root.
    pub(in crate::search) path: Vec<Step>,
    pub(in crate::search) mover: Player,
    pub(in crate::search) value: Value,
}

/// Backs up what the trees have postponed, the first visit of each together, then the second, and so on. After a failure the rest is
/// backed up without the rules.
pub(super) fn back_up_together<'a>(
    rules: &dyn OutsideRules,
    searches: impl Iterator<Item = (usize, &'a mut Search)>,
) -> Result<(), Failed> {
    let mut searches: Vec<_> = searches.filter(|(_, search)| !search.rules.postponed.is_empty()).collect();
    let mut ways = WayRows { steps: vec![Vec::new(); STEP_FACTS], ..WayRows::default() };
    let mut columns = vec![Vec::new(); rules.columns()];
    let mut result = Ok(());
    // Visits of one tree must be backed up one after another, since each changes the means that the next
    // one shows; different trees share a call.
    for round in 0.. {
        ways.clear();
        let mut moved: Vec<&mut Search> = Vec::new();
        for (tree, search) in searches.iter_mut().filter(|(_, search)| round < search.rules.postponed.len()) {
            search.show_way(*tree, round, &mut ways);
            moved.push(search);
        }
        if moved.is_empty() {
            break;
        }
        if rules.places().steps && result.is_ok() {
            // A copy, so that a rule that fails halfway leaves the step sizes as they were.
            let mut steps = ways.steps[STEP_FACTS - 1].clone();
            result = rules.steps(&ways, &mut steps);
            ways.steps[STEP_FACTS - 1] = steps;
        }
        let mut steps = ways.steps[STEP_FACTS - 1].iter().copied();
        moved.iter_mut().for_each(|search| search.move_means(round, &mut steps));
        if rules.places().backup && result.is_ok() {
            columns.iter_mut().for_each(Vec::clear);
            moved.iter().for_each(|search| search.show_columns(round, &mut columns));
            result = rules.after_backup(&ways, &mut columns);
            if result.is_ok() {
                let mut start = 0;
                moved.iter_mut().for_each(|search| start = search.keep_columns(round, &columns, start));
            }
        }
    }
    searches
        .iter_mut()
        .for_each(|(_, search)| search.scratch.paths.extend(search.rules.postponed.drain(..).map(|visit| visit.path)));
    result
}

impl WayRows {
    fn clear(&mut self) {
        self.trees.clear();
        self.starts.clear();
        self.starts.push(0);
        self.steps.iter_mut().for_each(Vec::clear);
    }
}

impl Search {
    /// Keeps a visit along the present path for the next time that many trees are backed up.
    pub(in crate::search) fn postpone(&mut self, mover: Player, value: Value) {
        let mut path = self.scratch.paths.pop().unwrap_or_default();
        path.clone_from(&self.path);
        self.rules.postponed.push(Postponed { path, mover, value });
    }

    /// Adds the rows of a way, its leaf first.
    fn show_way(&self, tree: usize, number: usize, ways: &mut WayRows) {
        let Postponed { path, mover, value } = &self.rules.postponed[number];
        let average = self.setup.params.q_average.as_ref();
        let mut add = |stats: &EdgeStats, viewer: Player| {
            let seen = if viewer == *mover { *value } else { value.flipped() };
            let visits = stats.visits + 1;
            let step = average.map_or(1.0 / f64::from(visits), |rule| rule.step_size(visits));
            let sign = if viewer == Player::First { 1.0 } else { -1.0 };
            let facts = [f64::from(visits), seen.wl, f64::from(seen.d), stats.wl, sign, step];
            ways.steps.iter_mut().zip(facts).for_each(|(row, fact)| row.push(fact));
        };
        for step in path.iter().rev() {
            add(&self.tree.stats(step.node)[step.edge as usize], self.tree.node(step.node).mover);
        }
        add(&self.tree.root, path.first().map_or(*mover, |step| self.tree.node(step.node).mover));
        ways.trees.push(tree as i64);
        ways.starts.push(ways.steps[0].len() as i64);
    }

    /// Backs a visit up by the next step sizes.
    fn move_means(&mut self, number: usize, steps: &mut impl Iterator<Item = f64>) {
        let Postponed { path, mover, value } = &self.rules.postponed[number];
        let sized = self.setup.averages().then_some(|_| steps.next().expect("a step size for every step of a way"));
        self.tree.backup_by_rules(path, *mover, *value, sized);
        if !self.setup.averages() {
            // The step sizes of this way and of its root are passed over: the next way begins after them.
            steps.nth(path.len());
        }
    }

    /// Adds the columns of the edges of a way, its leaf first.
    fn show_columns(&self, number: usize, columns: &mut [Vec<f64>]) {
        for index in self.rules.postponed[number].path.iter().rev().map(|step| self.tree.stats_index(*step)) {
            let floats = self.tree.columns.outside.range(index..index + 1);
            columns.iter_mut().zip(floats).for_each(|(column, float)| column.push(*float));
        }
        columns.iter_mut().zip(&self.tree.columns.root_outside).for_each(|(column, float)| column.push(*float));
    }

    /// Takes the columns of the edges of a way from their place `start` on; returns where those of the next way begin.
    fn keep_columns(&mut self, number: usize, columns: &[Vec<f64>], start: usize) -> usize {
        let path = &self.rules.postponed[number].path;
        for (step, place) in path.iter().rev().zip(start..) {
            let index = self.tree.stats_index(*step);
            self.tree.columns.outside.set(index, columns.iter().map(|column| column[place]));
        }
        let last = columns.iter().map(|column| column[start + path.len()]);
        self.tree.columns.root_outside.iter_mut().zip(last).for_each(|(kept, float)| *kept = float);
        start + path.len() + 1
    }
}
