// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Determines whether a real device gets the priority that `rtio-priority` gives its requests.
//!
//! The requests carry the kernel's I/O class "real time". Whether the device gets the class depends
//! on the driver. For libata, sysfs shows it; other drivers do not report it. Bounds rely on the
//! class only if the device gets it.

use tidegate_analysis::{Assessment, assess};
use tidegate_device::io_priority;
use tidegate_model::{Contracts, PolicyName, Premise, PremiseCode, Workload};

/// Whether the device gets the requests' priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// No policy uses priority, or the kernel does not let this process use it.
    NotSent,
    /// Requests carry a priority, and whether the device gets it is unknown.
    Unknown,
    /// Requests carry a priority, but the driver's switch for it is off, so the device does not get
    /// it.
    SwitchedOff,
    /// Requests carry a priority, and the device gets it.
    Honoured,
}

impl Priority {
    /// Returns the state for a device with this driver switch; `is_asked` says whether a policy
    /// uses priority.
    pub fn found(is_asked: bool, ncq_priority: Option<bool>) -> Self {
        Self::of(is_asked && io_priority::is_permitted(), ncq_priority)
    }

    const fn of(is_permitted: bool, ncq_priority: Option<bool>) -> Self {
        match (is_permitted, ncq_priority) {
            (false, _) => Self::NotSent,
            (true, None) => Self::Unknown,
            (true, Some(false)) => Self::SwitchedOff,
            (true, Some(true)) => Self::Honoured,
        }
    }

    /// Returns whether requests carry a priority.
    pub const fn is_sent(self) -> bool {
        !matches!(self, Self::NotSent)
    }

    /// Returns whether bounds can rely on the priority.
    pub const fn is_honoured(self) -> bool {
        matches!(self, Self::Honoured)
    }

    /// Assesses the workload under a policy on this device. The drive's times for requests with
    /// priority are used only if the device gets the priority.
    pub fn assess(self, workload: &Workload, policy: PolicyName) -> Assessment {
        if self.is_honoured() || !policy.facts().uses_drive_priority() {
            return assess(workload, policy);
        }
        let contracts = Contracts { priority: None, ..workload.contracts.clone() };
        assess(&Workload { contracts, ..workload.clone() }, policy)
    }

    /// Returns the premise that says why no bound relies on the priority; `None` if the device gets
    /// it.
    pub fn premise(self) -> Option<Premise> {
        let why = match self {
            Self::NotSent => &*format!(
                "the kernel does not let this process use the I/O class \"real time\" ({}), so its \
                 requests carry no priority",
                tidegate_platform::privileges::advice("run as root, or with CAP_SYS_NICE")
            ),
            Self::Unknown => {
                "its requests carry the kernel's I/O class \"real time\", but nothing in sysfs \
                 says that the device gets it"
            }
            Self::SwitchedOff => {
                "the device has a priority of its own that is switched off: write 1 to its \
                 device/ncq_prio_enable in /sys/block"
            }
            Self::Honoured => return None,
        };
        let text = format!("rtio-priority: {why}; no bound is given for it here");
        Some(Premise::new(PremiseCode::PriorityUnsent, "an unsent priority", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_given_only_where_the_device_is_told() {
        for (is_permitted, switch, is_sent, is_honoured) in [
            (false, None, false, false),
            (false, Some(true), false, false),
            (true, None, true, false),
            (true, Some(false), true, false),
            (true, Some(true), true, true),
        ] {
            let priority = Priority::of(is_permitted, switch);
            assert_eq!((priority.is_sent(), priority.is_honoured()), (is_sent, is_honoured));
            assert_eq!(priority.premise().is_none(), is_honoured, "a premise for all others");
        }
        assert!(!Priority::found(false, Some(true)).is_sent());
    }
}
