// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads requests, and starts their pieces.

use tidegate_device::IoBuffer;
use tidegate_model::{Bytes, Op, Time};
use tidegate_nbd::{Command, Failure, Parsed, Request};

use super::super::call::{Call, CallKind, CallPart, ReplySender};
use super::super::export::lba;
use super::connection::{Payload, Phase, Progress, Reading, Receiving};
use super::lane::Charge;
use super::{Connections, Ended, Operation};

/// The largest piece of a write of zeroes in bytes: the service's thread itself writes the zeroes
/// into memory.
const ZERO_BYTES: usize = 1 << 20;

impl Connections {
    /// Reads the connection's next bytes; returns whether there can be more to read.
    pub(super) fn read_next(&mut self, now: Time, index: usize, calls: &mut Vec<Call>) -> bool {
        let Some(connection) = &mut self.slots[index] else { return false };
        if !connection.is_read() {
            return false;
        }
        let there = connection.bytes().len();
        match &mut connection.reading {
            Reading::Header => self.read_header(now, index, calls),
            Reading::Payload(_) => self.fill(now, index, calls),
            Reading::Skip { left, .. } | Reading::SkipRefused { left, .. } => {
                let count = usize::try_from(*left).map_or(there, |left| left.min(there));
                *left -= count as u64;
                let is_over = *left == 0;
                connection.consume(count);
                if is_over {
                    self.answer_skipped(index);
                }
                is_over
            }
        }
    }

    fn answer_skipped(&mut self, index: usize) {
        let connection = self.get(index);
        let (session, message) = (&connection.session, &mut connection.next.message);
        match std::mem::replace(&mut connection.reading, Reading::Header) {
            Reading::Skip { request, failure, .. } => {
                message.put_head(|out| session.put_failed(out, &request, failure));
            }
            Reading::SkipRefused { refused, .. } => {
                message.put_head(|out| session.put_refused(out, &refused));
            }
            Reading::Header | Reading::Payload(_) => unreachable!("it was skipped"),
        }
    }

    fn read_header(&mut self, now: Time, index: usize, calls: &mut Vec<Call>) -> bool {
        let connection = self.get(index);
        if connection.is_waiting || connection.is_full() {
            return false;
        }
        if let Some(large) = connection.large {
            return !connection.is_piece_out && self.begin_piece(now, index, large, calls);
        }
        if connection.phase != Phase::Open {
            return false;
        }
        let (request, header) = match connection.session.parse(connection.bytes()) {
            Ok(Parsed::Incomplete) => return false,
            Ok(Parsed::Request { request, header }) => (request, header),
            Ok(Parsed::Refused { refused, header, payload }) => {
                connection.consume(header);
                connection.reading = Reading::SkipRefused { left: payload, refused };
                return true;
            }
            Err(breach) => {
                connection.phase = Phase::Draining(Ended::Breach(breach));
                return false;
            }
        };
        if self.begin(now, index, &request, calls) {
            self.get(index).consume(header);
            return true;
        }
        false
    }

    /// Starts a request; returns whether it was started.
    fn begin(&mut self, now: Time, index: usize, request: &Request, calls: &mut Vec<Call>) -> bool {
        let connection = self.get(index);
        connection.is_holding = false;
        let op = match request.command {
            Command::Disconnect => {
                connection.phase = Phase::Draining(Ended::Left);
                return true;
            }
            Command::BlockStatus => {
                let (session, message) = (&connection.session, &mut connection.next.message);
                message.put_head(|out| session.put_allocated(out, request));
                return true;
            }
            Command::Read { .. } => Op::Read,
            Command::Flush | Command::Trim => {
                return self.begin_without_data(now, index, request, calls);
            }
            Command::Write | Command::WriteZeroes { .. } => Op::Write,
        };
        let is_large = request.length > self.piece_max(index, request, op) as u64;
        let progress = Progress { request: *request, begun: 0, done: 0 };
        if !is_large {
            return self.begin_piece(now, index, progress, calls);
        }
        let connection = self.get(index);
        if connection.outstanding > 0 {
            connection.is_holding = true;
            return false;
        }
        if request.command == (Command::Read { is_one_piece: true }) {
            let (session, message) = (&connection.session, &mut connection.next.message);
            message.put_head(|out| session.put_failed(out, request, Failure::Overflow));
            return true;
        }
        connection.large = Some(progress);
        true
    }

    fn piece_max(&mut self, index: usize, request: &Request, op: Op) -> usize {
        let export = self.get(index).export;
        let lane = &self.lanes[&export];
        let piece_max = lane.piece_max(op);
        match request.command {
            Command::WriteZeroes { .. } => {
                // A piece consists of whole parts, at least one.
                let part_max = lane.part_max();
                piece_max.min((ZERO_BYTES / part_max).max(1) * part_max)
            }
            _ => piece_max,
        }
    }

    /// Takes room for a piece; if there is none, the connection waits.
    fn take_room(&mut self, index: usize, op: Op, length: usize) -> Option<Charge> {
        let export = self.get(index).export;
        let lane = self.lanes.get_mut(&export).expect("a lane outlives its connections");
        let charge = lane.take(op, length, index);
        let next = charge.and_then(|charge| lane.next(charge));
        self.get(index).is_waiting = charge.is_none();
        self.wake(next);
        charge
    }

    fn begin_without_data(
        &mut self,
        now: Time,
        index: usize,
        request: &Request,
        calls: &mut Vec<Call>,
    ) -> bool {
        let Some(charge) = self.take_room(index, Op::Write, 0) else { return false };
        let (kind, size) = match request.command {
            Command::Trim => (CallKind::Trim, Bytes::new(request.length)),
            _ => (CallKind::Flush, Bytes::new(512)),
        };
        let start = lba(self.get(index).first + request.offset);
        let mut parts = self.memory.take_list();
        parts.push(CallPart { start, size, data: None });
        let (offset, request, connection) = (request.offset, *request, index);
        let operation = Operation { connection, request, kind, charge, offset, length: 0 };
        self.submit(now, operation, parts, calls);
        true
    }

    /// Starts the next piece of a request; returns whether it was started.
    fn begin_piece(
        &mut self,
        now: Time,
        index: usize,
        progress: Progress,
        calls: &mut Vec<Call>,
    ) -> bool {
        let Progress { request, begun, .. } = progress;
        let op = if matches!(request.command, Command::Read { .. }) { Op::Read } else { Op::Write };
        let piece_max = self.piece_max(index, &request, op);
        let left = request.length - begun;
        let length = usize::try_from(left).map_or(piece_max, |left| left.min(piece_max));
        let Some(charge) = self.take_room(index, op, length) else { return false };
        let offset = request.offset + begun;
        let mut parts = self.cut(index, offset, length);
        let connection = self.get(index);
        // The client's time limit for sending the payload starts now, however long the request
        // waited for room.
        connection.owed_since = None;
        if let Some(large) = &mut connection.large {
            large.begun += length as u64;
            connection.is_piece_out = true;
        }
        if request.command == Command::Write {
            if connection.large.is_none() {
                connection.large = Some(Progress { begun: length as u64, ..progress });
                connection.is_piece_out = true;
            }
            let payload = Payload { charge, parts, length, part: 0, filled: 0 };
            connection.reading = Reading::Payload(payload);
            return true;
        }
        let is_last = begun + length as u64 == request.length;
        let kind = if op == Op::Read {
            CallKind::Read
        } else {
            let memory = parts.iter_mut().filter_map(|part| part.data.as_mut());
            memory.for_each(|memory| memory.bytes_mut().fill(0));
            CallKind::Write { is_durable: request.is_durable && is_last }
        };
        let connection = index;
        self.submit(
            now,
            Operation { connection, request, kind, charge, offset, length },
            parts,
            calls,
        );
        true
    }

    /// Splits a piece into parts, and gives them memory.
    fn cut(&mut self, index: usize, offset: u64, length: usize) -> Vec<CallPart> {
        let connection = self.get(index);
        let (first, export) = (connection.first + offset, connection.export);
        let part_max = self.lanes[&export].part_max();
        let mut parts = self.memory.take_list();
        for at in (0..length).step_by(part_max) {
            let size = part_max.min(length - at);
            let data: IoBuffer = self.memory.take(size);
            let (start, size) = (lba(first + at as u64), Bytes::new(size as u64));
            parts.push(CallPart { start, size, data: Some(data) });
        }
        parts
    }

    /// Copies the payload bytes that were received with the header, and submits the piece if its
    /// payload is complete; returns whether it is.
    fn fill(&mut self, now: Time, index: usize, calls: &mut Vec<Call>) -> bool {
        let connection = self.get(index);
        if connection.receiving == Receiving::Payload {
            return false;
        }
        let Reading::Payload(payload) = &mut connection.reading else { return false };
        let Some(input) = &connection.input else { return false };
        while let Some(part) = payload.parts.get_mut(payload.part) {
            let size = usize::try_from(part.size.get()).expect("of memory");
            let bytes = &input.bytes()[connection.unread.clone()];
            let count = bytes.len().min(size - payload.filled);
            let data = part.data.as_mut().expect("a part has memory until it is submitted");
            data.bytes_mut()[payload.filled..][..count].copy_from_slice(&bytes[..count]);
            payload.filled += count;
            connection.unread.start += count;
            if payload.filled < size {
                return false;
            }
            (payload.part, payload.filled) = (payload.part + 1, 0);
        }
        let Reading::Payload(payload) = std::mem::replace(&mut connection.reading, Reading::Header)
        else {
            unreachable!("just seen")
        };
        let Payload { charge, parts, length, .. } = payload;
        let Progress { request, begun, .. } = connection.large.expect("a write is in progress");
        let offset = request.offset + begun - length as u64;
        let is_last = begun == request.length;
        if length as u64 == request.length {
            // For a small write, the next request can be read before the reply.
            (connection.large, connection.is_piece_out) = (None, false);
        }
        let kind = CallKind::Write { is_durable: request.is_durable && is_last };
        let connection = index;
        self.submit(
            now,
            Operation { connection, request, kind, charge, offset, length },
            parts,
            calls,
        );
        true
    }

    /// Passes a piece to the core.
    pub(super) fn submit(
        &mut self,
        now: Time,
        operation: Operation,
        parts: Vec<CallPart>,
        calls: &mut Vec<Call>,
    ) {
        let (index, kind) = (operation.connection, operation.kind);
        let connection = self.get(index);
        connection.outstanding += 1;
        let export = connection.export;
        let number = self.free_operations.pop().unwrap_or_else(|| {
            self.operations.push(None);
            self.operations.len() - 1
        });
        self.operations[number] = Some(operation);
        let answer = ReplySender::Operation(number);
        calls.push(Call { export, kind, released: now, parts, answer });
    }
}
