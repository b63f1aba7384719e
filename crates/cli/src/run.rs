// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate run`: the workload against a real device, with the policy deciding.

use serde_json::{Value, json};
use tidegate_analysis::assess;
use tidegate_device::{Access, Target};
use tidegate_engine::{DeviceRun, DeviceWatch, RingExecutor, RunParams};
use tidegate_host::{Length, RunEnd};
use tidegate_model::{Contracts, DriveFile, Duration, Plan, PolicyName, Time, Workload};
use tidegate_platform::realtime::{self, RealTime};
use tidegate_stats::Distribution;

use crate::Answer;
use crate::arguments::{LengthArguments, RunArguments};
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::interrupt;
use crate::priority::Priority;
use crate::results::{self, P50, P99, P999, PolicyResult, TaskResult};
use crate::show::{self, out, outln};

/// How long to run where no length is asked for.
const DURATION_DEFAULT: Duration = Duration::from_ms(10_000);

/// One policy's run and what belongs to a real device alone.
struct Ran<'a> {
    result: PolicyResult<'a>,
    watch: DeviceWatch,
}

/// Runs the command.
pub(crate) fn run(arguments: &RunArguments) -> Result<Answer, Failure> {
    let Input { workload, drive } = input::read(&arguments.workload, &arguments.policy)?;
    let policies = input::policies(&arguments.policy, &workload);
    let access = if arguments.allow_writes { Access::ReadWrite } else { Access::ReadOnly };
    let target =
        Target::open(&arguments.device, access).map_err(|error| Failure::unusable(&error))?;
    let interrupted = interrupt::flag(None)?;
    let real_time = realtime::request(realtime::PRIORITY);
    let mut notes = notes(&workload, &drive, &target);
    let is_priority_asked = policies.iter().any(|policy| policy.facts().uses_drive_priority());
    let priority = Priority::found(is_priority_asked, target.facts().ncq_priority);
    if is_priority_asked {
        notes.extend(priority.note());
    }
    if !arguments.json {
        print_head(&workload, &target, real_time, arguments.seed, &notes);
    }
    let mut executor = RingExecutor::new(&target, workload.depth, workload.size_max())
        .map_err(|error| Failure::environment(&error))?;
    let length = length(&arguments.length);
    let mut ran: Vec<Ran<'_>> = Vec::new();
    let mut not_run = Vec::new();
    for policy in policies {
        if ran.last().is_some_and(|ran| ran.result.run.end == RunEnd::Interrupted) {
            not_run.push(policy);
            continue;
        }
        let is_ranking = policy.facts().uses_drive_priority();
        executor.rank(is_ranking && priority.is_sent());
        let assessment = if is_ranking && !priority.is_honoured() {
            assess(&without_priority(&workload), policy)
        } else {
            assess(&workload, policy)
        };
        let plan: Plan = assessment.plan(&workload);
        let params = RunParams {
            workload: &workload,
            plan: &plan,
            policy,
            length,
            seed: arguments.seed,
            limits: executor.limits(),
        };
        if !arguments.json {
            eprintln!("running {policy} ..");
        }
        let DeviceRun { run, watch } = tidegate_engine::run(
            &params,
            tidegate_drive::access_time(&drive),
            &mut executor,
            &interrupted,
        )
        .map_err(run_failure)?;
        let wall_ns = run.ended.since(Time::ZERO).ns();
        let result = PolicyResult { workload: &workload, assessment, run, wall_ns };
        ran.push(Ran { result, watch });
    }
    let results: Vec<&PolicyResult<'_>> = ran.iter().map(|ran| &ran.result).collect();
    if arguments.json {
        outln!(
            "{:#}",
            to_json(&workload, &target, real_time, arguments.seed, &ran, &not_run, &notes)
        );
    } else {
        results::print(&results);
        print_host(&ran);
        for policy in &not_run {
            show::labelled("Not run", &format!("{policy}: the run was interrupted before it"));
        }
    }
    // A policy that was asked for and not run kept no deadline.
    Ok(if not_run.is_empty() { results::worst_answer(&results) } else { Answer::No })
}

/// The workload on a device that keeps no times for requests with priority.
fn without_priority(workload: &Workload) -> Workload {
    let contracts = Contracts { priority: None, ..workload.contracts.clone() };
    Workload { contracts, ..workload.clone() }
}

fn length(arguments: &LengthArguments) -> Length {
    match (arguments.duration, arguments.jobs) {
        (_, Some(jobs)) => Length::Jobs(jobs),
        (duration, None) => Length::Duration(duration.unwrap_or(DURATION_DEFAULT)),
    }
}

/// A run that could not start is the user's to mend, one that broke off is the machine's.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn run_failure(error: tidegate_engine::RunError) -> Failure {
    match error {
        tidegate_engine::RunError::Executor(_) => Failure::environment(&error),
        _ => Failure::unusable(&error),
    }
}

fn print_head(
    workload: &Workload,
    target: &Target,
    real_time: RealTime,
    seed: u64,
    notes: &[String],
) {
    show::labelled("Device", &format!("{}, {}", target.facts().path.display(), target.size()));
    show::labelled("Drive", &format!("proved by the table of {}", workload.drive_name));
    show::labelled("Host", &real_time.to_string());
    show::labelled("Seed", &format!("{seed}: fixes the places of all requests"));
    for note in notes {
        show::labelled("Note", note);
    }
    outln!();
}

/// What a reader of the results must know.
fn notes(workload: &Workload, drive: &DriveFile, target: &Target) -> Vec<String> {
    let mut warnings = workload.notes.clone();
    warnings.extend(other_device(drive, target));
    warnings.extend(target.notes().iter().map(ToString::to_string));
    if let Some(splitting) = target.facts().splits(workload.size_max()) {
        warnings.push(format!(
            "the kernel splits the largest request into {} of at most {}",
            splitting.pieces, splitting.size_max
        ));
    }
    warnings
}

/// A bound says nothing of a device that its table was not measured on.
fn other_device(drive: &DriveFile, target: &Target) -> Option<String> {
    let here = tidegate_measure::device_identity(target.facts());
    let measured = &drive.identity;
    let is_same = measured.model == here.model && measured.place == here.place;
    let said = |what: &Option<String>| what.clone().unwrap_or_else(|| "unknown".to_owned());
    (!is_same).then(|| {
        format!(
            "the table of {} was measured on {} ({}), this is {} ({}): its bounds may not hold here",
            drive.name,
            said(&measured.model),
            said(&measured.place),
            said(&here.model),
            said(&here.place)
        )
    })
}

/// What the host and the device did, apart from the policy.
fn print_host(ran: &[Ran<'_>]) {
    outln!();
    outln!("Host and device:");
    outln!();
    let header = [
        "policy",
        "lateness_p99",
        "lateness_max",
        "device_p50",
        "device_max",
        "batches",
        "overruns",
        "worst",
    ];
    let rows = ran.iter().map(|Ran { result, watch }| {
        let DeviceWatch { host_lateness, device_time, batches, .. } = watch;
        vec![
            result.policy().to_string(),
            show::bound(host_lateness.quantile(P99)),
            show::bound(host_lateness.max()),
            show::bound(device_time.quantile(P50)),
            show::bound(device_time.max()),
            batches.batches.to_string(),
            batches.overruns.to_string(),
            show::bound((batches.overruns > 0).then_some(batches.overrun_max)),
        ]
    });
    out!("{}", show::table(&header, rows.collect(), 1));
    outln!();
    outln!(
        "  Lateness: from the instant a job is due to the instant the host releases it; it is part\n  \
         of the response. An overrun is a batch that took longer than the drive file says: no\n  \
         proof holds for what it delays."
    );
    for Ran { result, watch } in ran {
        print_end(result, watch);
    }
}

fn print_end(result: &PolicyResult<'_>, watch: &DeviceWatch) {
    let policy = result.policy();
    let exceeded = result.tasks().filter_map(|task: TaskResult<'_>| task.excess()).max();
    if let Some(excess) = exceeded {
        let overrun = (watch.batches.overruns > 0).then_some(watch.batches.overrun_max);
        let why = suspect(overrun, watch.host_lateness.max());
        show::labelled(
            "Exceeded",
            &format!("{policy}: a bound by {}; {why}", show::ms_ceil(excess)),
        );
    }
}

/// Who may have made a bound fail. A host that is seen to be late at releases is late at
/// completions too, where its lateness is part of what a batch seems to take.
fn suspect(overrun_max: Option<Duration>, lateness_max: Option<Duration>) -> &'static str {
    match overrun_max {
        None => "the drive file was kept, so the host was late: see lateness",
        Some(overrun) if lateness_max.is_some_and(|lateness| lateness >= overrun) => {
            "no batch overran the file by more than the host was late, so it may be the host as \
             well as the device: see lateness"
        }
        Some(_) => "the device took longer than its file says: measure it with more samples",
    }
}

fn to_json(
    workload: &Workload,
    target: &Target,
    real_time: RealTime,
    seed: u64,
    ran: &[Ran<'_>],
    not_run: &[PolicyName],
    notes: &[String],
) -> Value {
    let not_run = not_run.iter().map(|policy| json!({ "policy": policy.name(), "end": "not_run" }));
    let policies: Vec<Value> = ran
        .iter()
        .map(|Ran { result, watch }| {
            let mut value = result.to_json();
            value["requests_failed"] = result.run.metrics.all().failed_requests.into();
            value["host_lateness"] = distribution_json(&watch.host_lateness);
            value["device_time"] = distribution_json(&watch.device_time);
            value["batches"] = watch.batches.batches.into();
            value["overruns"] = watch.batches.overruns.into();
            value["overrun_ns_max"] = watch.batches.overrun_max.ns().into();
            value
        })
        .chain(not_run)
        .collect();
    json!({
        "drive": workload.drive_name,
        "model": "device",
        "device": target.facts().path.display().to_string(),
        "real_time_granted": real_time.is_complete(),
        "seed": seed,
        "policies": policies,
        "notes": notes,
    })
}

/// Null where nothing was recorded.
fn distribution_json(times: &Distribution) -> Value {
    if times.count() == 0 {
        return Value::Null;
    }
    let ns = |time: Option<Duration>| time.map(Duration::ns);
    json!({
        "ns_min": ns(times.min()),
        "ns_mean": ns(times.mean()),
        "ns_p50": ns(times.quantile(P50)),
        "ns_p99": ns(times.quantile(P99)),
        "ns_p999": ns(times.quantile(P999)),
        "ns_max": ns(times.max()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_is_not_blamed_for_what_the_host_may_have_done() {
        let [ms_2, ms_3] = [2, 3].map(|ms| Some(Duration::from_ms(ms)));
        assert!(suspect(None, ms_2).contains("the host was late"));
        for lateness_max in [ms_2, ms_3] {
            assert!(suspect(ms_2, lateness_max).contains("the host as well as the device"));
        }
        for lateness_max in [None, ms_2] {
            assert!(suspect(ms_3, lateness_max).contains("the device took longer"));
        }
    }
}
