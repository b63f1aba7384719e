// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What sysfs tells about a block device.
//!
//! Every attribute is optional: kernels and drivers differ, and containers hide sysfs.
//! The directory is a parameter so that tests can lay one out.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where sysfs lists block devices by number.
const BY_NUMBER: &str = "/sys/dev/block";

/// The number of a block device, `major:minor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// The device of that driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// The number in a `st_rdev` or `st_dev` of `stat`.
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
    /// The device with this number, if sysfs knows it.
    pub(crate) fn find(number: DeviceNumber) -> Option<Self> {
        let link = Path::new(BY_NUMBER).join(number.to_string());
        link.canonicalize().ok().map(Self::at)
    }

    /// The device that this sysfs directory describes.
    pub(crate) fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The kernel's name for it: `sda`, `nvme0n1p2`.
    pub(crate) fn name(&self) -> String {
        file_name(&self.directory)
    }

    /// Its number.
    pub(crate) fn number(&self) -> Option<DeviceNumber> {
        self.attribute("dev")?.parse().ok()
    }

    /// The whole disk that a partition is part of; itself for a whole disk.
    pub(crate) fn whole(&self) -> Self {
        match self.directory.parent() {
            Some(parent) if self.has("partition") => Self::at(parent.to_owned()),
            _ => self.clone(),
        }
    }

    /// The partitions of a whole disk.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        entries(&self.directory).map(Self::at).filter(|entry| entry.has("partition")).collect()
    }

    /// Names of the devices built on this one: device mapper, md.
    pub(crate) fn holders(&self) -> Vec<String> {
        let mut names: Vec<_> =
            entries(&self.directory.join("holders")).map(|entry| file_name(&entry)).collect();
        names.sort();
        names
    }

    /// The devices this one is built on, nearest first.
    pub(crate) fn slaves(&self) -> Vec<Self> {
        let mut directories: Vec<_> = entries(&self.directory.join("slaves"))
            .filter_map(|entry| entry.canonicalize().ok())
            .collect();
        directories.sort();
        directories.into_iter().map(Self::at).collect()
    }

    /// The text of an attribute, without the white space around it; `None` if it is
    /// missing or empty.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.directory.join(name)).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The path of what is behind a loop device, to the byte: blanks at its end are part of it.
    /// None where nothing is; empty where the kernel does not say what.
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

    /// An attribute that is a number.
    pub(crate) fn number_attribute(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.parse().ok()
    }

    /// The name of the driver behind the device.
    pub(crate) fn driver(&self) -> Option<String> {
        let link = std::fs::read_link(self.directory.join("device/driver")).ok()?;
        Some(file_name(&link))
    }

    /// Vendor and model as far as the device tells, else its driver.
    pub(crate) fn model(&self) -> Option<String> {
        match (self.attribute("device/vendor"), self.attribute("device/model")) {
            (Some(vendor), Some(model)) if !vendor.starts_with("0x") => {
                Some(format!("{vendor} {model}"))
            }
            (_, Some(model)) => Some(model),
            (_, None) => self.driver(),
        }
    }

    /// The active scheduler of the kernel.
    pub(crate) fn scheduler(&self) -> Option<String> {
        self.attribute("queue/scheduler").as_deref().and_then(active)
    }

    /// The device's own sensors.
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

/// The loop devices that have a file or device behind them.
pub(crate) fn loops() -> impl Iterator<Item = SysfsDevice> {
    entries(Path::new("/sys/block"))
        .filter_map(|entry| entry.canonicalize().ok())
        .map(SysfsDevice::at)
        .filter(|device| device.has("loop"))
}

/// `mq-deadline` of `none [mq-deadline] kyber`.
fn active(schedulers: &str) -> Option<String> {
    let (_, rest) = schedulers.split_once('[')?;
    let (name, _) = rest.split_once(']')?;
    Some(name.to_owned())
}

/// What a directory holds; nothing if it cannot be read.
fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole disk `sdz` with one partition `sdz1`, held by `dm-0`.
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
