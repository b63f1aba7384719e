// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: batches are dispatched in the order of release, within each queue of the policy: one
//! queue for all requests (`fifo`, `noop`), or one for real time and one for best effort (`dqf`).
//!
//! The order within a batch does not count, because the drive takes the batch as one.

use tidegate_model::{Request, RequestId, Time};

use super::arrivals::Arrivals;
use super::{Breach, Checker, ViolationLog, is_best_effort};
use crate::Observer;

/// The queues of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// One queue for all requests.
    Common,
    /// One queue for real time, another for best effort.
    OfClass,
}

/// Checks first in, first out; see the module documentation.
#[derive(Debug)]
pub struct ReleaseOrder {
    lines: Lines,
    arrivals: Arrivals,
    /// The youngest request that each queue has dispatched in earlier batches.
    youngest: [Option<(u64, RequestId)>; 2],
    log: ViolationLog,
}

impl ReleaseOrder {
    /// Creates the checker of a policy with these queues.
    pub fn new(lines: Lines) -> Self {
        let (arrivals, log) = Default::default();
        Self { lines, arrivals, youngest: [None; 2], log }
    }

    fn line(&self, request: &Request) -> usize {
        usize::from(self.lines == Lines::OfClass && is_best_effort(request))
    }
}

impl Checker for ReleaseOrder {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for ReleaseOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        self.arrivals.arrive(request.id);
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let before = self.youngest;
        for request in batch {
            let (id, line) = (request.id, self.line(request));
            // Another checker reports a request that never arrived.
            let Some(number) = self.arrivals.leave(id) else { continue };
            if let Some((_, younger)) = before[line].filter(|&(before, _)| before > number) {
                self.log.add(now, Breach::Overtaken { id, younger });
            }
            self.youngest[line] = self.youngest[line].max(Some((number, id)));
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.arrivals.leave(request.id);
    }
}
