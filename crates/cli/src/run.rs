// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate run`: runs the workload on a real device, with the policy deciding.

use std::sync::atomic::Ordering;

use tidegate_commands::{Input, WhenFull, policies};
use tidegate_device::{Access, Target};
use tidegate_engine::known_device::{self, UnknownDevice};
use tidegate_engine::{DeviceBackend, DeviceRun, Priority, RunParams};
use tidegate_host::{BusyIntervals, Length};
use tidegate_model::{Duration, Plan, PolicyName, Time, Workload};
use tidegate_platform::realtime::{self, RealTime};
use tidegate_report::run::{self, RunHead};
use tidegate_report::runs::write_plots;
use tidegate_report::{
    NotApplicable, Origin, PolicyReport, ResultCommand, ResultFile, RunRecord, RunReport,
};

use crate::answer::Answer;
use crate::arguments::{LengthArguments, RunArguments};
use crate::command_line;
use crate::distinct_files::check_distinct;
use crate::failure::Failure;
use crate::interrupt;
use crate::request_log::Log;
use crate::result::Destination;
use crate::run_progress::WallTime;
use crate::show;

/// The default length of a run.
const DURATION_DEFAULT: Duration = Duration::from_ms(10_000);

/// Runs the command.
pub(crate) fn run(arguments: &RunArguments) -> Result<Answer, Failure> {
    check_distinct(&[
        ("--log", arguments.log.log.as_deref()),
        ("--result", arguments.result.result.as_deref()),
    ])?;
    let result = Destination::prepare(arguments.result.result.as_deref())?;
    let input = arguments.workload.read(&arguments.policy)?;
    let origin = input.origin();
    let Input { mut workload, drive, .. } = input;
    let policies = policies(&arguments.policy, &workload);
    let access = if arguments.allow_writes { Access::ReadWrite } else { Access::ReadOnly };
    let target =
        Target::open(&arguments.device, access).map_err(|error| Failure::unusable(&error))?;
    let (policies, not_applicable) = applicable(policies, |policy| {
        known_device::check(policy, &workload, &drive, target.facts())
    })?;
    let interrupted = interrupt::flag(None)?;
    // The log's thread starts before the real-time priority is requested, because it must not
    // inherit that priority.
    let log = Log::begin(&arguments.log, &workload)?;
    let real_time = realtime::request(realtime::PRIORITY);
    let of_target = known_device::premises(&target, &workload, &drive);
    workload.premises.extend(of_target);
    let is_priority_asked = policies.iter().any(|policy| policy.facts().uses_drive_priority());
    let priority = Priority::found(is_priority_asked, target.facts().ncq_priority);
    if is_priority_asked {
        workload.premises.extend(priority.premise());
    }
    let mut head = head(&workload, origin, &target, real_time, arguments.seed);
    head.more = command_line::explaining(&arguments.workload);
    let mut backend = DeviceBackend::new(&target, workload.depth, workload.size_max())
        .map_err(|error| Failure::environment(&error))?;
    let length = length(&arguments.length);
    let mut ran: Vec<run::DeviceRun<'_>> = Vec::new();
    let (mut not_run, mut records) = (Vec::new(), Vec::new());
    for policy in policies {
        if interrupted.load(Ordering::Relaxed) {
            not_run.push(policy);
            continue;
        }
        let is_ranking = policy.facts().uses_drive_priority();
        backend.rank(is_ranking && priority.is_sent());
        let assessment = priority.assess(&workload, policy);
        let plan: Plan = assessment.tolerant_plan(&workload);
        let params = RunParams {
            workload: &workload,
            plan: &plan,
            policy,
            length,
            seed: arguments.seed,
            limits: backend.limits(),
        };
        if arguments.form.is_full() {
            eprintln!("running {policy} ..");
        }
        let progress =
            WallTime::of_run(length, &workload).map_err(|it| Failure::environment(&it))?;
        let mut busy = BusyIntervals::with_room(params.limits.in_flight_max);
        let rows = log.of_run(policy, params.limits.in_flight_max, WhenFull::LeaveOut);
        let DeviceRun { run, watch } = tidegate_engine::run(
            &params,
            tidegate_drive::access_time_of_device(&drive),
            &mut backend,
            (&mut busy, rows),
            &interrupted,
        )
        .map_err(run_failure)?;
        drop(progress);
        let mut record = RunRecord::of(policy, &run.metrics, busy.into_longest().as_ref());
        let wall_ns = run.ended.since(Time::ZERO).ns();
        let of_policy = PolicyReport::of(&workload, assessment, &run, wall_ns);
        if result.is_asked() {
            record.curves = of_policy.curves();
        }
        records.push(record);
        ran.push(run::DeviceRun {
            result: of_policy,
            host_lateness: watch.host_lateness,
            device_time: watch.device_time,
            batches: watch.batches,
        });
    }
    let report = RunReport::of(&head, ran, &not_run, not_applicable);
    show::report_in(&report, arguments.form);
    if arguments.plot.plot {
        show::page(|page| write_plots(&records, page));
    }
    let logged = log.finish();
    // The result is written even if the log could not be.
    let file = || ResultFile::of(ResultCommand::Run, &report, records).with_drive(Some(&drive));
    result.write(file)?;
    logged?;
    Ok(Answer::of(report.is_kept()))
}

/// Returns the policies that apply, and the reasons why the others do not.
///
/// # Errors
/// The first reason, if no policy applies.
fn applicable(
    policies: Vec<PolicyName>,
    check: impl Fn(PolicyName) -> Result<(), UnknownDevice>,
) -> Result<(Vec<PolicyName>, Vec<NotApplicable>), Failure> {
    let (mut apply, mut refused) = (Vec::new(), Vec::new());
    for policy in policies {
        match check(policy) {
            Ok(()) => apply.push(policy),
            Err(reason) => refused.push((policy, reason)),
        }
    }
    match refused.first() {
        Some((_, reason)) if apply.is_empty() => Err(Failure::unusable(reason)),
        _ => {
            let said = |(policy, reason): (PolicyName, UnknownDevice)| {
                NotApplicable::new(policy, reason.to_string())
            };
            Ok((apply, refused.into_iter().map(said).collect()))
        }
    }
}

fn length(arguments: &LengthArguments) -> Length {
    match (arguments.duration, arguments.jobs) {
        (_, Some(jobs)) => Length::Jobs(jobs),
        (duration, None) => Length::Duration(duration.unwrap_or(DURATION_DEFAULT)),
    }
}

/// Reports a run that could not start as the user's error, and an aborted run as a failure of the
/// environment.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn run_failure(error: tidegate_engine::RunError) -> Failure {
    match error {
        tidegate_engine::RunError::Backend(_) => Failure::environment(&error),
        _ => Failure::unusable(&error),
    }
}

fn head(
    workload: &Workload,
    origin: Origin,
    target: &Target,
    real_time: RealTime,
    seed: u64,
) -> RunHead {
    RunHead {
        drive: workload.drive_name.clone(),
        device: target.facts().path.display().to_string(),
        size: target.size(),
        real_time_granted: real_time.is_complete(),
        real_time: real_time.to_string(),
        arrivals: tidegate_report::arrivals(workload),
        seed,
        premises: workload.premises.clone(),
        more: String::new(),
        origin,
    }
}
