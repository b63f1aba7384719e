// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The record of an attached disk: the way in which it is attached, and its mapping. The changed
//! settings and the written files have a separate record ([`tidegate_tune::Record`]).

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_tune::{Disk, GoneError, GoneSearch, Root};

/// The folder of all records, relative to the root.
const FOLDER: &str = "var/lib/tidegate/attach";

/// A way to keep a workload's deadlines on a disk, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The kernel target `dm-tidegate`.
    Kernel,
    /// A service behind `/dev/ublkbN`.
    Ublk,
    /// The kernel's own scheduler, with the settings of a proof.
    Stock,
}

impl Way {
    /// All ways, the strongest first.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Ublk, Self::Stock];

    /// Returns the way's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Ublk => "ublk",
            Self::Stock => "stock",
        }
    }
}

/// An attached disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The kernel's name for the disk when it was attached; missing in records of earlier versions.
    #[serde(default)]
    pub device: Option<String>,
    /// The way in which the disk is attached.
    pub way: Way,
    /// Whether installed files attach the disk again at each boot.
    pub is_installed: bool,
    /// The id of the boot in which the disk was attached; `None` if the kernel does not show it.
    pub boot: Option<String>,
    /// The mapping; `None` if this way of attachment needs no mapping.
    pub mapping: Option<Promise>,
}

/// A mapping, and the bounds that its plan guarantees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// The mapping's name below `/dev/mapper`.
    pub name: String,
    /// The mapping's table for the device mapper.
    pub table: String,
    /// The largest response-time bound of any task.
    pub response_ns_max: u64,
    /// The longest time that the plan allows from an event until the target has sent the requests
    /// that the event allows.
    pub submit_ns_max: u64,
}

impl Promise {
    /// Returns the path of the disk in the table.
    pub fn device(&self) -> Option<&str> {
        self.table.split_whitespace().nth(3)
    }
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachmentError {
    /// A file cannot be read, written or removed.
    #[error("cannot {verb} {}", .path.display())]
    File {
        /// The operation: `read`, `write` or `remove`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The record is damaged.
    #[error("the record {} is damaged", .path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// The record's fault.
        source: serde_json::Error,
    },
    /// The search for a disk that is gone cannot tell whether it is.
    #[error(transparent)]
    Gone(#[from] GoneError),
}

impl Attachment {
    /// Returns the record of a disk, if it is attached. A restart ends an attachment that is not
    /// installed.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn of(disk: &Disk) -> Result<Option<Self>, AttachmentError> {
        let is_now = |record: &Self| record.is_installed || record.boot == disk.root().boot();
        Ok(Self::read(place(disk))?.filter(is_now))
    }

    /// Returns whether the record of a disk is from before a restart that ended the attachment.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn is_over(disk: &Disk) -> Result<bool, AttachmentError> {
        Ok(Self::read(place(disk))?.is_some() && Self::of(disk)?.is_none())
    }

    /// Returns the attached disks that are gone from the machine and match this name: the name of
    /// the record or of the mapping (with or without `/dev/mapper/`), or the disk's path in the
    /// mapping's table. If no present device has the name, the kernel's name for the disk when it
    /// was attached matches too, except for a disk without a permanent name, because the kernel can
    /// have renamed it. Set `is_unknown` if [`Disk::find`] does not find the name.
    ///
    /// # Errors
    /// If the present disks cannot be listed, if a record cannot be read, or if only a disk without
    /// a permanent name had the name.
    pub fn gone(root: &Root, name: &str, is_unknown: bool) -> Result<Vec<Disk>, AttachmentError> {
        let mapping = name.strip_prefix("/dev/mapper/").unwrap_or(name);
        let mut search = GoneSearch::new(root, name, is_unknown);
        for (path, stem) in search.records(FOLDER)? {
            let Some(record) = Self::read(path)? else { continue };
            let promise = record.mapping.as_ref();
            let path = promise.and_then(Promise::device);
            let by_kernel = path.and_then(kernel_name);
            let is_named = promise.is_some_and(|promise| promise.name == mapping)
                || by_kernel.is_none() && path == Some(name);
            let device = record.device.as_deref().or(by_kernel);
            search.enter(&stem, device, is_named);
        }
        Ok(search.finish()?)
    }

    fn read(path: PathBuf) -> Result<Option<Self>, AttachmentError> {
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|source| AttachmentError::Damaged { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(AttachmentError::File { verb: "read", path, source }),
        }
    }

    /// Writes the record atomically.
    ///
    /// # Errors
    /// If the record cannot be written.
    ///
    /// # Panics
    /// Never: a record is plain data.
    pub fn save(&self, disk: &Disk) -> Result<(), AttachmentError> {
        let path = place(disk);
        let new = path.with_extension("new");
        let text = serde_json::to_string_pretty(self).expect("a record is plain data");
        let folder = path.parent().unwrap_or(&path);
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::write(&new, text + "\n"))
            .and_then(|()| fs::rename(&new, &path));
        written.map_err(|source| AttachmentError::File { verb: "write", path, source })
    }

    /// Removes the record of a disk.
    ///
    /// # Errors
    /// If the record cannot be removed.
    pub fn forget(disk: &Disk) -> Result<(), AttachmentError> {
        let path = place(disk);
        fs::remove_file(&path).map_err(|source| AttachmentError::File {
            verb: "remove",
            path,
            source,
        })
    }
}

/// Returns the kernel's name in a path `/dev/NAME`; `None` for a longer path.
fn kernel_name(path: &str) -> Option<&str> {
    path.strip_prefix("/dev/").filter(|name| !name.contains('/'))
}

fn place(disk: &Disk) -> PathBuf {
    disk.root().at(FOLDER).join(format!("{}.json", disk.file_name()))
}
