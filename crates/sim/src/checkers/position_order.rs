// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: requests of one queue are dispatched by rising position. The next request is the first
//! above the last one of its queue. At the upper end the queue starts again: with its lowest
//! request (`cfq`, `cfq-grouped`, `bfq-strict`), or with its oldest request (`deadline`,
//! `mq-deadline`). An expired oldest request may also be sent earlier, out of position.
//!
//! While more requests of a class wait than the policy can hold, the host holds some of them, and
//! nothing is asserted. For queues that start with the oldest request the checker then stops,
//! because the policy counts their age from a later instant.

use std::collections::BTreeMap;
use std::ops::Bound;

use tidegate_model::{Class, Duration, Lba, Op, Request, RequestId, Time};

use super::{Breach, ViolationLog};
use crate::Observer;

/// The queues of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionQueues {
    /// One queue for each source.
    OfSource,
    /// One queue for real time, another for best effort.
    OfGroup,
    /// One queue for reads, another for writes.
    OfDirection,
    /// Two such queues for each class of the kernel: hard tasks, best effort, and all others.
    OfDirectionAndClass,
}

/// The request at which a queue starts again at its upper end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Lowest,
    /// The oldest request; once it has expired, also before the upper end.
    Oldest,
}

impl PositionQueues {
    const fn start(self) -> Start {
        match self {
            Self::OfSource | Self::OfGroup => Start::Lowest,
            Self::OfDirection | Self::OfDirectionAndClass => Start::Oldest,
        }
    }

    fn queue(self, request: &Request) -> u32 {
        let direction = u32::from(request.op == Op::Write);
        match self {
            Self::OfSource => request.task.0,
            Self::OfGroup => u32::from(super::is_best_effort(request)),
            Self::OfDirection => direction,
            Self::OfDirectionAndClass => direction + 2 * kernel_class(request.class),
        }
    }
}

/// Returns the kernel's class of a request's class; 0 is the highest.
pub(super) const fn kernel_class(class: Class) -> u32 {
    match class {
        Class::Hard => 0,
        Class::Soft | Class::Interactive => 1,
        Class::BestEffort => 2,
    }
}

/// Returns the age from which a read or a write may be sent out of position.
pub(super) const fn expiry(op: Op) -> Duration {
    match op {
        Op::Read => Duration::from_ms(500),
        Op::Write => Duration::from_ms(5_000),
    }
}

type Position = (Lba, RequestId);

#[derive(Debug, Default)]
struct Queue {
    /// The waiting requests by position, with their numbers.
    queued: BTreeMap<Position, u64>,
    /// The waiting requests by number, with their positions and arrivals.
    ages: BTreeMap<u64, (Position, Time)>,
    last: Option<Position>,
}

impl Queue {
    /// Returns the request above the last one.
    fn above(&self) -> Option<Position> {
        let from = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        self.queued.range((from, Bound::Unbounded)).next().map(|(&position, _)| position)
    }

    /// Returns the allowed next requests: the one above the last, and the one at which the queue
    /// may start again.
    fn next(&self, start: Start, op: Op, now: Time) -> [Option<Position>; 2] {
        let above = self.above();
        let anew = match start {
            Start::Lowest => self.queued.keys().next().copied().filter(|_| above.is_none()),
            Start::Oldest => {
                let is_due = |at: Time| above.is_none() || now.since(at) >= expiry(op);
                let oldest = self.ages.values().next();
                oldest.filter(|(_, at)| is_due(*at)).map(|&(position, _)| position)
            }
        };
        [above, anew]
    }
}

/// Checks the order by rising position; see the module documentation.
#[derive(Debug)]
pub struct PositionOrder {
    kind: PositionQueues,
    queued_max: u64,
    /// Number of queued requests of each class.
    queued: [u64; 4],
    /// Whether the host ever held requests because the policy was full.
    was_held: bool,
    queues: BTreeMap<u32, Queue>,
    arrived: u64,
    log: ViolationLog,
}

impl PositionOrder {
    /// Creates the checker of a policy with these queues that holds `queued_max` requests of each
    /// class.
    pub fn new(kind: PositionQueues, queued_max: u32) -> Self {
        Self {
            kind,
            queued_max: u64::from(queued_max),
            queued: [0; 4],
            was_held: false,
            queues: BTreeMap::new(),
            arrived: 0,
            log: ViolationLog::default(),
        }
    }

    /// Returns whether the policy knows all queued requests, and their age if it matters.
    fn is_known(&self) -> bool {
        let is_age_known = match self.kind.start() {
            Start::Lowest => true,
            Start::Oldest => !self.was_held,
        };
        is_age_known && self.queued.iter().all(|&queued| queued <= self.queued_max)
    }

    /// Removes a request from its queue.
    fn remove(&mut self, request: &Request) -> Option<&mut Queue> {
        let queue = self.queues.get_mut(&self.kind.queue(request))?;
        let number = queue.queued.remove(&(request.start, request.id))?;
        queue.ages.remove(&number);
        self.queued[request.class as usize] -= 1;
        Some(queue)
    }
}

keeps_log!(PositionOrder);

impl Observer for PositionOrder {
    fn released(&mut self, now: Time, request: &Request) {
        let position = (request.start, request.id);
        let queued = &mut self.queued[request.class as usize];
        *queued += 1;
        self.was_held |= *queued > self.queued_max;
        let queue = self.queues.entry(self.kind.queue(request)).or_default();
        queue.queued.insert(position, self.arrived);
        queue.ages.insert(self.arrived, (position, now));
        self.arrived += 1;
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let is_known = self.is_known();
        for request in batch {
            let position = (request.start, request.id);
            let Some(queue) = self.queues.get(&self.kind.queue(request)) else { continue };
            let next = queue.next(self.kind.start(), request.op, now);
            if let Some((_, expected)) = next[0].or(next[1])
                && is_known
                && !next.contains(&Some(position))
            {
                self.log.add(now, Breach::OutOfPosition { id: request.id, expected });
            }
            if let Some(queue) = self.remove(request) {
                queue.last = Some(position);
            }
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.remove(request);
    }
}
