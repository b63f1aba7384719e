// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The errors of tracing.

use std::io;
use std::path::{Path, PathBuf};

use super::MOUNTS;
use crate::format::BadFormat;

/// The reason why the kernel's tracepoints cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracefsError {
    /// No tracefs is mounted.
    #[error("tracefs is not mounted at {}", MOUNTS[0])]
    NotMounted,
    /// This process may not read the tracepoints.
    #[error("only root can read the kernel's tracepoints ({}: {source})", path.display())]
    NotPermitted {
        /// The file or folder that cannot be read.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel lacks a tracepoint.
    #[error("the kernel has no tracepoint {event} (built without CONFIG_BLK_DEV_IO_TRACE?)")]
    NoEvent {
        /// The tracepoint's name.
        event: &'static str,
    },
    /// A tracepoint does not have the expected fields.
    #[error(transparent)]
    Format(#[from] BadFormat),
    /// Another operation failed.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl TracefsError {
    pub(super) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { path, source },
            _ => Self::Io { path, source },
        }
    }
}
