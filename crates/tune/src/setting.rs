// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The settings that the proof needs, in the order in which they must be written.

use tidegate_model::parameters::MqDeadlineParameters;

use crate::demand::Demand;
use crate::disk::Disk;

/// The scheduler that the proof assumes.
pub(crate) const SCHEDULER: &str = "mq-deadline";

/// The maximum number of requests that a scheduler can hold.
pub(crate) const NR_REQUESTS_MAX: u64 = 2_048;

/// The smallest `max_sectors_kb` that all kernels accept: one page, which can be up to 64 KiB.
const SECTORS_KIB_MIN: u64 = 64;

/// The attribute that limits buffered writes, as a target latency of reads in microseconds.
const WRITEBACK: &str = "queue/wbt_lat_usec";

/// The kernel's default values of that attribute: for a rotating disk, and for other disks.
const WRITEBACK_US: [u64; 2] = [75_000, 2_000];

/// The attribute by which libata sends requests in the real-time class with a high NCQ priority.
const NCQ_PRIORITY: &str = "device/ncq_prio_enable";

/// An attribute of a disk and the value that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The attribute, relative to the disk's directory in sysfs.
    pub attribute: &'static str,
    /// The current value; `None` if the attribute does not exist before the scheduler is chosen.
    pub old: Option<String>,
    /// The value that the proof needs.
    pub new: String,
    /// The reason why the proof needs it, as a clause.
    pub reason: String,
}

impl Setting {
    /// Returns whether the attribute already has the value.
    pub fn is_set(&self) -> bool {
        self.old.as_ref() == Some(&self.new)
    }
}

impl Disk {
    /// Returns the settings for this demand. The order matters: choosing the scheduler resets
    /// `nr_requests`, and `nr_requests` resets `async_depth`.
    pub fn settings(&self, demand: &Demand) -> Vec<Setting> {
        // The kernel needs some places even for a small workload.
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
        settings.push(self.setting(
            "queue/max_sectors_kb",
            &size_kib.max(SECTORS_KIB_MIN).to_string(),
            "a larger request of another program takes longer than a measured one, and is split",
        ));
        settings.extend(self.writeback());
        settings.extend(self.ncq_priority());
        settings
    }

    /// Keeps the limit on buffered writes (`blk-wbt`), or turns it on; `None` if the kernel has no
    /// such limit. The proof leaves room for [`Demand::WRITEBACK_SHARES`] times the limit.
    fn writeback(&self) -> Option<Setting> {
        let found = self.number(WRITEBACK);
        if found.is_none() && !self.path(WRITEBACK).exists() {
            return None;
        }
        let [turning, still] = WRITEBACK_US;
        let usual = if self.number("queue/rotational") == Some(0) { still } else { turning };
        let new = found.filter(|&us| us > 0).unwrap_or(usual).to_string();
        let reason =
            "without it, buffered writes can fill the scheduler, and real time waits outside";
        // A limit that was never turned on cannot be read; writing 0 turns it off.
        let old = Some(found.unwrap_or(0).to_string());
        Some(Setting { old, ..self.setting(WRITEBACK, &new, reason) })
    }

    /// Switches NCQ priorities off; `None` if the disk has none. With them, libata would send the
    /// real-time class with a priority that the disk knows, but the disk's batches were measured
    /// without it.
    fn ncq_priority(&self) -> Option<Setting> {
        let is_on = self.number(NCQ_PRIORITY) == Some(1);
        let is_supported = self.number("device/ncq_prio_supported") == Some(1);
        let reason = "the disk's batches were measured without priorities inside the disk";
        let attribute = self.path(NCQ_PRIORITY).exists().then_some(NCQ_PRIORITY);
        let attribute = attribute.filter(|_| is_on || is_supported)?;
        Some(self.setting(attribute, "0", reason))
    }

    fn setting(&self, attribute: &'static str, new: &str, reason: &str) -> Setting {
        let (new, reason) = (new.to_owned(), reason.to_owned());
        Setting { attribute, old: self.value(attribute), new, reason }
    }
}
