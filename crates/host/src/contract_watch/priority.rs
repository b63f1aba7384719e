// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the service times of requests that have drive priority to the drive's measured times
//! for such requests.
//!
//! A round can be compared only if no other request with priority was in flight when it was
//! dispatched, and only until another joins it; requests without priority do not matter.

use tidegate_model::{BatchTable, Duration, Outcome, Request, Tag, Time};

use super::overruns::{Clock, Overruns};
use crate::observer::Observer;

/// Compares rounds of requests that have priority to the drive's times for them.
#[derive(Debug, PartialEq)]
pub struct PriorityWatch {
    table: BatchTable,
    /// The times up to which an overrun voids no proof.
    tolerated: BatchTable,
    /// The number of requests with priority in flight.
    in_flight_count: u32,
    /// The clock of the round in flight, if it can be compared.
    clock: Option<Clock>,
    overruns: Overruns,
}

impl PriorityWatch {
    /// Makes a watch that compares rounds with `table`. `tolerated` has the times up to which an
    /// overrun voids no proof, for as many requests.
    pub fn new(table: BatchTable, tolerated: BatchTable) -> Self {
        Self { table, tolerated, in_flight_count: 0, clock: None, overruns: Overruns::default() }
    }

    /// Returns the number of rounds that could be compared, and the number of these that took too
    /// long.
    pub fn overruns(&self) -> Overruns {
        self.overruns
    }

    /// Returns the times for this number of requests: measured and tolerated.
    fn limits(&self, count: u32) -> (Duration, Duration) {
        (self.table.time_max(count), self.tolerated.time_max(count))
    }

    fn check(&mut self, now: Time) {
        if let Some(clock) = &mut self.clock {
            clock.check(now, &mut self.overruns);
        }
    }
}

fn has_priority(request: &Request) -> bool {
    matches!(request.tag, Tag::Priority | Tag::HeadOfQueue)
}

impl Observer for PriorityWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let count = batch.iter().filter(|request| has_priority(request)).count();
        let count = u32::try_from(count).expect("at most the depth");
        if count == 0 {
            return;
        }
        self.check(now);
        let is_comparable = self.in_flight_count == 0 && count <= self.table.batch_max();
        self.clock =
            is_comparable.then(|| Clock::start(now, self.limits(count), &mut self.overruns));
        self.in_flight_count += count;
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        if !has_priority(request) {
            return;
        }
        self.check(now);
        self.in_flight_count -= 1;
        if self.in_flight_count == 0 {
            self.clock = None;
        }
    }

    fn ended(&mut self, now: Time) {
        self.check(now);
    }
}
