// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: when a policy has decided, the drive holds as many requests as the policy
//! keeps it busy with, or nothing is queued that the policy serves.
//!
//! `fifo` and `dqf` keep one request or batch on the drive, `noop` as many requests as the
//! drive accepts. With beta 0 `dqf` does not serve best effort.

use model::{Outcome, Request, Time};

use super::{Breach, Checker, ViolationLog, count, is_best_effort};
use crate::Observer;

/// No idling while there is work; see the module's text.
#[derive(Debug)]
pub struct WorkConservation {
    busy_from: u64,
    is_best_effort_served: bool,
    queued_count: u64,
    in_flight_count: u64,
    log: ViolationLog,
}

impl WorkConservation {
    /// The checker of a policy that sends while fewer than `busy_from` are in flight.
    pub fn new(busy_from: u32, is_best_effort_served: bool) -> Self {
        Self {
            busy_from: u64::from(busy_from),
            is_best_effort_served,
            queued_count: 0,
            in_flight_count: 0,
            log: ViolationLog::default(),
        }
    }

    fn is_served(&self, request: &Request) -> bool {
        self.is_best_effort_served || !is_best_effort(request)
    }
}

impl Checker for WorkConservation {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for WorkConservation {
    fn released(&mut self, _now: Time, request: &Request) {
        if self.is_served(request) {
            self.queued_count += 1;
        }
    }

    fn dispatched(&mut self, _now: Time, batch: &[Request]) {
        self.in_flight_count += count(batch.len());
        let served = batch.iter().filter(|request| self.is_served(request)).count();
        // Saturation: a request sent twice is the matter of another checker.
        self.queued_count = self.queued_count.saturating_sub(count(served));
    }

    fn completed(&mut self, _now: Time, _request: &Request, _outcome: Outcome) {
        self.in_flight_count = self.in_flight_count.saturating_sub(1); // as above
    }

    fn settled(&mut self, now: Time) {
        let (queued_count, in_flight_count) = (self.queued_count, self.in_flight_count);
        if queued_count > 0 && in_flight_count < self.busy_from {
            self.log.add(now, Breach::RoomUnused { queued_count, in_flight_count });
        }
    }
}
