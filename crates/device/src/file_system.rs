// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds which file system holds a file, and whether it keeps its data on a device.
//!
//! Both follow from the type that `statfs` reports. That a file can be opened for direct I/O proves
//! nothing, because recent kernels accept `O_DIRECT` on tmpfs.

use rustix::fs::{FsWord, StatFs};

/// Where a file system keeps its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// On a block device of this machine, judging by the type.
    Device,
    /// In memory only: a measurement there does not measure a device.
    Memory,
    /// Behind a network or another program.
    Remote,
}

/// A file system type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// The type's name as `mount` prints it, or its number if the name is not known here.
    pub(crate) name: String,
    /// Where a file system of this type keeps its data.
    pub(crate) storage: Storage,
}

/// `f_type`, name, storage; from `statfs(2)` and `linux/magic.h`.
const KNOWN: [(FsWord, &str, Storage); 30] = [
    (0x0102_1994, "tmpfs", Storage::Memory),
    (0x8584_58F6, "ramfs", Storage::Memory),
    (0x9584_58F6, "hugetlbfs", Storage::Memory),
    (0x1373, "devfs", Storage::Memory),
    (0x9FA0, "proc", Storage::Memory),
    (0x6265_6572, "sysfs", Storage::Memory),
    (0x6462_6720, "debugfs", Storage::Memory),
    (0x7472_6163, "tracefs", Storage::Memory),
    (0x0027_E0EB, "cgroup", Storage::Memory),
    (0x6367_7270, "cgroup2", Storage::Memory),
    (0x1CD1, "devpts", Storage::Memory),
    (0x6265_6570, "configfs", Storage::Memory),
    (0xDE5E_81E4, "efivarfs", Storage::Memory),
    (0x7363_6673, "securityfs", Storage::Memory),
    (0xEF53, "ext4", Storage::Device),
    (0x5846_5342, "xfs", Storage::Device),
    (0x9123_683E, "btrfs", Storage::Device),
    (0xF2F5_2010, "f2fs", Storage::Device),
    (0x2FC1_2FC1, "zfs", Storage::Device),
    (0xCA45_1A4E, "bcachefs", Storage::Device),
    (0x2011_BAB0, "exfat", Storage::Device),
    (0x4D44, "vfat", Storage::Device),
    (0x5346_544E, "ntfs", Storage::Device),
    (0x794C_7630, "overlay", Storage::Device),
    (0x6969, "nfs", Storage::Remote),
    (0xFF53_4D42, "cifs", Storage::Remote),
    (0xFE53_4D42, "smb2", Storage::Remote),
    (0x0102_1997, "9p", Storage::Remote),
    (0x6573_5546, "fuse", Storage::Remote),
    (0x00C3_6400, "ceph", Storage::Remote),
];

impl FileSystem {
    /// Returns the file system that `statfs` described.
    pub(crate) fn of(stat: &StatFs) -> Self {
        let known = KNOWN.iter().find(|(magic, ..)| *magic == stat.f_type);
        match known {
            Some(&(_, name, storage)) => Self { name: name.to_owned(), storage },
            None => Self {
                name: format!("file system type {:#x}", stat.f_type),
                storage: Storage::Device,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_system_of(path: &str) -> FileSystem {
        FileSystem::of(&rustix::fs::statfs(path).expect("statfs works"))
    }

    #[test]
    fn proc_is_memory_and_has_its_name() {
        let proc = file_system_of("/proc");
        assert_eq!((proc.name.as_str(), proc.storage), ("proc", Storage::Memory));
    }

    #[test]
    fn no_type_is_listed_twice() {
        let mut magics: Vec<_> = KNOWN.iter().map(|(magic, ..)| *magic).collect();
        magics.sort_unstable();
        magics.dedup();
        assert_eq!(magics.len(), KNOWN.len());
    }
}
