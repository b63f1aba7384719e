// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The error if a serve file cannot be served.

use std::path::{Path, PathBuf};

use tidegate_device::OpenError;
use tidegate_model::FileError;

use crate::known_device::UnknownDevice;
use crate::service::ServiceError;

/// The reason why a serve file cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is faulty.
    #[error("{}", place_and_help(path, text, error))]
    Faulty {
        /// The path.
        path: PathBuf,
        /// The file's text.
        text: String,
        /// The fault.
        error: FileError,
    },
    /// The backing, or a simulated drive's store, cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The policy cannot predict this device's service times.
    #[error(transparent)]
    UnknownDevice(#[from] UnknownDevice),
    /// A contract cannot be proved.
    #[error("{reason}")]
    NotProven {
        /// The reason.
        reason: String,
    },
    /// The drive cannot be simulated.
    #[error(transparent)]
    Drive(#[from] tidegate_drive::BuildError),
    /// There is no memory for the data of a simulated drive.
    #[error("cannot create a store in memory: {source}")]
    Memory {
        /// The system's error.
        source: std::io::Error,
    },
    /// Another process serves the store.
    #[error(
        "{} is served by another service, or used by an attached drive: stop it, or name \
         another file",
        path.display()
    )]
    Served {
        /// The path.
        path: PathBuf,
    },
    /// A control socket, a metrics port or the log cannot be opened.
    #[error("cannot open {what}: {source}")]
    ControlPlane {
        /// The component that cannot be opened, with its path or address.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The keys of `[tls]` cannot be used.
    #[error("[tls]: {what} at {}", path.display())]
    Keys {
        /// The path that the file names.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// The file names a processor on which the process may not run.
    #[error("[thread]: this process may not run on processor {processor}: name another one")]
    Processor {
        /// The processor's number.
        processor: u32,
    },
    /// The process's limit on descriptors is too low.
    #[error(
        "the server needs {needed} descriptors and may have {descriptors}: raise the limit (`ulimit -n`, or LimitNOFILE= in the unit), or lower [limits] connections"
    )]
    Descriptors {
        /// The number of descriptors that all connections together need.
        needed: usize,
        /// The number of descriptors that the process can have.
        descriptors: usize,
    },
    /// The service cannot start.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// Returns the error, its position and the help as one line, for callers that do not show the file.
fn place_and_help(path: &Path, text: &str, error: &FileError) -> String {
    let place = match error.line_and_column(text) {
        _ if error.span == (0..0) => String::new(),
        (line, column) => format!(", line {line}, column {column}"),
    };
    let help = error.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    format!("{}{place}: {error}{help}", path.display())
}
