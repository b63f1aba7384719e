// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the time that requests stay in flight after the last dispatch with the drive's drain
//! times.
//!
//! ```text
//!   dispatch, q outstanding     dispatch, q' outstanding
//!   |---- drain(q) ... given up |---- drain(q') ----| a completion here is late
//! ```
//!
//! Every dispatch restarts the clock, because the drive's contract covers a drive to which no more
//! requests are sent. Source of the contract: `tidegate_model::Contracts`.

use tidegate_model::{BatchTable, Duration, Outcome, Request, Time};

use super::overruns::{Clock, Overruns};
use crate::observer::Observer;

/// Compares the requests in flight after a dispatch with drain(q).
#[derive(Debug, PartialEq)]
pub struct DrainWatch {
    table: BatchTable,
    /// The times up to which an overrun voids no proof.
    tolerated: BatchTable,
    in_flight_count: u32,
    /// The time since the last dispatch, while requests are in flight; `None` if more are
    /// outstanding than the table covers.
    clock: Option<Clock>,
    overruns: Overruns,
}

impl DrainWatch {
    /// Makes a watch that compares drains with `table`. `tolerated` has the times up to which an
    /// overrun voids no proof, for as many requests.
    pub fn new(table: BatchTable, tolerated: BatchTable) -> Self {
        Self { table, tolerated, in_flight_count: 0, clock: None, overruns: Overruns::default() }
    }

    /// Returns the number of dispatches that started a clock, and the number of drains that took
    /// too long.
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

impl Observer for DrainWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        // Requests that are still in flight were in flight until now.
        self.check(now);
        self.in_flight_count += u32::try_from(batch.len()).expect("at most the depth");
        let outstanding = self.in_flight_count;
        self.clock = (outstanding <= self.table.batch_max())
            .then(|| Clock::start(now, self.limits(outstanding), &mut self.overruns));
    }

    fn completed(&mut self, now: Time, _request: &Request, _outcome: Outcome) {
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
