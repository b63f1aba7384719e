// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Undoes the changes in a record: all of them, or only those that a new plan does not name.

use serde::Serialize;
use tidegate_model::workload_file::Unit;

use crate::disk::{Disk, Root};
use crate::install::NewFile;
use crate::others::Others;
use crate::record::{Made, Record, Written, set};
use crate::record_error::RecordError;
use crate::services::Service;
use crate::store;

/// The values that an undo restored and the files that it removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// The attributes with their restored values.
    pub settings: Vec<(String, String)>,
    /// The files that were removed.
    pub files: Vec<String>,
    /// The services, each with the number of threads whose old class was restored.
    pub services: Vec<(String, usize)>,
    /// The attributes that could not be restored because the disk is gone.
    pub unreached: Vec<String>,
}

impl Record {
    /// Restores every setting and class, removes every file, and removes the record. Settings are
    /// restored in the order in which they were made, because changing the scheduler resets the
    /// other settings. Classes and files that another disk's record needs are kept. A disk that is
    /// gone has no settings to restore.
    ///
    /// # Errors
    /// The error of the first value that cannot be restored. All other values are still restored,
    /// and the record is kept.
    pub fn undo(self, disk: &Disk) -> Result<Undone, RecordError> {
        let mut others = Others::of(disk)?;
        let mut undone = Undone::default();
        let mut first = self.take_back(disk.root(), &mut others, |_| true, |_| true, &mut undone);
        for Made { attribute, old, .. } in self.settings {
            // An attribute that did not exist before belongs to the scheduler, and disappears with
            // it.
            let Some(old) = old else { continue };
            if disk.is_gone() {
                undone.unreached.push(attribute);
                continue;
            }
            match set(disk, &attribute, &old) {
                Ok(()) => undone.settings.push((attribute, old)),
                Err(error) => first = first.and(Err(error)),
            }
        }
        first?;
        store::remove(store::place(disk))?;
        Ok(undone)
    }

    /// Takes back the files and the classes that a new plan does not name.
    pub(crate) fn release(
        &mut self,
        disk: &Disk,
        files: &[NewFile],
        units: &[Unit],
        others: &mut Others,
    ) -> Result<(), RecordError> {
        let is_left_file = |file: &Written| files.iter().all(|it| it.path != file.path);
        let is_left = |service: &Service| units.iter().all(|unit| *unit != service.unit());
        let mut undone = Undone::default();
        self.take_back(disk.root(), others, is_left_file, is_left, &mut undone)?;
        self.files.retain(|file| !is_left_file(file));
        self.services.retain(|service| !is_left(service));
        Ok(())
    }

    /// Removes files and restores classes, except those that another disk's record needs.
    fn take_back(
        &self,
        root: &Root,
        others: &mut Others,
        is_left_file: impl Fn(&Written) -> bool,
        is_left: impl Fn(&Service) -> bool,
        undone: &mut Undone,
    ) -> Result<(), RecordError> {
        let mut first = Ok(());
        for Written { path, .. } in self.files.iter().filter(|it| is_left_file(it)) {
            if others.have_file(path) {
                continue;
            }
            match store::remove(root.at(path)) {
                Ok(()) => undone.files.push(format!("/{path}")),
                Err(error) => first = first.and(Err(error)),
            }
        }
        for service in self.services.iter().filter(|it| is_left(it)) {
            let name = service.unit().name;
            let fault = |(thread, error)| RecordError::of_thread(&name, thread, error);
            match others.adopt(root, service) {
                Ok(true) => {}
                Ok(false) => match service.take_back(root).map_err(fault) {
                    Ok(threads) => undone.services.push((name, threads)),
                    Err(error) => first = first.and(Err(error)),
                },
                Err(error) => first = first.and(Err(error)),
            }
        }
        first
    }
}
