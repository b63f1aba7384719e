// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate run`: the workload against a real device, with the policy deciding.

use analysis::{Assessment, assess};
use device::realtime::{self, RealTime};
use device::{Access, Target};
use engine::{ClassOutcome, Length, RingExecutor, RunEnd, RunOutcome, RunParams, Summary};
use model::{Plan, PolicyName, Workload};
use serde_json::{Value, json};

use crate::Answer;
use crate::arguments::{LengthArguments, RunArguments};
use crate::failure::Failure;
use crate::input;
use crate::interrupt;
use crate::results::{self, ClassResult, PolicyResult, Responses, TaskResult};
use crate::show;

/// How long to run where no length is asked for.
const DURATION_DEFAULT: model::Duration = model::Duration::from_ms(10_000);

/// One policy's run and what belongs to a real device alone.
struct Ran {
    result: PolicyResult,
    outcome: RunOutcome,
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
        let params =
            RunParams { workload: &workload, plan: &plan, policy, length, seed: arguments.seed };
        if !arguments.json {
            eprintln!("running {policy} ..");
        }
        let outcome = engine::run(&params, &mut executor, &interrupted).map_err(run_failure)?;
        let is_interrupted = outcome.end == RunEnd::Interrupted;
        ran.push(Ran { result: result(&workload, &assessment, &outcome), outcome });
        if is_interrupted {
            break;
        }
    }
    let results: Vec<PolicyResult> = ran.iter().map(|ran| ran.result.clone()).collect();
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

fn result(workload: &Workload, assessment: &Assessment, outcome: &RunOutcome) -> PolicyResult {
    let tasks = workload.tasks.iter().zip(&outcome.tasks).zip(&assessment.tasks);
    let tasks = tasks.map(|((task, measured), assessed)| TaskResult {
        name: task.name.clone(),
        entry: task.entry,
        deadline: task.deadline,
        jobs: measured.jobs,
        misses: measured.misses,
        response: measured.response.map(responses),
        bound: assessed.response_max.map(|(response, _)| response),
    });
    let class = |class: ClassOutcome| ClassResult {
        requests: class.requests,
        throughput_bytes_per_s: class.throughput_bytes_per_s,
    };
    PolicyResult {
        policy: assessment.policy,
        batch_max: (assessment.policy != PolicyName::Noop).then_some(assessment.batch_max),
        best_effort_fill: assessment.best_effort_fill,
        tasks: tasks.collect(),
        real_time: class(outcome.real_time),
        best_effort: class(outcome.best_effort),
        requests: outcome.requests,
        events: outcome.events,
        wall_ns: outcome.wall.ns(),
    }
}

fn responses(summary: Summary) -> Responses {
    let Summary { min, mean, p50, p99, p999, max, .. } = summary;
    Responses { min, mean, p50, p99, p999, max }
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
fn print_host(ran: &[Ran]) {
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
    let rows = ran.iter().map(|Ran { outcome, .. }| {
        let of = |summary: Option<Summary>, pick: fn(Summary) -> model::Duration| {
            show::bound(summary.map(pick))
        };
        vec![
            outcome.policy.to_string(),
            of(outcome.host_lateness, |summary| summary.p99),
            of(outcome.host_lateness, |summary| summary.max),
            of(outcome.device_time, |summary| summary.p50),
            of(outcome.device_time, |summary| summary.max),
            outcome.batches.to_string(),
            outcome.overruns.to_string(),
            if outcome.overruns > 0 { show::ms_ceil(outcome.overrun_max) } else { "-".to_owned() },
        ]
    });
    print!("{}", show::table(&header, rows.collect(), 1));
    println!();
    println!(
        "  Lateness: from the instant a job is due to the instant the host releases it; it is part\n  \
         of the response. An overrun is a batch that took longer than the drive's table says: no\n  \
         proof holds for what it delays."
    );
    for Ran { result, outcome } in ran {
        print_end(result, outcome);
    }
}

fn print_end(result: &PolicyResult, outcome: &RunOutcome) {
    let policy = result.policy;
    match outcome.end {
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
    if outcome.requests_failed > 0 {
        show::labelled(
            "Failed",
            &format!("{policy}: the device failed {} requests", outcome.requests_failed),
        );
    }
    let exceeded = result.tasks.iter().filter_map(TaskResult::excess).max();
    if let Some(excess) = exceeded {
        let why = match outcome.overruns {
            0 => "the table was kept, so the host was late: see lateness",
            _ => "the device broke its table: measure it with more samples",
        };
        show::labelled(
            "Exceeded",
            &format!("{policy}: a bound by {}; {why}", show::ms_ceil(excess)),
        );
    }
}

fn to_json(
    workload: &Workload,
    target: &Target,
    real_time: RealTime,
    seed: u64,
    ran: &[Ran],
) -> Value {
    let summary = |summary: Option<Summary>| {
        summary.map(|summary| {
            json!({
                "ns_min": summary.min.ns(),
                "ns_mean": summary.mean.ns(),
                "ns_p50": summary.p50.ns(),
                "ns_p99": summary.p99.ns(),
                "ns_p999": summary.p999.ns(),
                "ns_max": summary.max.ns(),
            })
        })
    };
    let policies: Vec<Value> = ran
        .iter()
        .map(|Ran { result, outcome }| {
            let mut value = result.to_json();
            let end = match outcome.end {
                RunEnd::Complete => "complete",
                RunEnd::Interrupted => "interrupted",
                RunEnd::Overloaded => "overloaded",
            };
            value["end"] = end.into();
            value["requests_failed"] = outcome.requests_failed.into();
            value["host_lateness"] = json!(summary(outcome.host_lateness));
            value["device_time"] = json!(summary(outcome.device_time));
            value["batches"] = outcome.batches.into();
            value["overruns"] = outcome.overruns.into();
            value["overrun_ns_max"] = outcome.overrun_max.ns().into();
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
