// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a run of the simulator is told, beside its policy and its drive.

use model::{Bytes, Duration, Workload};

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

/// A run of the simulator.
#[derive(Debug, Clone, Copy)]
pub struct SimParams<'a> {
    /// Who releases what.
    pub workload: &'a Workload,
    /// For how long.
    pub length: Length,
    /// In which rhythm.
    pub releases: Releases,
    /// Everything random about the workload follows from it.
    pub seed: u64,
    /// How large the drive is thought to be: requests lie within.
    pub capacity: Bytes,
}

impl<'a> SimParams<'a> {
    /// The capacity of a drive whose file does not say it.
    pub const CAPACITY_DEFAULT: Bytes = Bytes::from_kib(64 << 20);

    /// A run with periodic releases, seed 0 and the default capacity.
    pub const fn new(workload: &'a Workload, length: Length) -> Self {
        Self {
            workload,
            length,
            releases: Releases::Periodic,
            seed: 0,
            capacity: Self::CAPACITY_DEFAULT,
        }
    }

    /// Whether best effort ends with the last release of a task.
    pub(crate) fn is_led_by_tasks(&self) -> bool {
        matches!(self.length, Length::Jobs(_)) && !self.workload.tasks.is_empty()
    }
}
