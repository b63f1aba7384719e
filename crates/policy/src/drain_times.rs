// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Provides drain(q) to policies, up to the measured size and the drive's depth. An unknown
//! drain(q) counts as longer than any deadline, so a sum with it never fits.

use tidegate_model::{BatchTable, Duration, Plan, Time};

/// Holds the longest time to empty the drive, by the number of requests outstanding just after a
/// dispatch.
///
/// # Invariants
/// - The time is nondecreasing in this number, because [`BatchTable`] is.
#[derive(Debug, Clone)]
pub(crate) struct DrainTimes {
    table: Option<BatchTable>,
    /// K: the drive's depth.
    depth: u32,
}

impl DrainTimes {
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { table: plan.contracts.drain.clone(), depth: plan.depth }
    }

    /// Returns K: the number of requests that the drive accepts at the same time.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns drain(q); `None` if the drive does not accept q requests or drain(q) was not
    /// measured.
    pub(crate) fn time(&self, count: u32) -> Option<Duration> {
        if count == 0 {
            return Some(Duration::ZERO);
        }
        let table = self.table.as_ref()?;
        (count <= self.depth.min(table.batch_max())).then(|| table.time_max(count))
    }

    /// Returns the latest instant at which the drive is empty if `count` requests are outstanding
    /// after a dispatch at `now` and nothing more is sent.
    pub(crate) fn empty_by(&self, now: Time, count: u32) -> Option<Time> {
        now.checked_add(self.time(count)?)
    }
}
