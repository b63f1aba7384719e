// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate tune`: the kernel's settings under which a disk keeps a workload's deadlines, with
//! nothing of Tidegate in the data path.

use std::num::NonZeroU32;

use tidegate_analysis::{Assessment, assess};
use tidegate_commands::{Changes, DriveChoice, read_text};
use tidegate_model::workload_file::{Unit, WorkloadFile};
use tidegate_model::{Document, Duration, PolicyName, Workload};
use tidegate_report::tune::{Extent, TuneReport, TuneStatusReport, TuneUndoReport, Tuned};
use tidegate_tune::{Demand, Disk, NewFile, Record, RecordError, Root};

use crate::answer::Answer;
use crate::arguments::TuneArguments;
use crate::failure::Failure;
use crate::show;

const POLICY: PolicyName = PolicyName::MqDeadlineTuned;

/// Runs the command.
pub(crate) fn tune(arguments: &TuneArguments) -> Result<Answer, Failure> {
    let root = Root::new(&arguments.root);
    let disk = Disk::find(&root, &arguments.device).map_err(|error| {
        Failure::input(error.to_string(), "`lsblk` lists the block devices of a machine")
    })?;
    if arguments.undo {
        return undo(&disk, arguments);
    }
    if arguments.status {
        return status(&disk, arguments);
    }
    make(&disk, arguments)
}

fn undo(disk: &Disk, arguments: &TuneArguments) -> Result<Answer, Failure> {
    let record = Record::of(disk).map_err(failure)?;
    let undone = record.map(|record| record.undo(disk)).transpose().map_err(failure)?;
    let report = TuneUndoReport::of(disk.name(), undone.unwrap_or_default());
    show::report_in(&report, arguments.form);
    Ok(Answer::Yes)
}

fn status(disk: &Disk, arguments: &TuneArguments) -> Result<Answer, Failure> {
    let record = Record::of(disk).map_err(failure)?;
    let report = TuneStatusReport::of(disk.name(), record.map(|record| record.drift(disk)));
    show::report_in(&report, arguments.form);
    Ok(Answer::of(report.is_kept()))
}

/// Proves the workload and shows the settings; makes and installs them if asked to.
fn make(disk: &Disk, arguments: &TuneArguments) -> Result<Answer, Failure> {
    let path = arguments.workload.as_ref().expect("clap asks for it");
    let drive = arguments.drive.clone().map(DriveChoice::Named);
    let changes = Changes { drive, ..Changes::default() };
    let input = tidegate_commands::read(path, &changes, &[POLICY])?;
    let units = units(path)?;
    let measured = input.drive.identity.model.as_deref();
    let Proof { workload, assessment, depth_max } = prove(input.workload, disk);
    let responses: Vec<_> = assessment
        .tasks
        .iter()
        .map(|task| task.response_max.map_or(Duration::ZERO, |(response, _)| response))
        .collect();
    let demand = Demand::of(&workload, &responses, assessment.best_effort_depth);
    let refusals = disk.refusals(&demand, measured);
    let settings = disk.settings(&demand);
    let rule = NewFile::rule(disk, &settings);
    let drop_ins = units.iter().map(NewFile::drop_in);
    let files: Vec<_> = rule.clone().into_iter().chain(drop_ins).collect();
    let names: Vec<_> = units.into_iter().map(|unit| unit.name).collect();
    let tuned = Tuned {
        device: disk.name(),
        workload: &workload,
        assessment: &assessment,
        depth_max,
        refusals: &refusals,
        settings: &settings,
        files: if arguments.install { &files } else { &[] },
        units: &names,
        extent: Extent::Shown,
    };
    let is_proven = TuneReport::of(tuned).is_proven();
    let extent = match (arguments.apply, arguments.install) {
        (_, true) if is_proven && rule.is_none() => {
            return Err(Failure::input(
                format!("`{}` has no `device/wwid` by which a rule could find it", disk.name()),
                "make the settings with --apply after each start",
            ));
        }
        (_, true) if is_proven => {
            Record::make(disk, &settings, &files).map_err(failure)?;
            Extent::Installed
        }
        (true, false) if is_proven => {
            Record::make(disk, &settings, &[]).map_err(failure)?;
            Extent::Applied
        }
        _ => Extent::Shown,
    };
    let report = TuneReport::of(Tuned { extent, ..tuned });
    show::report_in(&report, arguments.form);
    Ok(Answer::of(is_proven))
}

/// A proof at the chosen depth.
struct Proof {
    workload: Workload,
    assessment: Assessment,
    /// The largest proved depth; `None` if the workload states the depth.
    depth_max: Option<u32>,
}

/// Proves the workload at the depth with the highest rate among the proved ones.
fn prove(mut workload: Workload, disk: &Disk) -> Proof {
    let stated = workload.parameters.mq_deadline_tuned.queue_depth;
    workload.parameters.mq_deadline_tuned.taken_early = 0;
    let assessment = assess(&workload, POLICY);
    if stated.is_some() {
        return Proof { workload, assessment, depth_max: None };
    }
    let depth_max = assessment.best_effort_depth;
    // A smaller depth needs fewer tags. If the tags do not suffice at depth 1 either, `refusals`
    // says so.
    let most = (1..=depth_max).rev().find(|&depth| disk.has_spare_tags(depth)).unwrap_or(1);
    workload.parameters.mq_deadline_tuned.queue_depth = fastest(&workload, most);
    let assessment = assess(&workload, POLICY);
    Proof { workload, assessment, depth_max: Some(most) }
}

/// Returns the number of requests from 1 to `most` that the drive serves at the highest rate; of
/// equal ones the smallest.
fn fastest(workload: &Workload, most: u32) -> Option<NonZeroU32> {
    let most = most.min(workload.table.batch_max()).max(1);
    let time = |count: u32| u128::from(workload.table.time_max(count).ns());
    let faster = |best: u32, count: u32| {
        // count / time(count) > best / time(best), without a division.
        if u128::from(count) * time(best) > u128::from(best) * time(count) { count } else { best }
    };
    NonZeroU32::new((1..=most).fold(1, faster))
}

/// Reads the units that the workload file names.
fn units(path: &std::path::Path) -> Result<Vec<Unit>, Failure> {
    let text = read_text(path, "workload file")?;
    let in_file = |error| Failure::in_file(path, &text, &error);
    let mut document = Document::parse(&text).map_err(in_file)?;
    // The disk part alone names units.
    let _processor = document.take_processor();
    let file = WorkloadFile::of_document(document).map_err(in_file)?;
    Ok(file.units().to_vec())
}

fn failure(error: RecordError) -> Failure {
    match error {
        RecordError::Exists { .. } => {
            Failure::input(error.to_string(), "its owner may need it: read it first")
        }
        error => Failure::environment(&error),
    }
}
