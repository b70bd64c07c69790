//! What proofs do to a search (solver): where they begin, how they climb, and what is visited, played and shown by them.

pub mod backup;
pub mod expansion;
pub mod rank;
pub mod threat_line;
