// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: no best effort is dispatched while a real-time request is in flight (`rtio-drain`,
//! `rtio-limit`), because drain times hold for a drive that gets no more requests. The checker of
//! rounds asserts the same for real time.

use tidegate_model::{Outcome, Request, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that no best effort follows a real-time request; see the module documentation.
#[derive(Debug, Default)]
pub struct RealTimeAlone {
    real_time_count: u64,
    log: ViolationLog,
}

keeps_log!(RealTimeAlone);

impl Observer for RealTimeAlone {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let real_time_count = self.real_time_count;
        let sent = count(batch.iter().filter(|request| !is_best_effort(request)).count());
        if real_time_count > 0 && sent < count(batch.len()) {
            self.log.add(now, Breach::RealTimeJoined { real_time_count });
        }
        self.real_time_count += sent;
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        if !is_best_effort(request) {
            // Saturation is safe: another checker reports a request returned twice.
            self.real_time_count = self.real_time_count.saturating_sub(1);
        }
    }
}
