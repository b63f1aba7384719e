// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A whole disk as seen through sysfs.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crate::install::slug;

/// The minimum number of tags that the kernel gives to each device of a shared adapter.
const SHARE_MIN: u64 = 4;

/// The directory that contains a machine's `sys`, `etc`, `proc` and `var`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// Returns the machine whose root is this directory; `/` is this machine.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// Returns whether this is the root of the running machine and not of a copy.
    pub(crate) fn is_this_machine(&self) -> bool {
        self.0.canonicalize().is_ok_and(|path| path == Path::new("/"))
    }

    /// Returns the identifier of the current boot; every boot has a different one.
    pub fn boot(&self) -> Option<String> {
        let text = fs::read_to_string(self.at("proc/sys/kernel/random/boot_id")).ok()?;
        Some(text.trim().to_owned())
    }

    /// Returns the location of a path of the machine. The path is given without its leading slash.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }
}

/// The error if a device does not exist or is not a block device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sysfs lists no block device `{name}`")]
pub struct NoDisk {
    /// The kernel's name of the device.
    pub name: String,
}

/// A whole disk.
#[derive(Debug, Clone)]
pub struct Disk {
    root: Root,
    name: String,
    directory: PathBuf,
    /// The name of the records of a disk that is gone; `None` if the disk is present.
    recorded_as: Option<String>,
}

impl Disk {
    /// Finds the disk of a device: `/dev/sda`, `sda`, a partition of it, or a link to it. A name
    /// that sysfs lists takes precedence over a link in the current directory.
    ///
    /// # Errors
    /// [`NoDisk`] if sysfs does not list it.
    pub fn find(root: &Root, device: &str) -> Result<Self, NoDisk> {
        if let Ok(disk) = Self::named(root, device) {
            return Ok(disk);
        }
        let path = Path::new(device);
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self::named(root, &file_name(&path))
    }

    /// Returns the disk of the device or partition that sysfs lists under this name.
    ///
    /// # Errors
    /// [`NoDisk`] if sysfs does not list it.
    pub fn named(root: &Root, name: &str) -> Result<Self, NoDisk> {
        let missing = || NoDisk { name: name.to_owned() };
        if name.is_empty() || file_name(Path::new(name)) != name {
            return Err(missing());
        }
        let link = root.at("sys/class/block").join(name);
        let mut directory = link.canonicalize().map_err(|_| missing())?;
        if directory.join("partition").exists() {
            directory.pop();
        }
        Ok(Self { root: root.clone(), name: file_name(&directory), directory, recorded_as: None })
    }

    /// Returns a disk that is gone. The kernel called it `name`, and its records are named
    /// `recorded_as` ([`Disk::file_name`]). It has no attributes.
    pub fn gone(root: &Root, name: &str, recorded_as: &str) -> Self {
        let directory = root.at("sys/devices/gone");
        let recorded_as = Some(recorded_as.to_owned());
        Self { root: root.clone(), name: name.to_owned(), directory, recorded_as }
    }

    /// Returns whether the disk is gone.
    pub const fn is_gone(&self) -> bool {
        self.recorded_as.is_some()
    }

    /// Returns all disks of a machine, including devices that are built on others.
    pub fn all(root: &Root) -> Vec<Self> {
        let names = names_in(&root.at("sys/class/block")).into_iter();
        let mut disks: Vec<_> = names.filter_map(|name| Self::named(root, &name).ok()).collect();
        // Each partition was found as its disk, so remove duplicates.
        disks.sort_by(|a, b| a.name.cmp(&b.name));
        disks.dedup_by(|a, b| a.name == b.name);
        disks
    }

    /// Returns the kernel's name of the disk.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the machine to which the disk belongs.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Returns the path of an attribute.
    pub fn path(&self, attribute: &str) -> PathBuf {
        self.directory.join(attribute)
    }

    /// Returns an attribute's value without surrounding white space; if the value is a list, only
    /// the chosen word. `None` if the attribute is missing or empty.
    pub fn value(&self, attribute: &str) -> Option<String> {
        let text = self.text(attribute)?;
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        Some(chosen.map_or(text.clone(), |(chosen, _)| chosen.to_owned()))
    }

    /// Returns an attribute's text without surrounding white space; `None` if it is missing or empty.
    pub fn text(&self, attribute: &str) -> Option<String> {
        let text = fs::read_to_string(self.path(attribute)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the value of an attribute that is a number.
    pub fn number(&self, attribute: &str) -> Option<u64> {
        self.value(attribute)?.parse().ok()
    }

    /// Returns the device's permanent, unique name (`wwid`).
    pub fn wwid(&self) -> Option<String> {
        self.text("device/wwid").or_else(|| self.text("wwid"))
    }

    /// Returns a name for the disk's files, of at most 89 characters that are valid in a file name:
    /// the permanent name or, if there is none, the kernel's name. A hash at the end distinguishes
    /// names that differ only in punctuation.
    pub fn file_name(&self) -> String {
        if let Some(name) = &self.recorded_as {
            return name.clone();
        }
        file_name_of(&self.wwid().unwrap_or_else(|| self.name().to_owned()))
    }

    /// Returns the vendor and the model, as far as the device reports them.
    pub fn model(&self) -> Option<String> {
        match (self.text("device/vendor"), self.text("device/model")) {
            (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
            (_, model) => model,
        }
    }

    /// Returns the kernel's device numbers of the disk and of its partitions, the disk's first;
    /// `None` if sysfs does not show the disk's.
    pub fn numbers(&self) -> Option<Vec<u32>> {
        let own = number_in(&self.directory)?;
        let partitions = self.partitions().into_iter();
        Some([own].into_iter().chain(partitions.filter_map(|path| number_in(&path))).collect())
    }

    /// Returns the depth of the device's queue; `None` if it cannot be set.
    pub fn queue_depth(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(u32::try_from(self.number("device/queue_depth")?).ok()?)
    }

    /// Returns the size in sectors of 512 bytes.
    pub fn sectors(&self) -> Option<u64> {
        self.number("size")
    }

    /// Returns the number of hardware queues; `None` if the kernel does not list them.
    pub(crate) fn hardware_queues(&self) -> Option<usize> {
        let queues = fs::read_dir(self.path("mq")).ok()?;
        Some(queues.flatten().count())
    }

    /// Returns whether the disk's driver has request queues. Other drivers, such as zram's, take
    /// each bio as it arrives, and the kernel shows no queues for them.
    pub fn has_requests(&self) -> bool {
        self.path("mq").is_dir()
    }

    /// Returns the disks that this device is built on.
    pub fn slaves(&self) -> Vec<String> {
        names_in(&self.path("slaves"))
    }

    /// Returns the directories of its partitions.
    pub(crate) fn partitions(&self) -> Vec<PathBuf> {
        let entries = names_in(&self.directory).into_iter().map(|name| self.path(&name));
        entries.filter(|path| path.join("partition").exists()).collect()
    }

    /// Returns the kernel's names of all paths to this disk: the devices with its permanent name,
    /// including this one. Hidden devices are left out, because only the kernel uses them.
    pub(crate) fn paths(&self) -> Vec<String> {
        let Some(wwid) = self.wwid() else { return vec![self.name.clone()] };
        let is_path = |disk: &Self| {
            disk.number("hidden").is_none_or(|it| it == 0) && disk.wwid().as_ref() == Some(&wwid)
        };
        Self::all(&self.root).into_iter().filter(is_path).map(|disk| disk.name).collect()
    }

    /// Returns the devices that are built on this disk or on a partition of it.
    pub fn holders(&self) -> Vec<Self> {
        let mut names: Vec<_> = self
            .partitions()
            .into_iter()
            .chain([self.directory.clone()])
            .flat_map(|directory| names_in(&directory.join("holders")))
            .collect();
        names.sort();
        names.dedup();
        let found = names.iter().map(|name| Self::named(&self.root, name));
        found.flatten().collect()
    }

    /// Returns the maximum number of requests that the host adapter takes from the kernel, for all
    /// of its devices together.
    pub fn adapter_tags(&self) -> Option<u64> {
        let host = self.adapter()?;
        let path = self.root.at("sys/class/scsi_host").join(format!("host{host}/can_queue"));
        fs::read_to_string(path).ok()?.trim().parse().ok()
    }

    /// Returns whether the adapter's tags are enough if this device has the queue depth `depth`:
    /// one for every request of all its devices, and at least `depth` for this device. The kernel
    /// then never takes a request from the scheduler for which the device has no place.
    ///
    /// # Source
    /// `hctx_may_queue` in `block/blk-mq.h` of Linux 6.1 and 6.12: of several devices in use, each
    /// gets an equal share of the tags, rounded up, but at least four.
    pub fn has_spare_tags(&self, depth: u32) -> bool {
        let (Some(tags), Some(host)) = (self.adapter_tags(), self.adapter()) else { return false };
        let devices = self.root.at("sys/class/scsi_device");
        let prefix = format!("{host}:");
        let own = fs::canonicalize(self.path("device")).ok();
        let (mut needed, mut users) = (u64::from(depth), 1);
        for name in names_in(&devices).into_iter().filter(|name| name.starts_with(&prefix)) {
            let device = devices.join(name).join("device");
            if fs::canonicalize(&device).ok() == own {
                continue;
            }
            let depth = fs::read_to_string(device.join("queue_depth")).ok();
            let Some(depth) = depth.and_then(|text| text.trim().parse::<u64>().ok()) else {
                return false;
            };
            needed = needed.saturating_add(depth);
            users += 1;
        }
        needed <= tags && u64::from(depth) <= tags.div_ceil(users).max(SHARE_MIN)
    }

    /// Returns the number of the SCSI host to which the device is connected.
    fn adapter(&self) -> Option<u64> {
        let mut parts = self.directory.iter().rev().filter_map(|part| part.to_str());
        parts.find_map(|part| part.strip_prefix("host")?.parse().ok())
    }

    /// Returns whether a device on the path to the disk has a name with this prefix.
    pub fn is_behind(&self, prefix: &str) -> bool {
        let parts = self.directory.iter().filter_map(|part| part.to_str());
        let mut devices = parts.skip_while(|&part| part != "devices");
        devices.any(|part| part.starts_with(prefix))
    }

    /// Returns the name of the device's driver.
    pub(crate) fn driver(&self) -> Option<String> {
        let link = fs::read_link(self.path("device/driver")).ok()?;
        Some(file_name(&link))
    }
}

/// Returns the name for the files of a disk with this permanent or kernel's name.
pub(crate) fn file_name_of(name: &str) -> String {
    const NAME_MAX: usize = 80;
    format!("{:.NAME_MAX$}-{:08x}", slug(name), hash(name))
}

/// Returns the names in a directory, sorted; empty if it cannot be read.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| file_name(&entry.path())).collect();
    names.sort();
    names
}

/// Returns the device number of this directory's device, in the format of the kernel's tracepoints.
fn number_in(directory: &Path) -> Option<u32> {
    /// The number of bits of a minor device number (`MINORBITS` in `include/linux/kdev_t.h`).
    const MINOR_BITS: u32 = 20;
    let text = fs::read_to_string(directory.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    Some(major.checked_shl(MINOR_BITS)? | minor)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the FNV-1a hash of a text, with its two halves combined into 32 bits.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, add);
    (hash ^ (hash >> 32)) & u64::from(u32::MAX)
}
