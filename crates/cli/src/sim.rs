// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate sim`: compares policies on a simulated drive, in virtual time.

use std::time::Instant;

use tidegate_analysis::{Assessment, assess};
use tidegate_host::{ContractWatch, Length};
use tidegate_model::{
    Class, DriveKind, PolicyName, Premise, PremiseCode, Task, TaskIndex, Workload,
};
use tidegate_policy::BuildError;
use tidegate_report::sim::{SimulatedRun, Simulation};
use tidegate_report::{NotApplicable, PolicyReport, SimReport};
use tidegate_sim::SimParams;
use tidegate_sim::checkers::Checkers;

use crate::answer::Answer;
use crate::arguments::{LengthArguments, SimArguments};
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::run_progress::VirtualTime;
use crate::show::{self, Form};

/// The jobs of each task by default, as in the dissertation (9.3.4).
const JOBS_DEFAULT: u64 = 10_000;

/// Runs the command.
pub(crate) fn sim(arguments: &SimArguments) -> Result<Answer, Failure> {
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
    let (mut runs, mut not_applicable) = (Vec::new(), Vec::new());
    for policy in policies {
        match simulate(&input, kind, policy, &params)? {
            Ok(run) => runs.push(run),
            Err(reason) => not_applicable.push((policy, reason)),
        }
    }
    if let (true, Some((_, reason))) = (runs.is_empty(), not_applicable.first()) {
        return Err(Failure::unusable(reason));
    }
    let not_applicable = not_applicable.into_iter();
    let not_applicable =
        not_applicable.map(|(policy, reason)| NotApplicable::new(policy, reason.to_string()));
    let not_applicable = not_applicable.collect();
    let simulation = Simulation { kind, seed: arguments.seed, origin: input.origin() };
    let report = SimReport::of(&input.workload, simulation, runs, not_applicable);
    let SimArguments { json: is_json, quiet: is_quiet, .. } = *arguments;
    show::report_in(&report, Form { is_json, is_quiet });
    for defect in report.defects() {
        eprintln!("tidegate: {defect}");
    }
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
        let is_meant = |task: &&(TaskIndex, &Task)| {
            let (_, task) = task;
            task.class == Class::Soft
                && (task.name == *name || workload.entries[task.entry as usize] == *name)
        };
        let tasks: Vec<_> = (0..).map(TaskIndex).zip(&workload.tasks).collect();
        let before = found.len();
        found.extend(tasks.iter().filter(is_meant).map(|(index, _)| *index));
        if found.len() == before {
            return Err(Failure::input(
                format!("`{name}`, given to --false-reports, is not a soft task"),
                "name a task of the workload with class = \"soft\"",
            ));
        }
    }
    Ok(found)
}

/// Simulates one policy; `Ok(Err)` says why it does not apply to this drive.
fn simulate<'a>(
    input: &'a Input,
    kind: DriveKind,
    policy: PolicyName,
    params: &SimParams<'_>,
) -> Result<Result<SimulatedRun<'a>, BuildError>, Failure> {
    let workload = &input.workload;
    // Other drive models take their times from tables, not from the file's mechanics.
    let is_mechanical = kind == DriveKind::Mechanical;
    let mut assessment = assess(workload, policy);
    if is_mechanical && policy.facts().rests_on_predictions() {
        assessment.premises.push(perfect_knowledge(policy));
    }
    let plan = assessment.tolerant_plan(workload);
    let simulated = charged(workload, &assessment);
    let drive = tidegate_drive::build(kind, &simulated, Some(&input.drive), params.seed)
        .map_err(|error| Failure::unusable(&error))?;
    let capacity = input.drive.capacity().unwrap_or(params.capacity);
    let params = SimParams { capacity, ..*params };
    let watch = ContractWatch::new(&plan.limits);
    let access = is_mechanical.then(|| tidegate_drive::access_time(&input.drive)).flatten();
    let (built, checkers) = match Checkers::watching(policy, &plan, access) {
        Ok(built) => built,
        Err(reason) => return Ok(Err(reason)),
    };
    let progress = VirtualTime::new(policy, params.length, workload);
    let mut observers = ((checkers, watch), progress);
    let start = Instant::now();
    let run = tidegate_sim::simulate(&params, built, drive, &mut observers);
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let ((checkers, watch), progress) = observers;
    progress.finish();
    let violations = checkers.violations().iter().map(ToString::to_string).collect();
    let result = PolicyReport::of(workload, assessment, &run, wall_ns);
    Ok(Ok(SimulatedRun { result, violations, watch }))
}

/// Returns the premise of a figure that no device reaches: the policy's mechanics are those of the
/// simulated disk itself.
fn perfect_knowledge(policy: PolicyName) -> Premise {
    let text = format!(
        "{policy} knows every service time of this simulated disk exactly; the mechanics of a \
         device have errors, and a margin that covers them costs throughput"
    );
    Premise::new(PremiseCode::PerfectKnowledge, "perfect knowledge", text)
}

/// Returns the workload as the pseudo drive must serve it: as slow as the proof allows, by costs
/// only if the proof uses them.
fn charged(workload: &Workload, assessment: &Assessment) -> Workload {
    let mut workload = workload.clone();
    if !assessment.rests_on_costs() {
        workload.contracts.costs = None;
    }
    workload
}
