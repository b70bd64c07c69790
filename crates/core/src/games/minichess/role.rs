//! The kinds of pieces.

/// The kinds of pieces, in the order of the planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// Walks one square ahead, captures diagonally, promotes on the last rank.
    Pawn,
    /// Jumps.
    Knight,
    /// Slides on diagonals.
    Bishop,
    /// Slides on ranks and files.
    Rook,
    /// Slides on all lines.
    Queen,
    /// One step anywhere; must not be left in check.
    King,
}

impl Role {
    /// All of them, in order.
    pub const ALL: [Role; 6] = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

    /// The letter, small.
    pub fn letter(self) -> char {
        ['p', 'n', 'b', 'r', 'q', 'k'][self as usize]
    }
}
