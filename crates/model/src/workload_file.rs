// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workload file (`*.workload.toml`): the users of the drive and their contracts.
//!
//! Reading has two steps. [`WorkloadFile::parse`] checks the file alone; [`WorkloadFile::bind`]
//! checks it against a drive. Both report the position of a fault in the file. A file may also
//! describe the users of the processor: see [`Document`].

mod absent_places;
mod batch_cost;
mod bind;
mod contracts;
mod drive;
mod in_use;
mod places;
mod policy;
mod raw;
mod unit;
mod written;

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use crate::best_effort_order::BestEffortOrder;
use crate::document::Document;
use crate::drive_file::PlaceFamily;
use crate::entry::{claim, positive, read_count, within_time_max};
use crate::file_error::FileError;
use crate::host_section::{HostSection, RawHost};
use crate::names::PolicyName;
use crate::quantity::Share;
use crate::task::{BestEffort, Intensity, Task};
use crate::units::Duration;
use crate::workload::BatchChoice;

pub(crate) use absent_places::{OF_EXPORTS, check_exports};
pub use drive::DriveReference;
pub(crate) use policy::{Policy, RawPolicy};
pub(crate) use raw::check_size;
pub use unit::Unit;

use raw::{RawBestEffort, RawOffset, RawTask, RawWorkload};

/// The maximum number of requests that one closed loop may keep in flight: a thousand times what
/// drives accept.
const OUTSTANDING_MAX: u32 = 1 << 20;

/// The shortest time between two requests of an open loop.
const GAP_MIN: Duration = Duration::from_us(1);

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
        let mut names = BTreeSet::new();
        let mut tasks = Vec::new();
        for (entry, raw_task) in (0..).zip(raw.task) {
            expand_task(&raw_task, entry, &mut names, &mut tasks)?;
        }
        let best_effort = raw
            .best_effort
            .into_iter()
            .map(|load| read_best_effort(load, &mut names))
            .collect::<Result<_, _>>()?;
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

    /// Returns the units that the file names, those of tasks first.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Returns the unit of each `[[task]]` entry, in the order of the file.
    pub fn unit_of_entries(&self) -> &[Option<String>] {
        &self.entry_units.tasks
    }

    /// Returns the unit of each `[[best_effort]]` entry, in the order of the file.
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

/// Appends the tasks of one `[[task]]` entry: one, or `count` numbered ones.
fn expand_task(
    raw: &RawTask,
    entry: u32,
    names: &mut BTreeSet<String>,
    tasks: &mut Vec<Placed<Task>>,
) -> Result<(), FileError> {
    let period = positive(&raw.period, "period")?;
    let deadline = match &raw.deadline {
        Some(deadline) => positive(deadline, "deadline")?,
        None => period,
    };
    if *raw.requests.get_ref() == 0 {
        return Err(FileError::new(
            raw.requests.span(),
            "a job of 0 requests needs no drive",
            "write how many requests one job releases together, from 1 on",
        ));
    }
    let count = read_count(raw.count.as_ref(), tasks.len())?;
    let offsets = read_offsets(raw.offset.as_ref(), count)?;
    raw::check_size(&raw.size)?;
    for (number, offset) in (1..=count).zip(offsets) {
        let name = match raw.count {
            Some(_) => format!("{}-{number}", raw.name.get_ref()),
            None => raw.name.get_ref().clone(),
        };
        claim(&name, &raw.name, names)?;
        tasks.push(Placed {
            source: Task {
                name,
                entry,
                period,
                deadline,
                requests: *raw.requests.get_ref(),
                size: *raw.size.get_ref(),
                op: *raw.op.get_ref(),
                place: raw.place.0,
                offset,
                class: raw.class,
                quality_ppm: raw
                    .quality
                    .as_ref()
                    .map_or(Task::QUALITY_ALL_PPM, |share| share.get_ref().ppm),
                outstanding_max: read_outstanding(raw.outstanding.as_ref())?,
            },
            size_span: raw.size.span(),
            op_span: raw.op_span(),
        });
    }
    Ok(())
}

/// Reads the maximum number of jobs of a task that may be in progress at once.
fn read_outstanding(outstanding: Option<&Spanned<u32>>) -> Result<Option<u32>, FileError> {
    match outstanding {
        Some(zero) if *zero.get_ref() == 0 => Err(FileError::new(
            zero.span(),
            "outstanding is 0, so the task never releases a job",
            "write how many jobs may be in progress at once, or delete the line",
        )),
        outstanding => Ok(outstanding.map(|outstanding| *outstanding.get_ref())),
    }
}

/// Reads the first release of each of `count` tasks.
fn read_offsets(
    offset: Option<&Spanned<RawOffset>>,
    count: u32,
) -> Result<Vec<Duration>, FileError> {
    let Some(written) = offset else { return Ok(vec![Duration::ZERO; count as usize]) };
    let offsets = match written.get_ref() {
        RawOffset::Same(offset) => vec![*offset; count as usize],
        RawOffset::Each(offsets) if offsets.len() == count as usize => offsets.clone(),
        RawOffset::Each(offsets) => {
            return Err(FileError::new(
                written.span(),
                format!("the list has {} offsets, but the entry has {count} tasks", offsets.len()),
                "give one offset for each task, or { step = \"..\" }",
            ));
        }
        RawOffset::Step(step) => (0..u64::from(count))
            .map(|index| step.checked_mul(index).unwrap_or(Duration::MAX))
            .collect(),
    };
    let last = offsets.iter().copied().max().unwrap_or_default();
    within_time_max(last, written.span(), "last offset")?;
    Ok(offsets)
}

fn read_best_effort(
    raw: RawBestEffort,
    names: &mut BTreeSet<String>,
) -> Result<Placed<BestEffort>, FileError> {
    claim(raw.name.get_ref(), &raw.name, names)?;
    raw::check_size(&raw.size)?;
    let intensity = read_intensity(&raw)?;
    let op_span = raw.op_span();
    Ok(Placed {
        source: BestEffort {
            name: raw.name.into_inner(),
            intensity,
            size: *raw.size.get_ref(),
            op: *raw.op.get_ref(),
            place: raw.place.0,
        },
        size_span: raw.size.span(),
        op_span,
    })
}

/// Reads how a load releases requests: a closed loop, an open loop, or a closed loop with a rate.
fn read_intensity(raw: &RawBestEffort) -> Result<Intensity, FileError> {
    let outstanding = raw.outstanding.as_ref().map(read_load_outstanding).transpose()?;
    if let Some(rate) = &raw.rate
        && rate.get_ref().transfer_time_floor(*raw.size.get_ref()) < GAP_MIN
    {
        return Err(FileError::new(
            rate.span(),
            "the load releases more than a million requests each second",
            "write a lower rate, or a larger size",
        ));
    }
    match (outstanding, raw.rate.as_ref().map(|rate| *rate.get_ref())) {
        (Some(outstanding), None) => Ok(Intensity::Outstanding(outstanding)),
        (None, Some(rate)) => Ok(Intensity::Rate(rate)),
        (Some(outstanding), Some(rate)) => Ok(Intensity::Paced { rate, outstanding }),
        (None, None) => Err(FileError::new(
            raw.name.span(),
            "the load has neither `outstanding` nor `rate`",
            "add outstanding = 32, or rate = \"8MB/s\", or both",
        )),
    }
}

fn read_load_outstanding(outstanding: &Spanned<u32>) -> Result<u32, FileError> {
    match *outstanding.get_ref() {
        0 => Err(FileError::new(
            outstanding.span(),
            "outstanding is 0, so the load does nothing",
            "write how many requests it keeps in flight, or delete the entry",
        )),
        more if more > OUTSTANDING_MAX => Err(FileError::new(
            outstanding.span(),
            format!("outstanding exceeds {OUTSTANDING_MAX} requests"),
            "write a smaller number; drives accept a few dozen requests",
        )),
        outstanding => Ok(outstanding),
    }
}
