//! `StopFlag` for Python: ends what the core computes, from any thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Asks searches in the core to end.
#[pyclass(name = "StopFlag", module = "hauteur._core", frozen)]
pub struct PyStopFlag(Arc<AtomicBool>);

#[pymethods]
impl PyStopFlag {
    #[new]
    fn new() -> Self {
        PyStopFlag(Arc::new(AtomicBool::new(false)))
    }

    fn set(&self) {
        // Relaxed: nothing else is ordered by the flag, and a batch more or less is allowed.
        self.0.store(true, Ordering::Relaxed);
    }

    #[getter]
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What ends a step before its batches are done: a flag, a time, both or neither.
pub struct Halt {
    flag: Option<Arc<AtomicBool>>,
    end: Option<Instant>,
}

impl Halt {
    /// seconds: from now on; without end where they are so many that no clock holds them.
    pub fn new(flag: Option<&PyStopFlag>, seconds: Option<f64>) -> Self {
        // Python has seconds without end, such as `inf`, and `Duration` has none; they mean that no time ends the
        // step.
        let until = |seconds: f64| {
            let left = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
            Instant::now().checked_add(left)
        };
        Halt { flag: flag.map(|flag| flag.0.clone()), end: seconds.and_then(until) }
    }

    /// Whether it is time to end.
    pub fn has_come(&self) -> bool {
        let stopped = self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        stopped || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
