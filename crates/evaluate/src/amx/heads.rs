//! The layers of the policy, made ready for tiles.

use super::grid::{Grid, TILE_FLOATS};
use super::pack::{Convolution, Dense, PANEL};
use crate::layers;

/// The last layers of the policy.
pub enum PolicyHead {
    /// Planes of a convolution, and a dense layer over them.
    Dense(Convolution, Dense),
    /// Both layers, and for each board of a group the places of all actions among the group's sums.
    Planes(Convolution, Convolution, Vec<Vec<usize>>),
}

impl PolicyHead {
    /// The layers of a network, for a grid of boards.
    pub fn new(policy: &layers::Policy, grid: &Grid) -> Self {
        match policy {
            layers::Policy::Dense(planes, output) => Self::Dense(Convolution::new(planes), over_planes(output, planes)),
            layers::Policy::Planes(planes, output, actions) => {
                // Looked up from then on: where the sum of an action lies depends on nothing but the board's place in its
                // group.
                let place = |index: &u32, board: usize| {
                    let plane = *index as usize / grid.squares();
                    let square = *index as usize % grid.squares();
                    let slot = grid.slots[square * grid.boards + board];
                    plane / PANEL * grid.tiles.len() * TILE_FLOATS + slot * PANEL + plane % PANEL
                };
                let places = |board: usize| actions.iter().map(|index| place(index, board)).collect();
                let both = (0..grid.boards).map(places).collect();
                Self::Planes(Convolution::new(planes), Convolution::new(output), both)
            }
        }
    }
}

/// A dense layer over the planes that a convolution gives.
pub fn over_planes(layer: &layers::Dense, planes: &layers::Convolution) -> Dense {
    Dense::over_planes(layer, planes.outputs, planes.outputs.next_multiple_of(PANEL))
}
