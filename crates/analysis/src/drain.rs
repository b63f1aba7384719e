// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Provides drain(q) to the analyses of draining policies, up to the measured size and the drive's
//! depth. Beyond that, drain(q) counts as longer than any deadline.

use tidegate_model::{BatchTable, Duration, Premise, PremiseCode, Workload};

/// The verdict's reason when drain(q) was not measured.
pub(crate) const UNKNOWN: &str = "the policy decides by drain times, and the drive has no [[drain]] table for \
     these requests: measure one, or write `drain_ns_max` into an inline drive";

/// The first premise of every proof of a draining policy: the drive's contract.
const CONTRACT: &str = "the drive keeps its drain table: if q requests are outstanding \
     after a dispatch and nothing more is sent, the drive is empty within drain(q), whatever it was sent before";

/// The second premise of every proof of a draining policy; `Host::settle` in this project's host
/// satisfies it.
const TIE: &str = "a completion at the instant of a release is processed before the release";

/// Returns the premises of every proof of a draining policy.
pub(crate) fn premises() -> [Premise; 2] {
    [
        Premise::new(PremiseCode::DrainContract, "drain times", CONTRACT),
        Premise::new(PremiseCode::CompletionFirst, "completions first", TIE),
    ]
}

/// Holds the longest time to empty the drive, by the number of requests outstanding after a
/// dispatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain<'a> {
    table: &'a BatchTable,
    depth: u32,
}

impl<'a> Drain<'a> {
    /// Returns the drain times of the workload's drive; `None` if they were not measured.
    pub(crate) fn of(workload: &'a Workload) -> Option<Self> {
        Some(Self { table: workload.contracts.drain.as_ref()?, depth: workload.depth })
    }

    /// Returns the largest q for which drain(q) is known.
    pub(crate) fn count_max(self) -> u32 {
        self.depth.min(self.table.batch_max())
    }

    /// Returns drain(q), or `None` if it is not known.
    pub(crate) fn time(self, count: u32) -> Option<Duration> {
        (count <= self.count_max()).then(|| self.table.time_max(count))
    }

    /// Returns drain(a) + drain(b), or `None` if one is not known or the sum overflows.
    pub(crate) fn times(self, a: u32, b: u32) -> Option<Duration> {
        self.time(a)?.checked_add(self.time(b)?)
    }
}
