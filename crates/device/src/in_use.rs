// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who else uses a block device or a file: file systems, swap, devices built on it.
//!
//! Asked before anything is written. The kernel's exclusive open is asked as well, and it
//! has the last word; the answers here carry the name that people need.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstat, open, stat};
use rustix::io::Errno;

use crate::lease::is_ours_alone;
use crate::loops::{self, Behind, Identity};
use crate::sysfs::{DeviceNumber, SysfsDevice};

/// Who uses a device or file, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// It, or a partition of it, is mounted.
    Mounted {
        /// Where.
        mount_point: PathBuf,
    },
    /// It, or a partition of it, is swap.
    Swap {
        /// The name under which it is.
        name: PathBuf,
    },
    /// Another block device is built on it.
    Held {
        /// The other device.
        holder: String,
    },
    /// Another block device may be built on it: it cannot be asked.
    Undecided {
        /// The other device.
        holder: String,
    },
    /// The kernel says so and not for whom.
    Claimed,
    /// The kernel says so, and nobody who is seen from here has it.
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
                "{holder} may be built on it: what is behind {holder} cannot be told from here, and \
                 somebody may have this file open; run it as root where /dev/{holder} is, or \
                 `losetup --detach /dev/{holder}` first"
            ),
            Self::Claimed => write!(
                f,
                "another program or file system has claimed it; `lsof` and `lsblk` tell which one"
            ),
            Self::Elsewhere => write!(
                f,
                "somebody elsewhere holds it, most likely a mount in another mount namespace (a \
                 container); `lsns -t mnt` lists them; unmount it there first"
            ),
        }
    }
}

/// Who uses the block device at that path, one of its partitions, or the disk it is a part of;
/// also none where there is no such device.
pub fn of_device_at(path: &Path) -> Option<Use> {
    of_device(device_at(path)?)
}

/// The same, and where nobody is found the kernel is asked whether somebody has it for themselves: a
/// mount in another mount namespace is seen nowhere else. The device is opened for that, for a moment.
/// Whoever may not open it learns no more than before.
pub fn of_device_or_elsewhere(path: &Path) -> Option<Use> {
    of_device_at(path).or_else(|| is_claimed(path).then_some(Use::Elsewhere))
}

fn is_claimed(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // What `O_EXCL` means without `O_CREAT` is only defined for block devices.
    device_at(path).is_some() && open(path, flags, Mode::empty()).err() == Some(Errno::BUSY)
}

/// A process that has a device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// Its number.
    pub pid: u32,
    /// What it calls itself.
    pub name: String,
}

impl fmt::Display for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// The processes that have the block device at that path open, or a partition of it, as far as
/// the caller may look.
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
    // A link is read and not followed: what it leads to may not answer.
    let mut targets = links.flatten().filter_map(|link| std::fs::read_link(link.path()).ok());
    targets.any(|target| is_device_or_partition(&target, device)).then(|| {
        let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
        Opener { pid, name: name.trim().to_owned() }
    })
}

/// `/dev/loop1p2` is a partition of `/dev/loop1`, `/dev/loop12` is not.
fn is_device_or_partition(path: &Path, device: &Path) -> bool {
    let (path, device) = (path.as_os_str().as_bytes(), device.as_os_str().as_bytes());
    let rest = path.strip_prefix(device);
    rest.is_some_and(|rest| matches!(rest, [] | [b'p', b'0'..=b'9', ..]))
}

/// Who uses the block device, one of its partitions, or the disk it is a part of.
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

/// Who uses a regular file: swap or a loop device.
///
/// A loop device is known by the file behind it, whatever that is called by now and wherever it
/// was attached. Where the device may not be opened its path in sysfs has to do, and where that
/// leads nowhere (a name that was removed, another mount namespace, a folder that is closed) the
/// kernel is asked whether anybody else has this file open: nobody, and it is not the loop device
/// either. So loop devices of others are in nobody's way, and a file is refused only where it is in
/// doubt.
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

/// Where the device or a partition of it is mounted.
pub(crate) fn mount_of(number: DeviceNumber) -> Option<PathBuf> {
    mounted(&mounts(), &family_of(number))
}

/// The device that holds the file system which reports `number` as its own.
///
/// Some file systems (btrfs, overlay) report a number without a device; their source in
/// the list of mounts leads further.
pub(crate) fn device_below(number: DeviceNumber) -> Option<DeviceNumber> {
    if SysfsDevice::find(number).is_some() {
        return Some(number);
    }
    let mount = mounts().into_iter().find(|mount| mount.number == number)?;
    device_at(&mount.source)
}

/// The device, its partitions, and the whole disk it is a part of.
fn family_of(number: DeviceNumber) -> Vec<DeviceNumber> {
    let Some(device) = SysfsDevice::find(number) else { return vec![number] };
    let partitions = device.partitions().into_iter().filter_map(|partition| partition.number());
    let mut family: Vec<_> = partitions.chain(device.whole().number()).collect();
    if !family.contains(&number) {
        family.push(number);
    }
    family
}

/// One line of the list of mounts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    number: DeviceNumber,
    place: PathBuf,
    source: PathBuf,
}

fn mounts() -> Vec<Mount> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(read_mount).collect()
}

/// `id parent major:minor root mount-point options [optional..] - type source options`
fn read_mount(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(2);
    let number = head.next()?.parse().ok()?;
    let place = unescape(head.nth(1)?);
    let source = unescape(tail.split(' ').nth(1)?);
    Some(Mount { number, place, source })
}

/// Where one of the devices is mounted. Both the number and the source count: a file
/// system on several devices has a number of its own.
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

/// The names in the list of swaps.
fn swaps() -> Vec<PathBuf> {
    let text = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape).collect()
}

/// The number of the block device at a path.
fn device_at(path: &Path) -> Option<DeviceNumber> {
    let status = path.is_absolute().then(|| stat(path).ok()).flatten()?;
    let kind = rustix::fs::FileType::from_raw_mode(status.st_mode);
    (kind == rustix::fs::FileType::BlockDevice).then(|| DeviceNumber::from_stat(status.st_rdev))
}

/// The kernel writes blanks and backslashes in paths as three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = (*first == b'\\').then(|| tail.get(..3)).flatten();
        let code = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(code) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(code);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r"36 35 8:1 /root /mnt/my\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw";

    #[test]
    fn mount_line_gives_number_place_and_source() {
        let mount = read_mount(LINE).expect("a well-formed line");
        assert_eq!(mount.number, DeviceNumber { major: 8, minor: 1 });
        assert_eq!(mount.place, PathBuf::from("/mnt/my disk"));
        assert_eq!(mount.source, PathBuf::from("/dev/sda1"));
    }

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

    #[test]
    fn a_backslash_without_digits_stays() {
        assert_eq!(unescape(r"a\b\134c"), PathBuf::from(r"a\b\c"));
    }
}
