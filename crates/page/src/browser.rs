//! The browser as a host of sessions: the nets of the page, and a clock.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hauteur_core::evaluator::Evaluator;
use hauteur_core::game::Game;
use hauteur_evaluate::Instructions;
use hauteur_lab::facts::Facts;
use hauteur_lab::host::{Host, Lab};

use crate::nets::Nets;

/// Nets that come one by one, and a clock that tells the seconds since some moment.
pub struct Browser {
    // Shared with the worker, which adds the bytes of nets while sessions ask for them. One thread, so no lock.
    nets: Rc<RefCell<Nets>>,
    // Given, since tests have a clock of their own, and `std::time` has none in a browser.
    clock: Box<dyn Fn() -> f64>,
}

impl Host for Browser {
    fn evaluator(&mut self, name: &str, game: &dyn Game) -> Result<Arc<dyn Evaluator>, String> {
        self.nets.borrow_mut().open(name, game)
    }

    fn nets(&self) -> Vec<String> {
        self.nets.borrow().names()
    }

    fn own_net(&self, game: &dyn Game) -> Option<String> {
        self.nets.borrow().own(game)
    }

    fn shown_net(&self, name: &str) -> String {
        self.nets.borrow().shown(name)
    }

    fn evaluator_name(&self, name: &str) -> String {
        self.nets.borrow().evaluator_name(name)
    }

    fn now(&self) -> f64 {
        (self.clock)()
    }
}

/// A lab in the browser, and its nets, which take their bytes later. `facts`: JSON that `make page` has written; `instructions`: of nets,
/// None: the best that there are.
pub fn lab(
    facts: &str,
    seed: u64,
    date: &str,
    clock: Box<dyn Fn() -> f64>,
    instructions: Option<Instructions>,
) -> Result<(Lab, Rc<RefCell<Nets>>), String> {
    let facts: Facts = serde_json::from_str(facts).map_err(|error| format!("facts: {error}"))?;
    let nets = Rc::new(RefCell::new(Nets::new(facts.nets.clone(), instructions)));
    let host = Browser { nets: nets.clone(), clock };
    Ok((Lab::new(facts, Box::new(host), seed, date), nets))
}
