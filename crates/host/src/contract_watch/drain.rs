// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares how long requests stay after the last dispatch with the drive's drain times.
//!
//! ```text
//!   dispatch, q outstanding     dispatch, q' outstanding
//!   |---- drain(q) ... given up |---- drain(q') ----| a completion here is late
//! ```
//!
//! Every dispatch starts the clock anew: the contract speaks of a drive to which nothing more
//! is sent. Source of the contract: `tidegate_model::Contracts`.

use tidegate_model::{BatchTable, Outcome, Request, Time};

use super::overruns::{Clock, Overruns};
use crate::observer::Observer;

/// What is on the drive after a dispatch, against drain(q); see the module's text.
#[derive(Debug, PartialEq)]
pub struct DrainWatch {
    table: BatchTable,
    in_flight_count: u32,
    /// From the last dispatch while something is on the drive; none where more is outstanding
    /// than the table speaks of.
    clock: Option<Clock>,
    overruns: Overruns,
}

impl DrainWatch {
    /// Nothing seen yet; drains are compared with `table`.
    pub fn new(table: BatchTable) -> Self {
        Self { table, in_flight_count: 0, clock: None, overruns: Overruns::default() }
    }

    /// Dispatches that started a clock, and those after which something stayed for too long.
    pub fn overruns(&self) -> Overruns {
        self.overruns
    }

    fn check(&mut self, now: Time) {
        if let Some(clock) = &mut self.clock {
            clock.check(now, &mut self.overruns);
        }
    }
}

impl Observer for DrainWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        // What is still there was there until now.
        self.check(now);
        self.in_flight_count += u32::try_from(batch.len()).expect("at most the depth");
        let outstanding = self.in_flight_count;
        self.clock = (outstanding <= self.table.batch_max())
            .then(|| Clock::start(now, self.table.time_max(outstanding), &mut self.overruns));
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
