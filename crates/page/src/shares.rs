//! Batches whose rows several workers compute.
//!
//! Workers share no memory: that would need headers of the host. So a batch is cut into parts, which go to other workers as messages
//! while this one computes the first. Until all answers are there the search is told `AWAITED`; it keeps its batch in flight, and asks for
//! the same rows again later. Each row has the same bits whoever computes it, so no tree depends on the number of workers.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hauteur_core::evaluator::Evaluator;
use hauteur_evaluate::Network;
use hauteur_lab::host::AWAITED;

/// Rows of a part, at least: a message costs about as much as a row of a small net.
const LEAST_PART: usize = 2;
/// Rows of a batch of a net: those of the package (`hauteur.networks.evaluators.base`).
const PREFERRED_ROWS: usize = 64;

/// The batch that is computed in parts.
struct Asked {
    number: u32,
    net: Arc<NamedNet>,
    features: Vec<f32>,
    logits: Vec<f32>,
    wdl: Vec<f32>,
    /// The parts that were answered.
    answered: Vec<bool>,
}

/// A net and its name on the page.
pub struct NamedNet {
    /// Its name.
    pub name: String,
    /// What computes it.
    pub network: Network,
}

/// What a worker of a page shares with others: at most one batch at a time.
pub struct Shares {
    workers: usize,
    number: u32,
    asked: Option<Asked>,
}

impl Default for Shares {
    fn default() -> Self {
        Shares { workers: 1, number: 0, asked: None }
    }
}

/// The shares of a page; one thread alone looks at them.
#[derive(Clone, Default)]
pub struct SharesOfPage(Arc<Mutex<Shares>>);

impl NamedNet {
    /// The answers of rows: their logits, and then the shares of win, draw and loss.
    pub fn answers(&self, features: &[f32]) -> Result<(Vec<f32>, Vec<f32>), String> {
        let rows = features.len() / self.network.row_length();
        let mut logits = vec![0.0; rows * self.network.actions()];
        let mut wdl = vec![0.0; rows * 3];
        self.network.evaluate(features, rows, &mut logits, &mut wdl).map_err(|error| error.0)?;
        Ok((logits, wdl))
    }
}

impl Asked {
    fn rows(&self) -> usize {
        self.wdl.len() / 3
    }

    /// The rows of a part.
    fn part(&self, part: usize) -> Range<usize> {
        let parts = self.answered.len();
        // Rounded down at both ends, so that parts fit together without a gap whatever the number of rows.
        part * self.rows() / parts..(part + 1) * self.rows() / parts
    }

    fn features_of(&self, part: usize) -> &[f32] {
        let rows = self.part(part);
        let length = self.net.network.row_length();
        &self.features[rows.start * length..rows.end * length]
    }

    fn set(&mut self, part: usize, logits: &[f32], wdl: &[f32]) {
        let rows = self.part(part);
        let actions = self.net.network.actions();
        self.logits[rows.start * actions..rows.end * actions].copy_from_slice(logits);
        self.wdl[rows.start * 3..rows.end * 3].copy_from_slice(wdl);
        self.answered[part] = true;
    }
}

impl SharesOfPage {
    fn lock(&self) -> MutexGuard<'_, Shares> {
        // A mutex because evaluators are `Sync`; in the page one thread alone locks it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts batches among this many workers, this one included, from the next batch on; 1: computes all here.
    pub fn among(&self, workers: usize) {
        let mut shares = self.lock();
        shares.workers = workers.max(1);
        // Its parts were cut for other workers, some of which may be gone. The search asks for the same rows again.
        shares.asked = None;
    }

    /// The number of the batch that is waited for, the name of its net, and its parts.
    pub fn asked(&self) -> Option<(u32, String, usize)> {
        let shares = self.lock();
        let asked = shares.asked.as_ref()?;
        Some((asked.number, asked.net.name.clone(), asked.answered.len()))
    }

    /// The rows of a part of the batch that is waited for.
    pub fn features_of(&self, part: usize) -> Option<Vec<f32>> {
        self.lock().asked.as_ref().map(|asked| asked.features_of(part).to_vec())
    }

    /// Computes the first part here.
    pub fn compute_own(&self) -> Result<(), String> {
        let mut shares = self.lock();
        let Some(asked) = &mut shares.asked else { return Ok(()) };
        let (logits, wdl) = asked.net.answers(asked.features_of(0))?;
        asked.set(0, &logits, &wdl);
        Ok(())
    }

    /// Takes the answers of a part, unless its batch is not waited for any more. `answers`: as `NamedNet::answers`, in one piece.
    pub fn take(&self, number: u32, part: usize, answers: &[f32]) -> Result<(), String> {
        let mut shares = self.lock();
        // An answer that comes late is of no use and no error: the search was stopped or shared anew meanwhile.
        let Some(asked) = shares.asked.as_mut().filter(|asked| asked.number == number) else { return Ok(()) };
        // Messages come from other workers, so the number of a part is checked before it is a range of rows.
        let rows = if part < asked.answered.len() { asked.part(part).len() } else { 0 };
        let logits = rows * asked.net.network.actions();
        if answers.len() != logits + rows * 3 {
            return Err(format!("part {part} of a batch has {rows} rows, got {} numbers", answers.len()));
        }
        let (logits, wdl) = answers.split_at(logits);
        asked.set(part, logits, wdl);
        Ok(())
    }

    /// Whether a search can go on: no batch is waited for, or all of its answers are there.
    pub fn is_ready(&self) -> bool {
        self.lock().asked.as_ref().is_none_or(|asked| asked.answered.iter().all(|answered| *answered))
    }
}

/// A net that answers a search, with the other workers of its page.
pub struct NetEvaluator {
    net: Arc<NamedNet>,
    shares: SharesOfPage,
}

impl NetEvaluator {
    /// The evaluator of a net.
    pub fn new(net: NamedNet, shares: SharesOfPage) -> Self {
        NetEvaluator { net: Arc::new(net), shares }
    }

    /// The net.
    pub fn net(&self) -> &NamedNet {
        &self.net
    }
}

impl Evaluator for NetEvaluator {
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        let mut shares = self.shares.lock();
        let parts = shares.workers.min(rows / LEAST_PART);
        // Small batches are computed at once: a message costs more than such rows.
        if parts < 2 {
            return self.net.network.evaluate(features, rows, logits, wdl).map_err(|error| error.0);
        }
        // By the rows themselves: a search that was stopped may ask for others next, and must not get these
        // answers.
        let is_same = |asked: &Asked| Arc::ptr_eq(&asked.net, &self.net) && asked.features == features;
        match shares.asked.take().filter(is_same) {
            Some(asked) if asked.answered.iter().all(|answered| *answered) => {
                logits.copy_from_slice(&asked.logits);
                wdl.copy_from_slice(&asked.wdl);
                return Ok(());
            }
            // Not all are there, so it is kept under its number: the other workers are at it.
            Some(asked) => shares.asked = Some(asked),
            None => {
                shares.number = shares.number.wrapping_add(1);
                shares.asked = Some(Asked {
                    number: shares.number,
                    net: self.net.clone(),
                    // A copy, since the search's buffers are only borrowed for this call.
                    features: features.to_vec(),
                    logits: vec![0.0; logits.len()],
                    wdl: vec![0.0; wdl.len()],
                    answered: vec![false; parts],
                });
            }
        }
        Err(AWAITED.into())
    }

    fn batch_size(&self) -> usize {
        PREFERRED_ROWS
    }
}
