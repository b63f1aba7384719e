// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) as the analyses of draining policies ask for it: as far as it was measured and
//! the drive accepts; what lies beyond is longer than any deadline.

use tidegate_model::{BatchTable, Duration, Workload};

/// What a verdict says where nobody measured drain(q).
pub(crate) const UNKNOWN: &str = "it decides by drain times, and the drive has no [[drain]] table for \
     these requests: measure one with `tidegate profile`, or write `drain_ns_max` into an inline drive";

/// What every proof of a draining policy rests on.
pub(crate) const CONTRACT: &str = "the drive keeps its drain table: when q requests are outstanding \
     after a dispatch and nothing more is sent it is empty within drain(q), whatever it was sent before";

/// The other thing: our host keeps it, `Host::settle`.
pub(crate) const TIE: &str =
    "what completes at the instant of a release is taken note of before it";

/// The longest time to empty the drive, by requests outstanding after a dispatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain<'a> {
    table: &'a BatchTable,
    depth: u32,
}

impl<'a> Drain<'a> {
    /// None where nobody measured it.
    pub(crate) fn of(workload: &'a Workload) -> Option<Self> {
        Some(Self { table: workload.contracts.drain.as_ref()?, depth: workload.depth })
    }

    /// The most requests of which it speaks.
    pub(crate) fn count_max(self) -> u32 {
        self.depth.min(self.table.batch_max())
    }

    /// drain(q), if it speaks of as many.
    pub(crate) fn time(self, count: u32) -> Option<Duration> {
        (count <= self.count_max()).then(|| self.table.time_max(count))
    }

    /// drain(a) + drain(b), none on overflow.
    pub(crate) fn times(self, a: u32, b: u32) -> Option<Duration> {
        self.time(a)?.checked_add(self.time(b)?)
    }
}
