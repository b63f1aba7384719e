// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the time that each request stays on the drive with the drive's starvation bound.

use tidegate_model::{Duration, Outcome, Request, Time};

use super::overruns::{Clock, Overruns};
use crate::ledger::slot;
use crate::observer::Observer;

/// Compares every request's time on the drive with the starvation bound.
#[derive(Debug, PartialEq)]
pub struct ResidenceWatch {
    starvation_max: Duration,
    /// The longest time that voids no proof.
    tolerated_max: Duration,
    /// The clocks of the requests on the drive, by the request's slot.
    clocks: Vec<Option<Clock>>,
    overruns: Overruns,
}

impl ResidenceWatch {
    /// Makes a watch that compares each request's time on the drive with `starvation_max`. A time
    /// of up to `tolerated_max` voids no proof.
    pub fn new(starvation_max: Duration, tolerated_max: Duration) -> Self {
        Self { starvation_max, tolerated_max, clocks: Vec::new(), overruns: Overruns::default() }
    }

    /// Returns the number of dispatched requests, and the number of these that stayed too long.
    pub fn overruns(&self) -> Overruns {
        self.overruns
    }
}

impl Observer for ResidenceWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let limits = (self.starvation_max, self.tolerated_max);
        for request in batch {
            let slot = slot(request.id);
            if slot >= self.clocks.len() {
                self.clocks.resize(slot + 1, None);
            }
            self.clocks[slot] = Some(Clock::start(now, limits, &mut self.overruns));
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
