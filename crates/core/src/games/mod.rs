//! The built-in games, one file each: rules, features, action numbering, notation, pictures.

pub mod tictactoe;
