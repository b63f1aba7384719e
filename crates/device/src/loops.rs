// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the file or device behind a loop device: from the device itself, or else from its path in
//! sysfs.
//!
//! A path is unreliable: the file can have lost that name and kept another, or can have it only in
//! another mount namespace. So the device itself is queried first, which requires permission to
//! open it (root, or the group `disk`). Callers without it use the path.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat, open, stat};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use crate::sysfs::{DeviceNumber, SysfsDevice, loops};

/// The kernel's `LOOP_GET_STATUS64`.
const GET_STATUS: Opcode = 0x4c05;

/// The suffix that the kernel appends to the path of a file that lost that name.
const DELETED: &[u8] = b" (deleted)";

/// Identifies a file or device regardless of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    file_system: DeviceNumber,
    inode: u64,
    /// The device's number, for a block device.
    device: Option<DeviceNumber>,
}

impl Identity {
    /// Makes an identity from the result of `stat`.
    pub(crate) fn of(status: &Stat) -> Self {
        let is_device = FileType::from_raw_mode(status.st_mode) == FileType::BlockDevice;
        Self {
            file_system: DeviceNumber::from_stat(status.st_dev),
            inode: status.st_ino,
            device: is_device.then(|| DeviceNumber::from_stat(status.st_rdev)),
        }
    }

    /// Returns the block device's number; `None` for a file.
    pub(crate) fn device(&self) -> Option<DeviceNumber> {
        self.device
    }
}

/// The file or device behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// This file or device is behind the loop device.
    Known(Identity),
    /// The loop device cannot be opened, and no file is found at its path.
    Unknown,
}

/// Returns the names of the attached loop devices, each with its file or device.
pub(crate) fn attached() -> impl Iterator<Item = (String, Behind)> {
    loops().filter_map(|device| Some((device.name(), behind(&device)?)))
}

/// Returns the file or device behind a loop device; `None` if nothing is attached any more.
fn behind(device: &SysfsDevice) -> Option<Behind> {
    match ask(&Path::new("/dev").join(device.name())) {
        Ok(identity) => Some(Behind::Known(identity)),
        // The loop device is not attached.
        Err(Errno::NXIO) => None,
        Err(_) => device.backing_path().map(|path| at(&path)),
    }
}

/// Identifies the file at the path from sysfs. A path that ends in ` (deleted)` is unknown, even if
/// a file of that very name exists.
fn at(path: &Path) -> Behind {
    if path.as_os_str().as_bytes().ends_with(DELETED) {
        return Behind::Unknown;
    }
    stat(path).map_or(Behind::Unknown, |status| Behind::Known(Identity::of(&status)))
}

/// The kernel's `struct loop_info64`; the fields that are not used are in `rest`.
#[repr(C)]
struct LoopInfo {
    file_system: u64,
    inode: u64,
    device: u64,
    rest: [u64; 26],
}

const _: () = assert!(size_of::<LoopInfo>() == 232);

fn ask(device: &Path) -> Result<Identity, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let info = status_of(&open(device, flags, Mode::empty())?)?;
    // The kernel packs these device numbers as `stat` does.
    let number = DeviceNumber::from_stat;
    Ok(Identity {
        file_system: number(info.file_system),
        inode: info.inode,
        device: (info.device != 0).then(|| number(info.device)),
    })
}

#[expect(unsafe_code, reason = "an ioctl")]
fn status_of(device: &OwnedFd) -> Result<LoopInfo, Errno> {
    // SAFETY: the call fills a `struct loop_info64`, whose size, alignment and first fields
    // `LoopInfo` has, with integers, for which all bit patterns are valid. Other drivers reject the
    // code.
    unsafe { ioctl(device, Getter::<GET_STATUS, LoopInfo>::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_of_the_file_that_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("name with a blank ");
        std::fs::write(&path, "").expect("a file");
        let ours = Identity::of(&stat(&path).expect("it is there"));
        assert_eq!(at(&path), Behind::Known(ours));
        assert_eq!(at(&folder.path().join("gone")), Behind::Unknown);
    }

    #[test]
    fn a_file_with_the_name_of_a_deleted_one_is_not_taken_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("image (deleted)");
        std::fs::write(&path, "").expect("a file");
        assert_eq!(at(&path), Behind::Unknown);
    }
}
