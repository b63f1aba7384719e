// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Remarks about a target that is usable.

use std::path::PathBuf;

use tidegate_model::{Premise, PremiseCode};

/// A remark about a target that is not a reason to refuse it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The device carries a mounted file system.
    Mounted {
        /// The mount point.
        mount_point: PathBuf,
    },
    /// The file's data is on another machine or served by another program.
    Remote {
        /// The file system's name.
        file_system: String,
    },
    /// The kernel shows only to a file's owner and to root which of its pages are in memory, so
    /// direct I/O is unproven.
    DirectIoUnproven {
        /// The file system's name.
        file_system: String,
    },
    /// The block device keeps its data in memory.
    MemoryDevice {
        /// The device's name.
        device: String,
    },
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mounted { mount_point } => write!(
                f,
                "the device is mounted on {}: the measurement includes that file system's load",
                mount_point.display(),
            ),
            Self::Remote { file_system } => write!(
                f,
                "{file_system} keeps its data on another machine or in another program: the measurement includes their time",
            ),
            Self::DirectIoUnproven { file_system } => write!(
                f,
                "direct I/O on {file_system} may use the page cache: only the file's owner or root can check it",
            ),
            Self::MemoryDevice { device } => {
                write!(f, "{device} keeps its data in memory: this does not measure a disk")
            }
        }
    }
}

impl From<&Note> for Premise {
    fn from(note: &Note) -> Self {
        let (code, subject) = match note {
            Note::Mounted { .. } => (PremiseCode::Mounted, "a mounted file system"),
            Note::Remote { .. } => (PremiseCode::Remote, "a remote file"),
            Note::DirectIoUnproven { .. } => (PremiseCode::DirectIoUnproven, "unproven direct I/O"),
            Note::MemoryDevice { .. } => (PremiseCode::MemoryDevice, "a device in memory"),
        };
        Self::new(code, subject, note.to_string())
    }
}
