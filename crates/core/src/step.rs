//! One step of searches: gather rows, let an evaluator compute them, apply the answers.

use std::time::Duration;

use crate::evaluator::{Batch, Evaluator, Halted, Origin, Position, Reads};
use crate::forest::{BatchId, Forest, ForestError};
use crate::game::{Action, GameInfo, State};
use crate::rows::Rows;
use crate::rules::second_net::Net;
use crate::stopwatch::Stopwatch;

/// The buffers of batches, re-used from one to the next.
pub struct BatchBuffers {
    reads: Reads,
    rows: usize,
    row_len: usize,
    planes: usize,
    num_actions: usize,
    features: Vec<f32>,
    masks: Vec<u64>,
    logits: Vec<f32>,
    wdl: Vec<f32>,
}

impl BatchBuffers {
    /// Buffers for batches of at most `rows` rows of this game for an evaluator.
    pub fn new(info: &GameInfo, evaluator: &dyn Evaluator, rows: usize) -> Self {
        let reads = evaluator.reads();
        let planes = info.feature_shape[0];
        let [floats, masks] = match reads {
            Reads::Planes => [rows * info.row_len(), 0],
            Reads::Packed => [rows * planes; 2],
            Reads::Nothing | Reads::Positions => [0; 2],
        };
        BatchBuffers {
            reads,
            rows,
            row_len: info.row_len(),
            planes,
            num_actions: info.num_actions,
            features: vec![0.0; floats],
            masks: vec![0; masks],
            logits: vec![0.0; rows * info.num_actions],
            wdl: vec![0.0; rows * 3],
        }
    }

    /// Whether a batch of this size fits.
    pub fn holds(&self, rows: usize) -> bool {
        rows * self.num_actions <= self.logits.len()
    }

    /// Lets the next batches have at most this many rows, which it holds.
    pub fn limit(&mut self, rows: usize) {
        self.rows = rows;
    }

    /// The rows from `begin` on, to be written.
    fn rows_from(&mut self, begin: usize) -> Rows<'_> {
        match self.reads {
            Reads::Planes => {
                let begin = begin * self.row_len;
                let end = self.rows * self.row_len;
                Rows::Planes(&mut self.features[begin..end], self.row_len)
            }
            Reads::Packed => {
                let begin = begin * self.planes;
                let end = self.rows * self.planes;
                Rows::Packed(&mut self.masks[begin..end], &mut self.features[begin..end], self.planes)
            }
            Reads::Nothing | Reads::Positions => Rows::Unwritten(self.rows - begin),
        }
    }
}

/// Totals of steps, and the time that they took.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepFacts {
    /// Rows computed.
    pub rows: u64,
    /// Batches computed.
    pub batches: u64,
    /// Rows that these batches could have held.
    pub capacity: u64,
    /// Time in gather and apply.
    pub search: Duration,
    /// Time in the evaluator.
    pub network: Duration,
}

impl StepFacts {
    /// Adds the totals of other steps.
    pub fn add(&mut self, other: &StepFacts) {
        self.rows += other.rows;
        self.batches += other.batches;
        self.capacity += other.capacity;
        self.search += other.search;
        self.network += other.network;
    }
}

/// How the root of a tree (of the forest of this index) was reached.
pub type RootLine<'a> = &'a dyn Fn(usize, usize) -> (Option<Origin>, Vec<Action>);

/// One batch for an evaluator, of the rows of these forests (by index) for these of their nets; returns the number of its rows.
/// After a failure nothing is in flight.
pub fn step(
    forests: &mut [Forest],
    users: &[(usize, Net)],
    evaluator: &dyn Evaluator,
    buffers: &mut BatchBuffers,
    root_line: RootLine,
    facts: &mut StepFacts,
) -> Result<usize, String> {
    step_unless(forests, users, evaluator, buffers, root_line, facts, &|| false)
}

/// `step`, unless `halted` stops it: the batch is then taken back, as if it had not been gathered.
pub fn step_unless(
    forests: &mut [Forest],
    users: &[(usize, Net)],
    evaluator: &dyn Evaluator,
    buffers: &mut BatchBuffers,
    root_line: RootLine,
    facts: &mut StepFacts,
    halted: Halted,
) -> Result<usize, String> {
    let mut watch = Stopwatch::start();
    let mut parts: Vec<(usize, BatchId, usize)> = Vec::new();
    let mut rows = 0;
    for &(index, net) in users {
        if rows == buffers.rows {
            break;
        }
        let forest = &mut forests[index];
        let batch = forest.gather(net, buffers.rows_from(rows));
        match forest.batch_len(batch).map_err(message)? {
            // An empty batch would wait for an answer that never comes.
            0 => forest.cancel(batch).map_err(message)?,
            some => {
                parts.push((index, batch, rows));
                rows += some;
            }
        }
    }
    facts.search += watch.lap();
    if rows == 0 {
        return Ok(0);
    }
    let computed = evaluate(forests, &parts, rows, evaluator, buffers, root_line, halted);
    facts.network += watch.lap();
    let applied =
        computed.and_then(|done| if done { apply(forests, &parts, buffers).map(|()| true) } else { Ok(false) });
    // What failed must leave no visits in flight: their trees would wait for ever.
    if applied != Ok(true) {
        for (index, batch, _) in parts {
            let _ = forests[index].cancel(batch); // a part that was applied is no longer in flight
        }
    }
    if !applied? {
        return Ok(0);
    }
    facts.search += watch.lap();
    facts.rows += rows as u64;
    facts.batches += 1;
    facts.capacity += buffers.rows as u64;
    Ok(rows)
}

/// False where `halted` ended it.
fn evaluate(
    forests: &[Forest],
    parts: &[(usize, BatchId, usize)],
    rows: usize,
    evaluator: &dyn Evaluator,
    buffers: &mut BatchBuffers,
    root_line: RootLine,
    halted: Halted,
) -> Result<bool, String> {
    let mut positions = Vec::new();
    if buffers.reads == Reads::Positions {
        for &(index, batch, _) in parts {
            positions.extend(positions_of(&forests[index], index, batch, root_line).map_err(message)?);
        }
    }
    let batch = match buffers.reads {
        Reads::Planes => Batch::Planes(&buffers.features[..rows * buffers.row_len]),
        Reads::Packed => {
            Batch::Packed(&buffers.masks[..rows * buffers.planes], &buffers.features[..rows * buffers.planes])
        }
        Reads::Nothing => Batch::Nothing,
        Reads::Positions => Batch::Positions(&positions),
    };
    let logits = &mut buffers.logits[..rows * buffers.num_actions];
    let wdl = &mut buffers.wdl[..rows * 3];
    evaluator.evaluate_unless(batch, rows, logits, wdl, halted)
}

/// The positions of a forest's part of a batch.
fn positions_of<'a>(
    forest: &'a Forest,
    index: usize,
    batch: BatchId,
    root_line: RootLine,
) -> Result<Vec<Position<'a>>, ForestError> {
    let states = forest.batch_positions(batch)?;
    let lines = forest.batch_lines(batch)?;
    let rows = states.into_iter().zip(lines).zip(forest.batch_trees(batch)?);
    let position = |((state, line), tree): ((&'a dyn State, Vec<Action>), usize)| {
        let (origin, mut moves) = root_line(index, tree);
        moves.extend(line);
        Position { state, origin, moves }
    };
    Ok(rows.map(position).collect())
}

fn apply(forests: &mut [Forest], parts: &[(usize, BatchId, usize)], buffers: &BatchBuffers) -> Result<(), String> {
    for &(index, batch, begin) in parts {
        let logits = &buffers.logits[begin * buffers.num_actions..];
        let wdl = &buffers.wdl[begin * 3..];
        forests[index].apply(batch, logits, wdl, buffers.num_actions).map_err(message)?;
    }
    Ok(())
}

fn message(ForestError(message): ForestError) -> String {
    message
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::evaluator::Uniform;
    use crate::games::make_game;
    use crate::params::SearchParams;

    /// Answers as `Uniform` does, and fails whenever it is asked to.
    struct Patient;

    impl Evaluator for Patient {
        fn evaluate(&self, rows: &[f32], count: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
            Uniform.evaluate(rows, count, logits, wdl)
        }

        fn batch_size(&self) -> usize {
            8
        }

        fn evaluate_unless(
            &self,
            batch: Batch,
            rows: usize,
            logits: &mut [f32],
            wdl: &mut [f32],
            halted: Halted,
        ) -> Result<bool, String> {
            if halted() {
                return Ok(false);
            }
            self.evaluate_batch(batch, rows, logits, wdl).map(|()| true)
        }
    }

    #[test]
    fn a_batch_that_is_given_up_leaves_no_trace() {
        let game = make_game("connect4").unwrap();
        let root_line = |_: usize, _: usize| -> (Option<Origin>, Vec<Action>) { (None, Vec::new()) };
        let grown = |halts: usize| {
            let mut forest = Forest::new(SearchParams::default(), 1, 1).unwrap();
            let tree = forest.add(game.initial(), None);
            let mut buffers = BatchBuffers::new(game.info(), &Patient, 8);
            let asked = AtomicUsize::new(0);
            let mut facts = StepFacts::default();
            let halted = || asked.fetch_add(1, Ordering::Relaxed) % 3 < halts;
            while facts.batches < 20 {
                let forests = std::slice::from_mut(&mut forest);
                let users = [(0, Net::Small)];
                step_unless(forests, &users, &Patient, &mut buffers, &root_line, &mut facts, &halted).unwrap();
            }
            let search = forest.tree(tree).unwrap();
            search.check_invariants().unwrap();
            assert_eq!(search.rows_in_flight(), 0);
            (search.tree().root.visits, facts.rows)
        };
        assert_eq!(grown(0), grown(2));
    }
}
