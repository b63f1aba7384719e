// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The record of a tuned disk: the values before tuning, and the files that were written. It is
//! saved before any change, so that a change that fails half-way can be undone.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_model::workload_file::Unit;

use crate::disk::{Disk, Root};
use crate::gone::GoneSearch;
use crate::install::NewFile;
use crate::others::Others;
use crate::record_error::RecordError;
use crate::services::{Running, Service};
use crate::setting::Setting;
use crate::store;
use crate::threads::Stranger;

/// The record of a tuned disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The boot in which the threads of `services` run; missing in records of earlier versions.
    #[serde(default)]
    boot: Option<String>,
    /// The kernel's name for the disk when it was tuned; missing in records of earlier versions.
    #[serde(default)]
    device: Option<String>,
    pub(crate) settings: Vec<Made>,
    pub(crate) files: Vec<Written>,
    /// The services whose threads were changed; missing in records of earlier versions.
    #[serde(default)]
    pub(crate) services: Vec<Service>,
}

/// A setting that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) attribute: String,
    pub(crate) old: Option<String>,
    new: String,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) path: String,
    text: String,
}

/// A difference between a tuned disk and its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The name of the attribute or the file, or of the service with threads in another class.
    pub name: String,
    /// The recorded value or the class; `None` for a file.
    pub expected: Option<String>,
    /// The current value, or the number of threads in the class; `None` if the value is missing,
    /// and for a file.
    pub found: Option<String>,
}

impl Record {
    /// Returns the record of a disk; `None` if the disk is not tuned.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn of(disk: &Disk) -> Result<Option<Self>, RecordError> {
        Self::read(disk.root(), store::place(disk))
    }

    /// Returns the tuned disks of a machine that are gone and have this name: the name of the
    /// record or, if no present device has it, the kernel's name for the disk when it was tuned. A
    /// disk without a permanent name is found by its record's name only, because the kernel can
    /// have renamed it. Set `is_unknown` if [`Disk::find`] does not find the name.
    ///
    /// # Errors
    /// If the present disks cannot be listed, if a record that can match cannot be read, or if only
    /// a disk without a permanent name had the name.
    pub fn gone(root: &Root, name: &str, is_unknown: bool) -> Result<Vec<Disk>, RecordError> {
        let mut search = GoneSearch::new(root, name, is_unknown);
        for (path, stem) in search.records(store::FOLDER)? {
            if !search.is_free() && !search.is_record(&stem) {
                continue;
            }
            let Some(record) = Self::read(root, path)? else { continue };
            search.enter(&stem, record.device.as_deref(), false);
        }
        Ok(search.finish()?)
    }

    /// Reads the record at a path. Threads of an earlier boot are dropped, because their numbers
    /// and start times now belong to other threads.
    pub(crate) fn read(root: &Root, path: PathBuf) -> Result<Option<Self>, RecordError> {
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|source| RecordError::File {
                verb: "read",
                path: path.clone(),
                source,
            })?,
        };
        let mut record: Self =
            serde_json::from_str(&text).map_err(|source| RecordError::Damaged { path, source })?;
        if record.boot != root.boot() {
            record.services.iter_mut().for_each(Service::forget_threads);
        }
        Ok(Some(record))
    }

    /// Applies the settings, writes the files and gives the units' running threads their class,
    /// after recording all of it. If the disk is already tuned, its record keeps the values from
    /// before the first tuning; files and units that are no longer named are first taken back.
    ///
    /// # Errors
    /// If a value or file cannot be written; the changes until then are recorded. If another disk's
    /// record needs a unit in another class; then nothing is changed.
    pub fn make(
        disk: &Disk,
        settings: &[Setting],
        files: &[NewFile],
        units: &[Unit],
    ) -> Result<(), RecordError> {
        let mut others = Others::of(disk)?;
        others.check(units)?;
        let mut record = Self::of(disk)?.unwrap_or_default();
        record.device = Some(disk.name().to_owned());
        record.check_free(disk.root(), files, &others)?;
        record.release(disk, files, units, &mut others)?;
        record.enter(disk.root(), settings, files, units, &others);
        record.save(disk)?;
        for Setting { attribute, new, .. } in settings {
            set(disk, attribute, new)?;
        }
        for NewFile { path, text } in files {
            store::write(&disk.root().at(path), text)?;
        }
        record.give_classes(disk)
    }

    /// Returns the files that were written, with their texts.
    pub fn files(&self) -> Vec<NewFile> {
        let files = self.files.iter();
        files
            .map(|Written { path, text }| NewFile { path: path.clone(), text: text.clone() })
            .collect()
    }

    /// Drops a record whose settings a restart has undone; a record with files is kept.
    ///
    /// # Errors
    /// If the record cannot be read or removed.
    pub fn forget_settings(disk: &Disk) -> Result<(), RecordError> {
        match Self::of(disk)? {
            Some(record) if record.files.is_empty() => store::remove(store::place(disk)),
            _ => Ok(()),
        }
    }

    /// Checks that no file of another program would be overwritten.
    fn check_free(
        &self,
        root: &Root,
        files: &[NewFile],
        others: &Others,
    ) -> Result<(), RecordError> {
        for NewFile { path, .. } in files {
            let is_own = self.has_file(path) || others.have_file(path);
            let path = root.at(path);
            if !is_own && path.exists() {
                return Err(RecordError::Exists { path });
            }
        }
        Ok(())
    }

    /// Returns whether the record lists this file.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.iter().any(|written| written.path == path)
    }

    /// Records the planned changes, and the current values unless earlier ones are already
    /// recorded.
    fn enter(
        &mut self,
        root: &Root,
        settings: &[Setting],
        files: &[NewFile],
        units: &[Unit],
        others: &Others,
    ) {
        for Setting { attribute, old, new, .. } in settings {
            match self.settings.iter_mut().find(|made| made.attribute == *attribute) {
                Some(made) => made.new.clone_from(new),
                None => self.settings.push(Made {
                    attribute: (*attribute).to_owned(),
                    old: old.clone(),
                    new: new.clone(),
                }),
            }
        }
        for NewFile { path, text } in files {
            self.files.retain(|written| written.path != *path);
            self.files.push(Written { path: path.clone(), text: text.clone() });
        }
        for unit in units {
            if self.services.iter().all(|it| it.unit() != *unit) {
                let shared = others.service(unit).cloned();
                self.services.push(shared.unwrap_or_else(|| Service::new(root, unit)));
            }
        }
        let drop_ins = &self.files;
        for service in &mut self.services {
            let path = NewFile::drop_in(&service.unit()).path;
            if drop_ins.iter().any(|written| written.path == path) {
                service.note_drop_in();
            }
        }
    }

    fn give_classes(mut self, disk: &Disk) -> Result<(), RecordError> {
        let mut services = std::mem::take(&mut self.services);
        let save = |noted: &[Service]| {
            self.services = noted.to_vec();
            self.save(disk)
        };
        Service::give(&mut services, disk.root(), save, RecordError::of_thread)
    }

    /// Returns the differences between the machine and the record. A disk that is gone has no
    /// settings that could differ.
    pub fn drift(&self, disk: &Disk) -> Vec<Drift> {
        let settings = self.settings.iter().filter(|_| !disk.is_gone()).filter_map(
            |Made { attribute, new, .. }| {
                let found = disk.value(attribute);
                let is_kept = found.as_ref() == Some(new);
                (!is_kept).then(|| Drift {
                    name: attribute.clone(),
                    expected: Some(new.clone()),
                    found,
                })
            },
        );
        let files = self.files.iter().filter_map(|Written { path, text }| {
            let found = fs::read_to_string(disk.root().at(path)).ok();
            let is_kept = found.as_ref() == Some(text);
            (!is_kept).then(|| Drift { name: format!("/{path}"), expected: None, found: None })
        });
        let services = self.services.iter().filter_map(|service| {
            let running = Running::of(disk.root(), &service.unit());
            let Running { threads, others, .. } = running;
            (others > 0).then(|| Drift {
                expected: Some(running.class().to_owned()),
                found: Some(format!("{} of {threads} threads", threads - others)),
                name: running.unit,
            })
        });
        settings.chain(files).chain(services).collect()
    }

    /// Returns the programs that send real-time requests although the plan does not name them.
    pub fn strangers(&self, root: &Root) -> Vec<Stranger> {
        let units: Vec<Unit> = self.services.iter().map(Service::unit).collect();
        let real_time = units.iter().filter(|unit| unit.is_real_time);
        Stranger::all(root, &real_time.map(|unit| &*unit.name).collect::<Vec<_>>())
    }

    pub(crate) fn save(&mut self, disk: &Disk) -> Result<(), RecordError> {
        self.save_at(disk.root(), &store::place(disk))
    }

    pub(crate) fn save_at(
        &mut self,
        root: &Root,
        path: &std::path::Path,
    ) -> Result<(), RecordError> {
        self.boot = root.boot();
        let text = serde_json::to_string_pretty(self).expect("a record is plain data");
        store::write(path, &(text + "\n"))
    }
}

/// Writes an attribute and checks that the kernel accepted the value.
pub(crate) fn set(disk: &Disk, attribute: &str, value: &str) -> Result<(), RecordError> {
    let path = disk.path(attribute);
    if disk.value(attribute).as_deref() == Some(value) {
        return Ok(());
    }
    // Opened without O_CREAT: if sysfs does not have the file, the kernel lacks the attribute.
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
