// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the loop needs of whatever executes requests and tells the time.
//!
//! Separate from the loop so that the same loop runs against a real device on the real
//! clock and against a simulated drive in virtual time, where time stands still while the
//! host works and jumps when it waits.

use tidegate_model::{Outcome, Request, RequestId, Time};

/// A request that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Which one.
    pub id: RequestId,
    /// How it ended.
    pub outcome: Outcome,
}

/// A device with a clock.
///
/// # The protocol
/// - `begin` comes first, once for each run, with nothing in flight.
/// - What one `submit` gives goes to the device as one batch, no later than in the next
///   `wait`. At most K requests are in flight.
/// - `reap` never blocks; each submitted request comes back from it exactly once.
pub trait Executor {
    /// Execution itself failed: not a request, which has an [`Outcome`], but the means of
    /// making requests. [`std::convert::Infallible`] where nothing can.
    type Error;

    /// A run begins: `now` counts from here.
    fn begin(&mut self);

    /// How long ago the run began. Never decreases.
    fn now(&self) -> Time;

    /// Gives these requests to the device as one batch.
    ///
    /// # Errors
    /// When the means of submission fail; a request that fails comes back from `reap`.
    fn submit(&mut self, batch: &[Request]) -> Result<(), Self::Error>;

    /// Blocks until something is there to reap, or until this instant; `None`: however long
    /// it takes. May return early for no reason.
    ///
    /// # Errors
    /// When the means of waiting fail.
    fn wait(&mut self, until: Option<Time>) -> Result<(), Self::Error>;

    /// Appends what came back and was not reaped yet, in the order in which it did: all of
    /// it, or the first part; then the next `wait` does not block.
    ///
    /// # Errors
    /// When the means of learning it fail.
    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), Self::Error>;
}
