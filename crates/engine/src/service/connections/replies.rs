// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Turns the core's replies into messages, and takes sent messages back.

use rustix::io::Errno;
use tidegate_device::{Message, Pace};
use tidegate_model::{Duration, Time};
use tidegate_nbd::{Command, Failure, Request};

use super::super::call::{Answered, Call, CallError, CallKind, CallPart, OperationReply};
use super::super::tenant::Sent;
use super::connection::{Outgoing, Owed, Phase, Reading, Transmission};
use super::{Connections, Departure, Ended, Failed, Operation};

/// The shortest time between two reports of the same failure of one export.
const QUIET: Duration = Duration::from_ms(1_000);

impl Connections {
    /// Handles the reply to a piece.
    pub(crate) fn answer(&mut self, now: Time, reply: OperationReply, calls: &mut Vec<Call>) {
        let OperationReply { operation: number, result, parts } = reply;
        let operation = self.operations[number].take().expect("a piece has one reply");
        self.free_operations.push(number);
        let index = operation.connection;
        self.get(index).outstanding -= 1;
        self.list(index);
        let is_trimmed = operation.kind == CallKind::Trim && operation.request.is_durable;
        if is_trimmed && result.is_ok() && !matches!(self.get(index).phase, Phase::Broken(_)) {
            // A durable trim is a trim followed by a flush.
            let operation = Operation { kind: CallKind::Flush, ..operation };
            return self.submit(now, operation, parts, calls);
        }
        let result = result.map_err(|error| {
            let connection = self.get(index);
            if error != CallError::Removed {
                self.report(now, &operation, error);
            } else if connection.phase == Phase::Open {
                // The client gets this reason, and may find another export of the same name.
                connection.phase = Phase::Draining(Ended::Removed);
            }
            failure(error)
        });
        if matches!(self.get(index).phase, Phase::Broken(_)) {
            self.memory.give_list(parts);
            self.give_room(index, operation.charge);
            return;
        }
        if operation.length as u64 == operation.request.length || operation.length == 0 {
            self.answer_whole(now, &operation, result, parts);
        } else {
            self.answer_piece(now, &operation, result, parts);
        }
    }

    /// Replies to a request that consisted of one piece.
    fn answer_whole(
        &mut self,
        now: Time,
        operation: &Operation,
        result: Result<Answered, Failure>,
        parts: Vec<CallPart>,
    ) {
        let request = operation.request;
        match result {
            Ok(answered) if operation.kind == CallKind::Read => {
                self.put_data(now, operation, answered, parts);
            }
            Ok(answered) => {
                self.memory.give_list(parts);
                let owed = self.owed(now, operation, Some(answered));
                let connection = self.get(operation.connection);
                let session = &connection.session;
                connection.next.message.put_head(|out| session.put_done(out, &request));
                connection.next.owed.push(owed);
            }
            Err(failure) => {
                self.memory.give_list(parts);
                let owed = self.owed(now, operation, None);
                self.put_failed(operation.connection, &request, failure);
                self.get(operation.connection).next.owed.push(owed);
            }
        }
    }

    /// Continues a large request after one of its pieces.
    fn answer_piece(
        &mut self,
        now: Time,
        operation: &Operation,
        result: Result<Answered, Failure>,
        parts: Vec<CallPart>,
    ) {
        let index = operation.connection;
        let connection = self.get(index);
        connection.is_piece_out = false;
        let mut large = connection.large.take().expect("its piece was out");
        let request = large.request;
        let is_read = operation.kind == CallKind::Read;
        match result {
            Ok(answered) if is_read => self.put_data(now, operation, answered, parts),
            Ok(_) => {
                self.memory.give_list(parts);
                self.give_room(index, operation.charge);
            }
            Err(failure) => {
                self.memory.give_list(parts);
                self.give_room(index, operation.charge);
                return self.fail_large(index, &request, large.begun, large.done, failure);
            }
        }
        large.done += operation.length as u64;
        let connection = self.get(index);
        if large.done < request.length {
            connection.large = Some(large);
        } else if !is_read {
            let session = &connection.session;
            connection.next.message.put_head(|out| session.put_done(out, &request));
        }
    }

    fn fail_large(
        &mut self,
        index: usize,
        request: &Request,
        begun: u64,
        done: u64,
        failure: Failure,
    ) {
        let connection = self.get(index);
        if request.command == Command::Write && begun < request.length {
            let (left, request) = (request.length - begun, *request);
            connection.reading = Reading::Skip { left, request, failure };
        } else if matches!(request.command, Command::Read { .. })
            && done > 0
            && !connection.session.is_structured()
        {
            connection.break_off(Ended::ReadCutShort);
        } else {
            self.put_failed(index, request, failure);
        }
    }

    fn put_failed(&mut self, index: usize, request: &Request, failure: Failure) {
        let connection = self.get(index);
        let session = &connection.session;
        connection.next.message.put_head(|out| session.put_failed(out, request, failure));
    }

    /// Puts the data of a read into the next message.
    fn put_data(
        &mut self,
        now: Time,
        operation: &Operation,
        answered: Answered,
        mut parts: Vec<CallPart>,
    ) {
        let &Operation { request, offset, length, .. } = operation;
        let is_last = offset + length as u64 == request.offset + request.length;
        let owed = self.owed(now, operation, Some(answered).filter(|_| is_last));
        let connection = self.get(operation.connection);
        let (session, next) = (&connection.session, &mut connection.next);
        next.message.put_head(|out| {
            session.put_data_head(out, &request, offset, length, is_last);
        });
        for part in &mut parts {
            let size = usize::try_from(part.size.get()).expect("of memory");
            let data = part.data.take().expect("the store returns the memory");
            next.message.put_data(data, size);
        }
        next.owed.push(owed);
        self.memory.give_list(parts);
    }

    fn owed(&mut self, now: Time, operation: &Operation, answered: Option<Answered>) -> Owed {
        let blocked = self.get(operation.connection).blocked_until(now);
        let is_within_contract = answered.is_some_and(|it| it.is_within_contract);
        let allowed = |it: Answered| Time::from_ns(now.ns().saturating_sub(it.response.ns()));
        let eligible = answered.map(allowed);
        Owed { charge: Some(operation.charge), eligible, is_within_contract, blocked }
    }

    /// Reports a failed request, unless the same failure of the export was reported less than
    /// [`QUIET`] ago.
    fn report(&mut self, now: Time, operation: &Operation, error: CallError) {
        let connection = self.get(operation.connection);
        let (export, departures) = (connection.export, connection.departures.clone());
        let lane = self.lanes.get_mut(&export).expect("a lane outlives its connections");
        let Request { offset, length, command, .. } = operation.request;
        let what = match command {
            Command::Read { .. } => "a read",
            Command::Write => "a write",
            Command::WriteZeroes { .. } => "a write of zeroes",
            Command::Trim => "a trim",
            Command::Flush | Command::BlockStatus | Command::Disconnect => "a flush",
        };
        if now < lane.next_report && lane.reported == Some((what, error)) {
            lane.unreported += 1;
            return;
        }
        lane.reported = Some((what, error));
        lane.next_report = now.checked_add(QUIET).unwrap_or(Time::MAX);
        let unreported = std::mem::take(&mut lane.unreported);
        let failed = Failed { what, offset, length, error, unreported };
        departures.put(Departure::Failed { export, failed });
    }

    /// Handles a message of which the client took some bytes.
    pub(super) fn taken(
        &mut self,
        now: Time,
        index: usize,
        mut message: Box<Message>,
        result: Result<usize, Errno>,
    ) {
        self.list(index);
        let connection = self.get(index);
        let mut sending = connection.sending.take().expect("a message is sent once");
        let count = match result {
            Ok(count @ 1..) => count,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Ok(0) | Err(_) => {
                connection.break_off(Ended::Left);
                return self.release(index, &mut Outgoing { message, owed: sending.owed });
            }
        };
        let is_all = message.advance(count);
        if count > 0 {
            connection.owed_since = None;
        }
        connection.took(now, is_all);
        if !is_all {
            if matches!(connection.phase, Phase::Broken(_)) {
                return self.release(index, &mut Outgoing { message, owed: sending.owed });
            }
            if sending.pace != Pace::Patient {
                connection.owed_since = None;
            }
            sending.unsent = Some(message);
            connection.sending = Some(sending);
            return;
        }
        self.record(now, index, &sending);
        let mut outgoing = Outgoing { message, owed: sending.owed };
        self.release(index, &mut outgoing);
        self.get(index).spare = Some(outgoing);
    }

    /// Records the times of the replies in a message that was sent.
    fn record(&mut self, now: Time, index: usize, sending: &Transmission) {
        // A silent send operation was complete when it was submitted, before the ring waited.
        let at = if sending.pace == Pace::Silent { sending.since } else { now };
        let connection = self.slots[index].as_ref().expect("just seen");
        let blocked = connection.blocked_until(now);
        for owed in &sending.owed {
            let Some(eligible) = owed.eligible else { continue };
            let client_full = blocked.checked_sub(owed.blocked).unwrap_or_default();
            let response = at.since(eligible).checked_sub(client_full).unwrap_or_default();
            let is_within_contract = owed.is_within_contract;
            let sent = Sent { response, client_full, is_within_contract };
            self.sent.push((connection.export, sent));
        }
    }
}

/// Returns the protocol's error code. Only a few of the store's errors concern the client; all
/// others are reported as errors of the store.
fn failure(error: CallError) -> Failure {
    let number = error.raw_os_error();
    match (error, Failure::of_errno(number)) {
        (CallError::Store(_), known @ (Failure::NoMemory | Failure::NoSpace)) => known,
        (CallError::Store(_), Failure::NotPermitted) if number == Errno::ROFS.raw_os_error() => {
            Failure::NotPermitted
        }
        (CallError::Store(_), _) => Failure::Io,
        (_, known) => known,
    }
}
