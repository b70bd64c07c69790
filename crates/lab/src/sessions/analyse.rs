//! The session of the page Analyse: one position, a search of it, its moves over time, its tree.

use std::collections::BTreeMap;

use hauteur_core::game::Action;
use hauteur_core::params::SearchParams;
use hauteur_core::search::Search;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::analysis::{Analysis, SearchNets, Turn};
use crate::editor;
use crate::game_tree;
use crate::history::History;
use crate::host::{Lab, NOTHING_YET, Session, TREE_BYTES, needs_server, unknown};
use crate::limits::{Limits, fixed};
use crate::messages::{fields, within};
use crate::place::Place;
use crate::position::{Position, load_game};
use crate::settings::{bounded, chosen_values, search_of};
use crate::tree_rows::{first_nodes, opened};
use crate::view::position_view;

/// Moves of a report that get their line.
const LINES: usize = 256;
/// Nodes that one request opens.
const MAX_OPEN: usize = 100;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Look {
    net: String,
    large_net: String,
    search: BTreeMap<String, String>,
    seed: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Order {
    visits: Option<u32>,
    seconds: Option<f64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeFields {
    line: Vec<Action>,
    flip: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LinesFields {
    lines: Vec<Vec<Action>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TextFields {
    text: String,
    game: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Moment {
    visits: u32,
}

/// What a tree is of: it is kept where none of this changes.
#[derive(Clone, PartialEq)]
struct Key {
    game: String,
    net: String,
    large: String,
    search: SearchParams,
    seed: u64,
}

/// One position at a time; the tree is kept where the next one continues it.
#[derive(Default)]
pub struct AnalyseSession {
    position: Option<Position>,
    key: Option<Key>,
    /// The tree, and what it is of.
    analysis: Option<(Key, Analysis)>,
    /// The position was searched.
    searched: bool,
    history: History,
    number: u64,
}

impl Session for AnalyseSession {
    fn handle(&mut self, request: &str, given: Json, lab: &mut Lab) -> Result<Json, String> {
        match request {
            "open" => self.open(given, lab),
            "view" => self.view(given),
            "nets" => Ok(json!({ "nets": lab.host.nets() })),
            "read" => read(given),
            "start" => self.start(given, lab),
            "edit" => editor::edit(given),
            "stop" => {
                self.stop(lab);
                Ok(json!({}))
            }
            "history" => self.history(),
            "moment" => self.moment(given),
            "tree" => self.read_tree(|search, position| Ok(json!({ "root": first_nodes(search, position) }))),
            "nodes" => self.nodes(given),
            "look" => self.look(given),
            // The page asks for this list when it opens; an empty one is no error to show.
            "saved" => Ok(json!({ "trees": [] })),
            "save" | "load" => needs_server("saving a tree"),
            "traps" => needs_server("looking for traps"),
            other => unknown("analyse", other),
        }
    }

    fn turn(&mut self, lab: &mut Lab) -> bool {
        let Some((_, analysis)) = self.analysis.as_mut().filter(|(_, analysis)| analysis.is_searching()) else {
            return false;
        };
        let turn = analysis.turn(&lab.clock());
        match turn {
            Ok(Turn::On(due)) => {
                if due {
                    self.report("report", lab);
                }
                true
            }
            // Reported as one that goes on: only a stop ends it, and the page keeps its button.
            Ok(Turn::Rests) => {
                self.report("report", lab);
                false
            }
            Ok(Turn::Over) => {
                self.report("done", lab);
                false
            }
            // The search is over by then; its tree can still be read.
            Err(error) => {
                lab.emit("failed", json!({ "text": error }));
                false
            }
        }
    }
}

/// The game of a text as a tree; its spec is as `open` takes it.
fn read(given: Json) -> Result<Json, String> {
    let asked: TextFields = fields(given, "game")?;
    game_tree::view(&asked.text, &load_game(&asked.game)?)
}

/// Ply of a start, counted from the first player's first move, as PGN numbers moves; None: from one.
fn first_ply(start: &Position) -> Option<usize> {
    if !start.game.customs().has_fen {
        return None;
    }
    let notation = start.state.notation();
    // The number of the move is the last field of a FEN; PGN counts from it, and so does the page's list.
    let number = notation.rsplit(' ').next().and_then(|word| word.parse::<usize>().ok());
    Some(2 * number.unwrap_or(1).saturating_sub(1) + start.to_move())
}

impl AnalyseSession {
    fn open(&mut self, given: Json, lab: &mut Lab) -> Result<Json, String> {
        let (place, look): (Place, Look) = (fields(given.clone(), "position")?, fields(given, "position")?);
        let played = place.played()?;
        let game = played.position.game.clone();
        let net = lab.net_or_own(&look.net, game.as_ref());
        // Opened already here, so that a net that does not fit is an error of this request and not of the next
        // search.
        lab.host.evaluator(&net, game.as_ref())?;
        if !look.large_net.is_empty() {
            lab.host.evaluator(&look.large_net, game.as_ref()).map_err(|error| format!("large net: {error}"))?;
        }
        let given = chosen_values(&look.search, "settings")?;
        let values = lab.facts.search_of_net(&net, &look.large_net, &given)?;
        let search = bounded(search_of(&values, "settings")?, TREE_BYTES);
        // Only now, when nothing can be refused any more: a wrong setting must not end the search that is shown.
        self.stop(lab);
        let shown = lab.host.shown_net(&net);
        let spec = played.position.spec().to_string();
        self.key = Some(Key { game: spec, net, large: look.large_net, search, seed: look.seed });
        self.position = Some(played.position.clone());
        // The tree may be kept, yet the page asks for what was found in this position, and that is nothing so far.
        self.searched = false;
        self.history = History::default();
        let name = &game.info().name;
        Ok(json!({
            "position": position_view(&played.position, place.flip),
            "moves": played.texts,
            "first_ply": first_ply(&played.position.back_to(0)),
            "side_names": played.position.side_names(),
            "net": shown,
            "has_fen": game.customs().has_fen,
            "editable": name == "chess",
        }))
    }

    fn present(&self) -> Result<&Position, String> {
        self.position.as_ref().ok_or_else(|| "there is no position yet".into())
    }

    fn view(&mut self, given: Json) -> Result<Json, String> {
        let node: NodeFields = fields(given.clone(), "view")?;
        if !node.line.is_empty() {
            return self.look(given);
        }
        Ok(json!({ "position": position_view(self.present()?, node.flip) }))
    }

    fn start(&mut self, given: Json, lab: &mut Lab) -> Result<Json, String> {
        let order: Order = fields(given, "search")?;
        let position = self.present()?.clone();
        if position.outcome().is_some() {
            return Err("the game is over here: there is nothing to search".into());
        }
        let visits = order.visits.map(|visits| within("visits", visits, 1, u32::MAX)).transpose()?;
        let seconds = order.seconds.map(|seconds| within("seconds", seconds, 0.001, 86_400.0)).transpose()?;
        self.stop(lab);
        // Before the search, as it takes the seconds of the searches before from the last report.
        self.history.begin_search();
        self.analyse(position, lab)?;
        let limits = Limits { visits, budget: seconds.map(fixed), smart_pruning: 0.0 };
        if let Some((_, analysis)) = &mut self.analysis {
            analysis.begin(limits, &lab.clock())?;
        }
        (self.searched, self.number) = (true, self.number + 1);
        Ok(json!({ "number": self.number }))
    }

    /// Has a tree of the position: the one that is kept where it continues that, else a new one.
    fn analyse(&mut self, position: Position, lab: &mut Lab) -> Result<(), String> {
        let key = self.key.clone().ok_or("there is no position yet")?;
        // Settings and nets are compared, not the position: a tree of other settings has other values, one of
        // another position may have the new one as its root's child.
        if let Some((_, analysis)) = self.analysis.as_mut().filter(|(known, _)| *known == key) {
            return analysis.go_to(&position);
        }
        self.analysis = None; // its memory is free before the next one begins
        let small = lab.host.evaluator(&key.net, position.game.as_ref())?;
        let second = Some(&key.large).filter(|name| !name.is_empty());
        let large = second.map(|name| lab.host.evaluator(name, position.game.as_ref())).transpose()?;
        let nets = SearchNets { small, large };
        self.analysis = Some((key.clone(), Analysis::new(position, nets, key.search.clone(), key.seed, None)?));
        Ok(())
    }

    fn stop(&mut self, lab: &mut Lab) {
        let Some((_, analysis)) = self.analysis.as_mut().filter(|(_, analysis)| analysis.is_searching()) else {
            return;
        };
        analysis.stop(&lab.clock());
        self.report("done", lab);
    }

    /// Sends a report, with the time since the position was opened, and keeps it for the curves.
    fn report(&mut self, event: &str, lab: &mut Lab) {
        let Some((_, analysis)) = &self.analysis else { return };
        // Without an evaluated root there is nothing to report, which is no failure.
        let Ok(report) = analysis.report(LINES) else { return };
        let mut view = self.history.add(report, analysis.position());
        view["number"] = json!(self.number);
        lab.emit(event, view);
    }

    fn history(&self) -> Result<Json, String> {
        Ok(self.history.view(self.present()?))
    }

    fn moment(&self, given: Json) -> Result<Json, String> {
        let asked: Moment = fields(given, "moment")?;
        self.history.moment(asked.visits, self.present()?).ok_or_else(|| NOTHING_YET.into())
    }

    /// Reads the tree of the position.
    fn read_tree<T>(&self, read: impl FnOnce(&Search, &Position) -> Result<T, String>) -> Result<T, String> {
        let none = || NOTHING_YET.to_string();
        // A kept tree is at the position before until the next search begins.
        let (_, analysis) = self.analysis.as_ref().filter(|_| self.searched).ok_or_else(none)?;
        read(analysis.search()?, analysis.position())
    }

    fn nodes(&self, given: Json) -> Result<Json, String> {
        let asked: LinesFields = fields(given, "nodes")?;
        if asked.lines.len() > MAX_OPEN {
            return Err(format!("nodes: at most {MAX_OPEN} lines, got {}", asked.lines.len()));
        }
        self.read_tree(|search, position| {
            // A page opens what it saw in an earlier report; nodes that are gone since a move was made are left
            // out.
            let found = asked.lines.iter().filter_map(|line| opened(search, position, line).ok());
            Ok(json!({ "nodes": found.collect::<Vec<_>>() }))
        })
    }

    fn look(&self, given: Json) -> Result<Json, String> {
        let node: NodeFields = fields(given, "node")?;
        self.read_tree(|search, position| {
            opened(search, position, &node.line)?;
            let mut place = position.clone();
            node.line.iter().try_for_each(|&action| place.play(action))?;
            let view = position_view(&place, node.flip);
            Ok(json!({ "position": view, "moves": position.line_texts(&node.line) }))
        })
    }
}
