//! The lab as a page without a server: what `python/hauteur/web/sessions` does on a machine, for one client, in a worker of its browser.
//!
//! The page's scripts are those of the lab; the worker speaks the same messages. Everything is one thread's: a request is answered at
//! once, and a search advances by a batch between two requests.

pub mod analysis;
pub mod editor;
pub mod engine;
pub mod explained;
pub mod explanation;
pub mod facts;
pub mod game_tree;
pub mod history;
pub mod lab;
pub mod limits;
pub mod net;
pub mod nets;
pub mod odds;
pub mod odds_mode;
pub mod page;
pub mod picture;
pub mod place;
pub mod played;
pub mod player;
pub mod position;
pub mod report;
pub mod sessions;
pub mod settings;
pub mod start960;
pub mod table;
pub mod texts;
pub mod tree_rows;
pub mod view;
#[cfg(target_family = "wasm")]
mod worker;
