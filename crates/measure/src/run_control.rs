// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The means of controlling a measurement: the caller's progress callback and cancel flag, and the
//! journal.

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_model::Duration;

use crate::experiment::Experiment;
use crate::journal::Journal;
use crate::kind::Kind;

/// The progress of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The experiment.
    pub experiment: Experiment,
    /// The kind of its requests; `None` if it uses several kinds or its own reads.
    pub kind: Option<Kind>,
    /// The number of trials so far.
    pub done: u64,
    /// The number of all trials.
    pub total: u64,
    /// The time since the measurement began, including warm-up and earlier experiments; virtual
    /// time for a simulated drive.
    pub elapsed: Duration,
}

/// The caller's progress callback and cancel flag, the kinds of requests, and the journal.
pub(crate) struct RunControl<'a> {
    /// A callback that is called after every trial.
    pub(crate) progress: &'a mut dyn FnMut(Progress),
    /// A flag that ends the measurement when it becomes true.
    pub(crate) cancelled: &'a AtomicBool,
    /// All kinds of requests.
    pub(crate) kinds: &'a [Kind],
    /// The journal, which records every sample if it has a file.
    pub(crate) journal: &'a mut Journal,
}

impl RunControl<'_> {
    /// Returns whether the caller wants the measurement to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
