// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: no more requests are in flight than a limit allows: the limit of `depth-limit`, or the
//! plan's depth, which may be smaller than the drive's. The host itself stops a policy only at the
//! drive's depth.

use tidegate_model::{Outcome, Request, Time};

use super::{Breach, ViolationLog, count};
use crate::Observer;

/// Checks the limit on requests in flight; see the module documentation.
#[derive(Debug)]
pub struct DepthKept {
    in_flight_max: u64,
    in_flight_count: u64,
    log: ViolationLog,
}

impl DepthKept {
    /// Creates the checker of this limit.
    pub fn new(in_flight_max: u32) -> Self {
        Self {
            in_flight_max: u64::from(in_flight_max),
            in_flight_count: 0,
            log: ViolationLog::default(),
        }
    }
}

keeps_log!(DepthKept);

impl Observer for DepthKept {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.in_flight_count += count(batch.len());
        let (in_flight_count, in_flight_max) = (self.in_flight_count, self.in_flight_max);
        if in_flight_count > in_flight_max {
            self.log.add(now, Breach::TooManyInFlight { in_flight_count, in_flight_max });
        }
    }

    fn completed(&mut self, _now: Time, _request: &Request, _outcome: Outcome) {
        // Saturation is safe: another checker reports a request returned twice.
        self.in_flight_count = self.in_flight_count.saturating_sub(1);
    }
}
