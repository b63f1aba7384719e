// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate cpu sim`: tasks and servers on a simulated processor.

mod text;

use serde::Serialize;
use tidegate_cpu_model::{CpuServer, CpuWorkload, Scheduling, ServerKind};
use tidegate_cpu_sim::{CpuRun, CpuRunEnd, JobMetrics, ServerMetrics, Timing};
use tidegate_model::Duration;

use crate::ns::Ns;
use crate::runs::ResponseTimes;

/// The result of one run with servers of one kind.
pub struct CpuResult {
    /// The kind of all servers; `None` if each server has the kind in the file.
    pub kind: Option<ServerKind>,
    /// The workload with servers of this kind.
    pub workload: CpuWorkload,
    /// The run's results.
    pub run: CpuRun,
    /// The wall-clock time of the simulation, in nanoseconds.
    pub wall_ns: u64,
}

/// Servers of several kinds on one processor.
#[derive(Serialize)]
pub struct CpuSimReport<'a> {
    scheduling: &'static str,
    seed: u64,
    duration_ns: Ns,
    disturb: &'static str,
    runs: Vec<RunReport<'a>>,
    #[serde(skip)]
    timing: Timing,
    #[serde(skip)]
    results: &'a [CpuResult],
}

#[derive(Serialize)]
struct RunReport<'a> {
    server: Option<&'static str>,
    /// The number of jobs with a deadline that completed or were lost. If some job missed its
    /// deadline, unfinished jobs count too.
    deadlines: u64,
    misses: u64,
    tasks: Vec<JobsReport<'a>>,
    servers: Vec<ServerReport<'a>>,
    work: Vec<JobsReport<'a>>,
    duration_ns: Ns,
    end: &'static str,
    utilisation_ppm: u64,
    switching_ns: Ns,
    switches: u64,
    events: u64,
    sections: u64,
    section_ns_max: Ns,
    stolen_ns: Ns,
    wall_ns: u64,
}

#[derive(Serialize)]
struct JobsReport<'a> {
    name: &'a str,
    jobs: u64,
    misses: u64,
    lost: u64,
    unfinished: u64,
    deadline_ns: Option<Ns>,
    #[serde(flatten)]
    response: ResponseTimes,
}

#[derive(Serialize)]
struct ServerReport<'a> {
    name: &'a str,
    kind: &'static str,
    budget_ns: Ns,
    period_ns: Ns,
    executed_ns: Ns,
    background_ns: Ns,
    charged_ns: Ns,
    preemptions: u64,
    exhaustions: u64,
    executed_in_period_ns_max: Ns,
}

impl<'a> CpuSimReport<'a> {
    /// Reports at least one result.
    pub fn of(results: &'a [CpuResult], seed: u64, duration: Duration, timing: Timing) -> Self {
        Self {
            scheduling: results[0].workload.scheduling.name(),
            seed,
            duration_ns: duration.into(),
            disturb: timing.name(),
            runs: results.iter().map(RunReport::of).collect(),
            timing,
            results,
        }
    }

    /// Returns whether no job missed its deadline or was lost.
    pub fn is_kept(&self) -> bool {
        self.results.iter().all(|result| result.run.is_kept())
    }

    /// Returns a sentence for each server that took more than its kind allows.
    pub fn defects(&self) -> Vec<String> {
        self.results.iter().flat_map(CpuResult::defects).collect()
    }
}

impl<'a> RunReport<'a> {
    fn of(result: &'a CpuResult) -> Self {
        let run = &result.run;
        let servers = result.workload.servers.iter().zip(&run.servers);
        Self {
            server: result.kind.map(ServerKind::name),
            deadlines: result.deadlines(),
            misses: result.misses(),
            tasks: run.tasks.iter().map(JobsReport::of).collect(),
            servers: servers.map(ServerReport::of).collect(),
            work: run.work.iter().map(JobsReport::of).collect(),
            duration_ns: run.duration.into(),
            end: match run.end {
                CpuRunEnd::Complete => "complete",
                CpuRunEnd::Overloaded => "overloaded",
                CpuRunEnd::Interrupted => "interrupted",
            },
            utilisation_ppm: run.utilisation_ppm(),
            switching_ns: run.switching.into(),
            switches: run.switches,
            events: run.events,
            sections: run.sections,
            section_ns_max: run.section_max.into(),
            stolen_ns: run.stolen.into(),
            wall_ns: result.wall_ns,
        }
    }
}

impl<'a> JobsReport<'a> {
    fn of(metrics: &'a JobMetrics) -> Self {
        Self {
            name: &metrics.name,
            jobs: metrics.responses.count(),
            misses: metrics.misses,
            lost: metrics.lost,
            unfinished: metrics.unfinished,
            deadline_ns: Ns::of(metrics.deadline),
            response: ResponseTimes::of(&metrics.responses),
        }
    }
}

impl<'a> ServerReport<'a> {
    fn of((server, metrics): (&CpuServer, &'a ServerMetrics)) -> Self {
        Self {
            name: &metrics.name,
            kind: server.params.kind.name(),
            budget_ns: server.params.budget.into(),
            period_ns: server.params.period.into(),
            executed_ns: metrics.executed.into(),
            background_ns: metrics.background.into(),
            charged_ns: metrics.charged.into(),
            preemptions: metrics.preemptions,
            exhaustions: metrics.exhaustions,
            executed_in_period_ns_max: metrics.window.highest().into(),
        }
    }
}

impl CpuResult {
    fn misses(&self) -> u64 {
        self.run.tasks.iter().chain(&self.run.work).map(|metrics| metrics.misses).sum()
    }

    /// Returns the number of jobs with a deadline. Unfinished ones count only if some job missed
    /// its deadline.
    fn deadlines(&self) -> u64 {
        let is_missed = self.misses() > 0;
        let jobs = self.run.tasks.iter().chain(&self.run.work);
        let jobs = jobs.filter(|metrics| metrics.deadline.is_some());
        let open = |metrics: &JobMetrics| if is_missed { metrics.unfinished } else { 0 };
        jobs.map(|metrics| metrics.responses.count() + metrics.lost + open(metrics)).sum()
    }

    fn defects(&self) -> Vec<String> {
        let is_disturbed = self.run.sections > 0 || !self.run.stolen.is_zero();
        let servers = self.workload.servers.iter().zip(&self.run.servers);
        let defect = |(server, metrics): (&CpuServer, &ServerMetrics)| {
            let is_undelayed = !is_disturbed && is_top(&self.workload, server);
            let allowed = in_a_period_max(&self.workload, server);
            let highest = metrics.window.highest();
            let is_like_a_task = server.params.kind.is_like_a_periodic_task();
            (is_undelayed && is_like_a_task && highest > allowed).then(|| {
                format!(
                    "{} executed {highest} in a window of {}, but {allowed} is allowed. This is a \
                     defect of Tidegate: please report it with the workload and the seed.",
                    server.name, server.params.period
                )
            })
        };
        servers.filter_map(defect).collect()
    }
}

/// Returns the longest execution, within a window as long as its period, of a server above all
/// other threads (I2 of docs/reference/conformance.md): its budget and one overrun. A switch delays
/// the execution, and a charge, which takes no time, advances it, both by varying amounts. So a
/// window can contain the same execution as a window that is longer by both amounts would contain
/// without switches and charges.
fn in_a_period_max(workload: &CpuWorkload, server: &CpuServer) -> Duration {
    let shifted = workload.switch + server.params.preemption_charge;
    server.params.budget + server.params.budget.min(shifted) + workload.timer_latency
}

/// Returns whether no thread can delay the server; only then does a window contain at most one
/// budget.
fn is_top(workload: &CpuWorkload, server: &CpuServer) -> bool {
    let others = workload.servers.iter().filter(|other| other.name != server.name);
    workload.scheduling == Scheduling::FixedPriority
        && workload.tasks.iter().all(|task| task.priority < server.priority)
        && others.into_iter().all(|other| other.priority < server.priority)
}
