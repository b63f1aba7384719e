// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[policy.mq-deadline-tuned]`: the settings of the kernel's scheduler and of the device's queue.

use std::num::NonZeroU32;

use crate::units::Duration;

/// The settings under which `mq-deadline-tuned` runs, with the names of the kernel's own settings
/// where these exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MqDeadlineParameters {
    /// The most requests on the device at the same time. `None`, the default: the analysis chooses.
    pub queue_depth: Option<NonZeroU32>,
    /// The most requests that the scheduler and the device hold together. `None`, the default: as
    /// many as the workload needs.
    pub nr_requests: Option<NonZeroU32>,
    /// The wait after which a request of a lower class is sent before real time. Default: 23 days,
    /// which stands for never.
    pub prio_aging_expire: Duration,
    /// The number of requests that the kernel takes from the scheduler while the device is full: 0
    /// for SCSI disks with tags to spare; 1, the default, for other drivers on one processor. With
    /// other drivers on several processors, nothing limits them (`docs/theory/stock-kernel.md`
    /// section 31).
    pub taken_early: u32,
}

impl MqDeadlineParameters {
    /// The `prio_aging_expire` that stands for never: 23 days. The kernel counts in ticks, and
    /// shows its longest value, 2,147,483,647 ms, as a negative number if it is not a whole number
    /// of ticks; it shows 2,000,000,000 ms as it was set.
    pub const AGING_MAX: Duration = Duration::from_ms(2_000_000_000);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel converts milliseconds to ticks and back, rounds up both times, and prints a
    /// signed number of 32 bits.
    #[test]
    fn every_kernel_shows_the_longest_ageing_time_as_it_was_set() {
        let shown = |ms: u64, ticks_per_s: u64| {
            let ticks = (ms * ticks_per_s).div_ceil(1_000);
            u32::try_from((ticks * 1_000).div_ceil(ticks_per_s)).map(u32::cast_signed).ok()
        };
        let longest = MqDeadlineParameters::AGING_MAX.ns() / 1_000_000;
        for ticks_per_s in [100, 250, 300, 1_000] {
            assert_eq!(shown(longest, ticks_per_s).map(i64::from), i64::try_from(longest).ok());
        }
        // Seen on Linux 6.1 and 6.12 with 250 ticks per second.
        assert_eq!(shown(2_147_483_647, 250), Some(i32::MIN));
    }
}
