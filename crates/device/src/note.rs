// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What has to be said about a target that is no reason to refuse it.

use std::path::PathBuf;

/// Something that is no reason to refuse a target but has to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The device carries a mounted file system.
    Mounted {
        /// Where it is mounted.
        mount_point: PathBuf,
    },
    /// The file's data lie behind a network or another program.
    Remote {
        /// The file system.
        file_system: String,
    },
    /// Only the owner of a file may ask which of its pages are in memory.
    DirectIoUnproven {
        /// The file system.
        file_system: String,
    },
    /// The block device keeps its data in memory.
    MemoryDevice {
        /// The device.
        device: String,
    },
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mounted { mount_point } => write!(
                f,
                "the device is mounted on {}: the load of that file system is in the measurement",
                mount_point.display(),
            ),
            Self::Remote { file_system } => write!(
                f,
                "{file_system} keeps its data behind a network or another program: their time is in the measurement",
            ),
            Self::DirectIoUnproven { file_system } => write!(
                f,
                "it was not proven that direct I/O on {file_system} passes by the page cache: only the file's owner or root can see that",
            ),
            Self::MemoryDevice { device } => {
                write!(f, "{device} keeps its data in memory: this is no measurement of a disk")
            }
        }
    }
}
