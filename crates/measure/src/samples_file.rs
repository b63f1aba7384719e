// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The journal of a measurement, in a file next to the drive file: `disk.drive.toml.samples`.
//!
//! ```text
//!   new --> measured completely, drive file written --> removed, unless it must be kept
//!    |
//!    v
//!   interrupted, killed, the device or the disk failed: kept
//!    |
//!    v --resume
//!   resumed, and kept in any case: the user may have kept it on purpose
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::journal::{Journal, JournalError};

/// The suffix that is appended to the drive file's name.
const SUFFIX: &str = ".samples";

/// The file in which a measurement records its samples.
#[derive(Debug)]
pub struct SamplesFile {
    path: PathBuf,
    is_resumed: bool,
    is_kept: bool,
}

impl SamplesFile {
    /// Checks, before the measurement, the journal next to the drive file at `output`. `is_resumed`
    /// says whether it continues an earlier measurement.
    ///
    /// # Errors
    /// If the journal cannot be used.
    pub fn beside(output: &Path, is_resumed: bool, is_kept: bool) -> Result<Self, SamplesFault> {
        let mut name = output.as_os_str().to_owned();
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        match (path.exists(), is_resumed) {
            (true, false) => Err(SamplesFault::Earlier(path)),
            (false, true) => Err(SamplesFault::Nothing(path)),
            // Checked before opening: opening a pipe waits.
            (true, true) if !path.is_file() => Err(SamplesFault::NoFile(path)),
            _ => Ok(Self { path, is_resumed, is_kept }),
        }
    }

    /// Opens the journal of the measurement that `measured` describes: the device, and the
    /// properties that must be equal when a measurement is resumed.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&self, measured: &str) -> Result<Journal, SamplesFault> {
        let journal = if self.is_resumed {
            Journal::resume(&self.path, measured)
        } else {
            Journal::create(&self.path, measured)
        };
        journal.map_err(|error| self.refused(error))
    }

    /// Describes what remains if the process is killed.
    pub fn kept(&self) -> String {
        let path = self.path.display();
        format!("immediately, without a drive file; the samples are in {path}, for --resume")
    }

    /// Returns the path of the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the samples after the measurement; `None` if they are removed because
    /// the measurement `is_done`.
    pub fn left(&self, is_done: bool) -> Option<String> {
        let is_left = !is_done || self.is_kept || self.is_resumed;
        is_left.then(|| self.path.display().to_string())
    }

    /// Removes the samples of a complete, written measurement unless they must be kept. Returns
    /// their path if they are kept.
    ///
    /// # Errors
    /// If they cannot be removed.
    pub fn close(&self) -> Result<Option<String>, StuckSamples> {
        let left = self.left(true);
        if left.is_none() {
            self.remove()?;
        }
        Ok(left)
    }

    /// Removes a new journal, because nothing was measured; keeps a resumed one.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn discard(&self) -> Result<(), StuckSamples> {
        if self.is_resumed { Ok(()) } else { self.remove() }
    }

    fn remove(&self) -> Result<(), StuckSamples> {
        fs::remove_file(&self.path).map_err(|error| StuckSamples { path: self.path.clone(), error })
    }

    fn refused(&self, error: JournalError) -> SamplesFault {
        let path = self.path.clone();
        match error {
            JournalError::Io(error) if error.kind() != io::ErrorKind::InvalidData => {
                SamplesFault::Unwritable(path, error)
            }
            error => SamplesFault::Journal(path, error),
        }
    }
}

/// The error if samples cannot be removed.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be removed: {error}", path.display())]
pub struct StuckSamples {
    path: PathBuf,
    error: io::Error,
}

/// The reason why samples cannot be recorded or resumed. Each holds the journal's path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplesFault {
    /// The samples of an earlier measurement exist.
    #[error("{} has the samples of an earlier measurement", .0.display())]
    Earlier(PathBuf),
    /// There are no samples to resume from.
    #[error("there is no measurement to resume: {} does not exist", .0.display())]
    Nothing(PathBuf),
    /// The path is not a regular file.
    #[error("cannot resume from {}: it is not a regular file", .0.display())]
    NoFile(PathBuf),
    /// The file cannot be written. Holds the system's error.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, io::Error),
    /// The journal is in use, damaged, or belongs to another measurement.
    #[error("cannot resume from {}: {}", .0.display(), .1)]
    Journal(PathBuf, JournalError),
}

impl SamplesFault {
    /// Returns advice for the user.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Earlier(..) => "continue it with --resume, or move the file away",
            Self::Nothing(..) => "leave --resume out",
            Self::Unwritable(..) => "name an output in an existing, writable folder",
            Self::Journal(_, JournalError::Locked) => {
                "wait until that process ends, or name another output"
            }
            Self::NoFile(..) | Self::Journal(..) => {
                "name that measurement's output, or leave --resume out and name a new one"
            }
        }
    }
}
