// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a run is told, beside its policy and what executes its requests.

use tidegate_model::{Bytes, Duration, Intensity, TaskIndex, Workload};
use tidegate_stats::Memory;

use crate::ledger::Ledger;

/// How long sources release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Every task releases this many jobs; best effort comes until the last of them is
    /// released. In a workload without tasks: every load releases this many requests.
    Jobs(u64),
    /// Everything is released before this much time has passed.
    Duration(Duration),
}

/// When tasks release, after their first release at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// Once per period.
    Periodic,
    /// Later than a period after the last release by a random time, uniform from zero to
    /// `extra_max`.
    Sporadic {
        /// The longest delay.
        extra_max: Duration,
    },
}

/// A run.
#[derive(Debug, Clone, Copy)]
pub struct HostParams<'a> {
    /// Who releases what.
    pub workload: &'a Workload,
    /// For how long.
    pub length: Length,
    /// In which rhythm.
    pub releases: Releases,
    /// Everything random about the workload follows from it.
    pub seed: u64,
    /// How large the drive is, or is thought to be: requests lie within.
    pub capacity: Bytes,
    /// More requests than these, released and not complete, end the run as overloaded.
    pub outstanding_max: u32,
    /// When it takes its memory.
    pub memory: Memory,
    /// Soft tasks that report a miss after every job, late or not. To try what a policy makes
    /// of them; nobody else reports what did not happen.
    pub cheats: &'a [TaskIndex],
}

impl<'a> HostParams<'a> {
    /// The capacity of a drive whose file does not say it.
    pub const CAPACITY_DEFAULT: Bytes = Bytes::from_kib(64 << 20);

    /// A run with periodic releases, seed 0, the default capacity, and as many requests
    /// outstanding as there are names for.
    pub const fn new(workload: &'a Workload, length: Length) -> Self {
        Self {
            workload,
            length,
            releases: Releases::Periodic,
            seed: 0,
            capacity: Self::CAPACITY_DEFAULT,
            outstanding_max: Ledger::OUTSTANDING_MAX,
            memory: Memory::AsNeeded,
            cheats: &[],
        }
    }

    /// Requests outstanding that a workload which the device can serve rarely exceeds: two
    /// jobs of each task, and what closed loops keep under way.
    ///
    /// # Panics
    /// Never: it is at most `outstanding_max`.
    pub fn expected_outstanding(&self) -> usize {
        let tasks = self.workload.tasks.iter().map(|task| 2 * u64::from(task.requests));
        let loads = self.workload.best_effort.iter().map(|load| match load.intensity {
            Intensity::Outstanding(count) | Intensity::Paced { outstanding: count, .. } => {
                u64::from(count)
            }
            Intensity::Rate(_) => u64::from(self.workload.depth),
        });
        let expected = tasks.chain(loads).sum::<u64>() + u64::from(self.workload.depth);
        let expected = expected.min(u64::from(self.outstanding_max));
        usize::try_from(expected).expect("2^32 at most")
    }

    /// Whether best effort ends with the last release of a task.
    pub(crate) fn is_led_by_tasks(&self) -> bool {
        matches!(self.length, Length::Jobs(_)) && !self.workload.tasks.is_empty()
    }
}
