// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why a drive cannot be attached or detached.

use std::fmt;
use std::io;
use std::path::PathBuf;

use tidegate_device::OpenError;
use tidegate_device::in_use::{Opener, Use};
use tidegate_model::Bytes;

/// The reason why a drive cannot be attached. A failed attachment leaves nothing behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The caller is not root.
    #[error(
        "only root can create block devices: {}",
        tidegate_platform::privileges::advice("run the command with sudo")
    )]
    NotRoot,
    /// FUSE is not available.
    #[error(
        "cannot open /dev/fuse ({source}): load the module (`modprobe fuse`), or give the container the device"
    )]
    NoFuse {
        /// The system's error.
        source: io::Error,
    },
    /// Loop devices are not available.
    #[error(
        "cannot open /dev/loop-control ({source}): load the module (`modprobe loop`), or give the container the device"
    )]
    NoLoop {
        /// The system's error.
        source: io::Error,
    },
    /// `losetup` is not installed.
    #[error("cannot run losetup ({source}): install util-linux (Debian: `apt-get install mount`)")]
    LosetupMissing {
        /// The system's error.
        source: io::Error,
    },
    /// No loop device could be attached.
    #[error("cannot attach a loop device: {reason}; `losetup --list` shows those in use")]
    LoopRefused {
        /// The message of `losetup`.
        reason: String,
    },
    /// The loop device would use the page cache.
    #[error("{} does not support direct I/O here, so the page cache would serve requests instead of the drive", device.display())]
    NotDirect {
        /// The device, which was detached again.
        device: PathBuf,
    },
    /// The device's previous user made it read-only, and this could not be changed.
    #[error("{} was left read-only by its previous user: run `blockdev --setrw {}`", device.display(), device.display())]
    ReadOnly {
        /// The device.
        device: PathBuf,
    },
    /// The kernel refused a queue setting.
    #[error("cannot set {} to {value}: {source}", path.display())]
    Setting {
        /// The attribute's path.
        path: PathBuf,
        /// The refused value.
        value: String,
        /// The system's error.
        source: io::Error,
    },
    /// The size is not valid for a disk.
    #[error("a disk cannot have a size of {size}: give a multiple of 512 B above 0")]
    NotSectors {
        /// The requested size.
        size: Bytes,
    },
    /// The disk would be larger than its drive.
    #[error("`{drive}` holds {capacity}, less than {size}: give a size up to {capacity}")]
    TooLarge {
        /// The drive's name.
        drive: String,
        /// The drive's capacity.
        capacity: Bytes,
        /// The requested size.
        size: Bytes,
    },
    /// The name is taken.
    #[error(
        "`{name}` is attached already, or was not cleaned up: run `tidegate drive detach {name}`, or give another name"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Another process uses the store.
    #[error(
        "the store {} is in use by another attached drive or by a service: stop it, or name another file",
        path.display()
    )]
    StoreInUse {
        /// The store's path.
        path: PathBuf,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The drive cannot be simulated.
    #[error(transparent)]
    Drive(#[from] tidegate_drive::BuildError),
    /// The host refused another operation.
    #[error("cannot {what}: {source}")]
    Host {
        /// The operation.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

/// Makes the error of a host operation that failed.
pub(crate) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> AttachError {
    let what = what.into();
    move |source| AttachError::Host { what, source }
}

/// The users of a device, which must close it before it can be detached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holders {
    /// A mount, swap, or another device that uses it.
    pub used: Option<Use>,
    /// Processes that have it open.
    pub openers: Vec<Opener>,
}

impl Holders {
    /// Returns whether the device has no users.
    pub fn is_empty(&self) -> bool {
        self.used.is_none() && self.openers.is_empty()
    }
}

impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.used.iter().map(ToString::to_string);
        let openers = self.openers.iter().map(|opener| format!("{opener} has it open"));
        f.write_str(&used.chain(openers).collect::<Vec<_>>().join("; "))
    }
}

/// The reason why a drive cannot be detached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetachError {
    /// The caller is not root.
    #[error(
        "only root can remove block devices: {}",
        tidegate_platform::privileges::advice("run the command with sudo")
    )]
    NotRoot,
    /// The device has users.
    #[error(
        "`{name}` is in use: {holders}; close it, or detach it with `--force`, which fails their requests"
    )]
    InUse {
        /// The drive's name.
        name: String,
        /// The device's users.
        holders: Holders,
    },
    /// The process that serves the drive does not end.
    #[error("process {pid}, which serves `{name}`, does not end; `--force` ends it")]
    StillServed {
        /// The drive's name.
        name: String,
        /// The process.
        pid: u32,
    },
    /// The host refused an operation.
    #[error("cannot {what}: {source}")]
    Host {
        /// The operation.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}
