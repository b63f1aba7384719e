// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The settings that the proof needs, in the order in which they are written.

use tidegate_model::parameters::MqDeadlineParameters;

use crate::demand::Demand;
use crate::disk::Disk;

/// The scheduler of the proof.
pub(crate) const SCHEDULER: &str = "mq-deadline";

/// The most requests that a scheduler holds.
pub(crate) const NR_REQUESTS_MAX: u64 = 2_048;

/// One attribute of a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The attribute, relative to the disk's directory in sysfs.
    pub attribute: &'static str,
    /// Its present value; `None` if it is not there before the scheduler is chosen.
    pub old: Option<String>,
    /// The value that the proof needs.
    pub new: String,
    /// Why the proof needs it, a clause.
    pub reason: String,
}

impl Setting {
    /// Returns whether the attribute has the value already.
    pub fn is_set(&self) -> bool {
        self.old.as_ref() == Some(&self.new)
    }
}

impl Disk {
    /// Returns the settings for this demand. A choice of the scheduler resets `nr_requests`, and
    /// `nr_requests` resets `async_depth`, so the order matters.
    pub fn settings(&self, demand: &Demand) -> Vec<Setting> {
        // The kernel needs a few places even for a small workload.
        let places = demand.places.clamp(64, NR_REQUESTS_MAX).to_string();
        let depth = demand.depth.to_string();
        let aging = (MqDeadlineParameters::AGING_MAX.ns() / 1_000_000).to_string();
        let mut settings = vec![
            self.setting("queue/scheduler", SCHEDULER, "serves I/O classes strictly"),
            self.setting(
                "device/queue_depth",
                &depth,
                "a real-time request waits for what is on the device",
            ),
            self.setting(
                "queue/nr_requests",
                &places,
                "a real-time request without a place waits outside the scheduler",
            ),
            self.setting(
                "queue/iosched/async_depth",
                &places,
                "a write beyond it gets no place, whatever its class",
            ),
            self.setting(
                "queue/iosched/prio_aging_expire",
                &aging,
                "an older request of a lower class goes before real time",
            ),
            self.setting("queue/nomerges", "2", "a merged request is longer than a measured one"),
        ];
        let size_kib = demand.size_max.get().div_ceil(1_024);
        // A value that is large enough is still a setting: a rule must make it again after a
        // restart.
        if let Some(most) = self.number("queue/max_sectors_kb") {
            let (new, reason) = (most.max(size_kib), "the kernel splits larger requests");
            settings.push(self.setting("queue/max_sectors_kb", &new.to_string(), reason));
        }
        settings
    }

    fn setting(&self, attribute: &'static str, new: &str, reason: &str) -> Setting {
        let (new, reason) = (new.to_owned(), reason.to_owned());
        Setting { attribute, old: self.value(attribute), new, reason }
    }
}
