// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The request order of `deadline` and `mq-deadline`: reads and writes by position, each with an
//! instant after which position no longer matters.
//!
//! Rule: a batch is up to 16 requests of one direction in ascending order of position. A new batch
//! takes reads, unless there are none, or reads were preferred to waiting writes twice in a row. It
//! starts where the last batch of its direction ended, or with the oldest request if that has
//! waited too long (reads 500 ms, writes 5 s) or no request lies above.
//!
//! Source: the Linux kernel's documentation of its deadline scheduler and its defaults.

use std::collections::BTreeMap;

use tidegate_model::{Duration, Op, Request, RequestId, Time};

use super::filling::Order;
use super::sorted::{Position, Sorted};
use crate::in_flight::InFlight;

/// The kernel's `read_expire` and `write_expire`: the waits after which a request is sent out of
/// position order.
const EXPIRE: [Duration; 2] = [Duration::from_ms(500), Duration::from_ms(5_000)];
/// The kernel's `fifo_batch`: the largest number of requests in a batch.
const BATCH_MAX: u32 = 16;
/// The kernel's `writes_starved`: the maximum number of read batches in a row that are preferred to
/// waiting writes.
const WRITES_STARVED_MAX: u32 = 2;

const READ: usize = 0;
const WRITE: usize = 1;

/// A queued request in the order of arrival.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    position: Position,
    at: Time,
}

/// The requests of one direction, by position and by arrival.
///
/// # Invariants
/// - Both orders hold the same requests; `numbers` maps a request to its arrival.
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

    /// Returns the arrival of a queued request.
    fn arrived_at(&self, id: RequestId) -> Time {
        self.arrivals[&self.numbers[&id]].at
    }

    fn oldest(&self) -> Option<Arrival> {
        self.arrivals.first_key_value().map(|(_, &arrival)| arrival)
    }
}

/// The requests of both directions.
#[derive(Debug, Default)]
pub(super) struct Directions {
    directions: [Direction; 2],
    arrived: u64,
}

impl Directions {
    /// Returns empty queues that find the next request as Linux 6.1 does.
    pub(super) fn remembering() -> Self {
        let direction = || Direction { sorted: Sorted::remembering(), ..Direction::default() };
        Self { directions: [direction(), direction()], arrived: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.directions.iter().all(|direction| direction.sorted.is_empty())
    }

    pub(super) fn push(&mut self, now: Time, request: Request) {
        let direction = &mut self.directions[direction_of(request.op)];
        let position = (request.start, request.id);
        direction.arrivals.insert(self.arrived, Arrival { position, at: now });
        direction.numbers.insert(request.id, self.arrived);
        direction.sorted.push(request);
        self.arrived += 1;
    }

    pub(super) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.directions.iter_mut().find_map(|direction| {
            let request = direction.sorted.cancel(id)?;
            direction.forget_arrival(id);
            Some(request)
        })
    }
}

/// The current batch. It is separate from the requests because several sets of requests may share
/// it.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The direction of the batch.
    current: usize,
    /// The number of requests that the batch may still take.
    left: u32,
    /// The number of consecutive batches of reads that were preferred to writes.
    writes_starved: u32,
}

impl Batch {
    /// Returns the state before the first batch: as if a batch of writes had begun and sent none,
    /// so waiting writes go first.
    pub(super) const fn of_writes() -> Self {
        Self { current: WRITE, left: BATCH_MAX, writes_starved: 0 }
    }

    /// Takes the next request of `queued` if it arrived by `latest`. A batch that was begun for a
    /// request that arrived later stays current.
    pub(super) fn pop(
        &mut self,
        queued: &mut Directions,
        now: Time,
        latest: Option<Time>,
    ) -> Option<Request> {
        let current = &queued.directions[self.current].sorted;
        let position = match current.next_above().filter(|_| self.left > 0) {
            Some(position) => position,
            None => self.begin(queued, now)?,
        };
        let direction = &mut queued.directions[self.current];
        latest.filter(|&latest| direction.arrived_at(position.1) <= latest)?;
        self.left -= 1;
        direction.forget_arrival(position.1);
        Some(direction.sorted.take(position))
    }

    /// Chooses the direction of a new batch and returns its start.
    fn begin(&mut self, queued: &Directions, now: Time) -> Option<Position> {
        let [has_reads, has_writes] =
            [READ, WRITE].map(|direction| !queued.directions[direction].sorted.is_empty());
        if !has_reads && !has_writes {
            return None;
        }
        let is_write_due = has_writes && (!has_reads || self.writes_starved >= WRITES_STARVED_MAX);
        self.current = if is_write_due { WRITE } else { READ };
        let direction = &queued.directions[self.current];
        let oldest = direction.oldest()?;
        if is_write_due {
            self.writes_starved = 0;
        } else if has_writes {
            self.writes_starved += 1;
        }
        self.left = BATCH_MAX;
        let is_expired = now.since(oldest.at) >= EXPIRE[self.current];
        let next = direction.sorted.next_above().filter(|_| !is_expired);
        Some(next.unwrap_or(oldest.position))
    }
}

/// Queued requests by position; a batch begins with the oldest one if it has expired. See the
/// module documentation.
#[derive(Debug, Default)]
pub(super) struct Expiring {
    queued: Directions,
    batch: Batch,
}

impl Order for Expiring {
    fn push(&mut self, now: Time, request: Request) {
        self.queued.push(now, request);
    }

    fn pop(&mut self, now: Time, _on_drive: &InFlight) -> Option<Request> {
        self.batch.pop(&mut self.queued, now, Some(now))
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.queued.cancel(id)
    }
}

const fn direction_of(op: Op) -> usize {
    match op {
        Op::Read => READ,
        Op::Write => WRITE,
    }
}
