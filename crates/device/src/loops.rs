// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is behind a loop device: by identity where it may be asked, else by the path in sysfs.
//!
//! A path says little: the file may have lost that name and keep another one, or have it in
//! another mount namespace only. So the device itself is asked first, which takes the right to
//! open it (root, or the group `disk`). The path is for everybody else.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat, open, stat};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use crate::sysfs::{DeviceNumber, SysfsDevice, loops};

/// `LOOP_GET_STATUS64` of the kernel.
const GET_STATUS: Opcode = 0x4c05;

/// What the kernel puts behind the path of a file that lost that name.
const DELETED: &[u8] = b" (deleted)";

/// Which file it is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    file_system: DeviceNumber,
    inode: u64,
    /// Of a block device.
    device: Option<DeviceNumber>,
}

impl Identity {
    /// From what `stat` tells.
    pub(crate) fn of(status: &Stat) -> Self {
        let is_device = FileType::from_raw_mode(status.st_mode) == FileType::BlockDevice;
        Self {
            file_system: DeviceNumber::from_stat(status.st_dev),
            inode: status.st_ino,
            device: is_device.then(|| DeviceNumber::from_stat(status.st_rdev)),
        }
    }

    /// The block device that it is.
    pub(crate) fn device(&self) -> Option<DeviceNumber> {
        self.device
    }
}

/// What is behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// This one.
    Known(Identity),
    /// The device may not be asked, and its path leads nowhere.
    Unknown,
}

/// The loop devices that something is behind, by name.
pub(crate) fn attached() -> impl Iterator<Item = (String, Behind)> {
    loops().filter_map(|device| Some((device.name(), behind(&device)?)))
}

/// None: nothing any more.
fn behind(device: &SysfsDevice) -> Option<Behind> {
    match ask(&Path::new("/dev").join(device.name())) {
        Ok(identity) => Some(Behind::Known(identity)),
        // Nothing is attached.
        Err(Errno::NXIO) => None,
        Err(_) => device.backing_path().map(|path| at(&path)),
    }
}

/// What the path in sysfs leads to. One that ends in ` (deleted)` leads to nothing, even where a
/// file of that very name is.
fn at(path: &Path) -> Behind {
    if path.as_os_str().as_bytes().ends_with(DELETED) {
        return Behind::Unknown;
    }
    stat(path).map_or(Behind::Unknown, |status| Behind::Known(Identity::of(&status)))
}

/// The kernel's `struct loop_info64`, with what is not read as `rest`.
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
    // The kernel's numbers of devices are packed as those of `stat` are.
    let number = DeviceNumber::from_stat;
    Ok(Identity {
        file_system: number(info.file_system),
        inode: info.inode,
        device: (info.device != 0).then(|| number(info.device)),
    })
}

#[expect(unsafe_code, reason = "an ioctl")]
fn status_of(device: &OwnedFd) -> Result<LoopInfo, Errno> {
    // SAFETY: it fills a `struct loop_info64`, of which `LoopInfo` has the size, the alignment and
    // the first fields, in whole numbers for which all bits are right. Another driver does not
    // know the code.
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
