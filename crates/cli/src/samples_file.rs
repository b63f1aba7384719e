// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The journal of a measurement, beside its drive file: `disk.drive.toml.samples`.
//!
//! ```text
//!   new --> measured to the end, drive file in place --> removed, unless it is to be kept
//!    |
//!    v
//!   interrupted, killed, the device or the disk failed: it stays
//!    |
//!    v --resume
//!   goes on, and stays in any case: it may have been kept on purpose
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_measure::{Journal, JournalError};

use crate::failure::Failure;

/// What is added to the name of the drive file.
const SUFFIX: &str = ".samples";

/// Where the samples go.
#[derive(Debug)]
pub(crate) struct SamplesFile {
    path: PathBuf,
    is_resumed: bool,
    is_kept: bool,
}

impl SamplesFile {
    /// Beside the drive file at `output`; `is_resumed`: it goes on where an earlier
    /// measurement ended. Refuses what cannot be before anything is measured.
    pub(crate) fn beside(output: &Path, is_resumed: bool, is_kept: bool) -> Result<Self, Failure> {
        let mut name = output.as_os_str().to_owned();
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        match (path.exists(), is_resumed) {
            (true, false) => Err(Failure::input(
                format!("{} has the samples of an earlier measurement", path.display()),
                "go on with it by --resume, or move it away",
            )),
            (false, true) => Err(Failure::input(
                format!("there is nothing to go on with: no {}", path.display()),
                "leave --resume out",
            )),
            // Before it is opened: opening a pipe waits.
            (true, true) if !path.is_file() => Err(Failure::input(
                format!("cannot go on with {}: it is not a regular file", path.display()),
                "name the output that was measured, or leave --resume out and name a new one",
            )),
            _ => Ok(Self { path, is_resumed, is_kept }),
        }
    }

    /// The journal about `measured`: which device, and what of it must be the same when a
    /// measurement goes on.
    pub(crate) fn open(&self, measured: &str) -> Result<Journal, Failure> {
        let journal = if self.is_resumed {
            Journal::resume(&self.path, measured)
        } else {
            Journal::create(&self.path, measured)
        };
        journal.map_err(|error| self.refused(&error))
    }

    /// Says where the samples are, and how to go on.
    pub(crate) fn keep(&self) {
        eprintln!("{:<12} {}", "Samples", self.how_to_go_on());
    }

    /// What is left if the process ends at once.
    pub(crate) fn kept(&self) -> String {
        format!("at once, without a drive file; the samples are in {}", self.how_to_go_on())
    }

    fn how_to_go_on(&self) -> String {
        format!("{}: go on with --resume", self.path.display())
    }

    /// Where the samples are afterwards; none where they are removed once all `is_done`.
    pub(crate) fn left(&self, is_done: bool) -> Option<String> {
        let is_left = !is_done || self.is_kept || self.is_resumed;
        is_left.then(|| self.path.display().to_string())
    }

    /// All is measured and in place: removes what nobody asked to keep.
    pub(crate) fn close(&self) {
        if self.left(true).is_some() {
            eprintln!("{:<12} {}", "Samples", self.path.display());
        } else {
            self.remove();
        }
    }

    /// Nothing was measured: removes what was made just now.
    pub(crate) fn discard(&self) {
        if !self.is_resumed {
            self.remove();
        }
    }

    fn remove(&self) {
        if let Err(error) = fs::remove_file(&self.path) {
            eprintln!("{:<12} {} cannot be removed: {error}", "Warning", self.path.display());
        }
    }

    fn refused(&self, error: &JournalError) -> Failure {
        let path = self.path.display();
        match error {
            JournalError::Io(error) if error.kind() != io::ErrorKind::InvalidData => {
                Failure::input(
                    format!("cannot write {path}: {error}"),
                    "name an output in a folder that exists and may be written",
                )
            }
            JournalError::Locked => Failure::input(
                format!("cannot go on with {path}: {error}"),
                "wait until it has ended, or name another output",
            ),
            _ => Failure::input(
                format!("cannot go on with {path}: {error}"),
                "name the output that was measured, or leave --resume out and name a new one",
            ),
        }
    }
}
