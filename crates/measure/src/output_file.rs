// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a measured drive file goes.
//!
//! All that can be refused is refused before hours of measurement; nothing that exists is
//! replaced without being asked for; a reader sees the old file or the new one.
//!
//! ```text
//!   prepare --> the target itself ........................ refused
//!           --> exists --> without --add ................. refused
//!           |          --> --add: no drive file .......... refused
//!           --> exists --> --resume: its other tables stay
//!           --> missing --> --add ........................ refused
//!           --> folder missing, or cannot be written ..... refused
//!   publish --> new: never over a file that came up meanwhile
//!           --> --add: to what the file holds by then, one process after the other
//! ```

mod fault;

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tempfile::NamedTempFile;
use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;
use tidegate_platform::text_file;

use crate::merge;
use crate::new_file::{self, folder_of, real_path_of_new, unwritable};
use crate::origin::Origin;
use crate::start::StartTimes;

pub use fault::OutputFault;

/// How often a file that another process is adding to is tried again.
const LOCK_TRIES: u32 = 500;
/// How long between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A place for a drive file, found usable.
#[derive(Debug)]
pub struct OutputFile {
    /// As it was named.
    named: PathBuf,
    /// The folder, without symbolic links.
    folder: PathBuf,
    /// The file itself, without symbolic links.
    path: PathBuf,
    /// What stands there and is added to.
    existing: Option<Identity>,
}

/// What may stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Nothing,
    /// A drive file to add to.
    DriveFile,
    /// The drive file of a measurement that was interrupted, or nothing.
    Interrupted,
}

impl OutputFile {
    /// Checks that a drive file can go to `path`; `target` is what will be measured.
    ///
    /// # Errors
    /// When it cannot.
    pub fn prepare(path: &Path, expected: Expected, target: &Path) -> Result<Self, OutputFault> {
        let is_there = expected == Expected::Interrupted && path.exists();
        let add = expected == Expected::DriveFile || is_there;
        if is_same_file(path, target) {
            return Err(OutputFault::Target { path: path.to_owned() });
        }
        let real = if add { real_path_of_existing(path)? } else { real_path_of_new(path)? };
        let folder = folder_of(&real).to_owned();
        let mut output = Self { named: path.to_owned(), folder, path: real, existing: None };
        // Made and removed again: a process that is killed leaves nothing behind.
        output.temporary().map_err(|error| unwritable(path, error))?;
        if add {
            let (_held, existing) = output.lock_existing()?;
            output.existing = Some(existing.identity);
        }
        Ok(output)
    }

    /// Refuses to add to a file about another device than `measured`.
    ///
    /// # Errors
    /// When the file is about another device.
    pub fn check_device(&self, measured: &Identity) -> Result<(), OutputFault> {
        let Some(known) = &self.existing else { return Ok(()) };
        self.about_same_device(known, measured)
    }

    /// Refuses to add times of that origin to a file of another.
    ///
    /// # Errors
    /// When the file has times of another origin.
    pub fn check_origin(&self, measured: Origin) -> Result<(), OutputFault> {
        let Some(known) = &self.existing else { return Ok(()) };
        measured
            .check(known)
            .map_err(|error| OutputFault::Origin { path: self.named.clone(), error })
    }

    /// Whether something stands there that is added to.
    pub fn is_added_to(&self) -> bool {
        self.existing.is_some()
    }

    /// How the user calls it.
    pub fn name(&self) -> String {
        self.named.display().to_string()
    }

    /// What stands there now; none where it cannot be read.
    pub fn read(&self) -> Option<DriveFile> {
        DriveFile::parse(&text_file::read(&self.path).ok()?).ok()
    }

    /// Puts the measured tables in place; drains from `starts` raise those that stand there. Gives
    /// what is to be said of the file as it is now.
    ///
    /// # Errors
    /// When the file cannot be put in place.
    pub fn publish(
        &self,
        measured: &DriveFile,
        starts: &[StartTimes],
    ) -> Result<Option<String>, OutputFault> {
        if self.existing.is_some() {
            self.add(measured, starts)
        } else {
            let (file, said) = merge::with_drains_of(measured, starts);
            self.write_new(&file).map(|()| said)
        }
    }

    fn about_same_device(&self, known: &Identity, measured: &Identity) -> Result<(), OutputFault> {
        merge::check_device(known, measured)
            .map_err(|error| OutputFault::Device { path: self.named.clone(), error })
    }

    fn write_new(&self, measured: &DriveFile) -> Result<(), OutputFault> {
        let file = self.filled(measured).map_err(|error| unwritable(&self.named, error))?;
        Ok(new_file::put(file, &self.named, &self.path)?)
    }

    fn add(
        &self,
        measured: &DriveFile,
        starts: &[StartTimes],
    ) -> Result<Option<String>, OutputFault> {
        // Read again: somebody may have added to it, and the file as it was is not the file.
        let (held, existing) = self.lock_existing()?;
        self.about_same_device(&existing.identity, &measured.identity)?;
        let replace = || {
            let (whole, said) = merge::with_tables_of(&existing, measured, starts);
            let file = self.filled(&whole)?;
            file.as_file().set_permissions(held.metadata()?.permissions())?;
            file.persist(&self.path)?;
            Ok(said)
        };
        replace().map_err(|error: io::Error| unwritable(&self.named, error).into())
    }

    /// A temporary file in the same folder with this text, on the medium.
    fn filled(&self, file: &DriveFile) -> io::Result<NamedTempFile> {
        let mut temporary = self.temporary()?;
        temporary.write_all(file.to_toml().as_bytes())?;
        temporary.as_file().sync_all()?;
        Ok(temporary)
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        new_file::temporary_in(&self.folder)
    }

    /// The drive file that stands there, locked against other processes that add to it.
    fn lock_existing(&self) -> Result<(File, DriveFile), OutputFault> {
        let held = lock(&self.path).map_err(|error| unwritable(&self.named, error))?;
        let text = text_file::read_open(&held)
            .map_err(|error| OutputFault::NotText { path: self.named.clone(), error })?;
        match DriveFile::parse(&text) {
            Ok(existing) => Ok((held, existing)),
            Err(error) => Err(OutputFault::Faulty { path: self.named.clone(), text, error }),
        }
    }
}

/// The path itself of a file that is added to.
fn real_path_of_existing(path: &Path) -> Result<PathBuf, OutputFault> {
    let real = fs::canonicalize(path)
        .map_err(|error| OutputFault::Missing { path: path.to_owned(), error })?;
    // Before it is opened: opening a pipe waits, opening a device may do anything.
    if real.is_file() { Ok(real) } else { Err(OutputFault::NoFile { path: path.to_owned() }) }
}

/// Whether two names stand for one file, or will once it is made.
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

/// Opens and locks the file that stands at `path` now. Who adds replaces the file, so the
/// one that was opened may be another by the time that the lock is granted.
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
