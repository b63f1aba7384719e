// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: never more best-effort requests are in flight than the plan allows (q_b), because
//! proofs charge this many.

use tidegate_model::{Outcome, Request, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that best effort stays within its depth; see the module documentation.
#[derive(Debug)]
pub struct BestEffortDepth {
    depth_max: u64,
    best_effort_count: u64,
    log: ViolationLog,
}

impl BestEffortDepth {
    /// Creates the checker for q_b = `depth_max`.
    pub fn new(depth_max: u32) -> Self {
        let depth_max = u64::from(depth_max);
        Self { depth_max, best_effort_count: 0, log: ViolationLog::default() }
    }
}

keeps_log!(BestEffortDepth);

impl Observer for BestEffortDepth {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let sent = count(batch.iter().filter(|request| is_best_effort(request)).count());
        self.best_effort_count += sent;
        let (best_effort_count, depth_max) = (self.best_effort_count, self.depth_max);
        if sent > 0 && best_effort_count > depth_max {
            self.log.add(now, Breach::BestEffortTooDeep { best_effort_count, depth_max });
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        if is_best_effort(request) {
            // Saturation is safe: another checker reports a request returned twice.
            self.best_effort_count = self.best_effort_count.saturating_sub(1);
        }
    }
}
