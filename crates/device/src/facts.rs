// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Facts about a target and the device below it, for the record of a measurement.
//!
//! They come from sysfs, so every fact is optional: drivers differ, and containers hide sysfs. A
//! partition or a file is described by the whole disk that holds it, because that disk serves it.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tidegate_model::Bytes;
use tidegate_model::drive_file::Identity;

use crate::in_use::device_below;
use crate::layer::{self, Layer};
use crate::sysfs::{DeviceNumber, SysfsDevice};

/// Facts about a target and the whole disk that serves it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The file system that holds a file; `None` for a block device.
    pub file_system: Option<String>,
    /// The kernel's name for the whole disk: `sda`, `nvme0n1`.
    pub device: Option<String>,
    /// The whole disk's device number.
    pub number: Option<DeviceNumber>,
    /// Vendor and model, or the driver's name if the device does not report them (virtio).
    pub model: Option<String>,
    /// The name of the device's kernel driver.
    pub driver: Option<String>,
    /// The firmware revision.
    pub firmware: Option<String>,
    /// Whether the kernel treats the device as a rotating disk.
    pub rotational: Option<bool>,
    /// The kernel's active I/O scheduler: `none`, `mq-deadline`, `kyber`, `bfq`.
    pub scheduler: Option<String>,
    /// The largest request that the kernel sends to the device unsplit (`max_sectors_kb`).
    pub request_size_max: Option<Bytes>,
    /// The maximum number of scattered memory segments in a request (`max_segments`).
    pub segments_max: Option<u64>,
    /// The maximum number of requests that the kernel queues for the device (`nr_requests`).
    pub requests_max: Option<u32>,
    /// The number of requests that the device accepts at the same time, if it reports this
    /// (`queue_depth`).
    pub queue_depth: Option<u32>,
    /// Whether the driver passes I/O priorities to the device (NCQ priority, `ncq_prio_enable`);
    /// `None` if the driver has no such switch.
    pub ncq_priority: Option<bool>,
    /// Where a write is when the device reports it complete.
    pub write_cache: Option<WriteCache>,
    /// The smallest addressable unit.
    pub logical_block_size: Option<Bytes>,
    /// The smallest unit that the medium writes in one operation.
    pub physical_block_size: Option<Bytes>,
    /// The devices on which this one is built, nearest first.
    pub layers: Vec<String>,
    /// The layers, this device included, that split, reorder or delay requests.
    pub natures: Vec<Layer>,
    /// A hash of the serial number: it distinguishes devices of one model without revealing the
    /// number.
    pub serial_hash: Option<String>,
    /// The release of the running kernel.
    pub kernel: String,
}

tidegate_model::names! {
    /// Where the kernel assumes a completed write to be; the names are those of sysfs.
    pub enum WriteCache {
        /// A completed write may still be in a volatile cache.
        WriteBack => "write back",
        /// A completed write is on the medium.
        WriteThrough => "write through",
    }
}

/// How the kernel splits a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Splitting {
    /// The smallest number of requests into which the kernel splits a request.
    pub pieces: u64,
    /// The largest size that is sent unsplit.
    pub size_max: Bytes,
}

/// Whether a target is a file or a block device, and its device number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A file.
    File {
        /// The file system's name.
        file_system: String,
        /// The device number that the file system reports.
        number: DeviceNumber,
    },
    /// A block device.
    Device {
        /// The block device's number.
        number: DeviceNumber,
    },
}

impl DeviceFacts {
    /// Returns how the kernel splits requests of `size` before the device receives them; `None` if
    /// it does not split them, or if its limit is unknown.
    ///
    /// # Assumptions
    /// Only the limit on size counts here. The kernel also splits a request in scattered memory
    /// that has more than `segments_max` segments, and a request to a file where the file is not
    /// contiguous on the device; the number of such splits depends on memory and on the file.
    pub fn splits(&self, size: Bytes) -> Option<Splitting> {
        let size_max = self.request_size_max?;
        let pieces = size.get().div_ceil(size_max.get());
        (pieces > 1).then_some(Splitting { pieces, size_max })
    }

    /// Returns whether a hypervisor provides the disk: its host may serve requests from its own
    /// memory, and other machines use the same hardware.
    pub fn is_virtual(&self) -> bool {
        layer::is_of_hypervisor(self.driver.as_deref(), self.model.as_deref())
    }

    /// Returns which device a drive file is about: model, firmware and place, but nothing about a
    /// measurement. It names no path, because drive files are shared.
    pub fn identity(&self) -> Identity {
        let place = match (&self.file_system, &self.device) {
            (Some(file_system), Some(device)) => {
                Some(format!("a file on {file_system} on {device}"))
            }
            (Some(file_system), None) => Some(format!("a file on {file_system}")),
            (None, device) => device.clone(),
        };
        Identity {
            model: self.model.clone(),
            firmware: self.firmware.clone(),
            serial_hash: self.serial_hash.clone(),
            place,
            ..Identity::default()
        }
    }

    pub(crate) fn read(path: &Path, kind: TargetKind) -> Self {
        let (file_system, number) = match kind {
            TargetKind::File { file_system, number } => (Some(file_system), device_below(number)),
            TargetKind::Device { number } => (None, Some(number)),
        };
        let device = number.and_then(SysfsDevice::find).map(|device| device.whole());
        let about = device.as_ref().map(Self::about).unwrap_or_default();
        Self {
            path: path.to_owned(),
            file_system,
            kernel: tidegate_platform::identity::kernel_release(),
            ..about
        }
    }

    /// Returns the facts that sysfs reports about a whole disk.
    fn about(device: &SysfsDevice) -> Self {
        let bytes = |name: &str| device.number_attribute(name).map(Bytes::new);
        let kib = |name: &str| device.number_attribute(name).map(Bytes::from_kib);
        let count =
            |name: &str| device.number_attribute(name).and_then(|count| u32::try_from(count).ok());
        Self {
            device: Some(device.name()),
            number: device.number(),
            model: device.model(),
            driver: device.driver(),
            firmware: firmware_of(device),
            rotational: device.number_attribute("queue/rotational").map(|value| value == 1),
            scheduler: device.scheduler(),
            request_size_max: kib("queue/max_sectors_kb").filter(|size| size.get() > 0),
            segments_max: device.number_attribute("queue/max_segments"),
            requests_max: count("queue/nr_requests"),
            queue_depth: count("device/queue_depth"),
            ncq_priority: device.number_attribute(NCQ_PRIORITY).map(|value| value == 1),
            write_cache: device
                .attribute("queue/write_cache")
                .as_deref()
                .and_then(WriteCache::from_name),
            logical_block_size: bytes("queue/logical_block_size"),
            physical_block_size: bytes("queue/physical_block_size"),
            layers: below(device).iter().map(SysfsDevice::name).collect(),
            natures: Layer::all_of(device, &below(device)),
            serial_hash: serial_of(device).as_deref().map(hashed),
            ..Self::default()
        }
    }
}

/// Returns the firmware revision; NVMe, SCSI and MMC each have their own attribute for it.
fn firmware_of(device: &SysfsDevice) -> Option<String> {
    ["device/firmware_rev", "device/rev", "device/fwrev"]
        .iter()
        .find_map(|name| device.attribute(name))
}

/// Returns all devices on which this one is built, depth first.
fn below(device: &SysfsDevice) -> Vec<SysfsDevice> {
    let and_below = |slave: SysfsDevice| {
        let deeper = below(&slave.whole());
        std::iter::once(slave).chain(deeper)
    };
    device.slaves().into_iter().chain(below_loop(device)).flat_map(and_below).collect()
}

/// Returns the serial number (NVMe and virtio) or the world-wide name (SCSI).
fn serial_of(device: &SysfsDevice) -> Option<String> {
    let names = ["device/serial", "serial", "device/vpd_pg80", "device/wwid", "wwid"];
    names.iter().find_map(|name| device.attribute(name))
}

/// The number of bytes of the hash that are kept: enough to distinguish all disks in the world.
const HASH_BYTES: usize = 8;

/// Returns the beginning of the serial number's SHA-256. Drive files are shared, and a serial
/// number gives access to warranty pages.
pub fn hashed(serial: &str) -> String {
    let hash = Sha256::digest(serial.as_bytes());
    hash.iter().take(HASH_BYTES).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Returns the device that holds the file behind a loop device.
fn below_loop(device: &SysfsDevice) -> Option<SysfsDevice> {
    let status = rustix::fs::stat(device.attribute("loop/backing_file")?).ok()?;
    SysfsDevice::find(device_below(DeviceNumber::from_stat(status.st_dev))?)
}

/// libata's switch for NCQ priority, as a sysfs attribute.
const NCQ_PRIORITY: &str = "device/ncq_prio_enable";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::Nature;

    #[test]
    fn a_serial_number_is_told_apart_and_not_read() {
        assert_eq!(hashed("abc"), "ba7816bf8f01cfea", "FIPS 180-2, appendix B.1");
        assert_ne!(hashed("WD-1"), hashed("WD-2"));
    }

    #[test]
    fn disks_of_hypervisors_are_known_by_driver_or_model() {
        let with = |driver: &str, model: &str| DeviceFacts {
            driver: Some(driver.to_owned()),
            model: Some(model.to_owned()),
            ..DeviceFacts::default()
        };
        assert!(with("virtio_blk", "virtio_blk").is_virtual());
        assert!(with("sd", "QEMU HARDDISK").is_virtual());
        assert!(!with("nvme", "Samsung SSD 990 PRO").is_virtual());
        assert!(!DeviceFacts::default().is_virtual());
    }

    /// A mapped device lies on two partitions of one hypervisor's disk; the device and the disk
    /// each have a scheduler.
    #[test]
    fn what_lies_below_is_told_of_the_whole_disk_and_once() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| root.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("a folder");
            std::fs::write(at(name), text).expect("an attribute");
        };
        write("dm-9/dm/name", "root\n");
        write("dm-9/queue/scheduler", "none [bfq]\n");
        write("sdz/queue/scheduler", "[mq-deadline] none\n");
        write("sdz/device/vendor", "QEMU\n");
        write("sdz/device/model", "HARDDISK\n");
        std::fs::create_dir_all(at("dm-9/slaves")).expect("a folder");
        for partition in ["sdz1", "sdz2"] {
            write(&format!("sdz/{partition}/partition"), "1\n");
            let slave = at("dm-9/slaves").join(partition);
            std::os::unix::fs::symlink(at("sdz").join(partition), slave).expect("a link");
        }
        let about = DeviceFacts::about(&SysfsDevice::at(at("dm-9")));
        let natures: Vec<_> =
            about.natures.iter().map(|it| (it.device.as_str(), it.nature.clone())).collect();
        let name = "mq-deadline".to_owned();
        assert_eq!(
            natures,
            [
                ("dm-9", Nature::Mapped { by: String::new() }),
                ("sdz", Nature::Virtual),
                ("sdz", Nature::Scheduler { name }),
            ],
            "the device's own scheduler is in `scheduler`, not in `natures`"
        );
        assert_eq!(about.scheduler.as_deref(), Some("bfq"));
    }

    #[test]
    fn priority_is_told_where_its_switch_says_so() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let disk = root.path().join("sdz");
        std::fs::create_dir_all(disk.join("device")).expect("directories");
        let about = || DeviceFacts::about(&SysfsDevice::at(disk.clone())).ncq_priority;
        assert_eq!(about(), None, "no switch");
        for (text, expected) in [("0\n", Some(false)), ("1\n", Some(true))] {
            std::fs::write(disk.join(NCQ_PRIORITY), text).expect("the switch");
            assert_eq!(about(), expected);
        }
    }

    #[test]
    fn a_request_above_the_limit_is_split() {
        let facts =
            DeviceFacts { request_size_max: Some(Bytes::from_kib(128)), ..DeviceFacts::default() };
        assert_eq!(facts.splits(Bytes::from_kib(128)), None);
        let splitting = Splitting { pieces: 3, size_max: Bytes::from_kib(128) };
        assert_eq!(facts.splits(Bytes::from_kib(257)), Some(splitting));
        assert_eq!(DeviceFacts::default().splits(Bytes::from_kib(4096)), None);
    }
}
