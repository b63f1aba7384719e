// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) as the checkers of draining policies read it from a plan: the longest time to empty
//! the drive with q outstanding requests. `None` where q was not measured or exceeds the drive's
//! depth: no sum with it fits a deadline.

use tidegate_model::{BatchTable, Duration, Plan, Time};

/// drain(q); see the module's text.
#[derive(Debug, Clone)]
pub(super) struct DrainTable {
    table: Option<BatchTable>,
    depth: u64,
}

impl DrainTable {
    pub(super) fn of(plan: &Plan) -> Self {
        Self { table: plan.contracts.drain.clone(), depth: u64::from(plan.depth) }
    }

    /// drain(q).
    pub(super) fn time(&self, requests: u64) -> Option<Duration> {
        if requests == 0 {
            return Some(Duration::ZERO);
        }
        let table = self.table.as_ref()?;
        let requests = u32::try_from(requests).ok().filter(|_| requests <= self.depth)?;
        (requests <= table.batch_max()).then(|| table.time_max(requests))
    }

    /// When all of `requests` are back that are outstanding just after a dispatch at `now`.
    pub(super) fn empty_by(&self, now: Time, requests: u64) -> Option<Time> {
        now.checked_add(self.time(requests)?)
    }

    /// When all of `requests` are back that are sent when `before` others are.
    pub(super) fn served_by(&self, now: Time, before: u64, requests: u64) -> Option<Time> {
        self.empty_by(now, before)?.checked_add(self.time(requests)?)
    }
}

/// Whether an end is known and within a limit.
pub(super) fn is_by(end: Option<Time>, limit: Time) -> bool {
    end.is_some_and(|end| end <= limit)
}
