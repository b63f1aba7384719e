// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulated drives, and the drive files that come with Tidegate.
//!
//! A drive accepts up to K requests and completes them in an order of its own. It has no
//! clock: its host tells it the time, in the simulator virtual, in the engine real. See
//! [`Drive`] for the protocol. One file per drive; what they share is in `spaced.rs`.

#![warn(clippy::float_arithmetic)]

pub mod amortised;
pub mod builtin;
mod drive_queue;
mod make;
pub mod mechanical;
mod named;
pub mod pseudo;
pub mod recorded;
pub mod spaced;
pub mod ssd;

use tidegate_model::{Outcome, Request, RequestId, Time};

pub use amortised::Amortised;
pub use drive_queue::{Done, DriveQueue, Work};
pub use make::{
    AnyRequests, BuildError, access_time, build, for_any_requests, from_parts, measured_table,
    parts_of,
};
pub use named::{NamedError, named};
pub use pseudo::{LongestTimes, PseudoDisk};
pub use recorded::RecordedDrive;
pub use spaced::{BatchTimes, Mix, SpacedDrive};
pub use ssd::{SsdCounters, SsdDrive};

/// A request that a drive returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Which one.
    pub id: RequestId,
    /// When the drive was done with it: not later than the `now` it was delivered at.
    pub at: Time,
    /// How it ended.
    pub outcome: Outcome,
}

/// A simulated drive: a state machine that its host tells the time.
///
/// # The protocol
/// - At one instant the host first calls `advance`, then `submit`.
/// - One `submit` is one atomic batch. Several at one instant are one batch too as long
///   as the drive was idle before them and returned nothing in between.
/// - `advance(now)` delivers everything that is due at or before `now`, in order of time.
/// - A drive holds at most K requests, and no request twice.
/// - `now` never decreases.
///
/// # Example
/// ```
/// use tidegate_drive::{Drive, PseudoDisk};
/// use tidegate_model::{BatchTable, Bytes, Class, Duration, Lba, Op, Request, RequestId, TaskIndex, Time};
///
/// let request = Request {
///     id: RequestId(1), task: TaskIndex(0), class: Class::Hard, released: Time::ZERO,
///     eligible: Time::ZERO, due: None, op: Op::Read, start: Lba::new(0),
///     size: Bytes::from_kib(4), fua: false, optional: false, tag: tidegate_model::Tag::Simple,
/// };
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
    /// Gives the drive a batch of requests. An empty batch is nothing.
    ///
    /// # Panics
    /// When the host breaks the protocol: more than K requests, or a completion that was
    /// due is not yet delivered.
    fn submit(&mut self, now: Time, batch: &[Request]);

    /// The next instant at which to advance: that of the next completion, or an earlier one
    /// at which the drive decides what it does next. None while nothing is outstanding.
    fn next_event(&self) -> Option<Time>;

    /// Asks that every write which was answered before be made durable. The flush counts as
    /// a request until it comes back under `id`; requests that come after it do not wait for
    /// it.
    ///
    /// # Panics
    /// As `submit` does.
    fn flush(&mut self, now: Time, id: RequestId);

    /// Appends to `out` all completions that are due at or before `now`.
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
