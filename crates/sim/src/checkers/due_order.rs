// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: between batches requests are dispatched in the order of their absolute deadlines:
//! no batch leaves a request queued that is due before one in it. Best effort is due after
//! everything else.
//!
//! Within a batch order means nothing: the drive takes it as one. Equal deadlines may go in
//! any order. While more real-time requests wait than the policy has room for, the host holds
//! some of which the policy knows nothing, and nothing is asserted.

use std::collections::BTreeSet;

use tidegate_model::{Request, RequestId, Time};

use super::{Breach, Checker, ViolationLog, is_best_effort};
use crate::Observer;

/// Earliest deadline first; see the module's text.
#[derive(Debug)]
pub struct DueOrder {
    queued: BTreeSet<(Time, RequestId)>,
    real_time_count: u64,
    queued_max: u64,
    log: ViolationLog,
}

impl DueOrder {
    /// The checker of a policy that has room for `queued_max` real-time requests.
    pub fn new(queued_max: u32) -> Self {
        Self {
            queued: BTreeSet::new(),
            real_time_count: 0,
            queued_max: u64::from(queued_max),
            log: ViolationLog::default(),
        }
    }

    fn remove(&mut self, request: &Request) {
        if self.queued.remove(&place(request)) && !is_best_effort(request) {
            self.real_time_count -= 1;
        }
    }
}

/// Where a request stands in the order.
fn place(request: &Request) -> (Time, RequestId) {
    (request.due.unwrap_or(Time::MAX), request.id)
}

impl Checker for DueOrder {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for DueOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        if self.queued.insert(place(request)) && !is_best_effort(request) {
            self.real_time_count += 1;
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let is_known = self.real_time_count <= self.queued_max;
        for request in batch {
            self.remove(request);
        }
        let (Some(&(due, waiting)), Some(last)) =
            (self.queued.first(), batch.iter().map(place).max())
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
