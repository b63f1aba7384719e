// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the requests of systemd units with the entries that a workload declares for them:
//! bounds, classes, sizes and contracts.
//!
//! Only entries that name a unit are compared. A request belongs to the entry of its unit and
//! operation that has exactly its size; or else to the one with the smallest larger size; or else
//! to the one with the largest size. Entries with the same unit, operation and size count as one,
//! with the largest bound.

mod entry;
mod record;

use std::collections::BTreeMap;

use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{BestEffort, Bytes, Duration, Op, Task, Time, Workload};

use crate::accounts::Source;
use crate::event::{Extent, IoClass};
use crate::process::Process;
use crate::served::Served;

use entry::{Asks, contract};

pub use entry::DeclaredEntry;
pub use record::Record;

/// The maximum number of undeclared sources that are named.
const UNDECLARED_MAX: usize = 512;

/// The declared entries, with the requests that were observed for each.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    entries: Vec<(DeclaredEntry, Record)>,
    /// The names of the entries that name no unit.
    without_unit: Vec<String>,
    /// The number of real-time requests that no entry declares, by source.
    undeclared: BTreeMap<Source, u64>,
    /// The number of undeclared real-time requests of sources that are not named.
    undeclared_others: u64,
    /// The number of requests whose threads had ended before their units could be looked up.
    unknown: u64,
}

impl Declared {
    /// Takes the entries of a workload. `bounds` has one bound for each of its tasks.
    pub fn of(file: &WorkloadFile, workload: &Workload, bounds: &[Option<Duration>]) -> Self {
        let mut declared = Self::default();
        let units = file.unit_of_entries();
        for (index, name) in workload.entries.iter().enumerate() {
            let of_entry = |(task, _): &(&Task, _)| task.entry as usize == index;
            let tasks: Vec<_> =
                workload.tasks.iter().zip(bounds.iter().copied()).filter(of_entry).collect();
            let Some((first, _)) = tasks.first() else { continue };
            let asks = contract(workload, &tasks);
            declared.add(name, units.get(index), first.op, first.size, asks);
        }
        let loads = BestEffort::entries(&workload.best_effort);
        for (entry, unit) in loads.zip(file.unit_of_loads()) {
            let first = &entry[0];
            let all = first.intensity.requests_max();
            let all = all.map(|each| each.saturating_mul(entry.len() as u64));
            let most = all.map(|all| u32::try_from(all).unwrap_or(u32::MAX));
            let name = match entry.len() {
                1 => &first.name,
                _ => first.name.strip_suffix("-1").unwrap_or(&first.name),
            };
            declared.add(name, Some(unit), first.op, first.size, Asks::AtOnce(most));
        }
        declared
    }

    fn add(&mut self, name: &str, unit: Option<&Option<String>>, op: Op, size: Bytes, asks: Asks) {
        let name = name.to_owned();
        let Some(unit) = unit.and_then(Option::clone) else {
            self.without_unit.push(name);
            return;
        };
        let entry = DeclaredEntry { name, unit, op, size, asks };
        let key = |it: &DeclaredEntry| (it.unit.clone(), it.op, it.size);
        match self.entries.iter_mut().find(|(known, _)| key(known) == key(&entry)) {
            Some((known, _)) => known.join(entry),
            None => self.entries.push((entry, Record::new())),
        }
    }

    /// Returns the entries in the order of the file, with tasks first.
    pub fn entries(&self) -> impl Iterator<Item = &(DeclaredEntry, Record)> {
        self.entries.iter()
    }

    /// Returns the names of the entries that name no unit.
    pub fn without_unit(&self) -> &[String] {
        &self.without_unit
    }

    /// Returns the number of real-time requests that no entry declares, by source.
    pub const fn undeclared(&self) -> &BTreeMap<Source, u64> {
        &self.undeclared
    }

    /// Returns the number of undeclared real-time requests of sources that are not named.
    pub const fn undeclared_others(&self) -> u64 {
        self.undeclared_others
    }

    /// Returns the number of requests whose unit is unknown, because their threads had ended before
    /// it could be looked up.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Records a request that arrives.
    pub(crate) fn come(&mut self, at: Time, extent: Extent, by: &Process) {
        self.unknown += u64::from(!by.is_known && extent.op.moves_data().is_some());
        if let Some(index) = self.find(extent, by) {
            let (entry, record) = &mut self.entries[index];
            record.come(at, entry, extent);
        }
    }

    /// Records a request that has completed.
    pub(crate) fn serve(&mut self, served: &Served) {
        let Some(index) = self.find(served.extent, &served.by) else {
            if served.class == IoClass::RealTime {
                self.count_undeclared(served);
            }
            return;
        };
        let (entry, record) = &mut self.entries[index];
        // The request may have been given up, and is then no longer counted.
        record.outstanding = record.outstanding.saturating_sub(1);
        record.other_class += u64::from(!entry.has_class(served.class));
        record.failed += u64::from(served.is_failed);
        record.respond(entry, served.response());
    }

    fn count_undeclared(&mut self, served: &Served) {
        let source = Source::of(&served.by, served.class);
        let is_room = self.undeclared.len() < UNDECLARED_MAX;
        match self.undeclared.get_mut(&source) {
            Some(count) => *count += 1,
            None if is_room => drop(self.undeclared.insert(source, 1)),
            None => self.undeclared_others += 1,
        }
    }

    /// Records a request that ended without being sent.
    pub(crate) fn withdraw(&mut self, bio: &Served) {
        if let Some(index) = self.find(bio.extent, &bio.by) {
            let (entry, record) = &mut self.entries[index];
            record.withdraw(bio.queued, entry, bio.extent);
        }
    }

    /// Records a request whose completion will not be observed. Its response counts if it has
    /// already waited longer than its bound.
    pub(crate) fn give_up(&mut self, bio: &Served) {
        if let Some(index) = self.find(bio.extent, &bio.by) {
            let (entry, record) = &mut self.entries[index];
            record.outstanding = record.outstanding.saturating_sub(1); // as in `serve`
            if entry.is_above(bio.response()) {
                record.respond(entry, bio.response());
            }
        }
    }

    /// Updates the counts of late waiting requests, from the requests that are not complete and the
    /// times that they have waited.
    pub(crate) fn wait<'a>(
        &mut self,
        waiting: impl Iterator<Item = (Extent, &'a Process, Duration)>,
    ) {
        for (_, record) in &mut self.entries {
            (record.waiting, record.waiting_max) = (0, None);
        }
        for (extent, by, age) in waiting {
            let Some(index) = self.find(extent, by) else { continue };
            let (entry, record) = &mut self.entries[index];
            if entry.is_above(age) {
                record.waiting += 1;
                record.waiting_max = record.waiting_max.max(Some(age));
            }
        }
    }

    /// Returns the index of the entry that a request belongs to.
    fn find(&self, extent: Extent, by: &Process) -> Option<usize> {
        let (unit, op) = (by.unit.as_ref()?, extent.op.moves_data()?);
        let of_unit = |entry: &DeclaredEntry| entry.unit == *unit && entry.op == op;
        let entries = self.entries.iter().map(|(entry, _)| entry).enumerate();
        let size = extent.bytes();
        let distance = |entry: &DeclaredEntry| {
            // Entries of at least this size come first, then smaller ones; each by the nearest
            // size.
            (entry.size < size, entry.size.get().abs_diff(size.get()))
        };
        let fitting = entries.filter(|(_, entry)| of_unit(entry));
        fitting.min_by_key(|(_, entry)| distance(entry)).map(|(index, _)| index)
    }
}
