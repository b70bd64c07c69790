//! The session of the page Explain: two searches of one position, what differs, and what each rule did.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hauteur_core::game::Action;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::analysis::{Analysis, SearchNets, Turn};
use crate::explained::{Explained, MAX_NODES, Side};
use crate::explanation::{Question, children, effect_of_rule, explanation};
use crate::host::{Lab, Session, TREE_BYTES, unknown};
use crate::limits::Limits;
use crate::messages::{fields, within};
use crate::place::Place;
use crate::settings::{bounded, chosen_values};
use crate::view::position_view;

/// Visits of a search, at most: several trees are in the memory of the browser.
const MAX_VISITS: u32 = 20_000;
const MAX_BATCH: usize = 4096;
/// Share of the work after which the time that is left is reported.
const KNOWN_SHARE: f64 = 0.1;
/// Seconds between two reports of progress.
const REPORT_SECONDS: f64 = 0.1;

#[derive(Deserialize, Default)]
#[serde(default)]
struct SideFields {
    net: String,
    large_net: String,
    settings: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(default)]
struct QuestionFields {
    a: SideFields,
    b: SideFields,
    visits: u32,
    seed: u64,
    batch_size: usize,
    line: Vec<Action>,
}

impl Default for QuestionFields {
    fn default() -> Self {
        let a = SideFields::default();
        let b = SideFields::default();
        QuestionFields { a, b, visits: 800, seed: 0, batch_size: 16, line: Vec::new() }
    }
}

/// A search of a comparison.
struct Step {
    what: String,
    side: Side,
    /// The side, and the rule that it does without.
    without: Option<(&'static str, String)>,
}

/// A comparison on its way.
struct Work {
    question: Question,
    steps: Vec<Step>,
    /// Steps that are done.
    done: usize,
    /// Searches of whole sides by their keys.
    made: HashMap<String, Rc<Explained>>,
    rules: Vec<Json>,
    running: Option<Analysis>,
    began: f64,
    reported: f64,
}

/// The comparison that is shown.
struct Shown {
    question: Question,
    a: Rc<Explained>,
    b: Rc<Explained>,
}

/// One comparison at a time; its two trees are kept until the next one.
#[derive(Default)]
pub struct ExplainSession {
    work: Option<Work>,
    shown: Option<Shown>,
}

impl Session for ExplainSession {
    fn handle(&mut self, request: &str, given: Json, lab: &mut Lab) -> Result<Json, String> {
        match request {
            "open" => {
                let place: Place = fields(given, "position")?;
                Ok(json!({ "position": position_view(&place.played()?.position, place.flip) }))
            }
            "nets" => Ok(json!({ "nets": lab.host.nets() })),
            "start" => self.start(given, lab),
            "stop" => {
                if self.work.take().is_some() {
                    lab.emit("stopped", json!({}));
                }
                Ok(json!({}))
            }
            "children" => {
                let asked: QuestionFields = fields(given, "line")?;
                let shown = self.shown.as_ref().ok_or("there is no comparison yet")?;
                Ok(json!({ "children": children(&shown.a, &shown.b, &shown.question.position, &asked.line)? }))
            }
            other => unknown("explain", other),
        }
    }

    fn turn(&mut self, lab: &mut Lab) -> bool {
        let Some(work) = &mut self.work else { return false };
        match work.turn(lab) {
            Ok(true) => true,
            Ok(false) => {
                self.finish(lab);
                false
            }
            Err(error) => {
                self.work = None;
                lab.emit("failed", json!({ "text": error }));
                false
            }
        }
    }
}

fn side_of(given: &SideFields, position: &crate::position::Position, label: &str, lab: &Lab) -> Result<Side, String> {
    let fail = |error: String| format!("{label}: {error}");
    let chosen = chosen_values(&given.settings, label)?;
    let own = || {
        let spec = position.spec();
        lab.host
            .own_net(position.game.as_ref())
            // No other net in its place: a comparison of settings is of use only where the reader knows what
            // searched.
            .ok_or_else(|| format!("{label}: no net for {spec}: choose rollout or uniform"))
    };
    let net = if given.net.is_empty() { own()? } else { given.net.clone() };
    let named = [("net", &given.net), ("large_net", &given.large_net)];
    let nets = named.into_iter().filter(|(_, net)| !net.is_empty()).map(|(key, net)| format!("{key}={net}"));
    let words = given.settings.iter().map(|(key, value)| format!("{key}={value}"));
    let text = nets.chain(words).collect::<Vec<_>>().join(" ");
    // As everywhere, settings of the net are under those that are given; both sides may have them, and then they
    // are no difference.
    let values = lab.facts.search_of_net(&net, &given.large_net, &chosen).map_err(fail)?;
    let side = Side { text, net, large: given.large_net.clone(), values };
    let search = side.search().map_err(fail)?;
    // A rule that is neutral asks no second net, so it may stand there without one.
    if side.large.is_empty() && search.second_net.is_some_and(|rule| rule.small_visits > 0) {
        return Err(format!("{label}: second_net needs a large net: choose a second net"));
    }
    if side.large.is_empty() && search.opponent_net.is_some() {
        return Err(format!("{label}: opponent_net needs the net that models the opponent: choose a second net"));
    }
    Ok(side)
}

impl ExplainSession {
    fn start(&mut self, given: Json, lab: &mut Lab) -> Result<Json, String> {
        let (place, asked): (Place, QuestionFields) = (fields(given.clone(), "question")?, fields(given, "question")?);
        let position = place.played()?.position;
        if position.outcome().is_some() {
            return Err("the game is over here: there is nothing to search".into());
        }
        let visits = within("visits", asked.visits, 2, MAX_VISITS)?;
        let batch_size = within("batch_size", asked.batch_size, 1, MAX_BATCH)?;
        let sides = [
            ("a", "side A", side_of(&asked.a, &position, "side A", lab)?),
            ("b", "side B", side_of(&asked.b, &position, "side B", lab)?),
        ];
        let whole =
            |(_, what, side): &(&str, &str, Side)| Step { what: what.to_string(), side: side.clone(), without: None };
        // The two whole searches come first: each search without a rule is compared with that of its side.
        let mut steps: Vec<Step> = sides.iter().map(whole).collect();
        for (name, what, side) in &sides {
            for key in side.changed()? {
                let what = format!("{what} without {key}");
                steps.push(Step { what, side: side.without(&key), without: Some((*name, key)) });
            }
        }
        let question = Question { position, visits, seed: asked.seed, batch_size };
        // Trees of 20,000 visits are large in a browser: those of the last comparison are freed before the next
        // ones grow.
        (self.work, self.shown) = (None, None);
        let now = lab.now();
        let made = HashMap::new();
        let rules = Vec::new();
        self.work = Some(Work { question, steps, done: 0, made, rules, running: None, began: now, reported: now });
        Ok(json!({}))
    }

    fn finish(&mut self, lab: &mut Lab) {
        let Some(work) = self.work.take() else { return };
        let side = |number: usize| work.steps[number].side.key().ok().and_then(|key| work.made.get(&key).cloned());
        let (Some(a), Some(b)) = (side(0), side(1)) else { return };
        lab.emit("done", explanation(&work.question, &a, &b, work.rules));
        self.shown = Some(Shown { question: work.question, a, b });
    }
}

impl Work {
    /// Does a piece of the comparison; whether there is more.
    fn turn(&mut self, lab: &mut Lab) -> Result<bool, String> {
        if self.done == self.steps.len() {
            return Ok(false);
        }
        let Some(analysis) = &mut self.running else { return self.begin(lab).map(|()| true) };
        let turn = analysis.turn(&lab.clock())?;
        if !matches!(turn, Turn::On(_)) {
            self.end(lab)?;
        } else if lab.now() - self.reported > REPORT_SECONDS {
            self.report_progress(lab);
        }
        Ok(true)
    }

    /// Begins the next search, unless it was made before.
    fn begin(&mut self, lab: &mut Lab) -> Result<(), String> {
        let step = &self.steps[self.done];
        let side = &step.side;
        let game = self.question.position.game.clone();
        // The sides may be equal, as when a net is compared with itself; two searches with one key have one tree.
        if step.without.is_none() && self.made.contains_key(&side.key()?) {
            self.done += 1;
            return Ok(());
        }
        let small = lab.host.evaluator(&side.net, game.as_ref())?;
        let second = Some(&side.large).filter(|name| !name.is_empty());
        let large = second.map(|name| lab.host.evaluator(name, game.as_ref())).transpose()?;
        // One seed for all searches: what differs is then of the settings alone.
        let search = bounded(side.search()?, TREE_BYTES);
        let seed = self.question.seed;
        let nets = SearchNets { small, large };
        let batch = Some(self.question.batch_size);
        let mut analysis = Analysis::new(self.question.position.clone(), nets, search, seed, batch)?;
        analysis.begin(Limits { visits: Some(self.question.visits), ..Limits::default() }, &lab.clock())?;
        self.running = Some(analysis);
        self.report_progress(lab);
        Ok(())
    }

    /// Keeps the search that is over.
    fn end(&mut self, lab: &Lab) -> Result<(), String> {
        let (Some(analysis), step) = (self.running.take(), &self.steps[self.done]) else { return Ok(()) };
        let evaluator = lab.host.evaluator_name(&step.side.net);
        // With the line of every move, since the page shows any of them.
        let report = analysis.report(usize::MAX)?;
        let found = Explained::read(step.side.clone(), analysis.search()?, report, evaluator, MAX_NODES);
        match &step.without {
            None => {
                self.made.insert(step.side.key()?, Rc::new(found));
            }
            Some((name, key)) => {
                let whole = &self.steps[usize::from(*name == "b")].side;
                let on = self.made.get(&whole.key()?).cloned().ok_or("the search of a side is missing")?;
                let position = &self.question.position;
                let page = lab.facts.methods.get(key);
                self.rules.push(effect_of_rule(name, key, &on, &found, position, page.map(String::as_str)));
            }
        }
        self.done += 1;
        Ok(())
    }

    fn report_progress(&mut self, lab: &mut Lab) {
        let now = lab.now();
        self.reported = now;
        let of = self.steps.len() + 1;
        let visits =
            self.running.as_ref().and_then(|analysis| analysis.report(0).ok()).map_or(0, |report| report.visits);
        let done = self.done as f64 + (f64::from(visits) / f64::from(self.question.visits)).min(1.0);
        // Below this share the guess is of one slow first batch.
        let left = (done > KNOWN_SHARE).then(|| (now - self.began) * (of as f64 - done) / done);
        let what = &self.steps[self.done].what;
        lab.emit(
            "progress",
            json!({ "done": self.done, "of": of, "what": what, "share": done / of as f64, "left": left }),
        );
    }
}
