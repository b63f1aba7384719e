// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a batch holds more than z real-time requests only in an overload. An overload begins
//! when more requests are queued than the contracts allow, and ends when a batch takes all of them
//! (`dqf-elastic`).

use tidegate_model::{Plan, Request, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that batches exceed z only in an overload; see the module documentation.
#[derive(Debug)]
pub struct ElasticBatch {
    batch_max: u64,
    /// The maximum number of queued requests without an overload; an overload begins when more are
    /// queued.
    queued_max: u64,
    queued_count: u64,
    is_overloaded: bool,
    log: ViolationLog,
}

impl ElasticBatch {
    /// Creates the checker of a policy that carries out `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            batch_max: u64::from(plan.batch_max),
            queued_max: plan.real_time_pending_max(),
            queued_count: 0,
            is_overloaded: false,
            log: ViolationLog::default(),
        }
    }
}

keeps_log!(ElasticBatch);

impl Observer for ElasticBatch {
    fn released(&mut self, _now: Time, request: &Request) {
        self.queued_count += u64::from(!is_best_effort(request));
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let real_time = count(batch.iter().filter(|request| !is_best_effort(request)).count());
        self.is_overloaded |= self.queued_count > self.queued_max;
        if real_time > self.batch_max && !self.is_overloaded {
            let (requests, batch_max) = (count(batch.len()), self.batch_max);
            self.log.add(now, Breach::BatchTooLarge { requests, real_time, batch_max });
        }
        // Saturation is safe: another checker reports a request dispatched twice.
        self.queued_count = self.queued_count.saturating_sub(real_time);
        self.is_overloaded &= self.queued_count > 0;
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        let dropped = u64::from(!is_best_effort(request));
        self.queued_count = self.queued_count.saturating_sub(dropped); // as above
    }
}
