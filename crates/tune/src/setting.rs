// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The settings that the proof needs, in the order in which they are written.

use tidegate_model::parameters::MqDeadlineParameters;

use crate::demand::Demand;
use crate::disk::Disk;

/// The scheduler of the proof.
pub(crate) const SCHEDULER: &str = "mq-deadline";

/// The most requests that a scheduler holds.
pub(crate) const NR_REQUESTS_MAX: u64 = 2_048;

/// The smallest `max_sectors_kb` that kernels accept: a page, which has up to 64 KiB.
const SECTORS_KIB_MIN: u64 = 64;

/// The limit on buffered writes, in microseconds of the latency that reads should have.
const WRITEBACK: &str = "queue/wbt_lat_usec";

/// The kernel's default limits, for a disk that turns and for one that does not.
const WRITEBACK_US: [u64; 2] = [75_000, 2_000];

/// Whether libata sends the real-time class with a high priority.
const NCQ_PRIORITY: &str = "device/ncq_prio_enable";

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
        settings.push(self.setting(
            "queue/max_sectors_kb",
            &size_kib.max(SECTORS_KIB_MIN).to_string(),
            "a larger request of another program takes longer than a measured one, and is split",
        ));
        settings.extend(self.writeback());
        settings.extend(self.ncq_priority());
        settings
    }

    /// Keeps the limit on buffered writes (`blk-wbt`), or begins it; `None` if the kernel has none.
    /// The proof leaves room for [`Demand::WRITEBACK_SHARES`] times the limit.
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
        // A limit that was never begun cannot be read; 0 ends it.
        let old = Some(found.unwrap_or(0).to_string());
        Some(Setting { old, ..self.setting(WRITEBACK, &new, reason) })
    }

    /// Switches NCQ priorities off; `None` if the disk has none. libata would send the real-time class
    /// with a priority in the disk, whose batches were measured without.
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
