// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds other users of a block device or a file: file systems, swap, devices built on it.
//!
//! The checks run before anything is written. The kernel's exclusive open is also tried, and its
//! result decides; the checks here find the name of the user, for the error message.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstat, open, stat};
use rustix::io::Errno;

use crate::lease::is_ours_alone;
use crate::loops::{self, Behind, Identity};
use crate::mounts::{Mount, mounts, unescape};
use crate::sysfs::{DeviceNumber, SysfsDevice};

/// A user of a device or file; its displayed text says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// The device, or a partition of it, is mounted.
    Mounted {
        /// The mount point.
        mount_point: PathBuf,
    },
    /// The file, the device, or a partition of it is swap.
    Swap {
        /// The name in the kernel's list of swaps.
        name: PathBuf,
    },
    /// Another block device is built on the device or file.
    Held {
        /// The other device.
        holder: String,
    },
    /// Another block device may be built on the file; that device's backing file cannot be
    /// determined.
    Undecided {
        /// The other device.
        holder: String,
    },
    /// The kernel refuses to open the device exclusively, although the checks found no user.
    Claimed,
    /// The kernel reports the device in use, and no user is visible in this mount namespace.
    Elsewhere,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { mount_point } => {
                let mount_point = mount_point.display();
                write!(f, "it is mounted on {mount_point}; run `umount {mount_point}` first")
            }
            Self::Swap { name } => {
                let name = name.display();
                write!(f, "{name} is used as swap; run `swapoff {name}` first")
            }
            Self::Held { holder } => {
                write!(f, "{holder} is built on it; take {holder} down first, or name it instead")
            }
            Self::Undecided { holder } => write!(
                f,
                "{holder} may be built on it: the file behind {holder} cannot be determined from here, and \
                 another program may have this file open; run as root where /dev/{holder} exists, or run \
                 `losetup --detach /dev/{holder}` first"
            ),
            Self::Claimed => write!(
                f,
                "another program or file system has claimed it; `lsof` and `lsblk` show which one"
            ),
            Self::Elsewhere => write!(
                f,
                "a user that is not visible here holds it, most likely a mount in another mount namespace (a \
                 container); `lsns -t mnt` lists them; unmount it there first"
            ),
        }
    }
}

/// Returns the user of the block device at that path, of one of its partitions, or of the disk that
/// contains it; `None` if there is no user, or the path is not a block device.
pub fn of_device_at(path: &Path) -> Option<Use> {
    of_device(device_at(path)?)
}

/// Returns the result of [`of_device_at`]. If it finds no user, the kernel is asked whether the
/// device is claimed, because a mount in another mount namespace is visible in no other way. This
/// opens the device briefly. A caller without permission to open it gets the result of
/// [`of_device_at`].
pub fn of_device_or_elsewhere(path: &Path) -> Option<Use> {
    of_device_at(path).or_else(|| is_claimed(path).then_some(Use::Elsewhere))
}

fn is_claimed(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // `O_EXCL` without `O_CREAT` is defined only for block devices.
    device_at(path).is_some() && open(path, flags, Mode::empty()).err() == Some(Errno::BUSY)
}

/// A process that has a device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// The process's number.
    pub pid: u32,
    /// The process's name, as it sets it.
    pub name: String,
}

impl fmt::Display for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// Returns the processes that have the block device at that path, or a partition of it, open; only
/// those that the caller has permission to see.
pub fn openers(device: &Path) -> Vec<Opener> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pid = |name: OsString| name.to_str().and_then(|name| name.parse::<u32>().ok());
    let pids = processes.flatten().filter_map(|entry| pid(entry.file_name()));
    let mut found: Vec<_> = pids.filter_map(|pid| opener(pid, device)).collect();
    found.sort_by_key(|opener| opener.pid);
    found
}

fn opener(pid: u32, device: &Path) -> Option<Opener> {
    let folder = Path::new("/proc").join(pid.to_string());
    let links = std::fs::read_dir(folder.join("fd")).ok()?;
    // The link is only read: opening its target may block.
    let mut targets = links.flatten().filter_map(|link| std::fs::read_link(link.path()).ok());
    targets.any(|target| is_device_or_partition(&target, device)).then(|| {
        let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
        Opener { pid, name: name.trim().to_owned() }
    })
}

/// Returns whether the path is the device or its partition: `/dev/loop1p2` is a partition of
/// `/dev/loop1`, `/dev/loop12` is not.
fn is_device_or_partition(path: &Path, device: &Path) -> bool {
    let (path, device) = (path.as_os_str().as_bytes(), device.as_os_str().as_bytes());
    let rest = path.strip_prefix(device);
    rest.is_some_and(|rest| matches!(rest, [] | [b'p', b'0'..=b'9', ..]))
}

/// Returns the user of the block device, of one of its partitions, or of the disk that contains it.
pub(crate) fn of_device(number: DeviceNumber) -> Option<Use> {
    let family = family_of(number);
    if let Some(mount_point) = mounted(&mounts(), &family) {
        return Some(Use::Mounted { mount_point });
    }
    if let Some(name) = swap_on(|device| family.contains(&device)) {
        return Some(Use::Swap { name });
    }
    let held = family.iter().filter_map(|&member| SysfsDevice::find(member));
    let holder = held.flat_map(|member| member.holders()).next();
    let looped = || {
        let is_ours =
            |identity: Identity| identity.device().is_some_and(|device| family.contains(&device));
        let over = |behind| matches!(behind, Behind::Known(identity) if is_ours(identity));
        loops::attached().find_map(|(name, behind)| over(behind).then_some(name))
    };
    holder.or_else(looped).map(|holder| Use::Held { holder })
}

/// Returns the user of a regular file: swap or a loop device.
///
/// A loop device is identified by its backing file, regardless of the file's current name and of
/// where the device was attached. If the device cannot be opened, its path in sysfs is used. If
/// that path leads nowhere (a removed name, another mount namespace, a directory without access),
/// the kernel is asked whether this file is open anywhere else; if it is not, the loop device is
/// attached to another file. So a loop device of another user does not block unrelated files, and a
/// file is refused only in case of doubt.
pub fn of_file(file: impl AsFd) -> Option<Use> {
    let ours = Identity::of(&fstat(&file).ok()?);
    let is_ours = |name: &PathBuf| stat(name).is_ok_and(|status| Identity::of(&status) == ours);
    if let Some(name) = swaps().into_iter().find(is_ours) {
        return Some(Use::Swap { name });
    }
    let mut undecided = None;
    for (holder, behind) in loops::attached() {
        match behind {
            Behind::Known(identity) if identity == ours => return Some(Use::Held { holder }),
            Behind::Known(_) => {}
            Behind::Unknown => undecided = undecided.or(Some(holder)),
        }
    }
    let holder = undecided.filter(|_| !is_ours_alone(&file))?;
    Some(Use::Undecided { holder })
}

/// Returns the mount point of the device or of a partition of it.
pub(crate) fn mount_of(number: DeviceNumber) -> Option<PathBuf> {
    mounted(&mounts(), &family_of(number))
}

/// Returns the device that holds the file system that reports `number` as its own.
///
/// Some file systems (btrfs, overlay) report a number without a device; their source in the list of
/// mounts names the device.
pub(crate) fn device_below(number: DeviceNumber) -> Option<DeviceNumber> {
    if SysfsDevice::find(number).is_some() {
        return Some(number);
    }
    let mount = mounts().into_iter().find(|mount| mount.number == number)?;
    device_at(&mount.source)
}

/// Returns the device, its partitions, and the whole disk that contains it.
fn family_of(number: DeviceNumber) -> Vec<DeviceNumber> {
    let Some(device) = SysfsDevice::find(number) else { return vec![number] };
    let partitions = device.partitions().into_iter().filter_map(|partition| partition.number());
    let mut family: Vec<_> = partitions.chain(device.whole().number()).collect();
    if !family.contains(&number) {
        family.push(number);
    }
    family
}

/// Returns the mount point of one of the devices; `None` if none is mounted. Compares both the
/// number and the source, because a file system on several devices has its own number.
fn mounted(mounts: &[Mount], family: &[DeviceNumber]) -> Option<PathBuf> {
    let is_on = |mount: &&Mount| {
        family.contains(&mount.number)
            || device_at(&mount.source).is_some_and(|device| family.contains(&device))
    };
    mounts.iter().find(is_on).map(|mount| mount.place.clone())
}

fn swap_on(is_ours: impl Fn(DeviceNumber) -> bool) -> Option<PathBuf> {
    swaps().into_iter().find(|name| device_at(name).is_some_and(&is_ours))
}

/// Returns the names in the list of swaps.
fn swaps() -> Vec<PathBuf> {
    let text = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape).collect()
}

/// Returns the number of the block device at a path.
fn device_at(path: &Path) -> Option<DeviceNumber> {
    let status = path.is_absolute().then(|| stat(path).ok()).flatten()?;
    let kind = rustix::fs::FileType::from_raw_mode(status.st_mode);
    (kind == rustix::fs::FileType::BlockDevice).then(|| DeviceNumber::from_stat(status.st_rdev))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::read_mount;

    const LINE: &str = r"36 35 8:1 /root /mnt/my\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw";

    #[test]
    fn device_is_mounted_when_its_partition_is() {
        let mounts = [read_mount(LINE).expect("a well-formed line")];
        let disk = DeviceNumber { major: 8, minor: 0 };
        let partition = DeviceNumber { major: 8, minor: 1 };
        assert_eq!(mounted(&mounts, &[disk, partition]), Some(PathBuf::from("/mnt/my disk")));
        assert_eq!(mounted(&mounts, &[DeviceNumber { major: 9, minor: 9 }]), None);
    }

    #[test]
    fn partition_belongs_to_its_device_and_a_longer_number_does_not() {
        let is_of_loop1 = |path| is_device_or_partition(Path::new(path), Path::new("/dev/loop1"));
        let paths = ["/dev/loop1", "/dev/loop1p2", "/dev/loop12", "/dev/loop", "/dev/loop1px"];
        assert_eq!(paths.map(is_of_loop1), [true, true, false, false, false]);
    }
}
