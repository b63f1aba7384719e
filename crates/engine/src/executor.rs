// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the run loop needs of whatever executes requests and tells the time.
//!
//! Separate from the loop so that the same loop runs against a real device on the real
//! clock ([`crate::RingExecutor`]) and against a simulated drive in virtual time
//! ([`crate::DriveExecutor`]), where a test decides how late the host wakes up.

use std::error::Error;

use model::{Bytes, Outcome, Request, RequestId, Time};

/// What the target of a run can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How much it holds.
    pub capacity: Bytes,
    /// Every offset and every size is a multiple of this; itself a multiple of a sector.
    pub alignment: Bytes,
    /// The largest request there is memory for.
    pub size_max: Bytes,
    /// How many requests there is memory for at once.
    pub in_flight_max: u32,
    /// Whether it was opened for writing.
    pub is_writable: bool,
}

/// A request that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Which one.
    pub id: RequestId,
    /// How it ended.
    pub outcome: Outcome,
}

/// Execution itself failed: not a request, which has an [`Outcome`], but the means of
/// making requests.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action}: {source}")]
pub struct ExecutorError {
    /// What was being done.
    pub action: &'static str,
    /// Why it could not be done.
    pub source: Box<dyn Error + Send + Sync>,
}

impl ExecutorError {
    /// A failure to do `action`.
    pub fn new(action: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { action, source: source.into() }
    }
}

/// A device with a clock.
///
/// # The protocol
/// - `begin` comes first, once for each run, with nothing in flight.
/// - What one `submit` gives goes to the device as one batch, no later than in the next
///   `wait`. At most `limits().in_flight_max` requests are in flight.
/// - `reap` never blocks; each submitted request comes back from it exactly once.
pub trait Executor {
    /// What the target can take.
    fn limits(&self) -> Limits;

    /// A run begins: `now` counts from here.
    fn begin(&mut self);

    /// How long ago the run began. Never decreases.
    fn now(&self) -> Time;

    /// Gives these requests to the device as one batch.
    ///
    /// # Errors
    /// When the means of submission fail; a request that fails comes back from `reap`.
    fn submit(&mut self, batch: &[Request]) -> Result<(), ExecutorError>;

    /// Blocks until something is there to reap, or until this instant; `None`: however long
    /// it takes. May return early for no reason.
    ///
    /// # Errors
    /// When the means of waiting fail.
    fn wait(&mut self, until: Option<Time>) -> Result<(), ExecutorError>;

    /// Appends what came back and was not reaped yet, in the order in which it did: all of
    /// it, or the first part; then the next `wait` does not block.
    ///
    /// # Errors
    /// When the means of learning it fail.
    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), ExecutorError>;
}
