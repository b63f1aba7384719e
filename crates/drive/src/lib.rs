// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulated drives, and the drive files built into Tidegate.
//!
//! A drive accepts up to K requests and completes them in its own order. It has no clock: its
//! host tells it the time, which is virtual in the simulator and real in the engine. [`Drive`]
//! documents the protocol. Each drive has its own file; `spaced.rs` holds the code that the
//! pseudo-disk and the recorded drive share.

#![warn(clippy::float_arithmetic)]

pub mod amortised;
pub mod builtin;
pub mod data_sheet;
mod drive_queue;
mod make;
pub mod mechanical;
mod named;
mod predicted;
pub mod pseudo;
pub mod recorded;
pub mod spaced;
pub mod ssd;

use tidegate_model::{Outcome, Request, RequestId, Time};

pub use amortised::Amortised;
pub use drive_queue::{Done, DriveQueue, Work};
pub use make::{
    AnyRequests, BuildError, access_time, access_time_of_device, build, for_any_requests,
    from_parts, from_table, kinds, measured_table,
};
pub use named::{NamedError, named, unreadable};
pub use predicted::with_prediction;
pub use pseudo::{LongestTimes, PseudoDisk};
pub use recorded::RecordedDrive;
pub use spaced::{BatchTimes, Mix, SpacedDrive};
pub use ssd::{SsdCounters, SsdDrive};

/// A request that a drive completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request.
    pub id: RequestId,
    /// The instant at which the drive completed the request: not later than the `now` of the call
    /// that delivered it.
    pub at: Time,
    /// How the request ended.
    pub outcome: Outcome,
}

/// A simulated drive: a state machine whose host tells it the time.
///
/// # The protocol
/// - At one instant the host first calls `advance`, then `submit`.
/// - One `submit` is one atomic batch. Several at one instant are also one batch, provided the
///   drive was idle before them and returned nothing in between.
/// - `advance(now)` delivers every completion due at or before `now`, in order of time.
/// - A drive holds at most K requests, and no request twice.
/// - `now` never decreases.
///
/// # Example
/// ```
/// use tidegate_drive::{Drive, PseudoDisk};
/// use tidegate_model::{BatchTable, Bytes, Class, Duration, Request, RequestId, Time};
///
/// let request = Request::plain(RequestId(1), Class::Hard, Bytes::from_kib(4));
/// let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
/// let mut drive = PseudoDisk::new(1, table, 42);
/// drive.submit(Time::ZERO, &[request]);
///
/// let done_at = drive.next_event().unwrap();
/// assert_eq!(done_at, Time::from_ns(5_000_000));
/// let mut completions = Vec::new();
/// drive.advance(done_at, &mut completions);
/// assert_eq!(completions[0].id, RequestId(1));
/// ```
pub trait Drive {
    /// Gives the drive a batch of requests. An empty batch has no effect.
    ///
    /// # Panics
    /// If the host breaks the protocol: more than K requests, or a due completion is not yet
    /// delivered.
    fn submit(&mut self, now: Time, batch: &[Request]);

    /// Returns the next instant at which to advance: the next completion, or an earlier internal
    /// decision of the drive. `None` while nothing is outstanding.
    fn next_event(&self) -> Option<Time>;

    /// Asks the drive to make every write completed so far durable. The flush counts as a request
    /// until it completes under `id`; later requests do not wait for it.
    ///
    /// # Panics
    /// As for `submit`.
    fn flush(&mut self, now: Time, id: RequestId);

    /// Appends all completions due at or before `now` to `out`.
    fn advance(&mut self, now: Time, out: &mut Vec<Completion>);
}

impl<D: Drive + ?Sized> Drive for Box<D> {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        (**self).submit(now, batch);
    }
    fn flush(&mut self, now: Time, id: RequestId) {
        (**self).flush(now, id);
    }
    fn next_event(&self) -> Option<Time> {
        (**self).next_event()
    }
    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        (**self).advance(now, out);
    }
}
