// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares how long each request stays on the drive with the drive's starvation bound.

use tidegate_model::{Duration, Outcome, Request, Time};

use super::overruns::{Clock, Overruns};
use crate::ledger::slot;
use crate::observer::Observer;

/// Every request's time on the drive against the longest; see the module's text.
#[derive(Debug, PartialEq)]
pub struct ResidenceWatch {
    starvation_max: Duration,
    /// Of the request in each slot, while it is on the drive.
    clocks: Vec<Option<Clock>>,
    overruns: Overruns,
}

impl ResidenceWatch {
    /// Nothing seen yet.
    pub fn new(starvation_max: Duration) -> Self {
        Self { starvation_max, clocks: Vec::new(), overruns: Overruns::default() }
    }

    /// Requests that went to the drive, and those that stayed for too long.
    pub fn overruns(&self) -> Overruns {
        self.overruns
    }
}

impl Observer for ResidenceWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            let slot = slot(request.id);
            if slot >= self.clocks.len() {
                self.clocks.resize(slot + 1, None);
            }
            self.clocks[slot] = Some(Clock::start(now, self.starvation_max, &mut self.overruns));
        }
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        if let Some(mut clock) = self.clocks[slot(request.id)].take() {
            clock.check(now, &mut self.overruns);
        }
    }

    fn ended(&mut self, now: Time) {
        for clock in self.clocks.iter_mut().flatten() {
            clock.check(now, &mut self.overruns);
        }
    }
}
