//! A side of a game that is no person: a net with its search, or a player without a net.

use hauteur_core::game::Action;
use hauteur_core::play::choice::{self, choose};
use hauteur_core::play::settings::Temperature;

use crate::analysis::{Analysis, SearchNets, Turn};
use crate::host::Lab;
use crate::limits::{Clock, Limits, Pacing, SMART_PRUNING, fixed, plan};
use crate::player::{Baseline, Player, baseline_move, plays};
use crate::position::Position;
use crate::report::{Report, proven};
use crate::settings::{bounded, search_of};

/// Seconds of a clock that a move may lose outside of its search.
const OVERHEAD: f64 = 0.1;
/// Rows of a batch in a search by visits: one tree gains little from more.
const BATCH: usize = 8;

/// What ends the search of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MoveLimit {
    /// The visits of the player.
    Visits,
    /// Seconds a move.
    Seconds(f64),
    /// The increment of the clock, which says the rest.
    Clock(f64),
}

/// What a piece of work of an engine has brought.
pub enum Thought {
    /// It goes on; the report, where one is due.
    On(Option<Report>),
    /// The move, and the search that found it.
    Found(Action, Option<Report>),
}

/// A player that thinks piece by piece.
pub struct Engine {
    /// Its name in the game.
    pub name: String,
    /// Visits of a search by visits.
    pub visits: u32,
    /// What ends its searches.
    pub limit: MoveLimit,
    baseline: Option<Baseline>,
    analysis: Option<Analysis>,
    temperature: Temperature,
    thinks: Option<Position>,
}

impl Engine {
    /// A player for a game; an error for one that cannot play it. `net`: its net, by name; `tree_bytes`: of its tree.
    pub fn new(
        player: &Player,
        start: &Position,
        net: &str,
        limit: MoveLimit,
        tree_bytes: u64,
        lab: &mut Lab,
    ) -> Result<Self, String> {
        let game = &start.game;
        let search = lab.facts.search_of_net(net, &player.second, &player.search)?;
        // The net's own settings show in the name of the player, as those that it was given do: both decide how it
        // plays.
        let player = &Player { search, ..player.clone() };
        let mut engine = Engine {
            // Files end in `.pb.gz` or `.safetensors`, which is no part of a net's name.
            name: player.shown(lab.host.shown_net(net).split('.').next().unwrap_or(net)),
            visits: player.visits(),
            limit,
            baseline: player.baseline,
            analysis: None,
            temperature: player.temperature()?,
            thinks: None,
        };
        if let Some(baseline) = player.baseline {
            // Refused when the game begins, and not at its first move.
            plays(baseline, game)?;
            return Ok(engine);
        }
        let search = bounded(search_of(&player.search, "search")?, tree_bytes);
        let small = lab.host.evaluator(net, game.as_ref())?;
        let second = Some(&player.second).filter(|name| !name.is_empty());
        let large = second.map(|name| lab.host.evaluator(name, game.as_ref())).transpose()?;
        // By visits a move depends on the size of a batch, so it is the same for all nets; against a clock it is
        // what the net computes best.
        let batch = (limit == MoveLimit::Visits).then_some(BATCH);
        // Seeds have 63 bits, here as in Python.
        let seed = lab.draw() >> 1;
        engine.analysis = Some(Analysis::new(start.clone(), SearchNets { small, large }, search, seed, batch)?);
        Ok(engine)
    }

    /// Whether it searches with a net.
    pub fn searches(&self) -> bool {
        self.analysis.is_some()
    }

    /// Begins to look for a move. `left`: seconds on its clock.
    pub fn start(&mut self, position: &Position, left: Option<f64>, lab: &Lab) -> Result<(), String> {
        self.thinks = Some(position.clone());
        let Some(analysis) = &mut self.analysis else { return Ok(()) };
        let budget = match (self.limit, left) {
            // No overhead is taken off: seconds a move are no clock that could be lost.
            (MoveLimit::Seconds(seconds), _) => Some(fixed(seconds)),
            (MoveLimit::Clock(increment), Some(left)) => {
                let ply = position.state.ply();
                let most = position.game.info().max_plies;
                let clock = Clock::of_game(left, increment, ply, most);
                Some(plan(&clock, ply / 2, &Pacing::with_overhead(OVERHEAD)))
            }
            _ => None,
        };
        // By visits nothing is pruned: as many are made as were asked for, and the search is repeatable.
        let limits = match budget {
            Some(_) => Limits { visits: None, budget, smart_pruning: SMART_PRUNING },
            None => Limits { visits: Some(self.visits), ..Limits::default() },
        };
        analysis.go_to(position)?;
        analysis.begin(limits, &lab.clock())
    }

    /// Forgets what it was looking for.
    pub fn stop(&mut self, lab: &Lab) {
        // An answer that was found meanwhile belongs to a game that has changed.
        self.thinks = None;
        if let Some(analysis) = &mut self.analysis {
            analysis.stop(&lab.clock());
        }
    }

    /// Thinks for a moment.
    pub fn turn(&mut self, lines: usize, lab: &mut Lab) -> Result<Thought, String> {
        let position = self.thinks.clone().ok_or("no move is looked for")?;
        if let Some(baseline) = self.baseline {
            self.thinks = None;
            return Ok(Thought::Found(baseline_move(baseline, &position, lab.draw())?, None));
        }
        let analysis = self.analysis.as_mut().ok_or("no move is looked for")?;
        let turn = analysis.turn(&lab.clock())?;
        match turn {
            Turn::On(true) => Ok(Thought::On(Some(analysis.report(lines)?))),
            Turn::On(false) => Ok(Thought::On(None)),
            // A player's search has a limit, so that it never rests; if it did, there would be nothing to wait for
            // either.
            Turn::Over | Turn::Rests => self.found(lines, lab),
        }
    }

    /// The move that is best now.
    pub fn found(&mut self, lines: usize, lab: &mut Lab) -> Result<Thought, String> {
        let analysis = self.analysis.as_mut().ok_or("no engine that could be hurried is thinking")?;
        analysis.stop(&lab.clock());
        let report = analysis.report(lines)?;
        // Of a report and not of the tree alone: wins at once come first in it.
        let best = report.moves.first().ok_or("it has found no move")?.action;
        let mut moves: Vec<choice::RootMove> = report.moves.iter().map(choice_of).collect();
        // `choose` draws along the list, so its order must not depend on visits: the same number draws the same
        // move.
        moves.sort_by_key(|one| one.action);
        let ply = analysis.position().state.ply();
        self.thinks = None;
        let temperature = self.temperature.at(ply);
        Ok(Thought::Found(choose(&moves, best, temperature, lab.uniform(), &self.temperature), Some(report)))
    }

    /// Visits at which a search ends, and the seconds that it will still take; None: unknown.
    pub fn progress(&self, report: &Report) -> (Option<u32>, Option<f64>) {
        let pace = report.pace;
        match self.limit {
            MoveLimit::Seconds(seconds) => (None, Some((seconds - pace.seconds).max(0.0))),
            MoveLimit::Clock(_) => (None, None),
            // Seconds by the pace of this search: with a kept tree the visits of earlier ones cost nothing.
            MoveLimit::Visits => {
                let left = f64::from(self.visits.saturating_sub(report.visits));
                let known = pace.new_visits > 0 && pace.seconds > 0.0;
                (Some(self.visits), known.then(|| left * pace.seconds / pace.new_visits as f64))
            }
        }
    }
}

fn choice_of(one: &crate::report::RootMove) -> choice::RootMove {
    // Before a visit Q is an assumption; `choose` takes NaN for a value that is not known.
    let q = if one.visits > 0 { one.q as f32 } else { f32::NAN };
    choice::RootMove { action: one.action, visits: one.visits, q, prior: one.prior, proven: proven(one.bounds) }
}
