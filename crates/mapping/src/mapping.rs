// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A mapping of a whole disk: its name, its table, and the settings of the disk below it.

use std::fs;
use std::path::Path;

use tidegate_model::{Bytes, Plan};
use tidegate_tune::{Disk, Root, Setting};

use crate::device_mapper::{DeviceMapper, DeviceMapperError, Step};

/// The folder in which udev keeps names that do not change.
const BY_ID: &str = "dev/disk/by-id";

/// A mapping that exists or can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The mapping's name below `/dev/mapper`.
    pub name: String,
    /// The mapping's device-mapper UUID, which sysfs shows as `dm/uuid`.
    pub uuid: String,
    /// The mapping's whole table.
    pub table: String,
}

impl Mapping {
    /// Returns the device-mapper UUID for a mapping of this disk, of at most 128 characters.
    pub fn uuid_of(disk: &Disk) -> String {
        format!("TIDEGATE-{}", disk.file_name())
    }

    /// Returns whether the mapping exists. Its UUID is compared, because its name does not identify
    /// the disk: names of disks change at a restart.
    ///
    /// # Errors
    /// If the device mapper fails, or the mapping with this name belongs to another disk.
    pub fn is_there(&self, device_mapper: &DeviceMapper) -> Result<bool, DeviceMapperError> {
        match device_mapper.uuid(&self.name)? {
            None => Ok(false),
            Some(uuid) if uuid == self.uuid => Ok(true),
            Some(_) => Err(DeviceMapperError::OtherDisk { name: self.name.clone() }),
        }
    }

    /// Returns the commands that create the mapping or, if it exists, change its table.
    pub fn steps(&self, exists: bool) -> Vec<Step<'_>> {
        if exists {
            vec![self.loading(&self.table), self.step("resume")]
        } else {
            vec![self.creation()]
        }
    }

    fn creation(&self) -> Step<'_> {
        let arguments = vec!["create", &self.name, "--uuid", &self.uuid];
        Step { arguments, table: Some(&self.table) }
    }

    fn loading<'a>(&'a self, table: &'a str) -> Step<'a> {
        Step { arguments: vec!["load", &self.name], table: Some(table) }
    }

    fn step<'a>(&'a self, verb: &'a str) -> Step<'a> {
        Step { arguments: vec![verb, &self.name], table: None }
    }

    /// Creates the mapping.
    ///
    /// # Errors
    /// If the device mapper refuses.
    pub fn create(&self, device_mapper: &DeviceMapper) -> Result<(), DeviceMapperError> {
        device_mapper.change(&self.creation())
    }

    /// Gives the mapping's table to the kernel, which checks it. The running table stays in use
    /// until [`Self::resume`].
    ///
    /// # Errors
    /// If the device mapper refuses.
    pub fn load(&self, device_mapper: &DeviceMapper) -> Result<(), DeviceMapperError> {
        device_mapper.change(&self.loading(&self.table))
    }

    /// Discards a loaded table that is not in use yet.
    pub fn clear(&self, device_mapper: &DeviceMapper) {
        // Without a loaded table, there is nothing to clear.
        let _ = device_mapper.change(&self.step("clear"));
    }

    /// Replaces the running table, `before`, with the loaded one.
    ///
    /// # Errors
    /// If the device mapper refuses. The method then loads and resumes `before` again.
    pub fn resume(
        &self,
        device_mapper: &DeviceMapper,
        before: &str,
    ) -> Result<(), DeviceMapperError> {
        let resumed = device_mapper.change(&self.step("resume"));
        if resumed.is_err() {
            // The kernel has taken the new table already, and the mapping is suspended.
            let _ = device_mapper
                .change(&self.loading(before))
                .and_then(|()| device_mapper.change(&self.step("resume")));
        }
        resumed
    }

    /// Removes the mapping.
    ///
    /// # Errors
    /// If the device mapper refuses, for example because the mapping is mounted.
    pub fn remove(&self, device_mapper: &DeviceMapper) -> Result<(), DeviceMapperError> {
        device_mapper
            .change(&Step { arguments: vec!["remove", "--retry", &self.name], table: None })
    }
}

/// Returns a path of the disk that stays the same after a restart; `None` if udev keeps none.
pub fn persistent_path(root: &Root, disk: &Disk) -> Option<String> {
    let entries = fs::read_dir(root.at(BY_ID)).ok()?.flatten();
    let is_it = |path: &Path| {
        let target = fs::read_link(path).ok();
        target.is_some_and(|target| target.file_name().is_some_and(|name| name == disk.name()))
    };
    let found = entries.map(|entry| entry.path()).filter(|path| is_it(path));
    let mut names: Vec<_> =
        found.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
    // Other characters can have a special meaning in systemd's files.
    names.retain(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:+=@".contains(c)));
    names.sort_by_key(|name| (!name.starts_with("wwn-"), name.clone()));
    names.into_iter().next().map(|name| format!("/{BY_ID}/{name}"))
}

/// Returns the settings of the disk below a mapping with this plan, in the order in which they are
/// changed.
pub fn settings(disk: &Disk, plan: &Plan, size_max: Bytes) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut add = |attribute: &'static str, new: String, reason: &str| {
        // A driver that takes bios instead of requests has no such attribute, and needs none.
        let Some(old) = disk.value(attribute) else { return };
        settings.push(Setting { attribute, old: Some(old), new, reason: reason.to_owned() });
    };
    let at_least = |attribute: &str, least: u64| {
        disk.number(attribute).map_or(least, |present| present.max(least)).to_string()
    };
    add("queue/scheduler", "none".to_owned(), "the target alone decides what is sent");
    add("queue/nomerges", "2".to_owned(), "a merged request is longer than a measured one");
    add(
        "queue/wbt_lat_usec",
        "0".to_owned(),
        "throttled writeback would keep the target from sending real time",
    );
    add(
        "device/queue_depth",
        at_least("device/queue_depth", u64::from(plan.depth)),
        "the disk must take as many requests as the plan sends",
    );
    add(
        "queue/max_sectors_kb",
        at_least("queue/max_sectors_kb", size_max.get().div_ceil(1_024)),
        "the kernel splits larger requests",
    );
    settings
}
