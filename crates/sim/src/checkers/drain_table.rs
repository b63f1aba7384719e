// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) of a plan, for the checkers of draining policies: the longest time to empty the drive
//! with q requests in flight. `None` if q was not measured or exceeds the drive's depth: no sum
//! with it meets a deadline.

use tidegate_model::{BatchTable, Duration, Plan, Time};

/// Holds drain(q); see the module documentation.
#[derive(Debug, Clone)]
pub(super) struct DrainTable {
    table: Option<BatchTable>,
    depth: u64,
}

impl DrainTable {
    pub(super) fn of(plan: &Plan) -> Self {
        Self { table: plan.contracts.drain.clone(), depth: u64::from(plan.depth) }
    }

    /// Returns drain(q) for q = `requests`; `None` if it is unknown.
    pub(super) fn time(&self, requests: u64) -> Option<Duration> {
        if requests == 0 {
            return Some(Duration::ZERO);
        }
        let table = self.table.as_ref()?;
        let requests = u32::try_from(requests).ok().filter(|_| requests <= self.depth)?;
        (requests <= table.batch_max()).then(|| table.time_max(requests))
    }

    /// Returns the instant by which all `requests` requests in flight just after a dispatch at
    /// `now` are complete.
    pub(super) fn empty_by(&self, now: Time, requests: u64) -> Option<Time> {
        now.checked_add(self.time(requests)?)
    }

    /// Returns the instant by which `requests` requests are complete if they are sent once `before`
    /// others are complete.
    pub(super) fn served_by(&self, now: Time, before: u64, requests: u64) -> Option<Time> {
        self.empty_by(now, before)?.checked_add(self.time(requests)?)
    }
}

/// Returns whether the end is known and no later than the limit.
pub(super) fn is_by(end: Option<Time>, limit: Time) -> bool {
    end.is_some_and(|end| end <= limit)
}
