// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: batches are dispatched in the order of release, within each queue of the policy: one
//! queue for all requests (`fifo`, `noop`), or one for real time or for best effort, if only that
//! is in the order of release.
//!
//! The order within a batch does not count, because the drive takes the batch as one.

use tidegate_model::{Request, RequestId, Time};

use super::arrivals::Arrivals;
use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

/// The queues of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// One queue for all requests.
    Common,
    /// One queue for real time; the order of best effort is not checked.
    OfRealTime,
    /// One queue for best effort; the order of real time is not checked.
    OfBestEffort,
}

/// Checks first in, first out; see the module documentation.
#[derive(Debug)]
pub struct ReleaseOrder {
    lines: Lines,
    arrivals: Arrivals,
    /// The youngest request that was dispatched in earlier batches.
    youngest: Option<(u64, RequestId)>,
    log: ViolationLog,
}

impl ReleaseOrder {
    /// Creates the checker of a policy with these queues.
    pub fn new(lines: Lines) -> Self {
        let (arrivals, log) = Default::default();
        Self { lines, arrivals, youngest: None, log }
    }

    /// Returns whether the request's order is checked.
    fn is_checked(&self, request: &Request) -> bool {
        match self.lines {
            Lines::Common => true,
            Lines::OfRealTime => !is_best_effort(request),
            Lines::OfBestEffort => is_best_effort(request),
        }
    }
}

keeps_log!(ReleaseOrder);

impl Observer for ReleaseOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        self.arrivals.arrive(request.id);
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let before = self.youngest;
        for request in batch {
            let id = request.id;
            // Another checker reports a request that never arrived.
            let Some(number) = self.arrivals.leave(id) else { continue };
            if !self.is_checked(request) {
                continue;
            }
            if let Some((_, younger)) = before.filter(|&(before, _)| before > number) {
                self.log.add(now, Breach::Overtaken { id, younger });
            }
            self.youngest = self.youngest.max(Some((number, id)));
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.arrivals.leave(request.id);
    }
}
