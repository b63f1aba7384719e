// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The record of a tuned disk: the values before, and the files that were written. It is saved
//! before anything is changed, so that a change that fails half-way can be undone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{Disk, Root};
use crate::install::{NewFile, slug};
use crate::setting::Setting;

/// The folder of all records, relative to the root.
const FOLDER: &str = "var/lib/tidegate/tune";

/// A tuned disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    settings: Vec<Made>,
    files: Vec<Written>,
}

/// A setting that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    attribute: String,
    old: Option<String>,
    new: String,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    path: String,
    text: String,
}

/// A difference between a tuned disk and its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The attribute or the file.
    pub name: String,
    /// The recorded value; `None` for a file's text.
    pub expected: Option<String>,
    /// The present value; `None` if it is missing, or for a file's text.
    pub found: Option<String>,
}

/// The values that an undo restored and the files that it removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// The attributes with their restored values.
    pub settings: Vec<(String, String)>,
    /// The files that were removed.
    pub files: Vec<String>,
}

/// A failure to change or to record a setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A file cannot be read or written.
    #[error("cannot {verb} {}", .path.display())]
    File {
        /// `read`, `write`, `remove`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The kernel took another value.
    #[error("{} is `{found}` after `{wanted}` was written", .path.display())]
    NotTaken {
        /// The attribute.
        path: PathBuf,
        /// The value that was written.
        wanted: String,
        /// The value that it has.
        found: String,
    },
    /// A file of another program would be overwritten.
    #[error("{} exists and was not written by `tidegate tune`: move it away", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The record is damaged.
    #[error("the record {} is damaged", .path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// Its fault.
        source: serde_json::Error,
    },
}

impl Record {
    /// Returns the record of a disk, if it is tuned.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn of(disk: &Disk) -> Result<Option<Self>, RecordError> {
        let path = place(disk);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|source| RecordError::Damaged { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(RecordError::File { verb: "read", path, source }),
        }
    }

    /// Makes the settings and writes the files, and records both first. If the disk is tuned
    /// already, its record keeps the values from before the first tuning.
    ///
    /// # Errors
    /// If a value or file cannot be written; what was done until then is recorded.
    pub fn make(disk: &Disk, settings: &[Setting], files: &[NewFile]) -> Result<(), RecordError> {
        let mut record = Self::of(disk)?.unwrap_or(Self { settings: vec![], files: vec![] });
        for NewFile { path, .. } in files {
            let is_own = record.files.iter().any(|written| written.path == *path);
            let path = disk.root().at(path);
            if !is_own && path.exists() {
                return Err(RecordError::Exists { path });
            }
        }
        for Setting { attribute, old, new, .. } in settings {
            match record.settings.iter_mut().find(|made| made.attribute == *attribute) {
                Some(made) => made.new.clone_from(new),
                None => record.settings.push(Made {
                    attribute: (*attribute).to_owned(),
                    old: old.clone(),
                    new: new.clone(),
                }),
            }
        }
        for NewFile { path, text } in files {
            record.files.retain(|written| written.path != *path);
            record.files.push(Written { path: path.clone(), text: text.clone() });
        }
        record.save(disk)?;
        for Setting { attribute, new, .. } in settings {
            set(disk, attribute, new)?;
        }
        for NewFile { path, text } in files {
            write(&disk.root().at(path), text)?;
        }
        Ok(())
    }

    /// Returns where the machine differs from the record.
    pub fn drift(&self, disk: &Disk) -> Vec<Drift> {
        let settings = self.settings.iter().filter_map(|Made { attribute, new, .. }| {
            let found = disk.value(attribute);
            let is_kept = found.as_ref() == Some(new);
            (!is_kept).then(|| Drift {
                name: attribute.clone(),
                expected: Some(new.clone()),
                found,
            })
        });
        let files = self.files.iter().filter_map(|Written { path, text }| {
            let found = fs::read_to_string(disk.root().at(path)).ok();
            let is_kept = found.as_ref() == Some(text);
            (!is_kept).then(|| Drift { name: format!("/{path}"), expected: None, found: None })
        });
        settings.chain(files).collect()
    }

    /// Restores every setting, removes every file, and forgets the disk. Settings are restored in
    /// the order in which they were made, because a change of the scheduler resets the other
    /// settings.
    ///
    /// # Errors
    /// The first value that cannot be restored. All other values are restored, and the record
    /// stays.
    pub fn undo(self, disk: &Disk) -> Result<Undone, RecordError> {
        let mut undone = Undone::default();
        for Written { path, .. } in &self.files {
            remove(disk.root(), path)?;
            undone.files.push(format!("/{path}"));
        }
        let mut first = None;
        for Made { attribute, old, .. } in self.settings {
            // An attribute that was not there belongs to the scheduler, and goes with it.
            let Some(old) = old else { continue };
            match set(disk, &attribute, &old) {
                Ok(()) => undone.settings.push((attribute, old)),
                Err(error) => first = first.or(Some(error)),
            }
        }
        if let Some(error) = first {
            return Err(error);
        }
        let path = place(disk);
        fs::remove_file(&path).map_err(|source| RecordError::File {
            verb: "remove",
            path,
            source,
        })?;
        Ok(undone)
    }

    fn save(&self, disk: &Disk) -> Result<(), RecordError> {
        let text = serde_json::to_string_pretty(self).expect("a record is plain data");
        write(&place(disk), &(text + "\n"))
    }
}

/// Returns the path of a disk's record. Names such as `sda` change, so the path contains the disk's
/// permanent name.
fn place(disk: &Disk) -> PathBuf {
    let name = disk.wwid().map_or_else(|| disk.name().to_owned(), |wwid| slug(&wwid));
    disk.root().at(FOLDER).join(format!("{name}.json"))
}

/// Writes an attribute and checks that the kernel took it.
fn set(disk: &Disk, attribute: &str, value: &str) -> Result<(), RecordError> {
    let path = disk.path(attribute);
    if disk.value(attribute).as_deref() == Some(value) {
        return Ok(());
    }
    // Opened without O_CREAT: sysfs has the file or the kernel lacks it.
    let written = fs::OpenOptions::new().write(true).truncate(true).open(&path);
    let written = written.and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()));
    written.map_err(|source| RecordError::File { verb: "write", path: path.clone(), source })?;
    match disk.value(attribute) {
        Some(found) if found == value => Ok(()),
        found => Err(RecordError::NotTaken {
            path,
            wanted: value.to_owned(),
            found: found.unwrap_or_default(),
        }),
    }
}

/// Writes a file and its folders.
fn write(path: &Path, text: &str) -> Result<(), RecordError> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|source| RecordError::File { verb: "write", path: path.to_owned(), source })
}

/// Removes a file, and its folder if that is a unit's and empty.
fn remove(root: &Root, path: &str) -> Result<(), RecordError> {
    let path = root.at(path);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(RecordError::File { verb: "remove", path, source });
        }
        _ => {}
    }
    let folder = path.parent().filter(|folder| folder.extension().is_some_and(|it| it == "d"));
    if let Some(folder) = folder.filter(|folder| !folder.ends_with("rules.d")) {
        // It stays if another drop-in is in it.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
