// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The errors in applying, recording and undoing settings.

use std::io;
use std::path::PathBuf;

use crate::gone::GoneError;

/// An error in applying, recording or undoing a setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A file cannot be read or written.
    #[error("cannot {verb} {}", .path.display())]
    File {
        /// The operation: `read`, `write` or `remove`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel did not accept the value.
    #[error("{} is `{found}` after `{wanted}` was written", .path.display())]
    NotTaken {
        /// The attribute.
        path: PathBuf,
        /// The value that was written.
        wanted: String,
        /// The value that the attribute has.
        found: String,
    },
    /// The kernel refused to change the class of a thread.
    #[error("cannot change the I/O class of thread {thread} of {unit}")]
    Thread {
        /// The thread's unit.
        unit: String,
        /// The thread's number.
        thread: u32,
        /// The kernel's error.
        source: io::Error,
    },
    /// A file of another program would be overwritten.
    #[error("{} exists and was not written for this disk: move it away", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another disk needs another class for the same unit.
    #[error(
        "{unit} would be {wanted} here, and is {needed} for another disk (its record is {}): name the unit in \
         the same class in both workloads, or undo the other disk first",
        .record.display()
    )]
    Conflict {
        /// The unit.
        unit: String,
        /// The class that this workload needs.
        wanted: &'static str,
        /// The class that the other disk needs.
        needed: &'static str,
        /// The record of the other disk.
        record: PathBuf,
    },
    /// The record is damaged.
    #[error("the record {} is damaged", .path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The search for a disk that is gone cannot tell whether it is.
    #[error(transparent)]
    Gone(#[from] GoneError),
}

impl RecordError {
    pub(crate) fn of_thread(unit: &str, thread: u32, source: io::Error) -> Self {
        Self::Thread { unit: unit.to_owned(), thread, source }
    }
}
