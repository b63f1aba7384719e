// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The search for recorded disks that are gone. An undo for such a disk removes its record and the
//! old values in it, so a disk that can be present must not be found here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, Root, file_name_of, names_in};

/// The error if the search cannot tell whether a disk is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoneError {
    /// The machine's disks cannot be listed.
    #[error(
        "cannot list the disks in {}, so no disk counts as gone: mount sysfs, or give the --root of a \
         machine with its `sys`",
        .path.display()
    )]
    Unlisted {
        /// The directory, or the entry in it that cannot be resolved.
        path: PathBuf,
        /// The kernel's error; `None` if the directory is empty.
        source: Option<io::Error>,
    },
    /// The only record for the name is of a disk without a permanent name.
    #[error(
        "the disk that was `{device}` has no permanent name, and the kernel can have renamed it: if it is \
         gone, name it by its record, `{record}`"
    )]
    NoPermanentName {
        /// The kernel's name for the disk when it was recorded.
        device: String,
        /// The name of the record.
        record: String,
    },
}

/// A search for the disks that are gone and have a name that the user gave.
#[derive(Debug)]
pub struct GoneSearch<'a> {
    root: &'a Root,
    /// The name without `/dev/`; `None` for any other path.
    name: Option<&'a str>,
    is_free: bool,
    found: Vec<Disk>,
    unsure: Option<GoneError>,
}

impl<'a> GoneSearch<'a> {
    /// Starts a search for a record's name, or for the kernel's name with or without `/dev/`. Set
    /// `is_unknown` if [`Disk::find`] does not find the name; otherwise only a record's name is
    /// searched.
    pub fn new(root: &'a Root, name: &'a str, is_unknown: bool) -> Self {
        let name = name.strip_prefix("/dev/").unwrap_or(name);
        let name = (!name.is_empty() && !name.contains('/')).then_some(name);
        let is_free = is_unknown
            && name.is_some_and(|name| {
                let found = fs::symlink_metadata(class(root).join(name));
                found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            });
        Self { root, name, is_free, found: Vec::new(), unsure: None }
    }

    /// Returns the records in a folder below the root that belong to no present disk, each as its
    /// path and the name of its disk ([`Disk::file_name`]), sorted.
    ///
    /// # Errors
    /// [`GoneError::Unlisted`] if there are records and the present disks cannot be listed.
    pub fn records(&self, folder: &str) -> Result<Vec<(PathBuf, String)>, GoneError> {
        let folder = self.root.at(folder);
        let record = |name: String| {
            let stem = name.strip_suffix(".json")?.to_owned();
            Some((folder.join(name), stem))
        };
        let mut records: Vec<_> = names_in(&folder).into_iter().filter_map(record).collect();
        if !records.is_empty() {
            let present = present(self.root)?;
            records.retain(|(_, stem)| !present.contains(stem));
        }
        Ok(records)
    }

    /// Returns whether the name can be the kernel's name for a disk that is gone, because no
    /// present device has it.
    pub const fn is_free(&self) -> bool {
        self.is_free
    }

    /// Returns whether the name is this record's.
    pub fn is_record(&self, stem: &str) -> bool {
        self.name == Some(stem)
    }

    /// Adds the disk of a record if the name is the record's or the kernel's name `device` for the
    /// disk, or if `is_named` tells that the name matches otherwise. `device` is `None` if the
    /// record does not have it.
    pub fn enter(&mut self, stem: &str, device: Option<&str>, is_named: bool) {
        let device = device.unwrap_or(stem);
        if is_named || self.is_record(stem) {
            self.found.push(Disk::gone(self.root, device, stem));
        } else if self.is_free && self.name == Some(device) {
            if stem == file_name_of(device) {
                self.unsure = Some(GoneError::NoPermanentName {
                    device: device.to_owned(),
                    record: stem.to_owned(),
                });
            } else {
                self.found.push(Disk::gone(self.root, device, stem));
            }
        }
    }

    /// Returns the disks that were found.
    ///
    /// # Errors
    /// [`GoneError::NoPermanentName`] if the only match is a disk that the kernel can have renamed.
    pub fn finish(self) -> Result<Vec<Disk>, GoneError> {
        match self.unsure {
            Some(error) if self.found.is_empty() => Err(error),
            _ => Ok(self.found),
        }
    }
}

/// Returns the names of the present disks' records.
fn present(root: &Root) -> Result<Vec<String>, GoneError> {
    let path = class(root);
    let unlisted = |path: &Path, source| GoneError::Unlisted { path: path.to_owned(), source };
    let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| unlisted(&path, Some(error)))?;
    if entries.is_empty() {
        return Err(unlisted(&path, None));
    }
    let mut present = Vec::new();
    for entry in entries {
        let path = entry.path();
        match Disk::named(root, &entry.file_name().to_string_lossy()) {
            Ok(disk) => present.push(disk.file_name()),
            // A device that disappeared after the listing has no entry any more.
            Err(_) if fs::symlink_metadata(&path).is_err() => {}
            Err(_) => return Err(unlisted(&path, path.canonicalize().err())),
        }
    }
    Ok(present)
}

fn class(root: &Root) -> PathBuf {
    root.at("sys/class/block")
}
