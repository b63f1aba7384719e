// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu sim`: tasks and servers on a simulated processor.

use std::time::Instant;

use serde_json::json;
use tidegate_cpu_model::{CpuServer, CpuWorkload, Scheduling, ServerKind, ServerParams};
use tidegate_cpu_sim::{CpuParams, CpuRun, Disturbance, StolenTime, Timing, simulate};
use tidegate_model::Duration;

use super::arguments::{CpuSimArguments, Disturb};
use super::input::{self, Processor};
use super::results::{self, CpuResult};
use crate::Answer;
use crate::failure::Failure;
use crate::show::{self, outln};

/// Runs the command.
pub(super) fn sim(arguments: &CpuSimArguments) -> Result<Answer, Failure> {
    let Processor { workload, thieves, .. } = input::read(&arguments.workload)?;
    let workloads = match &arguments.server[..] {
        [] => vec![(None, workload)],
        _ if workload.servers.is_empty() => {
            return Err(Failure::input(
                "--server has nothing to replace: the workload has no [[cpu_server]]",
                "add one to the file, or leave the option out",
            ));
        }
        kinds => kinds.iter().map(|&kind| with_kind(&workload, kind)).collect::<Result<_, _>>()?,
    };
    let run = |(kind, workload)| run(kind, workload, &thieves, arguments);
    let results: Vec<CpuResult> = workloads.into_iter().map(run).collect();
    if arguments.json {
        let object = json!({
            "scheduling": results[0].workload.scheduling.name(),
            "seed": arguments.seed,
            "duration_ns": arguments.duration.ns(),
            "disturb": disturb_name(arguments.disturb),
            "runs": results.iter().map(CpuResult::to_json).collect::<Vec<_>>(),
        });
        outln!("{object:#}");
    } else {
        print_head(&results[0].workload, arguments);
        results::print(&results);
    }
    if report_broken_promises(&results) {
        return Ok(Answer::Broken);
    }
    let is_kept = results.iter().all(|result| result.run.is_kept());
    Ok(if is_kept { Answer::Yes } else { Answer::No })
}

/// The workload with servers of another kind.
fn with_kind(
    workload: &CpuWorkload,
    kind: ServerKind,
) -> Result<(Option<ServerKind>, CpuWorkload), Failure> {
    let mut workload = workload.clone();
    for server in &mut workload.servers {
        let params = ServerParams { kind, ..server.params };
        server.params = params.checked().map_err(|error| Failure::unusable(&error))?;
    }
    Ok((Some(kind), workload))
}

/// Thieves go on as soon as they may steal so much: less is not worth the time that it takes.
const GRAIN: Duration = Duration::from_us(1);

fn run(
    kind: Option<ServerKind>,
    workload: CpuWorkload,
    thieves: &[StolenTime],
    arguments: &CpuSimArguments,
) -> CpuResult {
    let start = Instant::now();
    let timing = match arguments.disturb {
        Disturb::Critical => Timing::Critical,
        Disturb::Random => Timing::Random,
        Disturb::Never => Timing::Never,
    };
    let disturbance = Disturbance { timing, stolen: thieves, grain: GRAIN };
    let params = CpuParams::new(&workload, arguments.duration, arguments.seed);
    let run = simulate(&CpuParams { disturbance, ..params }, &mut ());
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    CpuResult { kind, workload, is_disturbed: timing != Timing::Never, run, wall_ns }
}

fn print_head(workload: &CpuWorkload, arguments: &CpuSimArguments) {
    let what = match workload.scheduling {
        Scheduling::FixedPriority => "the highest priority first",
        Scheduling::Edf => "the earliest deadline first",
    };
    let costs = format!(
        "a switch costs {}, budgets are enforced {} late",
        workload.switch, workload.timer_latency
    );
    show::labelled("Processor", &format!("{what}; {costs}"));
    let seed = arguments.seed;
    show::labelled("Seed", &format!("{seed}: the same command gives the same figures"));
    let when = match arguments.disturb {
        Disturb::Critical => "at critical instants, as much as allowed",
        Disturb::Random => "at random",
        Disturb::Never => "not simulated",
    };
    if is_blocking(workload) {
        show::labelled("Blocking", &format!("sections of less urgent threads, {when}"));
    }
    if !workload.interference.is_empty() {
        let files =
            workload.interference.iter().map(|it| format!("`{}` by `{}`", it.file, it.bound));
        let files = files.collect::<Vec<_>>().join(", ");
        show::labelled("Interference", &format!("thieves within {files}, {when}"));
    }
    outln!();
}

fn is_blocking(workload: &CpuWorkload) -> bool {
    let of_tasks = workload.tasks.iter().map(|task| task.blocking);
    let of_servers = workload.servers.iter().map(|server| server.blocking);
    of_tasks.chain(of_servers).any(|blocking| !blocking.is_zero())
}

fn disturb_name(disturb: Disturb) -> &'static str {
    match disturb {
        Disturb::Critical => "critical",
        Disturb::Random => "random",
        Disturb::Never => "never",
    }
}

/// Says which server took more than its kind may; whether one did.
fn report_broken_promises(results: &[CpuResult]) -> bool {
    let mut is_broken = false;
    for result in results {
        let servers = result.workload.servers.iter().zip(&result.run.servers);
        let is_disturbed = result.run.sections > 0 || !result.run.stolen.is_zero();
        let is_undelayed = |server: &CpuServer| !is_disturbed && is_top(&result.workload, server);
        for (server, metrics) in servers.filter(|(server, _)| is_undelayed(server)) {
            let allowed = in_a_period_max(&result.workload, server);
            let highest = metrics.window.highest();
            if server.params.kind.is_like_a_periodic_task() && highest > allowed {
                is_broken = true;
                eprintln!(
                    "tidegate: {} executed {highest} in a window of {}, {allowed} is allowed. This \
                     is a defect of Tidegate: please report it with the workload and the seed.",
                    server.name, server.params.period
                );
            }
        }
    }
    is_broken
}

/// The most that a server above everybody executes in a window as long as its period (I2 of
/// docs/sporadic-servers.md): its budget and one overrun. A switch delays its execution and a
/// charge, which takes no time, hastens it, and not always alike: then a window holds what without
/// them one does that is longer by both.
fn in_a_period_max(workload: &CpuWorkload, server: &CpuServer) -> Duration {
    let shifted = workload.switch + server.params.preemption_charge;
    server.params.budget + server.params.budget.min(shifted) + workload.timer_latency
}

/// Whether nobody can delay the server: only then does a window hold one budget.
fn is_top(workload: &CpuWorkload, server: &CpuServer) -> bool {
    let others = workload.servers.iter().filter(|other| other.name != server.name);
    workload.scheduling == Scheduling::FixedPriority
        && workload.tasks.iter().all(|task| task.priority < server.priority)
        && others.into_iter().all(|other| other.priority < server.priority)
}

impl CpuResult {
    /// The run's own totals, in a sentence.
    pub(super) fn totals(&self) -> String {
        let CpuRun { switches, switching, events, is_overloaded, .. } = &self.run;
        let utilisation = self.run.utilisation_ppm();
        let busy = format!("{}.{:01} %", utilisation / 10_000, utilisation / 1_000 % 10);
        let ended = if *is_overloaded {
            format!(
                "; more jobs of a task waited than there is room for, and the run ended after {}",
                self.run.duration
            )
        } else {
            String::new()
        };
        let switching: Duration = *switching;
        let disturbed = self.disturbed();
        format!(
            "busy {busy}, {switches} switches that took {switching}{disturbed}, {events} \
             events{ended}"
        )
    }

    /// Whether sections were simulated, and none was possible.
    pub(super) fn is_blocking_missing(&self) -> bool {
        self.is_disturbed && is_blocking(&self.workload) && self.run.sections == 0
    }

    /// What less urgent threads and thieves did, where there are any.
    fn disturbed(&self) -> String {
        let CpuRun { sections, section_max, stolen, .. } = &self.run;
        let blocked = match (is_blocking(&self.workload), sections) {
            (false, _) => String::new(),
            (true, 0) => ", no blocking".to_owned(),
            (true, _) => format!(", {sections} sections of up to {section_max}"),
        };
        let is_robbed = !self.workload.interference.is_empty();
        let robbed = if is_robbed { format!(", {stolen} stolen") } else { String::new() };
        blocked + &robbed
    }
}
