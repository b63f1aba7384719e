// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) as policies ask for it: not beyond what was measured, nor beyond the drive's
//! depth. What is not known is longer than any deadline, so a sum with it never fits.

use tidegate_model::{BatchTable, Duration, Plan, Time};

/// The longest time to empty the drive, by the number of requests just after a dispatch.
///
/// # Invariants
/// - Nondecreasing in the number, for [`BatchTable`] is.
#[derive(Debug, Clone)]
pub(crate) struct DrainTimes {
    table: Option<BatchTable>,
    /// K of the drive.
    depth: u32,
}

impl DrainTimes {
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { table: plan.contracts.drain.clone(), depth: plan.depth }
    }

    /// K: how many requests the drive accepts at once.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// drain(q); none where the drive does not accept as many or nobody measured it.
    pub(crate) fn time(&self, count: u32) -> Option<Duration> {
        if count == 0 {
            return Some(Duration::ZERO);
        }
        let table = self.table.as_ref()?;
        (count <= self.depth.min(table.batch_max())).then(|| table.time_max(count))
    }

    /// When the drive is empty at the latest, if `count` requests are outstanding after a
    /// dispatch at `now` and nothing more is sent.
    pub(crate) fn empty_by(&self, now: Time, count: u32) -> Option<Time> {
        now.checked_add(self.time(count)?)
    }
}
