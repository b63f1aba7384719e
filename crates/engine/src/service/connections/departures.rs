// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Events of connections, for an ordinary thread: it closes sockets, frees slots and writes the
//! log.

use std::fmt;

use tidegate_device::{MpscStack, Socket, Waker};
use tidegate_nbd::Breach;

use super::super::CallError;
use super::super::offer::ExportId;

/// A connection's slot, which the thread that handles the departures drops.
pub(crate) trait SlotGuard: fmt::Debug + Send {}

/// The reason why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The client left, or the connection failed.
    Left,
    /// The client broke the protocol.
    Breach(Breach),
    /// The client did not complete a request, or did not take its replies, in time.
    Slow,
    /// A read failed after a part of its data was sent, which simple replies cannot express.
    ReadCutShort,
    /// The connection's export was removed.
    Removed,
    /// The service is ending.
    Ending,
}

/// An event of a connection.
#[derive(Debug)]
pub(crate) enum Departure {
    /// The connection has ended.
    Gone { socket: Socket, slot_guard: Box<dyn SlotGuard>, ended: Ended },
    /// Requests of an export failed.
    Failed { export: ExportId, failed: Failed },
}

/// A request that failed, and the number of unreported failures before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed {
    pub(crate) what: &'static str,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) error: CallError,
    pub(crate) unreported: u64,
}

/// The events that have not been handled yet.
#[derive(Debug)]
pub(crate) struct Departures {
    events: MpscStack<Departure>,
    waker: Waker,
}

impl Departures {
    pub(crate) fn new(waker: Waker) -> Self {
        Self { events: MpscStack::new(), waker }
    }

    pub(super) fn put(&self, departure: Departure) {
        self.events.put(departure);
        self.waker.wake();
    }

    pub(crate) fn take(&self, into: &mut Vec<Departure>) {
        self.events.take(into);
    }
}
