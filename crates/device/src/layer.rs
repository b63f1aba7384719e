// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What stands between us and a medium and has rules of its own: it splits requests, orders
//! them, or holds them up, and nobody asked.

use std::fmt;

use crate::sysfs::SysfsDevice;

/// A device that is not simply a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The kernel's name.
    pub device: String,
    /// What it is.
    pub nature: Nature,
}

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nature {
    /// A file as a disk.
    Loop,
    /// Several disks as one.
    Raid {
        /// `raid1`, `raid5`, `linear`.
        level: String,
    },
    /// The device mapper.
    Mapped {
        /// Who made it: `LVM`, `CRYPT`, `mpath`; empty where nobody says.
        by: String,
    },
    /// Shingled or zoned: it must be written in order, or puts things in order by itself.
    Zoned {
        /// Whether it takes writes in any order and sorts them later.
        is_host_aware: bool,
    },
}

impl Nature {
    /// All that sysfs tells of a device.
    pub(crate) fn all_of(device: &SysfsDevice) -> Vec<Self> {
        let is_loop = device.attribute("loop/backing_file").map(|_| Self::Loop);
        let raid = device.attribute("md/level").map(|level| Self::Raid { level });
        let mapped = device.attribute("dm/name").map(|_| {
            let uuid = device.attribute("dm/uuid").unwrap_or_default();
            let by = uuid.split_once('-').map(|(by, _)| by.to_owned()).unwrap_or_default();
            Self::Mapped { by }
        });
        let zoned = device.attribute("queue/zoned").filter(|zoned| zoned != "none");
        let zoned = zoned.map(|zoned| Self::Zoned { is_host_aware: zoned == "host-aware" });
        [is_loop, raid, mapped, zoned].into_iter().flatten().collect()
    }
}

impl Layer {
    /// What a device and all below it are.
    pub(crate) fn all_of<'a>(devices: impl IntoIterator<Item = &'a SysfsDevice>) -> Vec<Self> {
        let of = |device: &'a SysfsDevice| {
            let natures = Nature::all_of(device).into_iter();
            natures.map(|nature| Self { device: device.name(), nature })
        };
        devices.into_iter().flat_map(of).collect()
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = &self.device;
        match &self.nature {
            Nature::Loop => write!(
                f,
                "{device} is a file as a disk: the file system below it may move, split and delay requests"
            ),
            Nature::Raid { level } => write!(
                f,
                "{device} is an array ({level}): it splits requests among its disks, and a repair of it delays them"
            ),
            Nature::Mapped { by } if by.is_empty() => write!(
                f,
                "{device} is made by the device mapper, which may split and delay requests"
            ),
            Nature::Mapped { by } => write!(
                f,
                "{device} is made by the device mapper ({by}), which may split and delay requests"
            ),
            Nature::Zoned { is_host_aware: true } => write!(
                f,
                "{device} has zones and takes writes in any order: it sorts them later, for seconds, at a moment of its own"
            ),
            Nature::Zoned { is_host_aware: false } => write!(
                f,
                "{device} has zones that must be written in order: only reads can be measured"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(attributes: &[(&str, &str)]) -> (tempfile::TempDir, SysfsDevice) {
        let root = tempfile::tempdir().expect("a temporary directory");
        let directory = root.path().join("dev0");
        for (name, text) in attributes {
            let path = directory.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("an attribute");
        }
        (root, SysfsDevice::at(directory))
    }

    fn natures(attributes: &[(&str, &str)]) -> Vec<Nature> {
        Nature::all_of(&device(attributes).1)
    }

    #[test]
    fn layers_are_known_by_their_attributes() {
        assert_eq!(natures(&[("queue/zoned", "none\n")]), []);
        assert_eq!(natures(&[("loop/backing_file", "/a\n")]), [Nature::Loop]);
        let level = "raid5".to_owned();
        assert_eq!(natures(&[("md/level", "raid5\n")]), [Nature::Raid { level }]);
        let by = "LVM".to_owned();
        let mapped = [("dm/name", "root"), ("dm/uuid", "LVM-abc")];
        assert_eq!(natures(&mapped), [Nature::Mapped { by }]);
        let zoned = [("queue/zoned", "host-aware")];
        assert_eq!(natures(&zoned), [Nature::Zoned { is_host_aware: true }]);
    }
}
