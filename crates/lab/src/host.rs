//! What sessions share: their host, facts, random numbers, and the events that wait to be sent.

use std::sync::Arc;

use hauteur_core::evaluator::Evaluator;
use hauteur_core::game::Game;
use hauteur_core::math::rng::mix;
use serde_json::{Value as Json, json};

use crate::facts::Facts;
use crate::position::{Position, load_game};

/// Bytes of the trees of a page, which its session divides among them.
pub const TREE_BYTES: u64 = 256 << 20;

/// What to say where a position was not searched yet: the page asks for the tree before there is one.
pub const NOTHING_YET: &str = "nothing was searched here yet";

/// The error of an evaluator whose rows are being computed elsewhere: a search asks for the same rows again at its next turn, and
/// keeps them in flight until then.
pub const AWAITED: &str = "the rows are being computed elsewhere";

/// What a host of sessions gives: nets, and the time.
pub trait Host {
    /// The evaluator of a name for a game; an error, in one line, for no net of the host and for one of another game.
    fn evaluator(&mut self, name: &str, game: &dyn Game) -> Result<Arc<dyn Evaluator>, String>;
    /// The names that a page may give.
    fn nets(&self) -> Vec<String>;
    /// The net of a game that ships, by its name.
    fn own_net(&self, game: &dyn Game) -> Option<String>;
    /// What pages show as the name of a net.
    fn shown_net(&self, name: &str) -> String;
    /// What computes a net, in words.
    fn evaluator_name(&self, name: &str) -> String;
    /// Seconds since some moment.
    fn now(&self) -> f64;
}

/// Shared by the session and what it consists of.
pub struct Lab {
    /// What the package knows.
    pub facts: Facts,
    /// Nets and time.
    pub host: Box<dyn Host>,
    /// Today, as year-month-day.
    pub date: String,
    seed: u64,
    drawn: u64,
    events: Vec<Json>,
}

impl Lab {
    /// A lab with these facts. `seed`: of all that is not asked for with a seed.
    pub fn new(facts: Facts, host: Box<dyn Host>, seed: u64, date: &str) -> Self {
        Lab { facts, host, date: date.to_string(), seed, drawn: 0, events: Vec::new() }
    }

    /// Seconds since some moment.
    pub fn now(&self) -> f64 {
        self.host.now()
    }

    /// The clock itself.
    pub fn clock(&self) -> impl Fn() -> f64 + '_ {
        move || self.host.now()
    }

    /// The name that is given, else the game's own net, else `rollout`.
    pub fn net_or_own(&self, name: &str, game: &dyn Game) -> String {
        match name {
            // So that every game can be played and analysed; `rollout` is shown as what it is.
            "" => self.host.own_net(game).unwrap_or_else(|| "rollout".into()),
            name => name.to_string(),
        }
    }

    /// A random number of 64 bits, the next of the lab's own.
    pub fn draw(&mut self) -> u64 {
        // Drawn by a counter: the same requests give the same game, which tests rely on.
        self.drawn += 1;
        mix(self.seed.wrapping_add(self.drawn))
    }

    /// A random number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        // 53 bits are all that a number between 0 and 1 can hold.
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Rows a second that a net computes in full batches of the start of a game, over about this many seconds.
    pub fn rows_per_second(&mut self, net: &str, game: &str, seconds: f64) -> Result<f64, String> {
        let start = Position::start(load_game(game)?);
        let evaluator = self.host.evaluator(net, start.game.as_ref())?;
        let info = start.game.info();
        let rows = evaluator.batch_size();
        let mut features = vec![0.0; rows * info.row_len()];
        features.chunks_mut(info.row_len()).for_each(|row| start.state.encode(row));
        let mut logits = vec![0.0; rows * info.num_actions];
        let mut wdl = vec![0.0; rows * 3];
        evaluator.evaluate(&features, rows, &mut logits, &mut wdl)?; // the first batch also makes the buffers
        let mut done = 0;
        let began = self.now();
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
