// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The records of the machine's other disks. Settings belong to a disk, but services to the
//! machine: two disks can need the same service, and must then need it in the same class.

use std::path::PathBuf;

use tidegate_model::workload_file::Unit;

use crate::disk::{Disk, Root};
use crate::record::Record;
use crate::record_error::RecordError;
use crate::services::Service;
use crate::store;

/// The records of all disks except one.
pub(crate) struct Others(Vec<(PathBuf, Record)>);

impl Others {
    /// Reads the records of all disks except this one.
    pub(crate) fn of(disk: &Disk) -> Result<Self, RecordError> {
        let own = store::place(disk);
        let mut records = Vec::new();
        for path in store::places(disk.root())?.into_iter().filter(|path| *path != own) {
            let record = Record::read(disk.root(), path.clone())?;
            records.extend(record.map(|record| (path, record)));
        }
        Ok(Self(records))
    }

    /// Checks that no record needs one of these units in another class.
    pub(crate) fn check(&self, units: &[Unit]) -> Result<(), RecordError> {
        for (path, record) in &self.0 {
            for found in record.services.iter().map(Service::unit) {
                let is_other = |it: &&Unit| it.name == found.name && **it != found;
                if let Some(unit) = units.iter().find(is_other) {
                    return Err(RecordError::Conflict {
                        unit: found.name,
                        wanted: crate::services::class(unit.is_real_time),
                        needed: crate::services::class(found.is_real_time),
                        record: path.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns whether any record lists this file.
    pub(crate) fn have_file(&self, path: &str) -> bool {
        self.0.iter().any(|(_, record)| record.has_file(path))
    }

    /// Returns the service of this unit from any of these records.
    pub(crate) fn service(&self, unit: &Unit) -> Option<&Service> {
        let mut services = self.0.iter().flat_map(|(_, record)| &record.services);
        services.find(|service| service.unit() == *unit)
    }

    /// Merges the facts about a service into the other records that need it. Returns whether there
    /// are any.
    pub(crate) fn adopt(&mut self, root: &Root, service: &Service) -> Result<bool, RecordError> {
        let mut is_needed = false;
        for (path, record) in &mut self.0 {
            let unit = service.unit();
            if let Some(own) = record.services.iter_mut().find(|it| it.unit() == unit) {
                own.adopt(service);
                record.save_at(root, path)?;
                is_needed = true;
            }
        }
        Ok(is_needed)
    }
}
