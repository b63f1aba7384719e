// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a drive cannot be attached or detached.

use std::fmt;
use std::io;
use std::path::PathBuf;

use tidegate_device::OpenError;
use tidegate_device::in_use::{Opener, Use};
use tidegate_model::Bytes;

/// Why a drive cannot be attached. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// Somebody who may not.
    #[error("only root may make block devices: run it with sudo")]
    NotRoot,
    /// No FUSE.
    #[error(
        "cannot open /dev/fuse ({source}): load the module (`modprobe fuse`), or give the container the device"
    )]
    NoFuse {
        /// Why.
        source: io::Error,
    },
    /// No loop devices.
    #[error(
        "cannot open /dev/loop-control ({source}): load the module (`modprobe loop`), or give the container the device"
    )]
    NoLoop {
        /// Why.
        source: io::Error,
    },
    /// No `losetup`.
    #[error("cannot run losetup ({source}): install util-linux (Debian: `apt-get install mount`)")]
    LosetupMissing {
        /// Why.
        source: io::Error,
    },
    /// No loop device for us.
    #[error("no loop device: {reason}; `losetup --list` shows those in use")]
    LoopRefused {
        /// What `losetup` said.
        reason: String,
    },
    /// The page cache would answer.
    #[error("{} has no direct I/O here, so the page cache would answer instead of the drive", device.display())]
    NotDirect {
        /// The device, which is gone again.
        device: PathBuf,
    },
    /// Somebody made the device read-only, and it stays so.
    #[error("{} is read-only from whoever had it before: run `blockdev --setrw {}`", device.display(), device.display())]
    ReadOnly {
        /// The device.
        device: PathBuf,
    },
    /// The kernel does not let us.
    #[error("cannot set {} to {value}: {source}", path.display())]
    Setting {
        /// Which attribute.
        path: PathBuf,
        /// What it was to be.
        value: String,
        /// Why not.
        source: io::Error,
    },
    /// The size is none for a disk.
    #[error("a disk of {size} is not whole sectors of 512 B, or empty")]
    NotSectors {
        /// What was asked for.
        size: Bytes,
    },
    /// More than there is.
    #[error("`{drive}` holds {capacity}, which is less than {size}: ask for no more than it holds")]
    TooLarge {
        /// The drive.
        drive: String,
        /// What it holds.
        capacity: Bytes,
        /// What was asked for.
        size: Bytes,
    },
    /// The name belongs to another one.
    #[error(
        "`{name}` is attached already, or was not cleaned up: `tidegate drive detach {name}` does, or give another name"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Two drives would write to one store.
    #[error(
        "the store {} is in use by another attached drive, or by a service: stop that one, or name another file",
        path.display()
    )]
    StoreInUse {
        /// Which.
        path: PathBuf,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The drive cannot be simulated.
    #[error(transparent)]
    Drive(#[from] tidegate_drive::BuildError),
    /// The machine refused something else.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// Why.
        source: io::Error,
    },
}

/// Makes a host's refusal of what was tried.
pub(crate) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> AttachError {
    let what = what.into();
    move |source| AttachError::Host { what, source }
}

/// Who must let go of a device before it may be detached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holders {
    /// A mount, swap, or another device.
    pub used: Option<Use>,
    /// Processes that have it open.
    pub openers: Vec<Opener>,
}

impl Holders {
    /// Whether nobody has it.
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

/// Why a drive cannot be detached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetachError {
    /// Somebody who may not.
    #[error("only root may take block devices away: run it with sudo")]
    NotRoot,
    /// Somebody uses it.
    #[error("`{name}` is in use: {holders}; `--force` pulls it out, as one pulls out a disk")]
    InUse {
        /// The drive's name.
        name: String,
        /// By whom.
        holders: Holders,
    },
    /// The process that serves it goes on.
    #[error("process {pid}, which serves `{name}`, does not end; `--force` ends it")]
    StillServed {
        /// The drive's name.
        name: String,
        /// The process.
        pid: u32,
    },
    /// The machine refused something.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// Why.
        source: io::Error,
    },
}
