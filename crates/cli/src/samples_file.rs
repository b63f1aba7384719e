// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The journal of a measurement, beside its drive file: `disk.drive.toml.samples`.
//!
//! ```text
//!   new ---------> measured to the end --> removed, unless it is to be kept
//!    |   ^
//!    v   | --resume
//!   interrupted, killed, or the device failed: it stays
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use measure::{Journal, JournalError};
use model::drive_file::Identity;

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
            _ => Ok(Self { path, is_resumed, is_kept }),
        }
    }

    /// The journal about that device.
    pub(crate) fn open(&self, device: &Identity) -> Result<Journal, Failure> {
        let facts = [&device.model, &device.firmware, &device.place].into_iter().flatten();
        let measured = facts.map(String::as_str).collect::<Vec<_>>().join(", ");
        let journal = if self.is_resumed {
            Journal::resume(&self.path, &measured)
        } else {
            Journal::create(&self.path, &measured)
        };
        journal.map_err(|error| self.refused(&error))
    }

    /// Says where the samples are, or removes them where nobody needs them any more.
    pub(crate) fn close(&self, is_complete: bool, has_samples: bool) {
        let path = self.path.display();
        if has_samples && !is_complete {
            eprintln!("{:<12} {path}: go on with --resume", "Samples");
        } else if has_samples && self.is_kept {
            eprintln!("{:<12} {path}", "Samples");
        } else if let Err(error) = fs::remove_file(&self.path) {
            eprintln!("{:<12} {path} cannot be removed: {error}", "Warning");
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
            _ => Failure::input(
                format!("cannot go on with {path}: {error}"),
                "name the output that was measured, or leave --resume out and name a new one",
            ),
        }
    }
}
