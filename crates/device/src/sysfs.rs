// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a block device's attributes from sysfs.
//!
//! Every attribute is optional: kernels and drivers differ, and containers hide sysfs. The
//! directory is a parameter, so that tests can make their own.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The directory in which sysfs lists block devices by number.
const BY_NUMBER: &str = "/sys/dev/block";

/// The number of a block device, `major:minor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver's number.
    pub major: u32,
    /// The device's number within the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Takes the number from `st_rdev` or `st_dev` of `stat`.
    pub(crate) fn from_stat(device: rustix::fs::Dev) -> Self {
        Self { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.trim().split_once(':').unwrap_or((text, ""));
        Ok(Self { major: major.parse()?, minor: minor.parse()? })
    }
}

/// One block device, whole disk or partition, in sysfs.
#[derive(Debug, Clone)]
pub(crate) struct SysfsDevice {
    directory: PathBuf,
}

impl SysfsDevice {
    /// Finds the device with this number, if sysfs lists it.
    pub(crate) fn find(number: DeviceNumber) -> Option<Self> {
        let link = Path::new(BY_NUMBER).join(number.to_string());
        link.canonicalize().ok().map(Self::at)
    }

    /// Makes the device that this sysfs directory describes.
    pub(crate) fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the kernel's name for the device: `sda`, `nvme0n1p2`.
    pub(crate) fn name(&self) -> String {
        file_name(&self.directory)
    }

    /// Returns the device's number.
    pub(crate) fn number(&self) -> Option<DeviceNumber> {
        self.attribute("dev")?.parse().ok()
    }

    /// Returns the whole disk that contains a partition; a whole disk returns itself.
    pub(crate) fn whole(&self) -> Self {
        match self.directory.parent() {
            Some(parent) if self.has("partition") => Self::at(parent.to_owned()),
            _ => self.clone(),
        }
    }

    /// Returns a whole disk's partitions.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        entries(&self.directory).map(Self::at).filter(|entry| entry.has("partition")).collect()
    }

    /// Returns the names of the devices built on this one: device mapper, md.
    pub(crate) fn holders(&self) -> Vec<String> {
        let mut names: Vec<_> =
            entries(&self.directory.join("holders")).map(|entry| file_name(&entry)).collect();
        names.sort();
        names
    }

    /// Returns the devices that this one is built on, nearest first.
    pub(crate) fn slaves(&self) -> Vec<Self> {
        let mut directories: Vec<_> = entries(&self.directory.join("slaves"))
            .filter_map(|entry| entry.canonicalize().ok())
            .collect();
        directories.sort();
        directories.into_iter().map(Self::at).collect()
    }

    /// Returns an attribute's text without surrounding white space; `None` if it is missing or
    /// empty.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.directory.join(name)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the path of the file behind a loop device, byte for byte: trailing spaces are part
    /// of it. `None` if nothing is attached; empty if the kernel does not report the path.
    pub(crate) fn backing_path(&self) -> Option<PathBuf> {
        match std::fs::read(self.directory.join("loop/backing_file")) {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => {
                let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
                Some(PathBuf::from(OsStr::from_bytes(path)))
            }
            // Detached in the meantime.
            Err(_) if !self.has("loop") => None,
            Err(_) => Some(PathBuf::new()),
        }
    }

    /// Returns an attribute that is a number.
    pub(crate) fn number_attribute(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.parse().ok()
    }

    /// Returns the name of the device's driver.
    pub(crate) fn driver(&self) -> Option<String> {
        let link = std::fs::read_link(self.directory.join("device/driver")).ok()?;
        Some(file_name(&link))
    }

    /// Returns vendor and model as far as the device reports them, else its driver.
    pub(crate) fn model(&self) -> Option<String> {
        match (self.attribute("device/vendor"), self.attribute("device/model")) {
            (Some(vendor), Some(model)) if !vendor.starts_with("0x") => {
                Some(format!("{vendor} {model}"))
            }
            (_, Some(model)) => Some(model),
            (_, None) => self.driver(),
        }
    }

    /// Returns the kernel's active scheduler.
    pub(crate) fn scheduler(&self) -> Option<String> {
        self.attribute("queue/scheduler").as_deref().and_then(active)
    }

    /// Returns the device's own sensors.
    pub(crate) fn sensors(&self) -> Vec<Self> {
        let folders = ["device", "device/hwmon", "device/device", "device/device/hwmon"];
        let in_folder = |folder| entries(&self.directory.join(folder)).collect::<Vec<_>>();
        let mut sensors: Vec<_> = folders.into_iter().flat_map(in_folder).collect();
        sensors.retain(|path| path.join("temp1_input").is_file());
        sensors.sort();
        sensors.into_iter().map(Self::at).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.directory.join(name).exists()
    }
}

/// Returns the loop devices that are attached to a file or device.
pub(crate) fn loops() -> impl Iterator<Item = SysfsDevice> {
    entries(Path::new("/sys/block"))
        .filter_map(|entry| entry.canonicalize().ok())
        .map(SysfsDevice::at)
        .filter(|device| device.has("loop"))
}

/// Returns the active scheduler, which is in brackets: `mq-deadline` for `none [mq-deadline]
/// kyber`.
fn active(schedulers: &str) -> Option<String> {
    let (_, rest) = schedulers.split_once('[')?;
    let (name, _) = rest.split_once(']')?;
    Some(name.to_owned())
}

/// Returns a directory's entries; no entries if it cannot be read.
fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lays out a whole disk `sdz` with one partition `sdz1`, held by `dm-0`.
    fn laid_out() -> (tempfile::TempDir, SysfsDevice) {
        let root = tempfile::tempdir().expect("a temporary directory");
        let disk = root.path().join("sdz");
        std::fs::create_dir_all(disk.join("sdz1/holders/dm-0")).expect("directories");
        std::fs::create_dir_all(disk.join("queue")).expect("directories");
        std::fs::write(disk.join("dev"), "8:400\n").expect("dev");
        std::fs::write(disk.join("sdz1/partition"), "1\n").expect("partition");
        std::fs::write(disk.join("sdz1/dev"), "8:401\n").expect("dev");
        std::fs::write(disk.join("queue/nr_requests"), "64\n").expect("nr_requests");
        (root, SysfsDevice::at(disk))
    }

    #[test]
    fn partition_resolves_to_its_disk() {
        let (_root, disk) = laid_out();
        let [partition] = &disk.partitions()[..] else { panic!("one partition") };
        assert_eq!(partition.name(), "sdz1");
        assert_eq!(partition.whole().name(), "sdz");
        assert_eq!(disk.whole().name(), "sdz");
        assert_eq!(partition.number(), Some(DeviceNumber { major: 8, minor: 401 }));
    }

    #[test]
    fn holders_and_attributes_are_read() {
        let (_root, disk) = laid_out();
        assert_eq!(disk.partitions()[0].holders(), ["dm-0"]);
        assert_eq!(disk.number_attribute("queue/nr_requests"), Some(64));
        assert_eq!(disk.attribute("queue/scheduler"), None);
    }

    #[test]
    fn a_backing_file_keeps_the_blanks_of_its_name() {
        let (_root, disk) = laid_out();
        assert_eq!(disk.backing_path(), None);
        std::fs::create_dir(disk.directory.join("loop")).expect("a directory");
        assert_eq!(disk.backing_path(), Some(PathBuf::new()));
        let write = |text: &str| std::fs::write(disk.directory.join("loop/backing_file"), text);
        write("/a b  \n").expect("backing_file");
        assert_eq!(disk.backing_path(), Some(PathBuf::from("/a b  ")));
        write("").expect("backing_file");
        assert_eq!(disk.backing_path(), None);
    }

    #[test]
    fn active_scheduler_is_the_one_in_brackets() {
        assert_eq!(active("none [mq-deadline] kyber bfq").as_deref(), Some("mq-deadline"));
        assert_eq!(active("[none] kyber").as_deref(), Some("none"));
        assert_eq!(active("none"), None);
    }
}
