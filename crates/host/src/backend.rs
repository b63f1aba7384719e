// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface of a host to its drive and clock.
//!
//! It is separate from the hosts, so that the same host runs on io_uring and the real clock, on a
//! simulated drive in real time, and on a simulated drive in virtual time, where time stands still
//! while the host works and jumps while it waits.

use tidegate_model::{Bytes, Lba, Request, RequestId, Time};

/// A completed request, flush or trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion<P, F> {
    /// The identifier of the request, flush or trim.
    pub id: RequestId,
    /// The payload of a request; `None` for a flush and a trim.
    pub payload: Option<P>,
    /// Whether the drive executed the command, or why not.
    pub result: Result<(), F>,
}

/// A drive and its clock.
///
/// # The protocol
/// - The requests of one `submit` go to the drive as one batch, during the next `wait` at the
///   latest; flushes and trims are also sent by then. At most K requests are in flight.
/// - `reap` never blocks. It returns each request, flush and trim exactly once.
/// - Overlapping requests are in flight together only if all of them are reads.
///
/// Another thread that has work for the host ends a `wait` through a waker. The waker must exist
/// before the host's thread makes the backend: that thread and the backend both get it.
pub trait Backend {
    /// The value that travels with a request and returns with it: the memory of its data, or `()`
    /// without data.
    type Payload;

    /// Why a request failed; `()` if the drive does not say.
    type Fault;

    /// Why submitting or waiting failed, which ends the host; [`std::convert::Infallible`] if
    /// nothing can fail.
    type Error;

    /// Begins a run: `now` counts from here, and no request is in flight. A backend with a shared
    /// clock continues to count.
    fn begin(&mut self) {}

    /// Returns the time since the run began. Never decreases.
    fn now(&self) -> Time;

    /// Submits these requests to the drive as one batch, which may be empty. Takes all `payloads`,
    /// one per request in the same order.
    ///
    /// # Errors
    /// If the submission fails; a request that fails is returned by `reap`.
    fn submit(
        &mut self,
        batch: &[Request],
        payloads: &mut Vec<Self::Payload>,
    ) -> Result<(), Self::Error>;

    /// Makes durable all writes that were reaped before this call; completes under `id`.
    fn flush(&mut self, id: RequestId);

    /// Discards the data of these blocks, if the drive can; completes under `id`.
    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes);

    /// Blocks until a completion can be reaped, another thread wakes the host, or the instant
    /// `until` comes; `None` sets no limit. May return early without a reason.
    ///
    /// # Errors
    /// If waiting fails.
    fn wait(&mut self, until: Option<Time>) -> Result<(), Self::Error>;

    /// Appends completions that were not reaped yet, in order: all of them, or only the first, in
    /// which case the next `wait` does not block.
    ///
    /// # Errors
    /// If they cannot be read.
    fn reap(
        &mut self,
        completions: &mut Vec<Completion<Self::Payload, Self::Fault>>,
    ) -> Result<(), Self::Error>;
}
