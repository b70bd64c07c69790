//! Games between players, for self-play, gates, matches and tournaments: the one loop that plays them.
//!
//! A game is a value decided by the settings, its seed and the nets, as far as evaluators are exact: threads, games at a time and
//! batches do not decide it. Its trees have random streams of their own and one leaf in flight at most; a thread has its own games,
//! forests and batches, and shares nothing but evaluators with others.
//!
//! `threads` is the interface: threads that play the games of given plans and send events (`messages`). `worker` is what one thread does,
//! `running` a game in progress, `chosen_move` and `choice` how a search becomes a move, `watch` resignation, `record` the record of a game.

pub mod choice;
pub mod chosen_move;
pub mod messages;
pub mod record;
pub mod running;
pub mod settings;
pub mod threads;
pub mod watch;
mod worker;
