// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate status`: checks whether a disk is attached as recorded, and whether its plan holds.

use tidegate_mapping::{
    Attachment, DeviceMapperError, Figures, Mapping, Obstacle, Promise, groups_without_controller,
    held, missing_groups, moved_groups,
};
use tidegate_report::attach::AttachStatusReport;
use tidegate_report::tune::FileSystemReport;
use tidegate_tune::{Disk, Record};

use super::{device_failure, device_mapper, is_there, mapping_of};
use crate::answer::Answer;
use crate::arguments::{AttachedArguments, MachineArguments};
use crate::failure::Failure;
use crate::{show, tune};

const UNKNOWN: &str = "the target shows no figures of the form that this version knows, so nothing is known of its \
                       responses: the module and `tidegate` must be of one version";
const SLOW: &str = "the target's worker took longer than `submit` below [host]: state more, and attach the disk again";
const LATE: &str = "a response of real time was longer than every bound: a unit sent more than its contract, or the \
                    disk or the host was slower than stated";

/// Runs `status`.
pub(crate) fn status(arguments: &AttachedArguments) -> Result<Answer, Failure> {
    let disk = tune::find(&arguments.machine.disk)?;
    let attached = Attachment::of(&disk).map_err(|error| Failure::environment(&error))?;
    let record = Record::of(&disk).map_err(tune::failure)?.filter(|_| attached.is_some());
    let promise = attached.as_ref().and_then(|attached| attached.mapping.as_ref());
    let found = promise.map(|it| found(&disk, it, &arguments.machine)).transpose()?;
    let is_lost = attached.is_some() && record.is_none();
    let table = promise.map(|promise| &*promise.table);
    // With the kernel target, requests do not take the path on which a file system can break
    // bounds.
    let is_stock = attached.as_ref().is_some_and(|attached| attached.mapping.is_none());
    let file_systems = if is_stock { disk.file_systems() } else { Vec::new() };
    let report = AttachStatusReport {
        device: disk.name(),
        via: attached.as_ref().map(|attached| attached.way).filter(|_| !is_lost),
        mapping: promise.map(|promise| &*promise.name),
        has_its_table: found.as_ref().map(|found| found.has_its_table),
        faults: promise.map_or_else(Vec::new, |promise| faults(&disk, promise, found.as_ref())),
        notes: table.map_or_else(Vec::new, |it| missing_groups(disk.root(), it)),
        drift: record.map(|record| record.drift(&disk)).unwrap_or_default(),
        figures: found.and_then(|found| found.figures),
        file_systems: FileSystemReport::all(&file_systems),
    };
    show::report_in(&report, arguments.form);
    Ok(Answer::of(report.is_kept()))
}

/// A mapping as it is now.
struct Found {
    has_its_table: bool,
    figures: Option<Figures>,
}

fn found(disk: &Disk, promise: &Promise, machine: &MachineArguments) -> Result<Found, Failure> {
    // In a rehearsal, the mappings of this computer say nothing about the copied one.
    let device_mapper = device_mapper(machine, true)?;
    let failure = |error: DeviceMapperError| device_failure(&error);
    let missing = Found { has_its_table: false, figures: None };
    if !is_there(&mapping_of(disk, &promise.name, String::new()), &device_mapper)? {
        return Ok(missing);
    }
    let table = device_mapper.table(&promise.name).map_err(failure)?;
    let has_its_table = table.is_some_and(|table| is_same(disk, &table, &promise.table));
    let figures = device_mapper.figures(&promise.name).map_err(failure)?;
    Ok(if has_its_table { Found { has_its_table, figures } } else { missing })
}

/// Returns whether the table that the kernel shows is the recorded one, on this disk.
fn is_same(disk: &Disk, found: &str, recorded: &str) -> bool {
    let device = found.split_whitespace().nth(3);
    let is_on_it = disk.text("dev").is_none_or(|own| device == Some(&*own));
    is_on_it && plan_of(found) == plan_of(recorded)
}

/// Returns the reasons why the plan does not hold, each as a sentence without its full stop.
fn faults(disk: &Disk, promise: &Promise, found: Option<&Found>) -> Vec<String> {
    let mut faults = groups_without_controller(disk.root(), &promise.table);
    faults.extend(moved_groups(disk.root(), &promise.table));
    faults.extend(held(disk, &Mapping::uuid_of(disk)).iter().map(Obstacle::to_string));
    // If the mapping's table differs, its figures say nothing about this plan.
    let Some(Found { figures, .. }) = found.filter(|found| found.has_its_table) else {
        return faults;
    };
    let Some(figures) = figures else {
        faults.push(UNKNOWN.to_owned());
        return faults;
    };
    faults.extend((figures.worker_max_ns > promise.submit_ns_max).then(|| SLOW.to_owned()));
    faults.extend((figures.real_time_max_ns > promise.response_ns_max).then(|| LATE.to_owned()));
    faults
}

/// Returns a table's words without the device, which the kernel shows by its numbers.
fn plan_of(table: &str) -> Vec<&str> {
    let words = table.split_whitespace().enumerate();
    words.filter(|&(index, _)| index != 3).map(|(_, word)| word).collect()
}
