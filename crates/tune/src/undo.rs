// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The way back from a record: all of it, or what a new plan no longer names.

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
    /// The services, with the number of threads that have their old class again.
    pub services: Vec<(String, usize)>,
    /// The attributes that went with a disk that is gone.
    pub unreached: Vec<String>,
}

impl Record {
    /// Restores every setting and class, removes every file, and forgets the disk. Settings are
    /// restored in the order in which they were made, because a change of the scheduler resets the
    /// other settings. A class and a file that another disk's record needs stay. A disk that is gone
    /// has no settings to restore.
    ///
    /// # Errors
    /// The first value that cannot be restored. All other values are restored, and the record
    /// stays.
    pub fn undo(self, disk: &Disk) -> Result<Undone, RecordError> {
        let mut others = Others::of(disk)?;
        let mut undone = Undone::default();
        let mut first = self.take_back(disk.root(), &mut others, |_| true, |_| true, &mut undone);
        for Made { attribute, old, .. } in self.settings {
            // An attribute that was not there belongs to the scheduler, and goes with it.
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

    /// Removes files and takes classes back, except those that another disk's record needs.
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
