// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layers between the engine and the medium that split, reorder or delay requests on their own.

use std::fmt;

use tidegate_model::{Premise, PremiseCode};

use crate::sysfs::SysfsDevice;

/// A device that is not a plain disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The kernel's name for the device.
    pub device: String,
    /// Why the device is not a plain disk.
    pub nature: Nature,
}

/// The kind of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nature {
    /// A file that is attached as a block device.
    Loop,
    /// Several disks combined into one.
    Raid {
        /// The RAID level: `raid1`, `raid5`, `linear`.
        level: String,
    },
    /// A device of the device mapper.
    Mapped {
        /// The subsystem that created the device: `LVM`, `CRYPT`, `mpath`; empty if it is not
        /// recorded.
        by: String,
    },
    /// A shingled or zoned disk: writes must be sequential, or the disk reorders them itself.
    Zoned {
        /// Whether the disk accepts writes in any order and sorts them later.
        is_host_aware: bool,
    },
    /// A disk that a hypervisor provides. Listed only for disks below the device; for the device
    /// itself see [`DeviceFacts::is_virtual`](crate::DeviceFacts::is_virtual).
    Virtual,
    /// A kernel scheduler that reorders requests. Listed only for disks below the device; for the
    /// device itself see [`DeviceFacts::scheduler`](crate::DeviceFacts::scheduler).
    Scheduler {
        /// The scheduler's name: `mq-deadline`, `bfq`, `kyber`.
        name: String,
    },
}

/// Parts of driver and model names that identify a hypervisor's disk.
const VIRTUAL_MARKS: [&str; 7] =
    ["virtio", "vbd", "QEMU", "VBOX", "VMware", "Virtual", "Elastic Block Store"];

/// Returns whether a driver or a model is a hypervisor's.
pub(crate) fn is_of_hypervisor(driver: Option<&str>, model: Option<&str>) -> bool {
    let is_marked = |name: &str| VIRTUAL_MARKS.iter().any(|mark| name.contains(mark));
    driver.into_iter().chain(model).any(is_marked)
}

impl Nature {
    /// Returns all kinds that sysfs reports for a device.
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

    /// Returns the kinds, besides its own, of a disk below another device.
    fn all_below(disk: &SysfsDevice) -> Vec<Self> {
        let is_virtual = is_of_hypervisor(disk.driver().as_deref(), disk.model().as_deref());
        let scheduler = disk.scheduler().filter(|name| name != "none");
        let scheduler = scheduler.map(|name| Self::Scheduler { name });
        is_virtual.then_some(Self::Virtual).into_iter().chain(scheduler).collect()
    }
}

impl Layer {
    /// Returns the layers of a device and of all devices below it, without repetition.
    pub(crate) fn all_of(device: &SysfsDevice, below: &[SysfsDevice]) -> Vec<Self> {
        let of = |device: &SysfsDevice, natures: Vec<Nature>| {
            let name = device.name();
            natures.into_iter().map(move |nature| Self { device: name.clone(), nature })
        };
        let of_below = |device: &SysfsDevice| {
            let disk = device.whole();
            let natures = of(device, Nature::all_of(device));
            natures.chain(of(&disk, Nature::all_below(&disk))).collect::<Vec<_>>()
        };
        let mut layers: Vec<Self> = of(device, Nature::all_of(device)).collect();
        for layer in below.iter().flat_map(of_below) {
            if !layers.contains(&layer) {
                layers.push(layer);
            }
        }
        layers
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = &self.device;
        match &self.nature {
            Nature::Loop => write!(
                f,
                "{device} is a file attached as a disk: the file system below it may move, split and delay requests"
            ),
            Nature::Raid { level } => write!(
                f,
                "{device} is an array ({level}): it splits requests among its disks, and a rebuild delays them"
            ),
            Nature::Mapped { by } if by.is_empty() => {
                write!(f, "{device} is a device-mapper device, which may split and delay requests")
            }
            Nature::Mapped { by } => write!(
                f,
                "{device} is a device-mapper device ({by}), which may split and delay requests"
            ),
            Nature::Virtual => write!(
                f,
                "{device} below it is a hypervisor's disk: the host may serve requests from memory, and other machines may use the same hardware"
            ),
            Nature::Scheduler { name } => write!(
                f,
                "{device} below it uses the kernel's scheduler {name}, which delays and reorders requests"
            ),
            Nature::Zoned { is_host_aware: true } => write!(
                f,
                "{device} has zones and accepts writes in any order: it sorts them later, for seconds, at an unknown time"
            ),
            Nature::Zoned { is_host_aware: false } => write!(
                f,
                "{device} has zones that must be written in order: only reads can be measured"
            ),
        }
    }
}

impl From<&Layer> for Premise {
    fn from(layer: &Layer) -> Self {
        let (code, subject) = match &layer.nature {
            Nature::Virtual => (PremiseCode::Hypervisor, "a hypervisor".to_owned()),
            Nature::Scheduler { name } => (PremiseCode::Scheduler, format!("scheduler {name}")),
            Nature::Loop => (PremiseCode::Layered, "a loop device".to_owned()),
            Nature::Raid { .. } => (PremiseCode::Layered, "an array".to_owned()),
            Nature::Mapped { .. } => (PremiseCode::Layered, "a mapped device".to_owned()),
            Nature::Zoned { .. } => (PremiseCode::Layered, "zones".to_owned()),
        };
        Self::new(code, subject, layer.to_string())
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
    fn disks_below_tell_of_hypervisors_and_schedulers() {
        let of = |attributes| Nature::all_below(&device(attributes).1);
        assert_eq!(of(&[("queue/scheduler", "[none] bfq\n"), ("device/model", "ST1")]), []);
        let name = "bfq".to_owned();
        let told = of(&[("queue/scheduler", "none [bfq]\n"), ("device/model", "Virtual disk")]);
        assert_eq!(told, [Nature::Virtual, Nature::Scheduler { name }]);
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
