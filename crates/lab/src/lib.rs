//! The laboratory without a host: games as people write and keep them, odds, reports, comparisons, and sessions that speak the
//! messages of pages. Python (`crates/py`) and the page without a server (`crates/page`) use it; it knows neither of them.
//!
//! Well-kept tokenisers were tried first. `pgn-reader` (0.29) ends a game at an empty line, passes over signs that it does
//! not know and reads no tag that is written over two lines, which is how games were lost and `Sf3` became the pawn move f3;
//! `sgf-parse` (4.2) keeps its tokens private, takes decoded text alone and refuses text before the game. So the tokens are
//! ours, rules and moves are shakmaty's, and encodings are those of `encoding_rs`.

pub mod analysis;
pub mod decode;
pub mod editor;
pub mod engine;
pub mod explained;
pub mod explanation;
pub mod facts;
mod flight;
pub mod game_text;
pub mod game_tree;
pub mod history;
pub mod host;
pub mod limits;
pub mod messages;
pub mod odds;
pub mod odds_mode;
pub mod page;
pub mod pgn;
pub mod place;
pub mod played;
pub mod player;
pub mod position;
pub mod report;
pub mod sessions;
pub mod settings;
pub mod sgf;
pub mod start960;
pub mod table;
pub mod texts;
pub mod tree_rows;
pub mod view;
