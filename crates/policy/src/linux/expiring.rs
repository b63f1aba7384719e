// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The heart of `deadline` and `mq-deadline`: reads and writes by position, each with an
//! instant from which position no longer matters.
//!
//! Rule: a batch is up to 16 requests of one direction by rising position. A new batch is of
//! reads, but of writes when reads were preferred twice in a row or there are none. It starts
//! where the last one of its direction ended, or with the oldest request when that has waited
//! too long (reads 500 ms, writes 5 s) or nothing lies above.
//!
//! Source: the Linux kernel's documentation of its deadline scheduler and its defaults.

use std::collections::BTreeMap;

use model::{Duration, Op, Request, RequestId, Time};

use super::filling::Order;
use super::sorted::{Position, Sorted};
use crate::in_flight::InFlight;

/// `read_expire` and `write_expire`.
const EXPIRE: [Duration; 2] = [Duration::from_ms(500), Duration::from_ms(5_000)];
/// `fifo_batch`.
const BATCH_MAX: u32 = 16;
/// `writes_starved`.
const WRITES_STARVED_MAX: u32 = 2;

const READ: usize = 0;
const WRITE: usize = 1;

/// A queued request's place in the order of arrival.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    position: Position,
    at: Time,
}

/// The requests of one direction, by position and by arrival.
///
/// # Invariants
/// - Both orders hold the same requests; `numbers` leads from one to the other.
#[derive(Debug, Default)]
struct Direction {
    sorted: Sorted,
    arrivals: BTreeMap<u64, Arrival>,
    numbers: BTreeMap<RequestId, u64>,
}

impl Direction {
    fn forget_arrival(&mut self, id: RequestId) {
        let number = self.numbers.remove(&id).expect("every queued request has a number");
        self.arrivals.remove(&number);
    }

    fn oldest(&self) -> Option<Arrival> {
        self.arrivals.first_key_value().map(|(_, &arrival)| arrival)
    }
}

/// Requests by position that expire; see the module's text.
#[derive(Debug, Default)]
pub(super) struct Expiring {
    directions: [Direction; 2],
    arrived: u64,
    /// The direction of the batch under way.
    current: usize,
    /// Requests that it may still have.
    batch_left: u32,
    /// Batches of reads that were preferred to writes, in a row.
    writes_starved: u32,
}

impl Expiring {
    pub(super) fn is_empty(&self) -> bool {
        self.directions.iter().all(|direction| direction.sorted.is_empty())
    }

    /// When the oldest request of either direction came.
    pub(super) fn oldest(&self) -> Option<Time> {
        self.directions.iter().filter_map(|direction| Some(direction.oldest()?.at)).min()
    }

    /// Chooses the direction of a new batch; where it starts.
    fn begin_batch(&mut self, now: Time) -> Option<Position> {
        let [has_reads, has_writes] =
            [READ, WRITE].map(|direction| !self.directions[direction].sorted.is_empty());
        let is_write_due = has_writes && (!has_reads || self.writes_starved >= WRITES_STARVED_MAX);
        self.current = if is_write_due { WRITE } else { READ };
        let direction = &self.directions[self.current];
        let oldest = direction.oldest()?;
        if is_write_due {
            self.writes_starved = 0;
        } else if has_writes {
            self.writes_starved += 1;
        }
        self.batch_left = BATCH_MAX;
        let is_expired = now.since(oldest.at) >= EXPIRE[self.current];
        let next = direction.sorted.next_above().filter(|_| !is_expired);
        Some(next.unwrap_or(oldest.position))
    }
}

impl Order for Expiring {
    fn push(&mut self, now: Time, request: Request) {
        let direction = &mut self.directions[direction_of(request.op)];
        let position = (request.start, request.id);
        direction.arrivals.insert(self.arrived, Arrival { position, at: now });
        direction.numbers.insert(request.id, self.arrived);
        direction.sorted.push(request);
        self.arrived += 1;
    }

    fn pop(&mut self, now: Time, _on_drive: &InFlight) -> Option<Request> {
        let current = &self.directions[self.current].sorted;
        let position = match current.next_above().filter(|_| self.batch_left > 0) {
            Some(position) => position,
            None => self.begin_batch(now)?,
        };
        self.batch_left -= 1;
        let direction = &mut self.directions[self.current];
        direction.forget_arrival(position.1);
        Some(direction.sorted.take(position))
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.directions.iter_mut().find_map(|direction| {
            let request = direction.sorted.cancel(id)?;
            direction.forget_arrival(id);
            Some(request)
        })
    }
}

const fn direction_of(op: Op) -> usize {
    match op {
        Op::Read => READ,
        Op::Write => WRITE,
    }
}
