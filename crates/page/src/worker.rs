//! The page for JavaScript: what a worker of the browser calls.
#![allow(unsafe_code)] // of wasm-bindgen, for strings and arrays that cross the border

use std::cell::RefCell;
use std::rc::Rc;

use hauteur_lab::page::Page;
use wasm_bindgen::prelude::*;

use crate::browser::lab;
use crate::nets::Nets;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn milliseconds() -> f64;

    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log(text: &str);
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
        std::panic::set_hook(Box::new(|panic| log(&panic.to_string())));
        let clock = Box::new(|| milliseconds() / 1000.0);
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
        self.page.events().iter().map(ToString::to_string).collect()
    }

    /// Milliseconds until a turn is due without any request; undefined: there is nothing to wait for.
    pub fn alarm(&self) -> Option<f64> {
        self.page.alarm().map(|seconds| 1000.0 * seconds)
    }

    /// Rows a second of a net at the start of its game, in full batches for about this many seconds.
    pub fn rows_per_second(&mut self, net: &str, game: &str, seconds: f64) -> Result<f64, JsError> {
        self.page.lab.rows_per_second(net, game, seconds).map_err(|error| JsError::new(&error))
    }
}
