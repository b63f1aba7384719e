// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One connection to an export, and its state.

use std::ops::Range;
use std::sync::Arc;

use rustix::net::{Shutdown, shutdown};
use tidegate_device::{IoBuffer, Message, Pace, Socket};
use tidegate_model::{Bytes, Duration, Time};
use tidegate_nbd::{Entered, Failure, Refused, Request, Session};

use super::super::call::CallPart;
use super::super::offer::ExportId;
use super::lane::Charge;
use super::{Departures, Ended, HEAD_BYTES_MAX, Newcomer, SlotGuard};

/// The size in bytes of the memory for a connection's requests and small payloads. It is large
/// enough for the bytes that were received after a handshake's end.
pub(crate) const INPUT_BYTES: u64 = 32 << 10;

/// A client's request that is carried out piece by piece; a small request is one piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub(super) request: Request,
    /// The number of bytes in the pieces that have been started.
    pub(super) begun: u64,
    /// The number of bytes that are complete.
    pub(super) done: u64,
}

/// A piece of a write, while its payload arrives.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) charge: Charge,
    pub(super) parts: Vec<CallPart>,
    pub(super) length: usize,
    /// The part that is being filled, and the number of bytes that it already has.
    pub(super) part: usize,
    pub(super) filled: usize,
}

/// The meaning of the client's next bytes.
#[derive(Debug)]
pub(super) enum Reading {
    /// A request header, while nothing else must be finished first.
    Header,
    /// The payload of a piece of the write in progress.
    Payload(Payload),
    /// The rest of a failed write's payload, which is read and discarded.
    Skip { left: u64, request: Request, failure: Failure },
    /// The payload of a request that was refused.
    SkipRefused { left: u64, refused: Refused },
}

/// The memory of the receive operation that the ring holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiving {
    No,
    Input,
    Payload,
}

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// The connection sends the replies that are due, and is then closed.
    Draining(Ended),
    /// The connection sends nothing more, and is closed when the kernel and the store have finished
    /// with it.
    Broken(Ended),
}

/// The directions in which the socket was shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closed {
    No,
    Reading,
    Both,
}

/// A reply that the client has not received yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owed {
    pub(super) charge: Option<Charge>,
    /// The instant at which the contract allowed the request; `None` if its time is not counted.
    pub(super) eligible: Option<Time>,
    pub(super) is_within_contract: bool,
    /// The connection's total blocked time at the instant when the reply was ready.
    pub(super) blocked: Duration,
}

/// A message, and the replies in it.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    pub(super) message: Box<Message>,
    pub(super) owed: Vec<Owed>,
}

/// A connection to an export.
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(super) struct Connection {
    pub(super) socket: Socket,
    pub(super) session: Session,
    pub(super) export: ExportId,
    /// The export's first byte in the store.
    pub(super) first: u64,
    pub(super) has_contract: bool,
    pub(super) slot_guard: Box<dyn SlotGuard>,
    pub(super) departures: Arc<Departures>,
    pub(super) phase: Phase,
    /// `None` while the ring holds the buffer.
    pub(super) input: Option<IoBuffer>,
    /// The part of the input that has not been read yet.
    pub(super) unread: Range<usize>,
    pub(super) reading: Reading,
    pub(super) receiving: Receiving,
    /// The large request in progress; no other request is started meanwhile.
    pub(super) large: Option<Progress>,
    /// Whether the store is executing a piece of the large request.
    pub(super) is_piece_out: bool,
    /// Whether the connection waits for room.
    pub(super) is_waiting: bool,
    /// Whether the connection's next request is large and waits for the replies to earlier
    /// requests.
    pub(super) is_holding: bool,
    /// The number of requests without a reply.
    pub(super) outstanding: usize,
    pub(super) next: Outgoing,
    /// The message that is being sent.
    pub(super) sending: Option<Transmission>,
    pub(super) spare: Option<Outgoing>,
    /// The total time during which the client's socket had no room for replies.
    pub(super) blocked: Duration,
    /// The start of the current period without room in the client's socket; `None` if there is
    /// room.
    pub(super) blocked_since: Option<Time>,
    /// The instant since which the connection has been waiting only for the client, which has not
    /// sent all of a request or not taken all of a reply. `None` while the client owes nothing;
    /// each progress resets it.
    pub(super) owed_since: Option<Time>,
    closed: Closed,
    /// Whether the connection is in the list of connections to read, and whether it is in the list
    /// of connections to flush.
    pub(super) is_to_read: bool,
    pub(super) is_to_flush: bool,
}

/// A message that the ring sends.
#[derive(Debug)]
pub(super) struct Transmission {
    pub(super) owed: Vec<Owed>,
    pub(super) pace: Pace,
    /// The time at which the message was handed to the ring.
    pub(super) since: Time,
    /// The message that the ring returned because it could not send all of it; `None` while the
    /// ring holds it.
    pub(super) unsent: Option<Box<Message>>,
}

impl Connection {
    pub(super) fn new(newcomer: Newcomer) -> Self {
        let Newcomer { socket, entered, export, spec, slot_guard, departures, .. } = newcomer;
        let Entered { export: info, dialect, rest } = entered;
        let mut input = IoBuffer::new(Bytes::new(INPUT_BYTES));
        input.bytes_mut()[..rest.len()].copy_from_slice(&rest);
        Self {
            socket,
            session: Session::new(info, dialect),
            export,
            first: spec.offset.get(),
            has_contract: spec.contract.is_some(),
            slot_guard,
            departures,
            phase: Phase::Open,
            input: Some(input),
            unread: 0..rest.len(),
            reading: Reading::Header,
            receiving: Receiving::No,
            large: None,
            is_piece_out: false,
            is_waiting: false,
            is_holding: false,
            outstanding: 0,
            next: Outgoing::default(),
            sending: None,
            spare: None,
            blocked: Duration::ZERO,
            blocked_since: None,
            owed_since: None,
            closed: Closed::No,
            is_to_read: false,
            is_to_flush: false,
        }
    }

    /// Breaks the connection, and keeps the first reason.
    pub(super) fn break_off(&mut self, ended: Ended) {
        if !matches!(self.phase, Phase::Broken(_)) {
            self.phase = Phase::Broken(ended);
        }
    }

    /// Shuts the socket down, as far as it is still open, so that transfers in the ring end.
    pub(super) fn shut(&mut self, how: Closed) {
        if self.closed >= how {
            return;
        }
        self.closed = how;
        let how = if how == Closed::Both { Shutdown::Both } else { Shutdown::Read };
        // Shutting down a socket that its client has closed fails, with the same effect.
        let _ = shutdown(&self.socket, how);
    }

    /// Returns the bytes that were received but not read.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.input {
            Some(input) => &input.bytes()[self.unread.clone()],
            None => &[],
        }
    }

    /// Discards the first `count` unread bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.unread.start += count;
        debug_assert!(self.unread.start <= self.unread.end, "they were received");
    }

    /// Returns whether the next message has so many headers that no request is read before it is
    /// sent.
    pub(super) fn is_full(&self) -> bool {
        self.next.message.head_bytes() >= HEAD_BYTES_MAX
    }

    /// Returns the total time up to `now` during which the client's socket had no room for replies.
    pub(super) fn blocked_until(&self, now: Time) -> Duration {
        let current = self.blocked_since.map_or(Duration::ZERO, |since| now.since(since));
        self.blocked.checked_add(current).unwrap_or(Duration::MAX)
    }

    /// Records that the client took some bytes or, if `is_all`, all bytes.
    pub(super) fn took(&mut self, now: Time, is_all: bool) {
        if is_all {
            self.blocked = self.blocked_until(now);
            self.blocked_since = None;
        } else {
            self.blocked_since.get_or_insert(now);
        }
    }

    /// Returns whether the connection waits for the client to send the rest of a request or to take
    /// replies.
    pub(super) fn owes(&self) -> bool {
        let is_amid = !matches!(self.reading, Reading::Header) || !self.unread.is_empty();
        let is_for_client = match self.reading {
            Reading::Header => !self.is_waiting && !self.is_holding && self.large.is_none(),
            Reading::Payload(_) | Reading::Skip { .. } | Reading::SkipRefused { .. } => true,
        };
        self.sending.as_ref().is_some_and(|it| it.pace == Pace::Patient)
            || is_amid && is_for_client && self.is_read()
    }

    /// Returns whether the connection still reads from its client: requests while it is open; once
    /// the service is ending, only the rest of a request that has begun.
    pub(super) fn is_read(&self) -> bool {
        match self.phase {
            Phase::Open => true,
            Phase::Draining(Ended::Ending) => self.is_amid(),
            Phase::Draining(_) | Phase::Broken(_) => false,
        }
    }

    /// Returns whether a large request or a payload is still incomplete.
    fn is_amid(&self) -> bool {
        self.large.is_some() || !matches!(self.reading, Reading::Header)
    }

    /// Returns whether nothing refers to the connection any more.
    pub(super) fn is_over(&self) -> bool {
        let has_more = !self.next.message.is_empty() && matches!(self.phase, Phase::Draining(_));
        !self.is_read()
            && self.phase != Phase::Open
            && self.outstanding == 0
            && self.receiving == Receiving::No
            && self.sending.is_none()
            && !has_more
    }
}
