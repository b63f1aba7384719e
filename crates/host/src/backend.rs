// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a host needs of the drive and the clock under it.
//!
//! Separate from the hosts so that the same host runs on io_uring and the real clock, on a simulated
//! drive in real time, and on one in virtual time, where time stands still while the host works and
//! jumps when it waits.

use tidegate_model::{Bytes, Lba, Request, RequestId, Time};

/// A request, flush or trim that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion<P, F> {
    /// Which one.
    pub id: RequestId,
    /// What was submitted with a request; `None` for a flush and a trim.
    pub payload: Option<P>,
    /// Whether the drive did what was asked, or why not.
    pub result: Result<(), F>,
}

/// A drive with a clock.
///
/// # The protocol
/// - What one `submit` gives goes to the drive as one batch, no later than in the next `wait`; so do
///   flushes and trims. At most K requests are in flight.
/// - `reap` never blocks. Each request, flush and trim comes back from it exactly once.
/// - Requests that overlap are in flight together only if all of them read.
///
/// Another thread that has work for the host ends a `wait` through a waker that both were given
/// before: it must exist before the back end does, which the host's thread makes.
pub trait Backend {
    /// What travels with a request and comes back with it: the memory of its data where there is
    /// any, `()` where there is none.
    type Payload;

    /// Why a request failed; `()` where the drive does not say.
    type Fault;

    /// Why the means of submitting or waiting failed, which ends the host.
    /// [`std::convert::Infallible`] where nothing can fail.
    type Error;

    /// Begins a run: `now` counts from here, and nothing is in flight. A back end whose clock
    /// others share goes on counting.
    fn begin(&mut self) {}

    /// Returns the time since the run began. Never decreases.
    fn now(&self) -> Time;

    /// Gives these requests to the drive as one batch, which may be empty. Takes all `payloads`: one
    /// for each request, in the same order.
    ///
    /// # Errors
    /// When the means of submission fail; a request that fails comes back from `reap`.
    fn submit(
        &mut self,
        batch: &[Request],
        payloads: &mut Vec<Self::Payload>,
    ) -> Result<(), Self::Error>;

    /// Asks that everything that came back before be made durable; comes back under `id`.
    fn flush(&mut self, id: RequestId);

    /// Gives up what these blocks hold, if the drive can; comes back under `id`.
    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes);

    /// Blocks until there is something to reap, another thread wakes the host, or this instant;
    /// `None`: however long it takes. May return early for no reason.
    ///
    /// # Errors
    /// When the means of waiting fail.
    fn wait(&mut self, until: Option<Time>) -> Result<(), Self::Error>;

    /// Appends what came back and was not reaped yet, in order: all of it, or the first part; then
    /// the next `wait` does not block.
    ///
    /// # Errors
    /// When the means of learning it fail.
    fn reap(
        &mut self,
        completions: &mut Vec<Completion<Self::Payload, Self::Fault>>,
    ) -> Result<(), Self::Error>;
}
