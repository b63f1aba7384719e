// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[policy.mq-deadline-tuned]`: the settings of the kernel's scheduler and of the device's queue.

use std::num::NonZeroU32;

use crate::units::Duration;

/// The settings under which `mq-deadline-tuned` runs, by the names of the kernel's files where it
/// has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MqDeadlineParameters {
    /// The most requests on the device at once. `None`, the default: the analysis chooses.
    pub queue_depth: Option<NonZeroU32>,
    /// The most requests that the scheduler and the device hold together. `None`, the default: as
    /// many as the workload needs.
    pub nr_requests: Option<NonZeroU32>,
    /// The wait after which a request of a lower class goes before real time. Default: the longest
    /// that the kernel accepts.
    pub prio_aging_expire: Duration,
    /// The requests that the kernel takes from the scheduler while the device is full: 1 for each
    /// hardware queue, the default, and 0 for SCSI disks.
    pub taken_early: u32,
}

impl MqDeadlineParameters {
    /// The longest `prio_aging_expire` that the kernel accepts: 2,147,483,647 ms.
    pub const AGING_MAX: Duration = Duration::from_ms(i32::MAX as u64);
}

impl Default for MqDeadlineParameters {
    fn default() -> Self {
        Self {
            queue_depth: None,
            nr_requests: None,
            prio_aging_expire: Self::AGING_MAX,
            taken_early: 1,
        }
    }
}
