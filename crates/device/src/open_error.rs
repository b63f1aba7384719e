// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons to refuse a target: what is wrong with it and what to do.

use std::path::PathBuf;

use rustix::io::Errno;
use tidegate_model::Bytes;

use crate::in_use::Use;

/// Why a target cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system refused, for a reason other than permission.
    #[error("cannot open {}: {source}", path.display())]
    Refused {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: Errno,
    },
    /// The caller has no permission.
    #[error(
        "no permission to open {} ({source}): {}; give a container access to the device",
        path.display(),
        tidegate_platform::privileges::advice("run as root or as a member of the group that owns it")
    )]
    NoPermission {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: Errno,
    },
    /// The path names neither a block device nor a regular file.
    #[error("{} is {what}: name a block device (such as /dev/sda) or a regular file", path.display())]
    NotStorage {
        /// The path.
        path: PathBuf,
        /// The kind of the object, with its article.
        what: &'static str,
    },
    /// The store of a simulated drive is not a regular file.
    #[error(
        "{} is {what}, and a store is a regular file: name a file, or a path that does not exist yet",
        path.display()
    )]
    NoStore {
        /// The path.
        path: PathBuf,
        /// The kind of the object, with its article.
        what: &'static str,
    },
    /// The file system keeps its data in memory.
    #[error(
        "{} lies on {file_system}, which keeps its data in memory: there is no device behind it; name a file on a disk",
        path.display()
    )]
    MemoryFileSystem {
        /// The path.
        path: PathBuf,
        /// The file system's name.
        file_system: String,
    },
    /// The file system or the driver refuses direct I/O.
    #[error(
        "{} lies on {file_system}, which does not support direct I/O here: reads would come from the page cache; name the block device itself or a file on ext4 or xfs",
        path.display()
    )]
    NoDirectIo {
        /// The path.
        path: PathBuf,
        /// The file system's name, or the driver's for a device.
        file_system: String,
    },
    /// The file system accepts direct I/O but uses the page cache.
    #[error(
        "{} lies on {file_system}, which accepted direct I/O but kept the read data in the page cache; name the block device itself or a file on ext4 or xfs",
        path.display()
    )]
    DirectIoPretended {
        /// The path.
        path: PathBuf,
        /// The file system's name.
        file_system: String,
    },
    /// The file's pages stay in the page cache.
    #[error(
        "{} on {file_system} stays in the page cache: run `sync`, close the programs that use it, and try again; if that does not help, {file_system} keeps it in memory",
        path.display()
    )]
    StaysInMemory {
        /// The path.
        path: PathBuf,
        /// The file system's name.
        file_system: String,
    },
    /// The file has parts that were never written.
    #[error(
        "{} was never written at byte {offset} of {size}: a read there does not reach the device; `tidegate profile NEW.img --create {size} --only batch -o NEW.drive.toml` makes and measures a fully written file",
        path.display()
    )]
    Sparse {
        /// The path.
        path: PathBuf,
        /// The byte at which the first hole starts.
        offset: u64,
        /// The size of the file.
        size: Bytes,
    },
    /// A loop device reads its file through the page cache.
    #[error(
        "{device} reads the file behind it through the page cache: run `losetup --direct-io=on /dev/{device}`, or name the file itself"
    )]
    LoopThroughPageCache {
        /// The loop device.
        device: String,
    },
    /// The target is smaller than one block.
    #[error("{} holds {size}, less than one block of {size_min}; `tidegate profile NEW.img --create 1GiB --only batch -o NEW.drive.toml` makes and measures a file", path.display())]
    TooSmall {
        /// The path.
        path: PathBuf,
        /// The target's size.
        size: Bytes,
        /// The minimum size, one block.
        size_min: Bytes,
    },
    /// The file or device that would be overwritten is in use.
    #[error("{} must not be written: {used}", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
        /// The user of the file or device.
        used: Use,
    },
}
