// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: batches are dispatched in the order of absolute deadlines. No batch leaves a request
//! queued that is due before a request in the batch. Best effort is due after all other requests.
//!
//! The order within a batch does not count, because the drive takes the batch as one. Equal
//! deadlines may be dispatched in any order, and so may those in one window of `scan-edf`. While
//! more real-time requests wait than the policy can hold, the host holds requests that the policy
//! does not know, and nothing is asserted.

use std::collections::BTreeSet;

use tidegate_model::parameters::ScanEdfParameters;
use tidegate_model::{Request, RequestId, Time};

use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

/// Checks earliest deadline first; see the module documentation.
#[derive(Debug)]
pub struct DueOrder {
    queued: BTreeSet<(Time, RequestId)>,
    windows: ScanEdfParameters,
    real_time_count: u64,
    queued_max: u64,
    log: ViolationLog,
}

impl DueOrder {
    /// Creates the checker of a policy that can hold `queued_max` real-time requests.
    pub fn new(queued_max: u32) -> Self {
        Self::in_windows(ScanEdfParameters::default(), queued_max)
    }

    /// Creates the checker of a policy to which the deadlines of a window are equal.
    pub fn in_windows(windows: ScanEdfParameters, queued_max: u32) -> Self {
        Self {
            windows,
            queued: BTreeSet::new(),
            real_time_count: 0,
            queued_max: u64::from(queued_max),
            log: ViolationLog::default(),
        }
    }

    /// Returns the position of a request in the order.
    fn place(&self, request: &Request) -> (Time, RequestId) {
        (self.windows.window_start(request.due.unwrap_or(Time::MAX)), request.id)
    }

    fn remove(&mut self, request: &Request) {
        if self.queued.remove(&self.place(request)) && !is_best_effort(request) {
            self.real_time_count -= 1;
        }
    }
}

keeps_log!(DueOrder);

impl Observer for DueOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        if self.queued.insert(self.place(request)) && !is_best_effort(request) {
            self.real_time_count += 1;
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let is_known = self.real_time_count <= self.queued_max;
        for request in batch {
            self.remove(request);
        }
        let (Some(&(due, waiting)), Some(last)) =
            (self.queued.first(), batch.iter().map(|request| self.place(request)).max())
        else {
            return;
        };
        if is_known && due < last.0 {
            self.log.add(now, Breach::LaterDueFirst { id: last.1, waiting });
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.remove(request);
    }
}
