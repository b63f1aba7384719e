// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The clients of NBD connections, which the service's own thread serves on the ring of its disk.
//!
//! ```text
//!   receive -> request -> room? -> call -> core -> reply -> message -> sending -> room again
//!                  ^       no: the connection is left unread           |
//!                  +---------- the payload is received into the call's own memory
//! ```
//! A connection has at most one receive and one send operation in the ring. Replies that become
//! ready while a message is being sent go into the next message, so a busy connection needs few
//! messages.
//!
//! # Memory
//! A request gets memory when its export has room for it (`lane`), and gives the room back when its
//! reply is sent. A client that sends requests and reads no replies fills only its own export's
//! room, and is disconnected after its [`Newcomer::patience`]. An idle connection has
//! [`INPUT_BYTES`] and no other memory.
//!
//! # Order
//! Requests of one connection are started in the order of their arrival. A request that is larger
//! than a piece (see `export`) is executed alone, piece by piece.

mod connection;
mod departures;
mod lane;
mod memory;
mod pieces;
mod replies;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustix::io::Errno;
use tidegate_device::{DataRing, Delivered, IoBuffer, Pace, Receive, Send, Socket};
use tidegate_model::{Duration, ExportSpec, Time};
use tidegate_nbd::{Entered, Request};

use super::call::{Call, CallKind, CallPart};
use super::offer::ExportId;
use super::tenant::Sent;

use self::connection::{Closed, Connection, Outgoing, Phase, Reading, Receiving, Transmission};
use self::lane::{Charge, Lane};
use self::memory::Memory;

pub(crate) use self::connection::INPUT_BYTES;
pub(crate) use self::departures::{Departure, Departures, Ended, Failed, SlotGuard};
pub(crate) use self::memory::KEPT_BYTES;

/// The interval between two checks for slow clients.
const SLOW_CHECK_INTERVAL: Duration = Duration::from_ms(1_000);

/// The time that clients get to take their last replies when the service ends.
const LAST_WORDS: Duration = Duration::from_ms(1_000);

/// The maximum number of header bytes in a connection's next message; once it is reached, the
/// connection reads no further request.
const HEAD_BYTES_MAX: usize = 32 << 10;

/// The largest number of bytes that an export without a contract can have outstanding.
pub(crate) const BEST_EFFORT_BYTES: u64 = super::gate::BYTES;

/// The largest number of bytes that an export can have outstanding, all its connections together.
pub(crate) fn room_bytes(spec: &ExportSpec, part_max: usize) -> u64 {
    let rooms = lane::rooms(spec, part_max);
    let is_split = spec.contract.as_ref().is_some_and(|contract| contract.op.is_some());
    let beside = if is_split { rooms.beside.bytes } else { 0 };
    rooms.of_contract.bytes.saturating_add(beside)
}

/// A connection that has entered its export and has not been added yet.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub(crate) socket: Socket,
    pub(crate) entered: Entered,
    pub(crate) export: ExportId,
    pub(crate) spec: Arc<ExportSpec>,
    /// The largest part of a request in bytes.
    pub(crate) part_max: usize,
    pub(crate) slot_guard: Box<dyn SlotGuard>,
    pub(crate) departures: Arc<Departures>,
    /// The time limit for a client to complete a request, or to take some of its replies.
    pub(crate) patience: Duration,
}

/// A piece of a request that was handed to the core.
#[derive(Debug)]
struct Operation {
    connection: usize,
    request: Request,
    kind: CallKind,
    charge: Charge,
    /// The position of the piece's first byte, and the piece's length in bytes.
    offset: u64,
    length: usize,
}

/// The connections of a service.
#[derive(Default)]
pub(crate) struct Connections {
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    operations: Vec<Option<Operation>>,
    free_operations: Vec<usize>,
    lanes: BTreeMap<ExportId, Lane>,
    memory: Memory,
    /// The connections that may have input to read, and those that may have a transfer for the
    /// ring.
    to_read: VecDeque<usize>,
    to_flush: Vec<usize>,
    /// A scratch list, empty between calls.
    flushing: Vec<usize>,
    /// The replies that were sent to their clients.
    sent: Vec<(ExportId, Sent)>,
    patience: Duration,
    look_at: Option<Time>,
    /// The instant at which the remaining connections are closed while the service ends.
    ends_at: Option<Time>,
    /// Scratch lists, empty between calls.
    delivered: Vec<Delivered>,
}

impl Connections {
    /// Adds a connection.
    pub(crate) fn welcome(&mut self, newcomer: Newcomer) {
        let (spec, part_max) = (newcomer.spec.clone(), newcomer.part_max);
        self.patience = newcomer.patience;
        let lane = self.lanes.entry(newcomer.export).or_insert_with(|| Lane::new(&spec, part_max));
        lane.connections += 1;
        let connection = Some(Connection::new(newcomer));
        let index = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(index) {
            Some(slot) => *slot = connection,
            None => self.slots.push(connection),
        }
        self.list(index);
    }

    /// Returns whether no connection remains.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Returns the instant at which [`Self::receive`] must be called if no event comes before.
    pub(crate) fn look_at(&self) -> Option<Time> {
        if !self.to_read.is_empty() {
            return Some(Time::ZERO);
        }
        [self.look_at, self.ends_at.filter(|_| !self.is_empty())].into_iter().flatten().min()
    }

    /// Begins the end: no new request is read, and the replies that are due are sent.
    pub(crate) fn end(&mut self) {
        for index in 0..self.slots.len() {
            if let Some(connection) = &mut self.slots[index]
                && connection.phase == Phase::Open
            {
                connection.phase = Phase::Draining(Ended::Ending);
                self.list(index);
            }
        }
    }

    /// Starts the time limit for the last replies; called once all replies are ready.
    pub(crate) fn limit_last_replies(&mut self, now: Time) {
        self.ends_at.get_or_insert(now.checked_add(LAST_WORDS).unwrap_or(Time::MAX));
    }

    /// Adds a connection to the list to read and to the list to flush.
    fn list(&mut self, index: usize) {
        let Some(connection) = &mut self.slots[index] else { return };
        if !std::mem::replace(&mut connection.is_to_read, true) {
            self.to_read.push_back(index);
        }
        if !std::mem::replace(&mut connection.is_to_flush, true) {
            self.to_flush.push(index);
        }
    }

    fn get(&mut self, index: usize) -> &mut Connection {
        self.slots[index].as_mut().expect("a connection outlives what refers to it")
    }

    /// Takes the input that the ring has received, and reads the requests in it. A request's
    /// arrival time is `now`, whenever its bytes were sent: a client can influence that time only
    /// by completing the request.
    pub(crate) fn receive(&mut self, ring: &mut DataRing, now: Time, calls: &mut Vec<Call>) {
        let mut delivered = std::mem::take(&mut self.delivered);
        ring.take_delivered(&mut delivered);
        for one in delivered.drain(..) {
            match one {
                Delivered::Received { token, buffer, result } => {
                    self.received(index_of(token), buffer, result);
                }
                Delivered::Sent { token, message, result } => {
                    self.taken(now, index_of(token), message, result);
                }
            }
        }
        self.delivered = delivered;
        if self.look_at().is_some_and(|look| look <= now) {
            self.look_for_slow(now);
        }
        self.read(now, calls);
    }

    /// Continues to read the connections that may have input.
    pub(crate) fn read(&mut self, now: Time, calls: &mut Vec<Call>) {
        while let Some(index) = self.to_read.pop_front() {
            if let Some(connection) = &mut self.slots[index] {
                connection.is_to_read = false;
            }
            while self.read_next(now, index, calls) {}
        }
    }

    /// Passes each reply that was sent to its client to `record`.
    pub(crate) fn take_sent(&mut self, record: impl FnMut((ExportId, Sent))) {
        self.sent.drain(..).for_each(record);
    }

    fn received(&mut self, index: usize, buffer: IoBuffer, result: Result<usize, Errno>) {
        let connection = self.get(index);
        let count = result.unwrap_or(0);
        connection.owed_since = None;
        match std::mem::replace(&mut connection.receiving, Receiving::No) {
            Receiving::Input => {
                connection.input = Some(buffer);
                connection.unread.end += count;
            }
            Receiving::Payload => {
                let Reading::Payload(payload) = &mut connection.reading else {
                    unreachable!("a payload is received while it is expected")
                };
                payload.parts[payload.part].data = Some(buffer);
                payload.filled += count;
            }
            Receiving::No => unreachable!("a receipt ends once"),
        }
        // A client that sends nothing more may still want its replies. A failed connection is
        // noticed when they are sent.
        let is_interrupted = matches!(result, Err(Errno::AGAIN | Errno::INTR));
        if count == 0 && !is_interrupted && connection.phase == Phase::Open {
            connection.phase = Phase::Draining(Ended::Left);
        }
        self.list(index);
    }

    /// Disconnects clients that complete no request, or take no replies, within the time limit.
    fn look_for_slow(&mut self, now: Time) {
        let is_over = self.ends_at.is_some_and(|end| end <= now);
        let mut is_any = false;
        for index in 0..self.slots.len() {
            let Some(connection) = &mut self.slots[index] else { continue };
            if is_over {
                connection.break_off(Ended::Ending);
                self.list(index);
            } else if let Some(since) = connection.owed_since {
                is_any = true;
                if now.since(since) >= self.patience {
                    connection.break_off(Ended::Slow);
                    self.list(index);
                }
            }
        }
        self.look_at = is_any.then(|| now.checked_add(SLOW_CHECK_INTERVAL)).flatten();
    }

    /// Passes transfers to the ring, and removes finished connections.
    ///
    /// A connection can get room from another connection that ends in this call. It has already
    /// received its request, so it must be read before it is flushed, in the next iteration: a
    /// receive operation would take its input buffer away, and the client has nothing more to send.
    /// The same holds for a connection that sends a full message now.
    pub(crate) fn flush(&mut self, ring: &mut DataRing, now: Time) {
        let mut flushing = std::mem::take(&mut self.flushing);
        std::mem::swap(&mut flushing, &mut self.to_flush);
        for index in flushing.drain(..) {
            let Some(connection) = &mut self.slots[index] else { continue };
            if connection.is_to_read {
                self.to_flush.push(index);
                continue;
            }
            connection.is_to_flush = false;
            match connection.phase {
                Phase::Broken(_) => self.abandon(index),
                Phase::Open | Phase::Draining(_) => {
                    let is_awaited = self.lanes[&connection.export].has_waiting();
                    let was_full = connection.is_full();
                    send(connection, ring, index, now, is_awaited);
                    if was_full && !connection.is_full() {
                        self.list(index);
                    } else {
                        receive(connection, ring, index);
                    }
                }
            }
            let connection = self.get(index);
            if !connection.is_read() && connection.receiving != Receiving::No {
                // Without the shutdown, the receive operation would end only when the client sends
                // something.
                connection.shut(Closed::Reading);
            }
            if connection.owes() {
                connection.owed_since.get_or_insert(now);
                if self.look_at.is_none() {
                    self.look_at = now.checked_add(SLOW_CHECK_INTERVAL);
                }
            } else {
                connection.owed_since = None;
            }
            if self.slots[index].as_ref().is_some_and(Connection::is_over) {
                self.let_go(index);
            }
        }
        self.flushing = flushing;
    }

    /// Releases the resources that a broken connection does not need.
    fn abandon(&mut self, index: usize) {
        let connection = self.get(index);
        connection.shut(Closed::Both);
        let mut next = std::mem::take(&mut connection.next);
        self.release(index, &mut next);
        if let Some(sending) = &mut self.get(index).sending
            && let Some(message) = sending.unsent.take()
        {
            let owed = std::mem::take(&mut sending.owed);
            self.get(index).sending = None;
            self.release(index, &mut Outgoing { message, owed });
        }
    }

    /// Gives back the memory and the room of a message.
    fn release(&mut self, index: usize, outgoing: &mut Outgoing) {
        for buffer in outgoing.message.clear() {
            self.memory.give(buffer);
        }
        for owed in outgoing.owed.drain(..) {
            if let Some(charge) = owed.charge {
                self.give_room(index, charge);
            }
        }
    }

    /// Frees room, and wakes the connection that has waited longest for it.
    fn give_room(&mut self, index: usize, charge: Charge) {
        let export = self.get(index).export;
        let lane = self.lanes.get_mut(&export).expect("a lane outlives its connections");
        lane.give(charge);
        let next = lane.next(charge);
        self.wake(next);
    }

    /// Lets a connection that waits for room try again.
    fn wake(&mut self, index: Option<usize>) {
        if let Some(index) = index {
            self.get(index).is_waiting = false;
            self.list(index);
        }
    }

    fn let_go(&mut self, index: usize) {
        if let Reading::Payload(payload) =
            std::mem::replace(&mut self.get(index).reading, Reading::Header)
        {
            self.memory.give_list(payload.parts);
            self.give_room(index, payload.charge);
        }
        let export = self.get(index).export;
        let lane = self.lanes.get_mut(&export).expect("a lane outlives its connections");
        for next in lane.forget(index) {
            self.wake(next);
        }
        let connection = self.slots[index].take().expect("just seen");
        self.free.push(index);
        let lane = self.lanes.get_mut(&connection.export).expect("it has a connection");
        lane.connections -= 1;
        if lane.connections == 0 {
            self.lanes.remove(&connection.export);
        }
        let Connection { socket, slot_guard, departures, phase, .. } = connection;
        let (Phase::Draining(ended) | Phase::Broken(ended)) = phase else {
            unreachable!("an open connection stays")
        };
        departures.put(Departure::Gone { socket, slot_guard, ended });
    }
}

/// Passes the next message to the ring, if the previous one has been sent. `is_awaited` says
/// whether a request waits for the room of this message's replies.
fn send(
    connection: &mut Connection,
    ring: &mut DataRing,
    index: usize,
    now: Time,
    is_awaited: bool,
) {
    let (token, socket) = (index as u64, connection.socket.clone());
    if let Some(sending) = &mut connection.sending {
        if let Some(message) = sending.unsent.take() {
            sending.pace = Pace::Patient;
            ring.push_send(Send { token, socket, message, pace: Pace::Patient });
        }
        return;
    }
    if connection.next.message.is_empty() {
        return;
    }
    let empty = connection.spare.take().unwrap_or_default();
    let Outgoing { message, owed } = std::mem::replace(&mut connection.next, empty);
    // The completion of a silent send can be delayed for long, so nothing must depend on it.
    let is_timed = connection.has_contract || is_awaited || connection.phase != Phase::Open;
    let pace = if is_timed { Pace::Timed } else { Pace::Silent };
    connection.sending = Some(Transmission { owed, pace, since: now, unsent: None });
    // The client's time limit for this message starts now, however old its requests are.
    connection.owed_since = None;
    ring.push_send(Send { token, socket, message, pace });
}

/// Submits a receive operation for the input that the connection expects next.
fn receive(connection: &mut Connection, ring: &mut DataRing, index: usize) {
    if connection.receiving != Receiving::No || !connection.is_read() {
        return;
    }
    let (token, socket) = (index as u64, connection.socket.clone());
    if let Reading::Payload(payload) = &mut connection.reading {
        let part = &mut payload.parts[payload.part];
        let buffer = part.data.take().expect("a part has memory until it is submitted");
        let end = usize::try_from(part.size.get()).expect("of memory");
        connection.receiving = Receiving::Payload;
        return ring.push_receive(Receive { token, socket, buffer, range: payload.filled..end });
    }
    let is_paused = connection.is_waiting
        || connection.is_holding
        || connection.large.is_some()
        || connection.is_full();
    if is_paused && matches!(connection.reading, Reading::Header) {
        return;
    }
    let mut buffer = connection.input.take().expect("nothing is being received");
    let unread = connection.unread.clone();
    if unread.start > 0 {
        buffer.bytes_mut().copy_within(unread.clone(), 0);
        connection.unread = 0..unread.len();
    }
    connection.receiving = Receiving::Input;
    let range = unread.len()..buffer.bytes().len();
    ring.push_receive(Receive { token, socket, buffer, range });
}

fn index_of(token: u64) -> usize {
    usize::try_from(token).expect("the index of a connection")
}
