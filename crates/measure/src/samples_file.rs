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

use crate::journal::{Journal, JournalError};

/// What is added to the name of the drive file.
const SUFFIX: &str = ".samples";

/// Where the samples go.
#[derive(Debug)]
pub struct SamplesFile {
    path: PathBuf,
    is_resumed: bool,
    is_kept: bool,
}

impl SamplesFile {
    /// Beside the drive file at `output`; `is_resumed`: it goes on where an earlier
    /// measurement ended. Refuses what cannot be before anything is measured.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn beside(output: &Path, is_resumed: bool, is_kept: bool) -> Result<Self, SamplesFault> {
        let mut name = output.as_os_str().to_owned();
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        match (path.exists(), is_resumed) {
            (true, false) => Err(SamplesFault::Earlier { path }),
            (false, true) => Err(SamplesFault::Nothing { path }),
            // Before it is opened: opening a pipe waits.
            (true, true) if !path.is_file() => Err(SamplesFault::NoFile { path }),
            _ => Ok(Self { path, is_resumed, is_kept }),
        }
    }

    /// The journal about `measured`: which device, and what of it must be the same when a
    /// measurement goes on.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self, measured: &str) -> Result<Journal, SamplesFault> {
        let journal = if self.is_resumed {
            Journal::resume(&self.path, measured)
        } else {
            Journal::create(&self.path, measured)
        };
        journal.map_err(|error| self.refused(error))
    }

    /// What is left if the process ends at once.
    pub fn kept(&self) -> String {
        format!("at once, without a drive file; the samples are in {}", self.how_to_go_on())
    }

    /// Says where the samples are, and how to go on.
    pub fn how_to_go_on(&self) -> String {
        format!("{}: go on with --resume", self.path.display())
    }

    /// Where the samples are afterwards; none where they are removed once all `is_done`.
    pub fn left(&self, is_done: bool) -> Option<String> {
        let is_left = !is_done || self.is_kept || self.is_resumed;
        is_left.then(|| self.path.display().to_string())
    }

    /// All is measured and in place: removes what nobody asked to keep. Returns where the samples
    /// are if they stay.
    ///
    /// # Errors
    /// When they cannot be removed.
    pub fn close(&self) -> Result<Option<String>, StuckSamples> {
        let left = self.left(true);
        if left.is_none() {
            self.remove()?;
        }
        Ok(left)
    }

    /// Nothing was measured: removes what was made just now.
    ///
    /// # Errors
    /// When it cannot be removed.
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
                SamplesFault::Unwritable { path, error }
            }
            error => SamplesFault::Journal { path, error },
        }
    }
}

/// Samples that cannot be removed.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be removed: {error}", path.display())]
pub struct StuckSamples {
    path: PathBuf,
    error: io::Error,
}

/// Why samples cannot be kept, or gone on with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplesFault {
    /// An earlier measurement left its samples.
    #[error("{} has the samples of an earlier measurement", path.display())]
    Earlier {
        /// The journal.
        path: PathBuf,
    },
    /// No measurement left any.
    #[error("there is nothing to go on with: no {}", path.display())]
    Nothing {
        /// The journal.
        path: PathBuf,
    },
    /// It is something else than a file.
    #[error("cannot go on with {}: it is not a regular file", path.display())]
    NoFile {
        /// The journal.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot write {}: {error}", path.display())]
    Unwritable {
        /// The journal.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The journal is in use, or of something else.
    #[error("cannot go on with {}: {error}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Why.
        error: JournalError,
    },
}

impl SamplesFault {
    /// Returns what to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Earlier { .. } => "go on with it by --resume, or move it away",
            Self::Nothing { .. } => "leave --resume out",
            Self::Unwritable { .. } => "name an output in a folder that exists and may be written",
            Self::Journal { error: JournalError::Locked, .. } => {
                "wait until it has ended, or name another output"
            }
            Self::NoFile { .. } | Self::Journal { .. } => {
                "name the output that was measured, or leave --resume out and name a new one"
            }
        }
    }
}
