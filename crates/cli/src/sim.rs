// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate sim`: compares policies on a simulated drive, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tidegate_analysis::assess;
use tidegate_host::{BusyIntervals, Length};
use tidegate_model::{DriveKind, PolicyName, TaskIndex, Workload};
use tidegate_policy::BuildError;
use tidegate_report::sim::{SimulatedRun, Simulation};
use tidegate_report::{NotApplicable, PolicyReport, ResultCommand, RunRecord, SimReport};
use tidegate_sim::{CheckedRun, CheckedSimulation, NotSimulated, SimParams};

use crate::answer::Answer;
use crate::arguments::{LengthArguments, SimArguments};
use crate::command_line;
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::interrupt;
use crate::result::Destination;
use crate::run_progress::VirtualTime;
use crate::show;

/// The jobs of each task by default, as in the dissertation (9.3.4).
const JOBS_DEFAULT: u64 = 10_000;

/// Runs the command.
pub(crate) fn sim(arguments: &SimArguments) -> Result<Answer, Failure> {
    let result = Destination::prepare(&arguments.result)?;
    let mut input = input::read(&arguments.workload, &arguments.policy)?;
    let kind = arguments.model.unwrap_or(input.drive.kind);
    if kind != input.drive.kind {
        // The parts of one kind say nothing about another.
        input.drive.kind = kind;
        input.workload = tidegate_drive::with_prediction(input.workload, &input.drive);
    }
    let policies = input::policies(&arguments.policy, &input.workload);
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
        match simulate(&input, kind, policy, &params, &interrupted)? {
            Ok((run, record)) => {
                runs.push(run);
                records.push(record);
            }
            Err(reason) => not_applicable.push((policy, reason)),
        }
    }
    if let (true, Some((_, reason))) = (runs.is_empty(), not_applicable.first()) {
        return Err(Failure::unusable(reason).completed(|text| input.completed(text)));
    }
    let not_applicable = not_applicable.into_iter();
    let not_applicable = not_applicable
        .map(|(policy, reason)| NotApplicable::new(policy, input.completed(&reason.to_string())));
    let not_applicable = not_applicable.collect();
    let simulation = Simulation { kind, seed: arguments.seed, origin: input.origin() };
    let report = SimReport::of(&input.workload, simulation, runs, not_run, not_applicable)
        .with_more(command_line::explaining(&arguments.workload));
    show::report_in(&report, arguments.form);
    for defect in report.defects() {
        show::complain(defect);
    }
    result.write(ResultCommand::Sim, &report, records)?;
    let is_broken = !report.defects().is_empty();
    Ok(if is_broken { Answer::Broken } else { Answer::of(report.is_kept()) })
}

fn length(arguments: &LengthArguments) -> Length {
    match (arguments.duration, arguments.jobs) {
        (Some(duration), _) => Length::Duration(duration),
        (None, jobs) => Length::Jobs(jobs.unwrap_or(JOBS_DEFAULT)),
    }
}

/// Returns the tasks of these names, which must be soft: only soft tasks report misses.
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

/// Simulates one policy; `Ok(Err)` says why it does not apply to this drive.
fn simulate<'a>(
    input: &'a Input,
    kind: DriveKind,
    policy: PolicyName,
    params: &SimParams<'_>,
    interrupted: &AtomicBool,
) -> Result<Result<(SimulatedRun<'a>, RunRecord), BuildError>, Failure> {
    let workload = &input.workload;
    let mut assessment = assess(workload, policy);
    assessment.premises.extend(tidegate_sim::perfect_knowledge(policy, kind));
    let plan = assessment.tolerant_plan(workload);
    let served = assessment.charged(workload);
    let drive = (kind, &input.drive, &served);
    let simulation = match CheckedSimulation::new(params, policy, &plan, drive) {
        Ok(simulation) => simulation,
        Err(NotSimulated::Policy(reason)) => return Ok(Err(reason)),
        Err(error) => {
            return Err(Failure::unusable(&error).completed(|text| input.completed(text)));
        }
    };
    let progress = VirtualTime::new(policy, params.length, workload);
    let mut busy = BusyIntervals::default();
    let start = Instant::now();
    let CheckedRun { run, violations, watch } =
        simulation.run((progress, &mut busy), || interrupted.load(Ordering::Relaxed));
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let violations = violations.iter().map(ToString::to_string).collect();
    let result = PolicyReport::of(workload, assessment, &run, wall_ns);
    let record = RunRecord::of(policy, &run.metrics, busy.into_longest().as_ref());
    Ok(Ok((SimulatedRun { result, violations, watch }, record)))
}
