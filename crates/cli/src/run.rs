// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate run`: the workload against a real device, with the policy deciding.

use analysis::assess;
use device::realtime::{self, RealTime};
use device::{Access, Target};
use engine::{DeviceRun, DeviceWatch, RingExecutor, RunParams};
use host::{Distribution, Length, RunEnd};
use model::{Duration, Plan, Time, Workload};
use serde_json::{Value, json};

use crate::Answer;
use crate::arguments::{LengthArguments, RunArguments};
use crate::failure::Failure;
use crate::input;
use crate::interrupt;
use crate::results::{self, P50, P99, P999, PolicyResult, TaskResult};
use crate::show;

/// How long to run where no length is asked for.
const DURATION_DEFAULT: Duration = Duration::from_ms(10_000);

/// One policy's run and what belongs to a real device alone.
struct Ran<'a> {
    result: PolicyResult<'a>,
    watch: DeviceWatch,
}

/// Runs the command.
pub(crate) fn run(arguments: &RunArguments) -> Result<Answer, Failure> {
    let workload = input::read(&arguments.workload)?.workload;
    let policies = input::policies(&arguments.policy, &workload);
    let access = if arguments.allow_writes { Access::ReadWrite } else { Access::ReadOnly };
    let target =
        Target::open(&arguments.device, access).map_err(|error| Failure::unusable(&error))?;
    let interrupted = interrupt::flag()?;
    let real_time = realtime::request(realtime::PRIORITY);
    if !arguments.json {
        print_head(&workload, &target, real_time, arguments.seed);
    }
    let mut executor = RingExecutor::new(&target, workload.depth, workload.size_max())
        .map_err(|error| Failure::environment(&error))?;
    let length = length(&arguments.length);
    let mut ran = Vec::new();
    for policy in policies {
        let assessment = assess(&workload, policy);
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
        let DeviceRun { run, watch } =
            engine::run(&params, &mut executor, &interrupted).map_err(run_failure)?;
        let is_interrupted = run.end == RunEnd::Interrupted;
        let wall_ns = run.ended.since(Time::ZERO).ns();
        let result = PolicyResult { workload: &workload, assessment, run, wall_ns };
        ran.push(Ran { result, watch });
        if is_interrupted {
            break;
        }
    }
    let results: Vec<&PolicyResult<'_>> = ran.iter().map(|ran| &ran.result).collect();
    if arguments.json {
        println!("{:#}", to_json(&workload, &target, real_time, arguments.seed, &ran));
    } else {
        results::print(&results);
        print_host(&ran);
    }
    Ok(results::worst_answer(&results))
}

fn length(arguments: &LengthArguments) -> Length {
    match (arguments.duration, arguments.jobs) {
        (_, Some(jobs)) => Length::Jobs(jobs),
        (duration, None) => Length::Duration(duration.unwrap_or(DURATION_DEFAULT)),
    }
}

/// A run that could not start is the user's to mend, one that broke off is the machine's.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn run_failure(error: engine::RunError) -> Failure {
    match error {
        engine::RunError::Executor(_) => Failure::environment(&error),
        _ => Failure::unusable(&error),
    }
}

fn print_head(workload: &Workload, target: &Target, real_time: RealTime, seed: u64) {
    show::labelled("Device", &format!("{}, {}", target.facts().path.display(), target.size()));
    show::labelled("Drive", &format!("{}, as measured", workload.drive_name));
    show::labelled("Host", &real_time.to_string());
    show::labelled("Seed", &format!("{seed}: fixes the places of all requests"));
    for note in warnings(workload, target) {
        show::labelled("Note", &note);
    }
    println!();
}

/// What a reader of the results must know.
fn warnings(workload: &Workload, target: &Target) -> Vec<String> {
    let mut warnings = workload.notes.clone();
    warnings.extend(target.notes().iter().map(ToString::to_string));
    if let Some(splitting) = target.facts().splits(workload.size_max()) {
        warnings.push(format!(
            "the kernel splits the largest request into {} of at most {}",
            splitting.pieces, splitting.size_max
        ));
    }
    warnings
}

/// What the host and the device did, apart from the policy.
fn print_host(ran: &[Ran<'_>]) {
    println!();
    println!("Host and device:");
    println!();
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
    print!("{}", show::table(&header, rows.collect(), 1));
    println!();
    println!(
        "  Lateness: from the instant a job is due to the instant the host releases it; it is part\n  \
         of the response. An overrun is a batch that took longer than the drive's table says: no\n  \
         proof holds for what it delays."
    );
    for Ran { result, watch } in ran {
        print_end(result, watch);
    }
}

fn print_end(result: &PolicyResult<'_>, watch: &DeviceWatch) {
    let policy = result.policy();
    match result.run.end {
        RunEnd::Complete => {}
        RunEnd::Interrupted => show::labelled(
            "Interrupted",
            &format!("{policy}: the results are those of the part before"),
        ),
        RunEnd::Overloaded => show::labelled(
            "Overload",
            &format!("{policy}: more requests waited than there is room for; the run ended early"),
        ),
    }
    let requests_failed = result.run.metrics.all().failed_requests;
    if requests_failed > 0 {
        show::labelled(
            "Failed",
            &format!("{policy}: the device failed {requests_failed} requests"),
        );
    }
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
        None => "the table was kept, so the host was late: see lateness",
        Some(overrun) if lateness_max.is_some_and(|lateness| lateness >= overrun) => {
            "no batch overran the table by more than the host was late, so it may be the host as \
             well as the device: see lateness"
        }
        Some(_) => "the device broke its table: measure it with more samples",
    }
}

fn to_json(
    workload: &Workload,
    target: &Target,
    real_time: RealTime,
    seed: u64,
    ran: &[Ran<'_>],
) -> Value {
    let policies: Vec<Value> = ran
        .iter()
        .map(|Ran { result, watch }| {
            let mut value = result.to_json();
            let end = match result.run.end {
                RunEnd::Complete => "complete",
                RunEnd::Interrupted => "interrupted",
                RunEnd::Overloaded => "overloaded",
            };
            value["end"] = end.into();
            value["requests_failed"] = result.run.metrics.all().failed_requests.into();
            value["host_lateness"] = distribution_json(&watch.host_lateness);
            value["device_time"] = distribution_json(&watch.device_time);
            value["batches"] = watch.batches.batches.into();
            value["overruns"] = watch.batches.overruns.into();
            value["overrun_ns_max"] = watch.batches.overrun_max.ns().into();
            value
        })
        .collect();
    json!({
        "drive": workload.drive_name,
        "model": "device",
        "device": target.facts().path.display().to_string(),
        "real_time_granted": real_time.is_complete(),
        "seed": seed,
        "policies": policies,
        "notes": warnings(workload, target),
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
            assert!(suspect(ms_3, lateness_max).contains("the device broke its table"));
        }
    }
}
