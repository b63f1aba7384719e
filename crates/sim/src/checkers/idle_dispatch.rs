// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a batch is dispatched only to a drive that is drained. Whoever sends to a busy
//! drive (`noop`) makes no such promise.

use tidegate_model::{Outcome, Request, Time};

use super::{Breach, Checker, ViolationLog, count};
use crate::Observer;

/// Nothing joins a batch; see the module's text.
#[derive(Debug, Default)]
pub struct IdleDispatch {
    in_flight_count: u64,
    log: ViolationLog,
}

impl Checker for IdleDispatch {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for IdleDispatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let in_flight_count = self.in_flight_count;
        if in_flight_count > 0 {
            self.log.add(now, Breach::DispatchedWhileBusy { in_flight_count });
        }
        self.in_flight_count += count(batch.len());
    }

    fn completed(&mut self, _now: Time, _request: &Request, _outcome: Outcome) {
        // Saturation: a request returned twice is the matter of another checker.
        self.in_flight_count = self.in_flight_count.saturating_sub(1);
    }
}
