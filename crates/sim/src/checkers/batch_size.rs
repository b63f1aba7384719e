// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a batch holds at most z requests; a batch with best effort beside j real-time requests
//! holds at most f(j) = max(j, beta) in total (`docs/theory/dual-queue-fifo.md` section 5).

use tidegate_model::{Request, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that batches stay within the size that the proof charged; see the module documentation.
#[derive(Debug)]
pub struct BatchSize {
    batch_max: u64,
    best_effort_fill: u64,
    log: ViolationLog,
}

impl BatchSize {
    /// Creates the checker for z = `batch_max` and beta = `best_effort_fill`.
    pub fn new(batch_max: u32, best_effort_fill: u32) -> Self {
        Self {
            batch_max: u64::from(batch_max),
            best_effort_fill: u64::from(best_effort_fill),
            log: ViolationLog::default(),
        }
    }
}

keeps_log!(BatchSize);

impl Observer for BatchSize {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let requests = count(batch.len());
        let real_time = count(batch.iter().filter(|request| !is_best_effort(request)).count());
        let filled_max = real_time.max(self.best_effort_fill);
        let batch_max = self.batch_max.min(filled_max);
        if requests > batch_max {
            self.log.add(now, Breach::BatchTooLarge { requests, real_time, batch_max });
        }
    }
}
