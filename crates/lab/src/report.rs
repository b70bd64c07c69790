//! The report of a search about its root, as pages show it. Values are for the player to move.

use std::borrow::Cow;

use hauteur_core::game::Action;
use hauteur_core::rules::solver::bounds::{Bounds, FAR};
use hauteur_core::search::Search;
use hauteur_core::search::report::EdgeReport;
use hauteur_core::stats::Value;
use serde_json::{Value as Json, json};

use crate::position::Position;

/// Plies of a line that a page shows.
const LINE_PLIES: usize = 12;
/// Plies of a line that are read.
const MAX_LINE: usize = 64;

/// The findings about a move of the root.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// The move.
    pub action: Action,
    /// Completed visits.
    pub visits: u32,
    /// Prior, without noise.
    pub prior: f32,
    /// By which the search goes; before the first visit what it assumes.
    pub q: f64,
    /// Win, draw, loss as reported; None before the first visit.
    pub wdl: Option<[f32; 3]>,
    /// The network's own value of the position after it.
    pub value: Option<f64>,
    /// The game is over after it.
    pub terminal: bool,
    /// The most visited line, this move first.
    pub line: Vec<Action>,
    /// What is proven of its result.
    pub bounds: (i8, i8),
    /// Plies to the proven end.
    pub plies: Option<u16>,
}

/// Work since the search began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Time.
    pub seconds: f64,
    /// Visits of this search alone.
    pub new_visits: u64,
    /// Their mean depth, plies.
    pub depth: f64,
    /// Positions that a net evaluated.
    pub rows: u64,
}

/// A search so far, or at its end.
#[derive(Clone, Debug)]
pub struct Report {
    /// Best first.
    pub moves: Vec<RootMove>,
    /// Of the root, its own evaluation included.
    pub visits: u32,
    /// By the search.
    pub wdl: [f32; 3],
    /// By the network alone.
    pub value: [f32; 3],
    /// Depth of the deepest visit, plies.
    pub seldepth: u64,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Bytes of the tree.
    pub memory: usize,
    /// The work.
    pub pace: Pace,
    /// Why it ended; empty while it runs.
    pub reason: Cow<'static, str>,
}

/// Plies to the proven end; None where nothing is proven, or an oracle's word is all that is known.
pub fn plies_to_end(bounds: Bounds) -> Option<u16> {
    // An oracle knows the result of a position, and not the plies to its end.
    (bounds.is_proven() && bounds.plies < FAR).then_some(bounds.plies)
}

/// The result that bounds prove.
pub fn proven((lower, upper): (i8, i8)) -> Option<i8> {
    (lower == upper).then_some(lower)
}

/// Win, draw, loss; what is not known is not a number.
pub fn shares(value: Option<Value>) -> [f32; 3] {
    // NaN becomes null in JSON, which pages show as nothing; 0 would be a claim.
    value.map_or([f32::NAN; 3], |value| value.wdl())
}

impl RootMove {
    fn of(edge: &EdgeReport) -> Self {
        RootMove {
            action: edge.action,
            visits: edge.visits,
            prior: edge.prior,
            q: edge.q,
            wdl: edge.reported.map(|value| value.wdl()),
            value: edge.network.map(|value| value.wl),
            terminal: edge.terminal,
            line: vec![edge.action],
            bounds: (edge.bounds.lower, edge.bounds.upper),
            plies: plies_to_end(edge.bounds),
        }
    }

    /// 1: wins at once, -1: loses at once, 0: neither.
    fn result(&self) -> i8 {
        match self.wdl {
            // A finished game only: a net may be as sure of a value as it likes.
            Some([win, _, loss]) if self.terminal => (win - loss).round() as i8,
            _ => 0,
        }
    }

    /// Moves to a proven win (positive) or loss (negative).
    pub fn mate(&self) -> Option<i32> {
        // Without a solver no bounds are proven, and a mate on the board is one all the same.
        if self.result() != 0 {
            return Some(i32::from(self.result()));
        }
        let proven = proven(self.bounds).filter(|result| *result != 0)?;
        // One ply is a mate in one, three are a mate in two: the last ply is a move of the side that wins.
        self.plies.map(|plies| i32::from(proven) * (i32::from(plies) + 1) / 2)
    }
}

/// Reports a tree as it stands; the first `lines` moves get their line.
pub fn report(search: &Search, lines: usize, pace: Pace, reason: impl Into<Cow<'static, str>>) -> Report {
    let mut moves: Vec<RootMove> = search.root_edges().iter().map(RootMove::of).collect();
    // A search may stop before a mate at the next ply has most visits. The sort is stable: all others keep their
    // order.
    moves.sort_by_key(|one| -one.result());
    for one in moves.iter_mut().take(lines) {
        one.line = search.principal_variation(Some(one.action), MAX_LINE);
    }
    Report {
        moves,
        visits: search.tree().root.visits,
        wdl: shares(search.root_reported_value()),
        value: shares(search.root_network_value()),
        seldepth: search.counters().depth_max,
        nodes: search.tree().num_nodes(),
        memory: search.tree().bytes(),
        pace,
        reason: reason.into(),
    }
}

impl Report {
    /// Expected result of the mover, 0 to 1.
    pub fn score(&self) -> f32 {
        self.wdl[0] + 0.5 * self.wdl[1]
    }

    /// Win, draw and loss of the first player.
    pub fn first_players(&self, to_move: usize) -> [f32; 3] {
        let [win, draw, loss] = self.wdl;
        if to_move == 0 { [win, draw, loss] } else { [loss, draw, win] }
    }

    /// As the page Analyse takes it.
    pub fn view(&self, position: &Position) -> Json {
        let total = self.moves.iter().map(|one| u64::from(one.visits)).sum::<u64>().max(1);
        let view = |one: &RootMove| {
            let line = &one.line[..one.line.len().min(LINE_PLIES)];
            json!({
                "a": one.action,
                "text": position.text(one.action),
                "visits": one.visits,
                "share": f64::from(one.visits) / total as f64,
                "prior": f64::from(one.prior),
                // Before the first visit Q is what the search assumes, which no reader could tell from a finding.
                "q": one.wdl.map(|_| one.q),
                "value": one.value,
                "wdl": one.wdl.map(|shares| shares.map(f64::from)),
                "proven": proven(one.bounds),
                "mate": one.mate(),
                "line": position.line_texts(line),
            })
        };
        let pace = self.pace;
        json!({
            "visits": self.visits,
            "nodes": self.nodes,
            "memory": self.memory,
            "seconds": pace.seconds,
            "visits_per_second": if pace.seconds > 0.0 { pace.new_visits as f64 / pace.seconds } else { 0.0 },
            "depth": pace.depth,
            "seldepth": self.seldepth,
            "wdl": self.wdl.map(f64::from),
            "value": f64::from(self.value[0]) - f64::from(self.value[2]),
            "mate": self.moves.first().and_then(RootMove::mate),
            "reason": self.reason,
            "to_move": position.to_move(),
            "moves": self.moves.iter().map(view).collect::<Vec<_>>(),
        })
    }
}
