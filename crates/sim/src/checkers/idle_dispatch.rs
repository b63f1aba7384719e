// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a batch is dispatched only to an idle drive. A policy that dispatches to a busy drive
//! (`noop`) does not claim this.

use tidegate_model::{Outcome, Request, Time};

use super::{Breach, ViolationLog, count};
use crate::Observer;

/// Checks that no request joins a batch in service; see the module documentation.
#[derive(Debug, Default)]
pub struct IdleDispatch {
    in_flight_count: u64,
    log: ViolationLog,
}

keeps_log!(IdleDispatch);

impl Observer for IdleDispatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let in_flight_count = self.in_flight_count;
        if in_flight_count > 0 {
            self.log.add(now, Breach::DispatchedWhileBusy { in_flight_count });
        }
        self.in_flight_count += count(batch.len());
    }

    fn completed(&mut self, _now: Time, _request: &Request, _outcome: Outcome) {
        // Saturation is safe: another checker reports a request returned twice.
        self.in_flight_count = self.in_flight_count.saturating_sub(1);
    }
}
