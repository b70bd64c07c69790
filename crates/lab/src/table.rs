//! A game between two sides, each a person or an engine, with clocks, hints, taking back, resignation and draws
//! (`hauteur.engine.two_sided`).

use hauteur_core::game::Action;

use crate::engine::{Engine, Thought};
use crate::host::Lab;
use crate::played::{Ending, Played};
use crate::position::Position;
use crate::report::Report;

/// Moves of a hint that get a line.
const HINT_LINES: usize = 5;

/// The time of one side, seconds.
pub struct SideClock {
    left: f64,
    increment: f64,
    began: Option<f64>,
}

impl SideClock {
    /// A clock with these seconds left, which gets `increment` for every move.
    pub fn new(left: f64, increment: f64) -> Self {
        SideClock { left: left.max(0.0), increment, began: None }
    }

    fn left(&self, now: f64) -> f64 {
        // Never below zero: a flag is looked at some time after it fell, and pages show what is left.
        (self.left - self.began.map_or(0.0, |began| now - began)).max(0.0)
    }

    fn stop(&mut self, now: f64, moved: bool) {
        // The increment is for a move; a pause brings none.
        self.left = self.left(now) + if moved { self.increment } else { 0.0 };
        self.began = None;
    }
}

/// A side: a person where it has no engine.
#[derive(Default)]
pub struct Side {
    /// What plays it.
    pub engine: Option<Engine>,
    /// Its time for the whole game.
    pub clock: Option<SideClock>,
    /// What odds mode has changed in its settings.
    pub odds: String,
    score: Option<f32>,
}

/// What the table has to say after a piece of work.
pub enum News {
    /// The game has changed.
    Changed,
    /// The search of a side, which goes on.
    Search(usize, Report),
    /// A hint for a position, or why there is none.
    Hint(Position, Result<Report, String>),
}

/// One game.
pub struct Table {
    /// Its moves.
    pub played: Played,
    /// Its sides.
    pub sides: [Side; 2],
    /// Engines wait: they were stopped, or one has failed.
    pub paused: bool,
    /// Why an engine could not move.
    pub problem: String,
    /// A note on the last move or offer.
    pub note: String,
    /// Win, draw and loss of the first player by the last search.
    pub value: Option<[f32; 3]>,
    /// The engine of the side to move looks for a move.
    pub thinking: bool,
    hint: Option<(Engine, Position)>,
}

impl Table {
    /// A game that stands still until `go_on`.
    pub fn new(played: Played, sides: [Side; 2]) -> Self {
        let problem = String::new();
        let note = String::new();
        Table { played, sides, paused: true, problem, note, value: None, thinking: false, hint: None }
    }

    /// Whether a side is a person.
    pub fn is_person(&self, side: usize) -> bool {
        self.sides[side].engine.is_none()
    }

    /// The sides of persons.
    pub fn persons(&self) -> Vec<usize> {
        (0..2).filter(|side| self.is_person(*side)).collect()
    }

    /// The names of the sides.
    pub fn names(&self) -> [String; 2] {
        [0, 1].map(|side| self.sides[side].engine.as_ref().map_or("person".into(), |engine| engine.name.clone()))
    }

    /// The side to move.
    pub fn to_move(&self) -> usize {
        self.played.position.to_move()
    }

    /// Seconds on the clocks.
    pub fn left(&self, now: f64) -> [Option<f64>; 2] {
        [0, 1].map(|side| self.sides[side].clock.as_ref().map(|clock| clock.left(now)))
    }

    /// The side whose clock runs.
    pub fn running(&self) -> Option<usize> {
        let side = self.to_move();
        self.sides[side].clock.as_ref().and_then(|clock| clock.began).map(|_| side)
    }

    /// Seconds until the clock that runs is over.
    pub fn flag(&self, now: f64) -> Option<f64> {
        // For `alarm`: where a person thinks no work is due that would look at the clock.
        self.running().and_then(|side| self.left(now)[side])
    }

    /// Lets the side to move think, or waits for the person; also after a pause and after a problem.
    pub fn go_on(&mut self, lab: &Lab) {
        (self.paused, self.problem) = (false, String::new());
        self.next(lab);
    }

    /// Stops engines and clocks where they are.
    pub fn pause(&mut self, lab: &Lab) {
        self.halt(lab);
        self.paused = true;
    }

    fn next(&mut self, lab: &Lab) {
        let side = self.to_move();
        let now = lab.now();
        if self.paused || self.played.ending().is_some() {
            return;
        }
        // Before the clock starts: the time of a move is planned with all that is on it.
        let left = self.left(now)[side];
        if let Some(clock) = &mut self.sides[side].clock {
            // A clock that runs goes on: `go_on` in a running game must not give back the time that was used.
            clock.began = clock.began.or(Some(now));
        }
        let position = &self.played.position;
        let Some(engine) = &mut self.sides[side].engine else { return };
        match engine.start(position, left, lab) {
            Ok(()) => self.thinking = true,
            Err(error) => self.fail(side, &error, lab),
        }
    }

    fn halt(&mut self, lab: &Lab) {
        // A hint is for the position that was, so it ends with the searches.
        (self.thinking, self.hint) = (false, None);
        let now = lab.now();
        for side in &mut self.sides {
            // No side has moved here, so no clock gets its increment.
            side.clock.iter_mut().for_each(|clock| clock.stop(now, false));
            side.engine.iter_mut().for_each(|engine| engine.stop(lab));
        }
    }

    fn fail(&mut self, side: usize, error: &str, lab: &Lab) {
        let name = self.names()[side].clone();
        // Clocks too: nobody shall lose on time because an engine has failed.
        self.halt(lab);
        (self.paused, self.problem) = (true, format!("{name}: {error}"));
    }

    /// Plays a person's move; an error where it is not a person's turn, or the move is not legal.
    pub fn play(&mut self, action: Action, lab: &Lab) -> Result<(), String> {
        let side = self.to_move();
        if self.played.ending().is_none() && !self.is_person(side) {
            return Err(format!("it is not your turn: {} is to move", self.names()[side]));
        }
        self.make(action, lab)
    }

    fn make(&mut self, action: Action, lab: &Lab) -> Result<(), String> {
        let side = self.to_move();
        // First, since it alone can fail: after an error clock and search go on as before.
        self.played.play(action)?;
        (self.thinking, self.hint, self.note) = (false, None, String::new());
        if let Some(clock) = &mut self.sides[side].clock {
            clock.stop(lab.now(), true);
        }
        self.next(lab);
        Ok(())
    }

    /// Lets the engine that thinks play the best move that it has found.
    pub fn move_now(&mut self, lab: &mut Lab) -> Result<(), String> {
        let side = self.to_move();
        let none = "no engine that could be hurried is thinking";
        let engine =
            self.sides[side].engine.as_mut().filter(|engine| self.thinking && engine.searches()).ok_or(none)?;
        match engine.found(1, lab) {
            Ok(Thought::Found(action, report)) => self.play_found(side, action, report, lab),
            Ok(Thought::On(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Goes back to the last turn of a person, or by one ply where there is none; the plies taken back.
    pub fn take_back(&mut self, lab: &Lab) -> usize {
        let persons = self.persons();
        let plies = self.played.take_back(|side| persons.is_empty() || persons.contains(&side));
        if plies > 0 {
            self.halt(lab);
            (self.value, self.note) = (None, String::new());
            // An engine would accept a draw by what it thought of a game that was taken back.
            self.sides.iter_mut().for_each(|side| side.score = None);
            // Engines alone would play the move again at once.
            self.paused = persons.is_empty();
            self.next(lab);
        }
        plies
    }

    fn require_person(&self, side: usize) -> Result<(), String> {
        if let Some(ending) = self.played.ending() {
            return Err(format!("the game is over: {}", ending.text()));
        }
        match self.persons().contains(&side) {
            true => Ok(()),
            false => Err(format!("the {} player is no person", ["first", "second"][side.min(1)])),
        }
    }

    fn end(&mut self, outcome: i8, reason: &str, lab: &Lab) {
        self.halt(lab);
        self.played.end(Ending { outcome, reason: reason.into() });
    }

    /// Ends the game as a loss of a person's side.
    pub fn resign(&mut self, side: usize, lab: &Lab) -> Result<(), String> {
        self.require_person(side)?;
        self.end(loss_of(side), "resignation", lab);
        Ok(())
    }

    /// Offers a draw; whether it is agreed. An engine accepts where its last search expected no more than a draw.
    pub fn offer_draw(&mut self, side: usize, lab: &Lab) -> Result<bool, String> {
        self.require_person(side)?;
        let other = 1 - side;
        // Before its first search an engine knows nothing of the game, and declines.
        let agreed = self.is_person(other) || self.sides[other].score.is_some_and(|score| score <= 0.5);
        if agreed {
            self.end(0, "agreement", lab);
        } else {
            self.note = format!("{} declines the draw", self.names()[other]);
        }
        Ok(agreed)
    }

    /// Lets an engine look for a hint.
    pub fn hint(&mut self, mut engine: Engine, lab: &Lab) -> Result<(), String> {
        if let Some(ending) = self.played.ending() {
            return Err(format!("the game is over: {}", ending.text()));
        }
        // No clock: a hint ends by its visits, and the person's time goes on.
        engine.start(&self.played.position, None, lab)?;
        self.hint = Some((engine, self.played.position.clone()));
        Ok(())
    }

    /// Whether there is work.
    pub fn is_busy(&self) -> bool {
        self.thinking || self.hint.is_some()
    }

    /// Does a piece of the work; what there is to say of it.
    pub fn turn(&mut self, lab: &mut Lab) -> Option<News> {
        // Before any work: a move that is found after the flag has fallen comes too late.
        if self.flag(lab.now()).is_some_and(|left| left <= 0.0) {
            self.end(loss_of(self.to_move()), "time", lab);
            return Some(News::Changed);
        }
        // Before the engine that may be thinking: a person waits for the hint, and it is a short search.
        if let Some((engine, position)) = &mut self.hint {
            let found = match engine.turn(HINT_LINES, lab) {
                Ok(Thought::On(_)) => return None,
                Ok(Thought::Found(_, report)) => report.ok_or_else(|| "no hint was found".to_string()),
                Err(error) => Err(error),
            };
            let position = position.clone();
            self.hint = None;
            // The bar of the page shows the newest search, whoever asked for it.
            if let Ok(report) = &found {
                self.value = Some(report.first_players(position.to_move()));
            }
            return Some(News::Hint(position, found));
        }
        let side = self.to_move();
        let engine = self.sides[side].engine.as_mut().filter(|_| self.thinking)?;
        match engine.turn(1, lab) {
            Ok(Thought::On(report)) => {
                let report = report?;
                self.value = Some(report.first_players(side));
                Some(News::Search(side, report))
            }
            Ok(Thought::Found(action, report)) => {
                // A move that cannot be played is the engine's failure and not the person's: the game is paused and
                // says so.
                if let Err(error) = self.play_found(side, action, report, lab) {
                    self.fail(side, &error, lab);
                }
                Some(News::Changed)
            }
            Err(error) => {
                self.fail(side, &error, lab);
                Some(News::Changed)
            }
        }
    }

    fn play_found(&mut self, side: usize, action: Action, report: Option<Report>, lab: &Lab) -> Result<(), String> {
        if let Some(report) = report {
            self.value = Some(report.first_players(side));
            self.sides[side].score = Some(report.score());
        }
        self.make(action, lab)
    }
}

/// The outcome of a game that a side loses.
fn loss_of(side: usize) -> i8 {
    if side == 0 { -1 } else { 1 }
}
