// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source `cpu-sim`, which simulates a processor: response times of tasks and work, and the
//! time that its servers use.

use std::sync::atomic::AtomicBool;

use serde::Deserialize;
use tidegate_cpu_model::CpuWorkload;
use tidegate_cpu_sim::{
    CpuObserver, CpuParams, CpuRun, CpuRunEnd, JobMetrics, ServerMetrics, Thread, simulate,
};
use tidegate_model::{Duration, Time};
use tidegate_stats::float;

use super::cpu_check::processor;
use super::responses::{self, Responses};
use super::schedule::Executions;
use super::{Failed, Measures, Surroundings, unknown};
use crate::axes::Point;
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The path of the workload file in the study's folder, a template.
    workload: String,
    duration: Duration,
    #[serde(default = "one")]
    seed: u64,
    /// The number of intervals of execution that are recorded for each server.
    #[serde(default)]
    stretches: usize,
    /// The time up to which the schedule is recorded.
    #[serde(default)]
    schedule: Duration,
}

const fn one() -> u64 {
    1
}

/// The measures of a run.
pub(super) struct Simulation {
    run: CpuRun,
    stretches: Stretches,
    schedule: Cell,
}

impl Parameters {
    pub(super) fn run(
        self,
        point: &Point,
        surroundings: &Surroundings<'_>,
    ) -> Result<Simulation, Failed> {
        let workload = processor(&self.workload, point, surroundings)?;
        let mut stretches = Stretches::new(&workload, self.stretches);
        let mut executions = Executions::new(self.schedule);
        let observer = &mut (&mut stretches, &mut executions);
        let run = run(&workload, &self, surroundings.cancelled, observer);
        let schedule = executions.listed(&workload);
        match run.end {
            CpuRunEnd::Interrupted => Err(Failed::Cancelled),
            CpuRunEnd::Complete | CpuRunEnd::Overloaded => {
                Ok(Simulation { run, stretches, schedule })
            }
        }
    }
}

fn run(
    workload: &CpuWorkload,
    parameters: &Parameters,
    cancelled: &AtomicBool,
    observer: &mut impl CpuObserver,
) -> CpuRun {
    let params = CpuParams::new(workload, parameters.duration, parameters.seed);
    simulate(&CpuParams { interrupted: Some(cancelled), ..params }, observer)
}

impl Measures for Simulation {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let Self { run, stretches, schedule } = self;
        if name == "schedule" {
            return Ok(Some(schedule.clone()));
        }
        if name == "busy_share" {
            return Ok(share(run.busy, run.duration));
        }
        let (thread, measure) = name.split_once('.').ok_or_else(|| unknown(name, KNOWN))?;
        if let Some(index) = run.servers.iter().position(|it| it.name == thread) {
            return self.server(index, measure, stretches);
        }
        let jobs = run.tasks.iter().chain(&run.work).find(|it| it.name == thread);
        let jobs = jobs.ok_or_else(|| format!("there is no task, work or server `{thread}`"))?;
        of_jobs(jobs, measure)
    }
}

const KNOWN: &str = "busy_share, schedule; SERVER.window_ns_max, executed_share, taken_share, preemptions, \
                     exhaustions, stretches_ns, stretch_starts_ns; TASK.misses, jobs, lost, \
                     served_share, response_ns_..";

impl Simulation {
    fn server(
        &self,
        index: usize,
        measure: &str,
        stretches: &Stretches,
    ) -> Result<Option<Cell>, String> {
        let server: &ServerMetrics = &self.run.servers[index];
        let duration = self.run.duration;
        Ok(match measure {
            "window_ns_max" => Some(Cell::of_time(server.window.highest())),
            "executed_ns" => Some(Cell::of_time(server.executed)),
            "executed_share" => share(server.executed, duration),
            "taken_share" => share(server.executed + server.charged, duration),
            "preemptions" => Some(Cell::of(server.preemptions)),
            "exhaustions" => Some(Cell::of(server.exhaustions)),
            "stretches_ns" => Some(stretches.list(index, |(from, to)| Cell::of_time(to - from))),
            "stretch_starts_ns" => {
                Some(stretches.list(index, |(from, _)| Cell::of_time(from.since(Time::ZERO))))
            }
            _ => return Err(unknown(measure, KNOWN)),
        })
    }
}

fn of_jobs(jobs: &JobMetrics, measure: &str) -> Result<Option<Cell>, String> {
    let done = jobs.responses.count();
    Ok(match measure {
        "jobs" => Some(Cell::of(done)),
        "misses" => Some(Cell::of(jobs.misses)),
        "lost" => Some(Cell::of(jobs.lost)),
        "unfinished" => Some(Cell::of(jobs.unfinished)),
        "served_share" => {
            let all = float::of(done + jobs.unfinished + jobs.lost);
            (all > 0.0).then(|| Cell::Float(float::of(done) / all))
        }
        response if response.starts_with("response_ns_") => {
            return Responses::of([&jobs.responses].into_iter()).get(response);
        }
        _ => return Err(unknown(measure, &format!("{KNOWN}; {}", responses::KNOWN))),
    })
}

fn share(time: Duration, of: Duration) -> Option<Cell> {
    (!of.is_zero()).then(|| Cell::Float(float::of(time.ns()) / float::of(of.ns())))
}

/// The first intervals in which each server executed within its budget.
struct Stretches {
    of_servers: Vec<Vec<(Time, Time)>>,
    most: usize,
}

impl Stretches {
    fn new(workload: &CpuWorkload, most: usize) -> Self {
        Self { of_servers: vec![Vec::new(); workload.servers.len()], most }
    }

    fn list(&self, server: usize, of: impl Fn((Time, Time)) -> Cell) -> Cell {
        Cell::List(self.of_servers[server].iter().take(self.most).map(|&it| of(it)).collect())
    }
}

impl CpuObserver for Stretches {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        let Thread::Server(index) = thread else { return };
        let stretches = &mut self.of_servers[index];
        // One interval more than wanted is recorded, so that the last wanted one is complete.
        let has_room = stretches.len() <= self.most;
        match stretches.last_mut() {
            _ if !in_budget => (),
            Some(last) if last.1 == from => last.1 = to,
            _ if has_room => stretches.push((from, to)),
            _ => (),
        }
    }
}
