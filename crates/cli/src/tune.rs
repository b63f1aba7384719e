// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate tune`: finds the kernel's settings under which a disk keeps a workload's deadlines,
//! without any part of Tidegate in the data path.

use std::num::NonZeroU32;
use std::path::Path;

use tidegate_analysis::{Answer as Verdict, Assessment, assess};
use tidegate_commands::{Changes, DriveChoice, read_text};
use tidegate_mapping::Attachment;
use tidegate_model::workload_file::{Unit, WorkloadFile};
use tidegate_model::{Document, Duration, PolicyName, Workload};
use tidegate_report::tune::{
    Extent, TuneReport, TuneStatusReport, TuneUndoReport, Tuned, TunedState,
};
use tidegate_tune::{
    Demand, Disk, FileSystem, NewFile, Record, RecordError, Refusal, Root, Running, Setting,
};

use crate::answer::Answer;
use crate::arguments::{ChangeArguments, DiskArguments, TuneArguments};
use crate::failure::Failure;
use crate::show;

const POLICY: PolicyName = PolicyName::MqDeadlineTuned;

/// Runs the command.
pub(crate) fn tune(arguments: &TuneArguments) -> Result<Answer, Failure> {
    if arguments.undo {
        return undo(&tuned_disk(&arguments.disk)?, arguments);
    }
    if arguments.status {
        return status(&tuned_disk(&arguments.disk)?, arguments);
    }
    make(&find(&arguments.disk)?, arguments)
}

/// Finds the disk that the arguments name.
pub(crate) fn find(DiskArguments { device, root }: &DiskArguments) -> Result<Disk, Failure> {
    Disk::find(&Root::new(root), device).map_err(|error| {
        Failure::input(error.to_string(), "`lsblk` lists the block devices of a machine")
    })
}

/// Finds a tuned disk, also one that is gone.
fn tuned_disk(arguments: &DiskArguments) -> Result<Disk, Failure> {
    let DiskArguments { device, root } = arguments;
    let found = find(arguments);
    if let Ok(disk) = &found
        && !matches!(Record::of(disk), Ok(None))
    {
        return found;
    }
    let gone = Record::gone(&Root::new(root), device, found.is_err()).map_err(failure)?;
    only_one(gone, device).unwrap_or(found)
}

/// Returns the one disk that is gone; `None` if there is none, and a failure if there are several.
pub(crate) fn only_one(mut gone: Vec<Disk>, device: &str) -> Option<Result<Disk, Failure>> {
    if gone.len() < 2 {
        return gone.pop().map(Ok);
    }
    let names: Vec<_> = gone.iter().map(Disk::file_name).collect();
    Some(Err(Failure::input(
        format!("{} disks that are gone were called `{device}`", gone.len()),
        format!("name one by its record: {}", names.join(", ")),
    )))
}

fn undo(disk: &Disk, arguments: &TuneArguments) -> Result<Answer, Failure> {
    check_not_attached(disk)?;
    let record = Record::of(disk).map_err(failure)?;
    let undone = record.map(|record| record.undo(disk)).transpose().map_err(failure)?;
    let report = TuneUndoReport::of(disk.name(), undone.unwrap_or_default());
    show::report_in(&report, arguments.form);
    Ok(Answer::Yes)
}

fn status(disk: &Disk, arguments: &TuneArguments) -> Result<Answer, Failure> {
    let record = Record::of(disk).map_err(failure)?;
    let state = record.map(|record| state(&record, disk));
    let report = TuneStatusReport::of(disk.name(), state.as_ref());
    show::report_in(&report, arguments.form);
    Ok(Answer::of(report.is_kept()))
}

fn state(record: &Record, disk: &Disk) -> TunedState {
    let drift = record.drift(disk);
    if disk.is_gone() {
        let record = Some(disk.file_name());
        return TunedState { gone_record: record, drift, ..TunedState::default() };
    }
    TunedState {
        gone_record: None,
        drift,
        refusals: disk.standing_refusals(disk.queue_depth().map_or(1, NonZeroU32::get)),
        strangers: record.strangers(disk.root()),
        file_systems: disk.file_systems(),
    }
}

/// Proves the workload and shows the settings; applies or installs them if the arguments request
/// it.
fn make(disk: &Disk, arguments: &TuneArguments) -> Result<Answer, Failure> {
    let path = arguments.workload.as_ref().expect("clap asks for it");
    check_not_attached(disk)?;
    let change = &arguments.change;
    let prepared = Prepared::new(disk, path, change)?;
    let extent = prepared.carry_out(disk, change)?;
    let (services, file_systems) = (prepared.running(disk), disk.file_systems());
    let report = prepared.report(disk, change, extent, &services, &file_systems);
    show::report_in(&report, arguments.form);
    Ok(Answer::of(report.is_proven()))
}

/// Refuses to change the settings of a disk below a mapping.
fn check_not_attached(disk: &Disk) -> Result<(), Failure> {
    let attachment = Attachment::of(disk).map_err(|error| Failure::environment(&error))?;
    if attachment.is_none_or(|attachment| attachment.mapping.is_none()) {
        return Ok(());
    }
    let name = disk.name();
    // Another disk can now have the kernel's name of a disk that is gone.
    let argument = if disk.is_gone() { disk.file_name() } else { name.to_owned() };
    Err(Failure::input(
        format!("`{name}` is attached, and the target needs the settings that it has"),
        format!("run `tidegate detach {argument}` first"),
    ))
}

/// A workload that is proved for a disk, with the settings and the files to write.
pub(crate) struct Prepared {
    proof: Proof,
    refusals: Vec<Refusal>,
    settings: Vec<Setting>,
    /// The rule file; `None` if no rule can identify the disk uniquely.
    rule: Option<NewFile>,
    files: Vec<NewFile>,
    units: Vec<Unit>,
}

impl Prepared {
    /// Proves the workload at `path` and finds the settings.
    pub(crate) fn new(disk: &Disk, path: &Path, change: &ChangeArguments) -> Result<Self, Failure> {
        let drive = change.drive.clone().map(DriveChoice::Named);
        let changes = Changes { drive, ..Changes::default() };
        let input = tidegate_commands::read(path, &changes, &[POLICY])?;
        let units = workload_file(path)?.units().to_vec();
        let measured = input.drive.identity.model.as_deref();
        let proof = prove(input.workload, disk);
        let responses = proof.assessment.tasks.iter();
        let responses: Vec<_> = responses
            .map(|task| task.response_max.map_or(Duration::ZERO, |(response, _)| response))
            .collect();
        let demand = Demand::of(&proof.workload, &responses, proof.assessment.best_effort_depth);
        let refusals = disk.refusals(&demand, measured);
        let settings = disk.settings(&demand);
        let rule = NewFile::rule(disk, &settings);
        let drop_ins = units.iter().map(NewFile::drop_in);
        let files: Vec<_> = rule.clone().into_iter().chain(drop_ins).collect();
        Ok(Self { proof, refusals, settings, rule, files, units })
    }

    /// Applies the settings, and installs them, if the arguments request it and the workload is
    /// proved.
    pub(crate) fn carry_out(
        &self,
        disk: &Disk,
        change: &ChangeArguments,
    ) -> Result<Extent, Failure> {
        if !self.reasons().is_empty() {
            return Ok(Extent::Shown);
        }
        match (change.apply, change.install) {
            (_, true) if self.rule.is_none() => Err(Failure::input(
                format!(
                    "no rule can name `{}` alone: its `device/wwid` is missing, or contains `|`, a \
                     quotation mark or a control character",
                    disk.name()
                ),
                "make the settings with --apply after each start",
            )),
            (_, true) => {
                Record::make(disk, &self.settings, &self.files, &self.units).map_err(failure)?;
                Ok(Extent::Installed)
            }
            (true, false) => {
                Record::make(disk, &self.settings, &[], &self.units).map_err(failure)?;
                Ok(Extent::Applied)
            }
            (false, false) => Ok(Extent::Shown),
        }
    }

    /// Returns the reasons why the settings cannot keep the deadlines.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let unproved = match self.proof.assessment.answer {
            Verdict::Proven => None,
            Verdict::NotProven => Some(format!("not proven under `{}`", POLICY.name())),
            Verdict::NotApplicable { reason } => Some(reason.to_owned()),
        };
        unproved.into_iter().chain(self.refusals.iter().map(Refusal::to_string)).collect()
    }

    /// Returns the current state of the units.
    pub(crate) fn running(&self, disk: &Disk) -> Vec<Running> {
        self.units.iter().map(|unit| Running::of(disk.root(), unit)).collect()
    }

    /// Returns the report on the proof, the settings, the files and the services.
    pub(crate) fn report<'a>(
        &'a self,
        disk: &'a Disk,
        change: &ChangeArguments,
        extent: Extent,
        services: &'a [Running],
        file_systems: &'a [FileSystem],
    ) -> TuneReport<'a> {
        TuneReport::of(Tuned {
            device: disk.name(),
            workload: &self.proof.workload,
            assessment: &self.proof.assessment,
            depth_max: self.proof.depth_max,
            refusals: &self.refusals,
            settings: &self.settings,
            files: if change.install { &self.files } else { &[] },
            services,
            file_systems,
            extent,
        })
    }
}

/// A proof at the chosen depth.
struct Proof {
    workload: Workload,
    assessment: Assessment,
    /// The largest proved depth; `None` if the workload states the depth.
    depth_max: Option<u32>,
}

/// Proves the workload at the proved depth with the highest rate.
fn prove(mut workload: Workload, disk: &Disk) -> Proof {
    let stated = workload.parameters.mq_deadline_tuned.queue_depth;
    workload.parameters.mq_deadline_tuned.taken_early = 0;
    let assessment = assess(&workload, POLICY);
    if stated.is_some() {
        return Proof { workload, assessment, depth_max: None };
    }
    let depth_max = assessment.best_effort_depth;
    // A smaller depth needs fewer tags. If the tags do not suffice even at depth 1, `refusals`
    // reports it.
    let most = (1..=depth_max).rev().find(|&depth| disk.has_spare_tags(depth)).unwrap_or(1);
    workload.parameters.mq_deadline_tuned.queue_depth = fastest(&workload, most);
    let assessment = assess(&workload, POLICY);
    Proof { workload, assessment, depth_max: Some(most) }
}

/// Returns the number of requests from 1 to `most` that the drive serves at the highest rate; the
/// smallest if several have that rate.
fn fastest(workload: &Workload, most: u32) -> Option<NonZeroU32> {
    let most = most.min(workload.table.batch_max()).max(1);
    let time = |count: u32| u128::from(workload.table.time_max(count).ns());
    let faster = |best: u32, count: u32| {
        // This compares count / time(count) with best / time(best) without a division.
        if u128::from(count) * time(best) > u128::from(best) * time(count) { count } else { best }
    };
    NonZeroU32::new((1..=most).fold(1, faster))
}

/// Reads the disk's part of a workload file, because only that part names units.
pub(crate) fn workload_file(path: &Path) -> Result<WorkloadFile, Failure> {
    let text = read_text(path, "workload file")?;
    let in_file = |error| Failure::in_file(path, &text, &error);
    let mut document = Document::parse(&text).map_err(in_file)?;
    let _processor = document.take_processor();
    WorkloadFile::of_document(document).map_err(in_file)
}

/// Converts the error of a change of settings.
pub(crate) fn failure(error: RecordError) -> Failure {
    match error {
        RecordError::Exists { .. } => {
            Failure::input(error.to_string(), "its owner may need it: read it first")
        }
        RecordError::Conflict { .. } => {
            Failure::input(error.to_string(), "a unit has one class for all disks")
        }
        error => Failure::environment(&error),
    }
}
