//! A tree that follows a game, and at most one search of it at a time, which advances turn by turn (`hauteur.mcts.analysis`).
//!
//! Batches are cut as there, so that a search by visits gives the same tree, bit for bit.

use std::sync::Arc;

use hauteur_core::evaluator::{Evaluator, Origin, Reads};
use hauteur_core::forest::Forest;
use hauteur_core::game::Action;
use hauteur_core::params::SearchParams;
use hauteur_core::rules::second_net::{Net, SecondNet};
use hauteur_core::search::Search;
use hauteur_core::step::{BatchBuffers, StepFacts, step};

use crate::flight::Flight;
use crate::host::AWAITED;
use crate::limits::{Limits, Progress, stop_reason};
use crate::position::Position;
use crate::report::{Pace, Report, report};

/// Rows that the core computes between two looks at limits and time.
const ROWS_A_STEP: usize = 32;
/// Visits of the root for one row of a batch, at least.
const VISITS_PER_ROW: u32 = 16;
// A batch in the core cannot be ended from outside here, where there is one thread.
/// Seconds: batches are made smaller where the network is slow, so that stops and clocks stay exact.
const LONGEST_BATCH: f64 = 0.04;
/// Weight of the past in running means.
const OLD_SHARE: f64 = 0.7;
/// Least seconds between two reports, and before one that a new best move brings.
const REPORT_SECONDS: f64 = 0.1;
const NEW_BEST_SECONDS: f64 = 0.04;

/// Tells the seconds since some moment.
pub type Clock<'a> = &'a dyn Fn() -> f64;

/// The nets of a search.
#[derive(Clone)]
pub struct SearchNets {
    /// The one that searches.
    pub small: Arc<dyn Evaluator>,
    /// The second one, where the settings have one.
    pub large: Option<Arc<dyn Evaluator>>,
}

/// What a turn has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The search goes on; whether a report is due.
    On(bool),
    /// The search is over.
    Over,
    /// The tree can grow no more, and only a stop ends the search.
    Rests,
}

/// How a net's batches are computed.
enum Batches {
    /// Rows of features, whose answers may come later.
    Planes(Flight),
    /// Positions, or nothing.
    Others(BatchBuffers),
}

/// Batches of one turn, and how many of them are done: every net computes as many, one net after the other.
#[derive(Clone, Copy)]
struct Plan {
    rows: usize,
    batches: usize,
    done: usize,
    /// Rows were computed.
    any: bool,
    /// Rows of the tree before the first batch.
    rows_before: u64,
}

/// Counts of a tree that limits look at.
#[derive(Clone, Copy, Default)]
struct Counts {
    root_visits: u32,
    visits: u64,
    depth_sum: u64,
    rows: u64,
}

/// A search that goes on.
struct Run {
    limits: Limits,
    started: f64,
    base: Counts,
    batch_ended: f64,
    batch_seconds: f64,
    reported: f64,
    reported_best: Option<Action>,
    /// What is left of a turn whose rows are computed elsewhere.
    waiting: Option<Plan>,
}

/// A tree, its position, and the search of it.
pub struct Analysis {
    params: SearchParams,
    nets: SearchNets,
    batch_size: usize,
    seed: u64,
    forest: Option<Forest>,
    tree: usize,
    position: Position,
    buffers: Vec<(Net, Batches)>,
    row_seconds: f64,
    run: Option<Run>,
    pace: Pace,
    reason: &'static str,
}

/// The settings to search with: where a second net is given they have a section for one.
fn for_nets(mut params: SearchParams, nets: &SearchNets) -> Result<SearchParams, String> {
    let has_section = params.second_net.is_some() || params.opponent_net.is_some();
    if nets.large.is_some() && !has_section {
        params.second_net = Some(SecondNet::default());
    }
    if nets.large.is_none() && has_section {
        return Err(
            "the search settings have second_net or opponent_net, which need a second net; none was given".into()
        );
    }
    if params.second_net.is_some_and(|rule| !rule.more.is_empty()) {
        return Err("second_net.more has further nets, and at most two can be chosen here".into());
    }
    params.check().map_err(|error| error.to_string())?;
    Ok(params)
}

impl Analysis {
    /// An analysis of a position. `batch_size`: most rows of a batch, None: what suits the net.
    pub fn new(
        position: Position,
        nets: SearchNets,
        params: SearchParams,
        seed: u64,
        batch_size: Option<usize>,
    ) -> Result<Self, String> {
        let params = for_nets(params, &nets)?;
        if params.swap_colors && position.state.colour_plane().is_none() {
            return Err(format!("swap_colors is not for {}: its features do not tell who is to move", position.spec()));
        }
        let batch_size = batch_size.unwrap_or_else(|| nets.small.batch_size());
        let mut analysis = Analysis {
            params,
            nets,
            batch_size,
            seed,
            forest: None,
            tree: 0,
            position,
            buffers: Vec::new(),
            row_seconds: 0.0,
            run: None,
            pace: Pace::default(),
            reason: "",
        };
        analysis.restart()?;
        Ok(analysis)
    }

    fn restart(&mut self) -> Result<(), String> {
        let mut forest = Forest::new(self.params.clone(), self.seed, 1).map_err(|error| error.0)?;
        // No seed of its own: each further tree of this forest has other draws, the same as the wheel's.
        self.tree = forest.add(self.position.state.clone_box(), None);
        let info = self.position.game.info().clone();
        // A search with one net asks that one alone; buffers for another would be waste.
        let asked = [Net::Small, Net::Large].into_iter().filter(|net| forest.asks(*net));
        let batches = |net| match self.net(net).reads() {
            // Only these may be computed elsewhere, by other workers of a page; the other forms are answered at
            // once.
            Reads::Planes => Batches::Planes(Flight::new(&info, self.batch_size)),
            _ => Batches::Others(BatchBuffers::new(&info, self.net(net), self.batch_size)),
        };
        self.buffers = asked.map(|net| (net, batches(net))).collect();
        self.forest = Some(forest);
        Ok(())
    }

    fn net(&self, net: Net) -> &dyn Evaluator {
        match (net, &self.nets.large) {
            (Net::Large, Some(large)) => large.as_ref(),
            _ => self.nets.small.as_ref(),
        }
    }

    /// Goes to a position of the same game: one that extends the last one keeps its subtree, if the settings allow it.
    pub fn go_to(&mut self, position: &Position) -> Result<(), String> {
        // The forest refuses to advance or remove a tree with rows in flight.
        self.land();
        let known = self.position.moves.len();
        let same_game = self.position.spec() == position.spec();
        // The moves and not the position: a tree belongs to the way that led to it, by which repetitions are
        // counted.
        let extends = same_game && position.moves.starts_with(&self.position.moves);
        self.position = position.clone();
        match (&mut self.forest, extends) {
            (Some(forest), true) => {
                for &action in &position.moves[known..] {
                    forest.advance(&[(self.tree, action)]).map_err(|error| error.0)?;
                }
                Ok(())
            }
            // The tree goes and the forest stays, whose cache may know positions of the new tree.
            (Some(forest), false) if same_game => {
                forest.remove(self.tree).map_err(|error| error.0)?;
                self.tree = forest.add(position.state.clone_box(), None);
                Ok(())
            }
            // Features and actions have other lengths in another game, and so have the buffers.
            _ => self.restart(),
        }
    }

    /// The position.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The tree.
    pub fn search(&self) -> Result<&Search, String> {
        let forest = self.forest.as_ref().ok_or("nothing was searched here yet")?;
        forest.tree(self.tree).map_err(|error| error.0)
    }

    fn counts(&self) -> Counts {
        let Ok(search) = self.search() else { return Counts::default() };
        let counters = search.counters();
        Counts {
            root_visits: search.tree().root.visits,
            // Limits and pace are in visits of the small net, as the root's are; the turns of large nets come on
            // top of these.
            visits: counters.visits - counters.large_visits,
            depth_sum: counters.depth_sum,
            rows: counters.rows,
        }
    }

    /// Begins a search within limits.
    pub fn begin(&mut self, limits: Limits, clock: Clock) -> Result<(), String> {
        self.land();
        let now = clock();
        let base = self.counts();
        let forest = self.forest.as_mut().ok_or("there is no position yet")?;
        let tree = forest.tree_mut(self.tree).map_err(|error| error.0)?;
        // Ends what the last search left in the root: a halving of Gumbel's root is planned for the visits of one
        // search.
        tree.restrict_root(Vec::new());
        // The tree itself stops at the limit, in the middle of a batch; between two batches would be too late for
        // exact counts.
        tree.set_visit_limit(limits.visits.unwrap_or(0));
        self.reason = "";
        self.run = Some(Run {
            limits,
            started: now,
            base,
            batch_ended: now,
            batch_seconds: 0.0,
            // So that the first batch is reported: a page shows something at once.
            reported: f64::NEG_INFINITY,
            reported_best: None,
            waiting: None,
        });
        Ok(())
    }

    /// Whether a search goes on.
    pub fn is_searching(&self) -> bool {
        self.run.is_some()
    }

    /// Takes back what is in flight.
    fn land(&mut self) {
        let Some(forest) = &mut self.forest else { return };
        for (_, batches) in &mut self.buffers {
            if let Batches::Planes(flight) = batches {
                flight.cancel(forest);
            }
        }
    }

    /// Ends the search, and takes back what is in flight.
    pub fn stop(&mut self, clock: Clock) {
        if self.run.is_some() {
            self.end("stopped", clock);
        }
    }

    fn end(&mut self, reason: &'static str, clock: Clock) {
        // Visits that wait for a net count as visits in flight and would bend the next search of this tree.
        self.land();
        self.keep_pace(clock());
        self.reason = reason;
        self.run = None;
    }

    /// Searches for one batch, or a few small ones. Where an evaluator answers `AWAITED` the turn is finished by a later call.
    pub fn turn(&mut self, clock: Clock) -> Result<Turn, String> {
        let Some(run) = &mut self.run else { return Ok(Turn::Over) };
        // A turn goes on with its own plan: a new one would be cut by the visits that have come meanwhile, and the
        // tree would depend on when the answers came.
        let waiting = run.waiting.take();
        let mut plan = match (waiting, &self.run) {
            (None, Some(run)) => self.plan(run, clock()),
            (Some(plan), _) => plan,
            (None, None) => return Ok(Turn::Over),
        };
        let computed = self.step(&mut plan);
        // No time is measured and nothing is reported here: the turn is not over, and its rows are still counted.
        if let (Err(error), Some(run)) = (&computed, &mut self.run)
            && error == AWAITED
        {
            run.waiting = Some(plan);
            return Ok(Turn::On(false));
        }
        // The tree is sound, since a step that fails takes its rows back; the search is over, or it would fail at
        // every turn.
        computed.inspect_err(|_| self.run = None)?;
        let now = clock();
        self.measure(now, self.counts().rows - plan.rows_before);
        self.keep_pace(now);
        // A step without rows is no end yet: its visits may have ended where the game ends, which needs no net.
        if !plan.any && self.search()?.is_finished() {
            let Some(run) = &self.run else { return Ok(Turn::Over) };
            // A page that analyses without a limit shows a complete tree until it is stopped, as Python does.
            if run.limits.is_infinite() {
                return Ok(Turn::Rests);
            }
            let reason = self.stop_reason(run, now).unwrap_or("nothing left to search");
            self.end(reason, clock);
            return Ok(Turn::Over);
        }
        let Some(run) = &self.run else { return Ok(Turn::Over) };
        // Not before the root has its evaluation: without it there is no move to play, however short the time is.
        match self.stop_reason(run, now).filter(|_| self.counts().root_visits > 0) {
            Some(reason) => {
                self.end(reason, clock);
                Ok(Turn::Over)
            }
            None => Ok(Turn::On(self.is_due(now))),
        }
    }

    /// Rows of the next batch, and batches before the limits are looked at again: few rows in a small tree, and where time counts what
    /// LONGEST_BATCH takes, all of them together what is left of the time; one batch as long as nothing is known of a row's time.
    fn plan(&self, run: &Run, now: f64) -> Plan {
        let (rows, batches) = self.batches(run, now);
        Plan { rows, batches, done: 0, any: false, rows_before: self.counts().rows }
    }

    /// See `plan`.
    fn batches(&self, run: &Run, now: f64) -> (usize, usize) {
        // In a small tree all rows of a large batch would be chosen by priors alone; the first visits would be
        // wasted.
        let rows = self.batch_size.min((self.counts().root_visits / VISITS_PER_ROW) as usize).max(1);
        // Nothing of time may come in here: a search by visits has the same batches, and so the same tree, on every
        // machine.
        if run.limits.by_visits_alone() {
            return (rows, (ROWS_A_STEP / rows).max(1));
        }
        // The net may be slow. One batch tells how slow.
        if self.row_seconds <= 0.0 {
            return (rows, 1);
        }
        let passed = now - run.started;
        let fitting = run.limits.budget.map_or(usize::MAX, |budget| {
            // After the target the search only goes on because it has not settled, and may take all that it has.
            let end = if passed < budget.target { budget.target } else { budget.maximum };
            ((end - passed) / self.row_seconds).max(0.0) as usize
        });
        let rows = rows.min((LONGEST_BATCH / self.row_seconds) as usize).min(fitting).max(1);
        (rows, (ROWS_A_STEP.min(fitting) / rows).max(1))
    }

    /// Computes the batches of a plan that are not done.
    fn step(&mut self, plan: &mut Plan) -> Result<(), String> {
        // Taken out for the loop, since evaluators are borrowed from `self` meanwhile; both are put back after
        // errors too.
        let mut buffers = std::mem::take(&mut self.buffers);
        let mut forest = self.forest.take().ok_or("there is no position yet")?;
        let root_line = |_: usize, _: usize| -> (Option<Origin>, Vec<Action>) { (None, Vec::new()) };
        let mut failed = None;
        // All batches of one net and then of the next, as Python's driver does: turns of two nets are counted in
        // batches.
        while failed.is_none() && plan.done < plan.batches * buffers.len() {
            let (net, buffers) = &mut buffers[plan.done / plan.batches];
            let evaluator = self.net(*net);
            let rows = plan.rows;
            let computed = match buffers {
                Batches::Planes(flight) => flight.step(&mut forest, *net, evaluator, rows),
                Batches::Others(buffers) => {
                    buffers.limit(rows);
                    let forests = std::slice::from_mut(&mut forest);
                    step(forests, &[(0, *net)], evaluator, buffers, &root_line, &mut StepFacts::default())
                }
            };
            match computed {
                Ok(computed) => {
                    plan.any |= computed > 0;
                    plan.done += 1;
                }
                Err(error) => failed = Some(error),
            }
        }
        self.buffers = buffers;
        self.forest = Some(forest);
        failed.map_or(Ok(()), Err)
    }

    /// Updates the running means of the seconds between two batches and of those for a row.
    fn measure(&mut self, now: f64, rows: u64) {
        let Some(run) = &mut self.run else { return };
        let seconds = now - run.batch_ended;
        run.batch_seconds += (1.0 - OLD_SHARE) * (seconds - run.batch_seconds);
        run.batch_ended = now;
        if rows > 0 {
            let row = seconds / rows as f64;
            // The first batch makes its value alone; a mean with zero would take the net for too fast, and a clock
            // would be lost.
            let old = if self.row_seconds > 0.0 { self.row_seconds } else { row };
            self.row_seconds = OLD_SHARE * old + (1.0 - OLD_SHARE) * row;
        }
    }

    fn keep_pace(&mut self, now: f64) {
        let (counts, Some(run)) = (self.counts(), &self.run) else { return };
        // A tree that was kept brings visits along, which cost this search no time.
        let new_visits = counts.visits - run.base.visits;
        self.pace = Pace {
            seconds: now - run.started,
            new_visits,
            depth: (counts.depth_sum - run.base.depth_sum) as f64 / new_visits.max(1) as f64,
            rows: counts.rows - run.base.rows,
        };
    }

    fn stop_reason(&self, run: &Run, now: f64) -> Option<&'static str> {
        let search = self.search().ok()?;
        let counts = self.counts();
        let mut limits = run.limits;
        if self.nets.large.is_some() && !search.is_finished() {
            limits.visits = None; // one net may have done its part while the other still has turns
            limits.budget?;
        }
        let progress = Progress {
            seconds: now - run.started,
            visits: counts.root_visits,
            new_visits: counts.visits - run.base.visits,
            batch_seconds: run.batch_seconds,
            // Gumbel's root and lower bounds may play a move that is not the most visited one: no lead in visits
            // decides these.
            by_visits: self.params.gumbel.is_none() && self.params.lower_bound.is_none(),
            rivals: &|| search.root_rivals(),
        };
        stop_reason(&limits, &progress)
    }

    fn is_due(&mut self, now: f64) -> bool {
        let best = self.search().ok().and_then(Search::best_action);
        let Some(run) = &mut self.run else { return false };
        // A new best move is what a reader waits for; the same one again is not.
        let least = if best == run.reported_best { REPORT_SECONDS } else { NEW_BEST_SECONDS };
        if now - run.reported < least {
            return false;
        }
        run.reported = now;
        run.reported_best = best;
        true
    }

    /// What has been found until now; the first `lines` moves get their line.
    pub fn report(&self, lines: usize) -> Result<Report, String> {
        Ok(report(self.search()?, lines, self.pace, self.reason))
    }
}
