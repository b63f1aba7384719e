// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Records of attached drives: one folder per drive. With the record, another process can clean up
//! even if the process that serves the drive was killed.
//!
//! ```text
//!   /run/tidegate/attached/NAME/record.toml   the process and its drive
//!                               mount/disk    the file below the loop device
//! ```
//! A folder appears complete with its record, by a rename to a free name: two processes cannot both
//! get the same name.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file_system::FILE_NAME;

/// The directory of the records.
pub const ROOT: &str = "/run/tidegate/attached";

const RECORD: &str = "record.toml";

/// The name prefix of folders that are not complete yet.
const UNFINISHED: &str = ".new-";

/// The maximum number of names that are tried if a name is taken.
const NAMES_TRIED_MAX: u32 = 1000;

/// The process that serves a drive, and the drive's details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The ID of the process that serves the drive.
    pub pid: u32,
    /// That process's start time, in clock ticks since the machine started: process IDs are reused.
    pub started_ticks: u64,
    /// The drive's name.
    pub drive: String,
    /// The disk's size in bytes.
    pub size_bytes: u64,
    /// The loop device, once it is ready.
    pub device: Option<PathBuf>,
    /// The file to which that process writes its log, if it has no terminal.
    pub log: Option<PathBuf>,
}

impl Record {
    /// Makes a record for the calling process.
    pub(crate) fn of_this_process(drive: &str, size_bytes: u64, log: Option<&Path>) -> Self {
        let pid = std::process::id();
        let started_ticks = started_ticks(pid).unwrap_or(0);
        let (drive, log) = (drive.to_owned(), log.map(Path::to_owned));
        Self { pid, started_ticks, drive, size_bytes, device: None, log }
    }

    /// Returns whether the process that serves the drive is still running.
    pub fn is_served(&self) -> bool {
        started_ticks(self.pid) == Some(self.started_ticks)
    }
}

/// An attached drive's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentFolder {
    folder: PathBuf,
}

impl AttachmentFolder {
    /// Creates a folder with that name or, unless `is_exact`, with that name and a number.
    pub(crate) fn claim(
        root: &Path,
        name: &str,
        is_exact: bool,
        record: &Record,
    ) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(root)?;
        fs::create_dir(made.path().join("mount"))?;
        Self { folder: made.path().to_owned() }.write(record)?;
        let numbered = (2..NAMES_TRIED_MAX).map(|number| format!("{name}-{number}"));
        let names = std::iter::once(name.to_owned()).chain(numbered);
        for name in names.take(if is_exact { 1 } else { NAMES_TRIED_MAX as usize }) {
            let folder = root.join(name);
            // A rename never replaces a folder that is not empty.
            match fs::rename(made.path(), &folder) {
                Ok(()) => return Ok(Self { folder }),
                Err(error) if is_taken(&error) => (),
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns all folders below `root`, sorted by name; none if `root` does not exist.
    ///
    /// # Errors
    /// If `root` cannot be read.
    pub fn all(root: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut places = Vec::new();
        for entry in entries {
            let entry = entry?;
            let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
            if entry.file_type()?.is_dir() && !is_unfinished {
                places.push(Self { folder: entry.path() });
            }
        }
        places.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(places)
    }

    /// Returns the attachment's name.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the record; `None` if it cannot be read.
    pub fn record(&self) -> Option<Record> {
        toml::from_str(&fs::read_to_string(self.folder.join(RECORD)).ok()?).ok()
    }

    /// Replaces the record atomically.
    pub(crate) fn write(&self, record: &Record) -> io::Result<()> {
        let text = toml::to_string(record).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(self.folder.join(RECORD))?;
        Ok(())
    }

    /// Returns the directory at which the file system is mounted.
    pub(crate) fn mount(&self) -> PathBuf {
        self.folder.join("mount")
    }

    /// Returns the path of the file that is the disk.
    pub(crate) fn file(&self) -> PathBuf {
        self.mount().join(FILE_NAME)
    }

    /// Removes the folder unless a file system is mounted in it. Deletes only the record and empty
    /// folders.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let is_there = |result: io::Result<()>| match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        is_there(fs::remove_dir(self.mount()))?;
        is_there(fs::remove_file(self.folder.join(RECORD)))?;
        is_there(fs::remove_dir(&self.folder))
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists
            | io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotADirectory
    )
}

/// Returns a process's start time in clock ticks; `None` if it does not exist or is a zombie.
fn started_ticks(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The process's name is in parentheses and may itself contain spaces and parentheses.
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(started)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn record_survives_writing_and_names_are_numbered() {
        let root = tempfile::tempdir().expect("a folder");
        let mut record = Record::of_this_process("some drive", 4096, None);
        let claim = |name, is_exact| AttachmentFolder::claim(root.path(), name, is_exact, &record);
        let first = claim("disk", false).expect("it is free");
        let second = claim("disk", false).expect("a number is free");
        assert_eq!([first.name(), second.name()], ["disk", "disk-2"]);
        let refused = claim("disk", true).expect_err("it is taken");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(AttachmentFolder::all(root.path()).expect("a folder"), [first.clone(), second]);

        record.device = Some(PathBuf::from("/dev/loop7"));
        first.write(&record).expect("its folder is there");
        assert_eq!(first.record(), Some(record));
        assert_eq!(first.file(), root.path().join("disk/mount/disk"));
    }

    #[test]
    fn removing_twice_is_as_good_as_once_and_deletes_nothing_unknown() {
        let root = tempfile::tempdir().expect("a folder");
        let record = Record::of_this_process("some drive", 4096, None);
        let place =
            AttachmentFolder::claim(root.path(), "disk", true, &record).expect("it is free");
        fs::write(place.file(), "a disk").expect("the folder is there");
        place.remove().expect_err("something is in it");
        assert_eq!(place.record(), Some(record));
        fs::remove_file(place.file()).expect("it is there");
        place.remove().expect("nothing is in it");
        place.remove().expect("nothing is there");
        assert_eq!(AttachmentFolder::all(root.path()).expect("a folder"), []);
    }

    #[test]
    fn no_root_is_nothing_attached() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(AttachmentFolder::all(&root.path().join("none")).expect("nothing"), []);
    }

    /// Goal: neither a process with a reused number nor a zombie counts as serving the drive.
    /// Method: change the start time, then kill a child process.
    #[test]
    fn served_means_by_this_very_process() {
        let record = Record::of_this_process("some drive", 4096, None);
        assert!(record.is_served());
        let other = Record { started_ticks: record.started_ticks + 1, ..record.clone() };
        assert!(!other.is_served());

        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep is there");
        let started = started_ticks(child.id()).expect("it runs");
        let of_child = Record { pid: child.id(), started_ticks: started, ..record };
        assert!(of_child.is_served());
        child.kill().expect("it is ours");
        while of_child.is_served() {
            std::thread::yield_now();
        }
        // The process is dead, but its exit code has not been read yet.
        child.wait().expect("it is ours");
        assert!(!of_child.is_served());
    }
}
