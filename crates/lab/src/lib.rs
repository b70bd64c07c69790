//! The laboratory without a host: games as people write and keep them. Python (`crates/py`) and the page without a server
//! (`crates/page`) read the same files by this crate; it knows neither of them.
//!
//! Well-kept tokenisers were tried first. `pgn-reader` (0.29) ends a game at an empty line, passes over signs that it does
//! not know and reads no tag that is written over two lines, which is how games were lost and `Sf3` became the pawn move f3;
//! `sgf-parse` (4.2) keeps its tokens private, takes decoded text alone and refuses text before the game. So the tokens are
//! ours, rules and moves are shakmaty's, and encodings are those of `encoding_rs`.

pub mod decode;
pub mod pgn;
pub mod sgf;
pub mod texts;
