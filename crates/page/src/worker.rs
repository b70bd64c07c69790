//! The page for JavaScript: what a worker of the browser calls.
#![allow(unsafe_code)] // of wasm-bindgen, for strings and arrays that cross the border

use std::cell::RefCell;
use std::rc::Rc;

use hauteur_lab::facts::Facts;
use hauteur_lab::page::Page;
use wasm_bindgen::prelude::*;

use crate::browser::lab;
use crate::nets::Nets;
use crate::shares::SharesOfPage;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn milliseconds() -> f64;

    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log(text: &str);
}

/// A batch of a net that is computed in parts.
#[wasm_bindgen(getter_with_clone)]
pub struct AskedBatch {
    /// Tells batches apart.
    pub number: u32,
    /// Name of the net.
    pub net: String,
    /// Parts, of which the page's own worker computes the first.
    pub parts: usize,
}

/// The nets of a worker that computes rows for a page.
#[wasm_bindgen]
pub struct RowsWorker {
    nets: Nets,
}

#[wasm_bindgen]
impl RowsWorker {
    /// A worker without nets. `facts`: JSON that `make page` has written.
    #[wasm_bindgen(constructor)]
    pub fn new(facts: &str) -> Result<RowsWorker, JsError> {
        let facts: Facts = serde_json::from_str(facts).map_err(|error| JsError::new(&error.to_string()))?;
        // The best instructions here too: both workers run one module, so rows have the same bits in both.
        Ok(RowsWorker { nets: Nets::new(facts.nets, None) })
    }

    /// Takes the bytes of a net.
    pub fn add_net(&mut self, name: &str, bytes: Vec<u8>) {
        self.nets.add(name, bytes);
    }

    /// The answers of rows: their logits, then the shares of win, draw and loss.
    pub fn answers(&mut self, net: &str, features: &[f32]) -> Result<Vec<f32>, JsError> {
        self.nets.answers(net, features).map_err(|error| JsError::new(&error))
    }
}

/// A page in a worker.
#[wasm_bindgen]
pub struct WorkerPage {
    page: Page,
    nets: Rc<RefCell<Nets>>,
}

#[wasm_bindgen]
impl WorkerPage {
    /// The page with the session of this name. `facts`: JSON that `make page` has written; `seed`: 0 to 2^53; `date`: today, as
    /// year-month-day.
    #[wasm_bindgen(constructor)]
    pub fn new(session: &str, facts: &str, seed: f64, date: &str) -> Result<WorkerPage, JsError> {
        // A panic ends the module with `unreachable`, of which the console would tell no line.
        std::panic::set_hook(Box::new(|panic| log(&panic.to_string())));
        let clock = Box::new(|| milliseconds() / 1000.0);
        // The seed comes as a float, as all numbers of JavaScript do; up to 2^53 they are whole.
        let (lab, nets) = lab(facts, seed as u64, date, clock, None).map_err(|error| JsError::new(&error))?;
        let page = Page::new(lab, session).map_err(|error| JsError::new(&error))?;
        Ok(WorkerPage { page, nets })
    }

    /// Takes the bytes of a net.
    pub fn add_net(&mut self, name: &str, bytes: Vec<u8>) {
        self.nets.borrow_mut().add(name, bytes);
    }

    /// Answers a request, both as JSON.
    pub fn answer(&mut self, request: &str) -> String {
        self.page.answer(request)
    }

    /// Does a piece of work; whether there is more.
    pub fn turn(&mut self) -> bool {
        self.page.turn()
    }

    /// The events since the last call, each as JSON.
    pub fn events(&mut self) -> Vec<String> {
        // Texts, which the worker sends on as they are; objects would be built and copied once more.
        self.page.events().iter().map(ToString::to_string).collect()
    }

    /// Milliseconds until a turn is due without any request; undefined: there is nothing to wait for.
    pub fn alarm(&self) -> Option<f64> {
        self.page.alarm().map(|seconds| 1000.0 * seconds)
    }

    /// Cuts batches of nets among this many workers, this one included, from the next one on.
    pub fn share_among(&mut self, workers: usize) {
        self.shares().among(workers);
    }

    /// The batch that is waited for, if there is one.
    pub fn asked(&self) -> Option<AskedBatch> {
        self.shares().asked().map(|(number, net, parts)| AskedBatch { number, net, parts })
    }

    /// The rows of a part of that batch.
    pub fn features_of(&self, part: usize) -> Option<Vec<f32>> {
        self.shares().features_of(part)
    }

    /// Computes its first part.
    pub fn compute_own(&mut self) -> Result<(), JsError> {
        self.shares().compute_own().map_err(|error| JsError::new(&error))
    }

    /// Takes the answers of another part, and says whether the search can go on.
    pub fn take_answers(&mut self, number: u32, part: usize, answers: &[f32]) -> Result<bool, JsError> {
        self.shares().take(number, part, answers).map_err(|error| JsError::new(&error))?;
        Ok(self.shares().is_ready())
    }

    fn shares(&self) -> SharesOfPage {
        // A handle of its own: computing rows must not keep the nets borrowed.
        self.nets.borrow().shares.clone()
    }

    /// Rows a second of a net at the start of its game, in full batches for about this many seconds.
    pub fn rows_per_second(&mut self, net: &str, game: &str, seconds: f64) -> Result<f64, JsError> {
        self.page.lab.rows_per_second(net, game, seconds).map_err(|error| JsError::new(&error))
    }
}
