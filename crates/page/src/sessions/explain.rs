//! The session of the page Explain.
