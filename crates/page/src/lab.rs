//! What sessions share: facts, nets, time, random numbers, and the events that wait to be sent.

use hauteur_core::math::rng::mix;
use hauteur_evaluate::Instructions;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::facts::Facts;
use crate::nets::Nets;
use crate::position::{Position, load_game};

/// Bytes of the trees of a page, which its session divides among them.
pub const TREE_BYTES: u64 = 256 << 20;

/// What to say where a position was not searched yet: the page asks for the tree before there is one.
pub const NOTHING_YET: &str = "nothing was searched here yet";

/// Shared by the session and what it consists of.
pub struct Lab {
    /// What the page was built with.
    pub facts: Facts,
    /// Its nets.
    pub nets: Nets,
    /// Today, as year-month-day.
    pub date: String,
    clock: Box<dyn Fn() -> f64>,
    seed: u64,
    drawn: u64,
    events: Vec<Json>,
}

impl Lab {
    /// A lab with these facts, as JSON. `seed`: of all that is not asked for with a seed; `clock`: seconds since some moment;
    /// `instructions`: of nets, None: the best that there are.
    pub fn new(
        facts: &str,
        seed: u64,
        date: &str,
        clock: Box<dyn Fn() -> f64>,
        instructions: Option<Instructions>,
    ) -> Result<Self, String> {
        let facts: Facts = serde_json::from_str(facts).map_err(|error| format!("facts: {error}"))?;
        let nets = Nets::new(facts.nets.clone(), instructions);
        Ok(Lab { facts, nets, date: date.to_string(), clock, seed, drawn: 0, events: Vec::new() })
    }

    /// Seconds since some moment.
    pub fn now(&self) -> f64 {
        (self.clock)()
    }

    /// The clock itself.
    pub fn clock(&self) -> &dyn Fn() -> f64 {
        self.clock.as_ref()
    }

    /// A random number of 64 bits, the next of the lab's own.
    pub fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed.wrapping_add(self.drawn))
    }

    /// A random number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Rows a second that a net computes in full batches of the start of a game, over about this many seconds.
    pub fn rows_per_second(&mut self, net: &str, game: &str, seconds: f64) -> Result<f64, String> {
        let start = Position::start(load_game(game)?);
        let (evaluator, info) = (self.nets.open(net, start.game.as_ref())?, start.game.info());
        let rows = evaluator.batch_size();
        let mut features = vec![0.0; rows * info.row_len()];
        features.chunks_mut(info.row_len()).for_each(|row| start.state.encode(row));
        let (mut logits, mut wdl) = (vec![0.0; rows * info.num_actions], vec![0.0; rows * 3]);
        evaluator.evaluate(&features, rows, &mut logits, &mut wdl)?; // the first batch also makes the buffers
        let (mut done, began) = (0, self.now());
        while self.now() - began < seconds {
            evaluator.evaluate(&features, rows, &mut logits, &mut wdl)?;
            done += rows;
        }
        Ok(done as f64 / (self.now() - began))
    }

    /// Sends an event, after the reply that is being made.
    pub fn emit(&mut self, event: &str, fields: Json) {
        self.events.push(json!({ "event": event, "fields": fields }));
    }

    /// The events that wait, which are sent then.
    pub fn take_events(&mut self) -> Vec<Json> {
        std::mem::take(&mut self.events)
    }
}

/// What a page's message must hold; an error, in one line, names it.
pub fn fields<T: DeserializeOwned>(given: Json, label: &str) -> Result<T, String> {
    serde_json::from_value(given).map_err(|error| format!("{label}: {error}"))
}

/// A number in its range.
pub fn within<T: PartialOrd + std::fmt::Display>(name: &str, value: T, least: T, most: T) -> Result<T, String> {
    if least <= value && value <= most {
        Ok(value)
    } else {
        Err(format!("{name} must be {least} to {most}, got {value}"))
    }
}

/// A session of a page: requests, answered at once, and work, done piece by piece between them.
pub trait Session {
    /// Answers a request.
    fn handle(&mut self, request: &str, given: Json, lab: &mut Lab) -> Result<Json, String>;

    /// Does a piece of the work, some ten milliseconds of it; whether there is more.
    fn turn(&mut self, lab: &mut Lab) -> bool;

    /// Seconds until `turn` is due without any request; None: there is nothing to wait for.
    fn alarm(&self, _lab: &Lab) -> Option<f64> {
        None
    }
}

/// What to say of a request that there is not.
pub fn unknown<T>(session: &str, request: &str) -> Result<T, String> {
    Err(format!("{session}: there is no request {request:?}"))
}

/// What to say of what only the lab on a machine does.
pub fn needs_server<T>(what: &str) -> Result<T, String> {
    Err(format!("{what} needs the lab on your machine: hauteur web"))
}
