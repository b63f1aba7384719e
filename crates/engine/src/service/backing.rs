// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What carries out the requests of a service: one store with data, and a clock.
//!
//! A real device on io_uring, a simulated drive in real time, or a recorder of a test: the same
//! core runs on each.

use tidegate_device::{IoBuffer, IoError, RingError};
use tidegate_model::{Bytes, Lba, Request, RequestId, Time};

/// A read or write on its way to the store, with its memory.
#[derive(Debug)]
pub struct Move {
    /// What is to be done; the data are the first `size` bytes of the memory.
    pub request: Request,
    /// What is written, or where to what is read goes.
    pub data: IoBuffer,
}

/// A request that the store is done with.
#[derive(Debug)]
pub struct Moved {
    /// Which one.
    pub id: RequestId,
    /// Its memory; none of a flush and of a trim.
    pub data: Option<IoBuffer>,
    /// Whether the store did what was asked.
    pub result: Result<(), IoError>,
}

/// A store with a clock.
///
/// # The protocol
/// - What one `submit` gives goes to the store as one batch, no later than in the next `wait`.
/// - `reap` never blocks; each request comes back from it exactly once.
/// - Requests that overlap are never outstanding together, unless both read.
pub trait Backing {
    /// Time since the service began. Never decreases.
    fn now(&self) -> Time;

    /// Takes these requests as one batch and leaves `batch` empty.
    fn submit(&mut self, batch: &mut Vec<Move>);

    /// Asks that everything be durable that came back before; comes back under `id`.
    fn flush(&mut self, id: RequestId);

    /// Gives up what lies there, if the store can; comes back under `id`. One at a time, and only
    /// while nothing of the service has a contract.
    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes);

    /// Blocks until something is there to reap, somebody rings, or this instant.
    ///
    /// # Errors
    /// When the means of waiting fail: the service ends.
    fn wait(&mut self, until: Option<Time>) -> Result<(), RingError>;

    /// Appends what came back.
    fn reap(&mut self, moved: &mut Vec<Moved>);
}
