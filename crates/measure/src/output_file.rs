// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The destination of a measured drive file.
//!
//! Errors are reported before hours of measurement, existing files are replaced only on request,
//! and a reader sees either the old file or the new one.
//! ```text
//!   prepare --> the target itself ........................ refused
//!           --> exists --> without --add ................. refused
//!           |          --> --add: not a drive file ....... refused
//!           --> exists --> --resume: its other tables are kept
//!           --> missing --> --add ........................ refused
//!           --> folder missing, or not writable .......... refused
//!   publish --> new: never over a file that appeared meanwhile
//!           --> --add: to the file's contents by then, one process after the other
//! ```

mod fault;

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;
use tidegate_model::mechanics::Mechanics;
use tidegate_platform::new_file::{NewFile, folder_of, real_path_of_new, unwritable};
use tidegate_platform::text_file;

use crate::experiment::Experiment;
use crate::merge;
use crate::origin::Origin;
use crate::start::StartTimes;

pub use fault::OutputFault;

/// The number of attempts to lock a file that another process is extending.
const LOCK_TRIES: u32 = 500;
/// The pause between two attempts.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The path of a drive file, checked to be usable.
#[derive(Debug)]
pub struct OutputFile {
    file: NewFile,
    /// The existing drive file to extend.
    existing: Option<DriveFile>,
}

/// The file that is expected at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No file.
    Nothing,
    /// A drive file to extend.
    DriveFile,
    /// The drive file of an interrupted measurement, or no file.
    Interrupted,
}

impl OutputFile {
    /// Checks that a drive file can be written to `path`. `target` is the device or file to
    /// measure.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn prepare(path: &Path, expected: Expected, target: &Path) -> Result<Self, OutputFault> {
        let is_there = expected == Expected::Interrupted && path.exists();
        let add = expected == Expected::DriveFile || is_there;
        if is_same_file(path, target) {
            return Err(OutputFault::Target(path.to_owned()));
        }
        let real = if add { real_path_of_existing(path)? } else { real_path_of_new(path)? };
        let mut output = Self { file: NewFile::at(path, real)?, existing: None };
        if add {
            let (_held, existing) = output.lock_existing()?;
            output.existing = Some(existing);
        }
        Ok(output)
    }

    /// Checks that the file to extend, if there is one, describes the `measured` device.
    ///
    /// # Errors
    /// If the file describes another device.
    pub fn check_device(&self, measured: &Identity) -> Result<(), OutputFault> {
        let known = self.existing.as_ref().map(|file| &file.identity);
        known.map_or(Ok(()), |known| self.about_same_device(known, measured))
    }

    /// Checks that times of this origin can be added to the file.
    ///
    /// # Errors
    /// If the file has times of another origin.
    pub fn check_origin(&self, measured: Origin) -> Result<(), OutputFault> {
        let Some(known) = &self.existing else { return Ok(()) };
        measured.check(known).map_err(|error| OutputFault::Origin(self.file.named.clone(), error))
    }

    /// Returns whether an existing file will be extended.
    pub fn is_added_to(&self) -> bool {
        self.existing.is_some()
    }

    /// Returns the path as the user gave it.
    pub fn name(&self) -> String {
        self.file.name()
    }

    /// Reads the file in its current state; `None` if it cannot be read.
    pub fn read(&self) -> Option<DriveFile> {
        DriveFile::parse(&text_file::read(&self.file.path).ok()?).ok()
    }

    /// Returns the mechanics in the file to extend; `None` if these experiments measure them again.
    pub fn known_mechanics(&self, experiments: &[Experiment]) -> Option<Box<Mechanics>> {
        let is_found_anew = experiments.contains(&Experiment::SEEK_CURVE);
        if is_found_anew || !self.is_added_to() { None } else { self.read()?.mechanics }
    }

    /// Writes the measured tables. Drains in `starts` raise the file's drains. Returns a remark
    /// about the written file, if there is one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn publish(
        &self,
        measured: &DriveFile,
        starts: &[StartTimes],
    ) -> Result<Option<String>, OutputFault> {
        if self.existing.is_some() {
            self.add(measured, starts)
        } else {
            let (file, said) = merge::with_drains_of(measured, starts);
            self.file.write(&file.to_toml())?;
            Ok(said)
        }
    }

    fn about_same_device(&self, known: &Identity, measured: &Identity) -> Result<(), OutputFault> {
        known
            .check_is_of(measured)
            .map_err(|error| OutputFault::Device(self.file.named.clone(), error))
    }

    fn add(
        &self,
        measured: &DriveFile,
        starts: &[StartTimes],
    ) -> Result<Option<String>, OutputFault> {
        // Read the file again: another process can have extended it since.
        let (held, existing) = self.lock_existing()?;
        self.about_same_device(&existing.identity, &measured.identity)?;
        let replace = || {
            let (whole, said) = merge::with_tables_of(&existing, measured, starts);
            let file = self.file.filled(&whole.to_toml())?;
            file.as_file().set_permissions(held.metadata()?.permissions())?;
            file.persist(&self.file.path)?;
            Ok(said)
        };
        replace().map_err(|error: io::Error| unwritable(&self.file.named, error).into())
    }

    /// Reads the existing drive file, locked against other processes that extend it.
    fn lock_existing(&self) -> Result<(File, DriveFile), OutputFault> {
        let held = lock(&self.file.path).map_err(|error| unwritable(&self.file.named, error))?;
        let text = text_file::read_open(&held)
            .map_err(|error| OutputFault::NotText(self.file.named.clone(), error))?;
        match DriveFile::parse(&text) {
            Ok(existing) => Ok((held, existing)),
            Err(error) => Err(OutputFault::Faulty { path: self.file.named.clone(), text, error }),
        }
    }
}

/// Returns the real path of an existing file that will be extended.
fn real_path_of_existing(path: &Path) -> Result<PathBuf, OutputFault> {
    let real =
        fs::canonicalize(path).map_err(|error| OutputFault::Missing(path.to_owned(), error))?;
    // Checked before opening: opening a pipe waits, and opening a device can have side effects.
    if real.is_file() { Ok(real) } else { Err(OutputFault::NoFile(path.to_owned())) }
}

/// Returns whether two paths denote the same file, or will once it is created.
fn is_same_file(path: &Path, target: &Path) -> bool {
    if let (Ok(found), Ok(target)) = (fs::metadata(path), fs::metadata(target)) {
        return identity(&found) == identity(&target);
    }
    let real = |path: &Path| Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    path == target || real(path).is_some_and(|path| Some(path) == real(target))
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Opens and locks the file at `path`. Extending replaces the file, so when the lock is granted,
/// the opened file can already be an old one; then it tries again.
fn lock(path: &Path) -> io::Result<File> {
    for _ in 0..LOCK_TRIES {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) if identity(&file.metadata()?) == identity(&fs::symlink_metadata(path)?) => {
                return Ok(file);
            }
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process keeps it locked"))
}

#[cfg(test)]
mod tests;
