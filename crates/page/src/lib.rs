//! The lab as a page without a server: the sessions of `hauteur_lab` for one client, in a worker of its browser.
//!
//! The page's scripts are those of the lab; the worker speaks the same messages. All sessions are one thread's: a request is answered at
//! once, and a search advances by a batch between two requests. Other workers compute parts of its batches (`shares`).

pub mod browser;
pub mod net;
pub mod nets;
pub mod shares;
#[cfg(target_family = "wasm")]
mod worker;
