// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate sim`: compares policies on a simulated drive, in virtual time.

use std::sync::atomic::Ordering;

use tidegate_commands::{Faults, NotRun, WhenFull, policies, simulate};
use tidegate_host::Length;
use tidegate_model::{TaskIndex, Workload};
use tidegate_report::runs::write_plots;
use tidegate_report::sim::Simulation;
use tidegate_report::{NotApplicable, ResultCommand, ResultFile, SimReport};
use tidegate_sim::SimParams;

use crate::answer::Answer;
use crate::arguments::{LengthArguments, SimArguments};
use crate::command_line;
use crate::distinct_files::check_distinct;
use crate::failure::Failure;
use crate::interrupt;
use crate::request_log::Log;
use crate::result::Destination;
use crate::run_progress::VirtualTime;
use crate::show;

/// The default number of jobs of each task, as in the dissertation (9.3.4).
const JOBS_DEFAULT: u64 = 10_000;

/// Runs the command.
pub(crate) fn sim(arguments: &SimArguments) -> Result<Answer, Failure> {
    check_distinct(&[
        ("--log", arguments.log.log.as_deref()),
        ("--result", arguments.result.result.as_deref()),
    ])?;
    let result = Destination::prepare(arguments.result.result.as_deref())?;
    let mut input = arguments.workload.read(&arguments.policy)?;
    let kind = arguments.model.unwrap_or(input.drive.kind);
    if kind != input.drive.kind {
        // Predictions and ceilings for one kind of drive do not apply to another.
        input.drive.kind = kind;
        input.workload = tidegate_drive::with_prediction(input.workload, &input.drive);
    }
    let log = Log::begin(&arguments.log, &input.workload)?;
    let policies = policies(&arguments.policy, &input.workload);
    let false_reports = soft_tasks(&arguments.false_reports, &input.workload)?;
    let length = length(&arguments.length);
    let defaults = SimParams::new(&input.workload, length);
    let params = SimParams { seed: arguments.seed, cheats: &false_reports, ..defaults };
    let interrupted = interrupt::flag(None)?;
    let (mut runs, mut not_applicable) = (Vec::new(), Vec::new());
    let (mut not_run, mut records) = (Vec::new(), Vec::new());
    for policy in policies {
        if interrupted.load(Ordering::Relaxed) {
            not_run.push(policy);
            continue;
        }
        let progress = VirtualTime::of_disk(policy, params.length, &input.workload);
        let rows = log.of_run(policy, input.workload.depth, WhenFull::Wait);
        let is_cancelled = || interrupted.load(Ordering::Relaxed);
        match simulate(&input, kind, policy, &params, (progress, rows), is_cancelled) {
            Ok(simulated) => {
                let mut record = simulated.record;
                if result.is_asked() {
                    record.curves = simulated.report.result.curves();
                }
                runs.push(simulated.report);
                records.push(record);
            }
            Err(NotRun::NotApplicable(reason)) => not_applicable.push((policy, reason)),
            Err(NotRun::Unusable(faults)) => return Err(faults.into()),
        }
    }
    if let (true, Some((_, reason))) = (runs.is_empty(), not_applicable.first()) {
        return Err(Faults::unusable(reason).completed(|text| input.completed(text)).into());
    }
    let not_applicable = not_applicable.into_iter();
    let not_applicable = not_applicable
        .map(|(policy, reason)| NotApplicable::new(policy, input.completed(&reason.to_string())));
    let not_applicable = not_applicable.collect();
    let simulation = Simulation { kind, seed: arguments.seed, origin: input.origin() };
    let report = SimReport::of(&input.workload, simulation, runs, not_run, not_applicable)
        .with_more(command_line::explaining(&arguments.workload));
    show::report_in(&report, arguments.form);
    if arguments.plot.plot {
        show::page(|page| write_plots(&records, page));
    }
    for defect in report.defects() {
        show::complain(defect);
    }
    let logged = log.finish();
    // The result is written even if the log could not be.
    let of_drive = Some(&input.drive);
    result.write(|| ResultFile::of(ResultCommand::Sim, &report, records).with_drive(of_drive))?;
    logged?;
    let is_broken = !report.defects().is_empty();
    Ok(if is_broken { Answer::Broken } else { Answer::of(report.is_kept()) })
}

fn length(arguments: &LengthArguments) -> Length {
    match (arguments.duration, arguments.jobs) {
        (Some(duration), _) => Length::Duration(duration),
        (None, jobs) => Length::Jobs(jobs.unwrap_or(JOBS_DEFAULT)),
    }
}

/// Returns the tasks with these names, which must be soft because only soft tasks report misses.
fn soft_tasks(names: &[String], workload: &Workload) -> Result<Vec<TaskIndex>, Failure> {
    let mut found = Vec::new();
    for name in names {
        let tasks = workload.soft_tasks(name);
        if tasks.is_empty() {
            return Err(Failure::input(
                format!("`{name}`, given to --false-reports, is not a soft task"),
                "name a task of the workload with class = \"soft\"",
            ));
        }
        found.extend(tasks);
    }
    Ok(found)
}
