// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the time that requests stay in flight after the last dispatch with the drive's drain
//! times.
//!
//! ```text
//!   dispatch, q outstanding     dispatch, q' outstanding
//!   |---- drain(q) ... given up |---- drain(q') ----| a completion here is late
//! ```
//!
//! Every dispatch restarts the clock, because drain(q) bounds the time only if no more requests are
//! sent meanwhile. Source of the contract: `tidegate_model::Contracts`.

use tidegate_model::{BatchTable, Outcome, Request, Time};

use super::overruns::{Overruns, TableWatch};
use crate::observer::Observer;

/// Compares the time that requests stay in flight after a dispatch with drain(q). The time runs
/// from the last dispatch.
#[derive(Debug, PartialEq)]
pub struct DrainWatch(TableWatch);

impl DrainWatch {
    /// Makes a watch that compares drains with `table`. For each number of requests, `tolerated`
    /// holds the longest time that voids no proof.
    pub fn new(table: BatchTable, tolerated: BatchTable) -> Self {
        Self(TableWatch::new(table, tolerated))
    }

    /// Returns the number of dispatches that started a clock, and the number of drains that took
    /// too long.
    pub fn overruns(&self) -> Overruns {
        self.0.overruns()
    }
}

impl Observer for DrainWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        // The requests still in flight have taken at least until now, so an overrun is recorded
        // first.
        self.0.check(now);
        self.0.in_flight_count += u32::try_from(batch.len()).expect("at most the depth");
        self.0.restart(now, Some(self.0.in_flight_count));
    }

    fn completed(&mut self, now: Time, _request: &Request, _outcome: Outcome) {
        self.0.complete(now);
    }

    fn ended(&mut self, now: Time) {
        self.0.check(now);
    }
}
