//! A batch of one tree that may be answered later than it was gathered.

use hauteur_core::evaluator::Evaluator;
use hauteur_core::forest::{BatchId, Forest, ForestError};
use hauteur_core::game::GameInfo;
use hauteur_core::rows::Rows;
use hauteur_core::rules::second_net::Net;

use crate::host::AWAITED;

/// The buffers of batches of features, and the batch that waits for its answers.
pub struct Flight {
    row_len: usize,
    num_actions: usize,
    features: Vec<f32>,
    logits: Vec<f32>,
    wdl: Vec<f32>,
    /// The batch and its number of rows.
    waiting: Option<(BatchId, usize)>,
}

impl Flight {
    /// Buffers for batches of at most `rows` rows of this game.
    pub fn new(info: &GameInfo, rows: usize) -> Self {
        Flight {
            row_len: info.row_len(),
            num_actions: info.num_actions,
            features: vec![0.0; rows * info.row_len()],
            logits: vec![0.0; rows * info.num_actions],
            wdl: vec![0.0; rows * 3],
            waiting: None,
        }
    }

    /// Gathers at most `most` rows, unless a batch waits, asks for its answers and applies them; the number of its rows. While the
    /// evaluator answers `AWAITED`, which is returned, the batch waits; after another error nothing does.
    pub fn step(
        &mut self,
        forest: &mut Forest,
        net: Net,
        evaluator: &dyn Evaluator,
        most: usize,
    ) -> Result<usize, String> {
        // Gathering again would choose other leaves, as those in flight count as visits.
        let waiting = self.waiting.take();
        let Some((batch, rows)) = waiting.map_or_else(|| self.gather(forest, net, most), |one| Ok(Some(one)))? else {
            return Ok(0);
        };
        let features = &self.features[..rows * self.row_len];
        let logits = &mut self.logits[..rows * self.num_actions];
        let wdl = &mut self.wdl[..rows * 3];
        let computed = evaluator.evaluate(features, rows, logits, wdl);
        // Told apart by its text: evaluators have one kind of error, a line for the user, and this one never
        // reaches him.
        if computed.as_ref().is_err_and(|error| error == AWAITED) {
            self.waiting = Some((batch, rows));
        }
        let applied = computed.and_then(|()| forest.apply(batch, logits, wdl, self.num_actions).map_err(message));
        if applied.is_err() && self.waiting.is_none() {
            // What failed must leave no visits in flight: its tree would wait for ever.
            // An error of this call would hide the first one, which is the one to tell.
            let _ = forest.cancel(batch);
        }
        applied.map(|()| rows)
    }

    /// Gathers a batch; None: there is nothing to compute.
    fn gather(&mut self, forest: &mut Forest, net: Net, most: usize) -> Result<Option<(BatchId, usize)>, String> {
        let features = &mut self.features[..most * self.row_len];
        let batch = forest.gather(net, Rows::Planes(features, self.row_len));
        match forest.batch_len(batch).map_err(message)? {
            // An empty batch would wait for answers that never come.
            0 => forest.cancel(batch).map(|()| None).map_err(message),
            rows => Ok(Some((batch, rows))),
        }
    }

    /// Takes back the batch that waits.
    pub fn cancel(&mut self, forest: &mut Forest) {
        if let Some((batch, _)) = self.waiting.take() {
            let _ = forest.cancel(batch); // the forest knows it, since it waits
        }
    }
}

fn message(ForestError(message): ForestError) -> String {
    message
}
