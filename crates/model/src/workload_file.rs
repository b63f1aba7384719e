// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workload file (`*.workload.toml`): the users of the drive and their contracts.
//!
//! Reading has two steps. [`WorkloadFile::parse`] checks the file alone; [`WorkloadFile::bind`]
//! checks it against a drive. Both report the position of a fault in the file. A file may also
//! describe the users of the processor: see [`Document`].

mod absent_places;
mod at_once;
mod batch_cost;
mod bind;
mod contracts;
mod drive;
mod in_use;
mod load;
mod places;
mod policy;
mod raw;
mod task;
mod unit;
mod written;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::best_effort_order::BestEffortOrder;
use crate::document::Document;
use crate::drive_file::PlaceFamily;
use crate::file_error::FileError;
use crate::host_section::{HostSection, RawHost};
use crate::names::PolicyName;
use crate::quantity::Share;
use crate::task::{BestEffort, Task};
use crate::workload::BatchChoice;

pub(crate) use absent_places::{OF_EXPORTS, check_exports};
pub use drive::DriveReference;
pub(crate) use policy::{Policy, RawPolicy};
pub(crate) use raw::check_size;
pub use unit::Unit;

use at_once::AtOnce;
use raw::RawWorkload;

/// A workload file that is valid in itself and not yet bound to a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadFile {
    /// The drive that the file names or contains.
    pub drive: DriveReference,
    entries: Vec<String>,
    /// Families of places that no request of the workload has.
    absent_places: Vec<PlaceFamily>,
    /// The number of exports that share the drive, each at its own place; 0 in a workload file.
    export_count: usize,
    policy: Policy,
    /// The host's time, if the file states it.
    pub host: Option<HostSection>,
    /// Policies that are requested in addition to the file's policy.
    asked: Vec<PolicyName>,
    tasks: Vec<Placed<Task>>,
    best_effort: Vec<Placed<BestEffort>>,
    units: Vec<Unit>,
    entry_units: unit::EntryUnits,
}

/// A source with the positions of values that may not suit the drive.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed<T> {
    pub(crate) source: T,
    pub(crate) size_span: Range<usize>,
    pub(crate) op_span: Range<usize>,
}

impl WorkloadFile {
    /// Reads the disk part of a workload file and skips the processor part.
    ///
    /// # Errors
    /// The first fault, with its position and what to write instead.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut document = Document::parse(text)?;
        let processor = document.take_processor();
        if document.is_empty() && !processor.is_empty() {
            return Err(FileError::new(
                0..0,
                "the workload has no disk part",
                "add a drive and a [[task]], or simulate its processor with `tidegate cpu sim WORKLOAD`",
            ));
        }
        Self::of_document(document)
    }

    /// Reads a document that describes only a disk.
    ///
    /// # Errors
    /// The first fault, with its position and what to write instead.
    pub fn of_document(document: Document<'_>) -> Result<Self, FileError> {
        Self::read(document.read()?)
    }

    /// Reads the disk part.
    fn read(raw: RawWorkload) -> Result<Self, FileError> {
        let policy = Policy::read(raw.policy)?;
        let host = raw.host.map(RawHost::read).transpose()?;
        if raw.task.is_empty() && raw.best_effort.is_empty() {
            return Err(FileError::new(
                0..0,
                "the workload has neither a [[task]] nor a [[best_effort]]",
                "add at least one of them",
            ));
        }
        let drive = raw.drive.ok_or_else(|| {
            FileError::new(0..0, "missing field `drive`", "add a line for `drive`")
        })?;
        let absent_places = absent_places::read(raw.absent_places, &raw.task, &raw.best_effort)?;
        let units = unit::read(&raw.task, &raw.best_effort)?;
        let entry_units = unit::EntryUnits::of(&raw.task, &raw.best_effort);
        let entries = raw.task.iter().map(|task| task.name.get_ref().clone()).collect();
        let (mut names, mut at_once) = (BTreeSet::new(), AtOnce::default());
        let mut tasks = Vec::new();
        for (entry, raw_task) in (0..).zip(raw.task) {
            task::expand(&raw_task, entry, &mut names, &mut at_once, &mut tasks)?;
        }
        let mut best_effort = Vec::new();
        for (entry, load) in (0..).zip(&raw.best_effort) {
            load::expand(load, entry, &mut names, &mut at_once, &mut best_effort)?;
        }
        let drive = drive::read_drive(drive)?;
        Ok(Self {
            drive,
            entries,
            absent_places,
            export_count: 0,
            policy,
            host,
            asked: Vec::new(),
            tasks,
            best_effort,
            units,
            entry_units,
        })
    }

    /// Creates a workload from a file of another format.
    pub(crate) fn of_parts(
        drive: DriveReference,
        entries: Vec<String>,
        absent_places: Vec<PlaceFamily>,
        export_count: usize,
        policy: Policy,
        tasks: Vec<Placed<Task>>,
        best_effort: Vec<Placed<BestEffort>>,
    ) -> Self {
        Self {
            drive,
            entries,
            absent_places,
            export_count,
            policy,
            host: None,
            asked: Vec::new(),
            tasks,
            best_effort,
            units: Vec::new(),
            entry_units: unit::EntryUnits::default(),
        }
    }

    /// Returns the systemd units that the file names, the units of tasks first.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Returns the systemd unit of each `[[task]]` entry, in the order of the file.
    pub fn unit_of_entries(&self) -> &[Option<String>] {
        &self.entry_units.tasks
    }

    /// Returns the systemd unit of each `[[best_effort]]` entry, in the order of the file.
    pub fn unit_of_loads(&self) -> &[Option<String>] {
        &self.entry_units.loads
    }

    /// Replaces the file's batch size, for example by a command-line option.
    pub fn set_batch(&mut self, batch: BatchChoice) {
        self.policy.batch = batch;
    }

    /// Replaces the file's order of best effort, for example by a command-line option.
    pub fn set_best_effort_order(&mut self, order: BestEffortOrder) {
        self.policy.best_effort_order = Some(order);
    }

    /// Replaces the file's margin, for example by a command-line option.
    pub fn set_margin(&mut self, margin: Share) {
        self.policy.margin_ppm = margin.ppm;
    }

    /// Adds policies to try in addition to the file's policy, for example from the command line.
    /// The file's parameters for them then count as used.
    pub fn also_try(&mut self, policies: &[PolicyName]) {
        self.asked.extend_from_slice(policies);
    }
}
