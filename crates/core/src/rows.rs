//! Rows of features that many states are written into.

use rayon::prelude::*;

use crate::game::State;

/// Where the rows of a gather are written.
pub enum Rows<'a> {
    /// Feature rows one after another, each of the given length.
    Planes(&'a mut [f32], usize),
    /// Masks and values of bit planes one after another, each row of the given number of planes.
    Packed(&'a mut [u64], &'a mut [f32], usize),
    /// So many rows, which nobody reads.
    Unwritten(usize),
}

impl Rows<'_> {
    /// How many rows there is room for.
    pub fn capacity(&self) -> usize {
        match self {
            Rows::Planes(floats, row) => floats.len() / row,
            Rows::Packed(masks, _, planes) => masks.len() / planes,
            Rows::Unwritten(rows) => *rows,
        }
    }
}

/// Writes the features of many states, in order; `rows` has room for them.
pub fn encode_states(states: &[&dyn State], rows: &mut Rows, pool: Option<&rayon::ThreadPool>) {
    match (rows, pool) {
        (Rows::Planes(floats, row), None) => {
            states.iter().zip(floats.chunks_mut(*row)).for_each(|(state, row)| state.encode(row));
        }
        (Rows::Planes(floats, row), Some(pool)) => pool.install(|| {
            states.par_iter().zip(floats.par_chunks_mut(*row)).for_each(|(state, row)| state.encode(row));
        }),
        (Rows::Packed(masks, values, planes), _) => {
            let outputs = masks.chunks_mut(*planes).zip(values.chunks_mut(*planes));
            states.iter().zip(outputs).for_each(|(state, (masks, values))| state.encode_packed(masks, values));
        }
        (Rows::Unwritten(_), _) => {}
    }
}
