//! Rows of features that many states are written into.

use std::ops::Range;

use rayon::prelude::*;

use crate::game::State;

/// Where the rows of a gather are written.
pub enum Rows<'a> {
    /// Feature rows one after another, each of the given length.
    Planes(&'a mut [f32], usize),
    /// Masks and values of bit planes one after another, each row of the given number of planes.
    Packed(&'a mut [u64], &'a mut [f32], usize),
    /// This many rows, which are not written.
    Unwritten(usize),
}

impl Rows<'_> {
    /// Number of rows that fit.
    pub fn capacity(&self) -> usize {
        match self {
            Rows::Planes(floats, row) => floats.len() / row,
            Rows::Packed(masks, _, planes) => masks.len() / planes,
            Rows::Unwritten(rows) => *rows,
        }
    }
}

/// Writes the features of many states, in order; `rows` holds as many. `swap_colors`: with the other colour's plane.
pub fn encode_states(states: &[&dyn State], rows: &mut Rows, swap_colors: bool, pool: Option<&rayon::ThreadPool>) {
    let write = |state: &&dyn State, row: &mut [f32]| {
        state.encode(row);
        if let Some(plane) = swapped_plane(*state, swap_colors) {
            // The plane is all zeros or all ones, so this is the other colour's.
            row[plane].iter_mut().for_each(|value| *value = 1.0 - *value);
        }
    };
    match (rows, pool) {
        (Rows::Planes(floats, row), None) => {
            states.iter().zip(floats.chunks_mut(*row)).for_each(|(state, row)| write(state, row));
        }
        (Rows::Planes(floats, row), Some(pool)) => pool.install(|| {
            states.par_iter().zip(floats.par_chunks_mut(*row)).for_each(|(state, row)| write(state, row));
        }),
        // Packed rows are so cheap to write that threads would not pay.
        (Rows::Packed(masks, values, planes), _) => {
            let outputs = masks.chunks_mut(*planes).zip(values.chunks_mut(*planes));
            states.iter().zip(outputs).for_each(|(state, (masks, values))| {
                state.encode_packed(masks, values);
                if let Some(plane) = swapped_plane(*state, swap_colors) {
                    masks[plane.start / plane.len()] ^= u64::MAX >> (64 - plane.len());
                    values[plane.start / plane.len()] = 1.0;
                }
            });
        }
        (Rows::Unwritten(_), _) => {}
    }
}

/// The floats of a row that are inverted where colours are swapped.
#[inline]
fn swapped_plane(state: &dyn State, swap_colors: bool) -> Option<Range<usize>> {
    if swap_colors { state.colour_plane() } else { None }
}
