// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source that runs a policy on a simulated drive: response times, misses and throughput.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use tidegate_commands::{Input, NotRun, Simulated, simulate};
use tidegate_host::{Length, Run, RunEnd, SourceMetrics};
use tidegate_model::{Class, Duration};
use tidegate_report::RunRecord;
use tidegate_sim::SimParams;
use tidegate_stats::float;

use super::responses::{self, Responses};
use super::slices::Slices;
use super::{Failed, Measures, Surroundings, schedule, unknown};
use crate::axes::Point;
use crate::cell::Cell;
use crate::source::input::Bound;

/// The parameters.
#[derive(Debug, Deserialize)]
pub(super) struct Parameters {
    #[serde(flatten)]
    input: Bound,
    /// The number of jobs of each task; alternatively, `duration` gives the run's length.
    #[serde(default)]
    jobs: Option<u64>,
    #[serde(default)]
    duration: Option<Duration>,
    #[serde(default = "one")]
    seed: u64,
    /// The names of tasks that the policy treats as best effort.
    #[serde(default)]
    best_effort_tasks: Vec<String>,
    /// The length of a time slice, for throughput over time.
    #[serde(default)]
    slice: Option<Duration>,
    #[serde(flatten)]
    unknown: toml::Table,
}

const fn one() -> u64 {
    1
}

/// The measures of a run.
pub(super) struct Simulation {
    run: Run,
    record: RunRecord,
    slices: Option<Slices>,
}

impl Parameters {
    pub(super) fn run(
        self,
        point: &Point,
        surroundings: &Surroundings<'_>,
    ) -> Result<Simulation, Failed> {
        let (mut input, kind, policy) = self.input.read(&self.unknown, point, surroundings)?;
        for name in &self.best_effort_tasks {
            reclassify(&mut input, name)?;
        }
        let length = match (self.jobs, self.duration) {
            (Some(jobs), None) => Length::Jobs(jobs),
            (None, Some(duration)) => Length::Duration(duration),
            _ => return Err(Failed::of("give either `jobs` or `duration`")),
        };
        let sources = input.workload.tasks.len() + input.workload.best_effort.len();
        let slices = self.slice.map(|length| Slices::new(length, sources));
        let mut slices = slices.transpose().map_err(Failed::Fault)?;
        let params = SimParams { seed: self.seed, ..SimParams::new(&input.workload, length) };
        let is_cancelled = || surroundings.cancelled.load(Ordering::Relaxed);
        let simulated = simulate(&input, kind, policy, &params, slices.as_mut(), is_cancelled);
        let Simulated { report, run, record } = simulated.map_err(|reason| match reason {
            NotRun::NotApplicable(reason) => Failed::of(reason),
            NotRun::Unusable(faults) => Failed::of(faults),
        })?;
        if run.end == RunEnd::Interrupted {
            return Err(Failed::Cancelled);
        }
        if let Some(defect) = report.defects().into_iter().next() {
            return Err(Failed::Fault(defect));
        }
        Ok(Simulation { run, record, slices })
    }
}

/// Assigns the class best effort to a task, or to all tasks of an entry with `count`.
fn reclassify(input: &mut Input, name: &str) -> Result<(), Failed> {
    let mut tasks = input.workload.tasks.iter_mut().filter(|task| task.name == name);
    let task = tasks.next().ok_or_else(|| Failed::Fault(format!("there is no task `{name}`")))?;
    task.class = Class::BestEffort;
    Ok(())
}

impl Measures for Simulation {
    /// A measure is `MEASURE` for all tasks together (for all loads if there is no task), or
    /// `NAME.MEASURE`, where `NAME` is `tasks`, `loads`, or the name of a task or a load.
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let (source, measure) = name.split_once('.').unwrap_or(("", name));
        match measure {
            "is_overloaded" => Ok(Some(Cell::Bool(self.run.end == RunEnd::Overloaded))),
            "schedule" => Ok(Some(schedule::of_record(&self.record))),
            "bytes_per_s_over_time" => self.over_time(source),
            _ => self.of_sources(self.sources(source)?, measure),
        }
    }
}

impl Simulation {
    /// Returns the index of a task or load; tasks come first.
    fn index(&self, name: &str) -> Result<usize, String> {
        let metrics = &self.run.metrics;
        let mut all = metrics.tasks().iter().chain(metrics.loads());
        let index = all.position(|it| it.name == name);
        index.ok_or_else(|| format!("there is no task or load `{name}`"))
    }

    fn sources(&self, name: &str) -> Result<&[SourceMetrics], String> {
        let (tasks, loads) = (self.run.metrics.tasks(), self.run.metrics.loads());
        Ok(match name {
            "" if tasks.is_empty() => loads,
            "" | "tasks" => tasks,
            "loads" => loads,
            one => {
                let index = self.index(one)?;
                let load = || &loads[index - tasks.len()];
                std::slice::from_ref(tasks.get(index).unwrap_or_else(load))
            }
        })
    }

    fn over_time(&self, source: &str) -> Result<Option<Cell>, String> {
        let slices = self.slices.as_ref().ok_or("throughput over time needs `slice`")?;
        Ok(Some(slices.rates(self.index(source)?)))
    }

    fn of_sources(&self, sources: &[SourceMetrics], name: &str) -> Result<Option<Cell>, String> {
        let sum = |of: fn(&SourceMetrics) -> u64| Some(Cell::of(sources.iter().map(of).sum()));
        let totals = self.run.metrics.totals(sources);
        let seconds = float::of(totals.window.ns()) / 1e9;
        let per_s = |what: u64| (seconds > 0.0).then(|| Cell::Float(float::of(what) / seconds));
        Ok(match name {
            "jobs" => sum(SourceMetrics::jobs),
            "misses" => sum(|it| it.misses),
            "dropped" => sum(|it| it.dropped_jobs),
            "unfinished" => sum(|it| it.unfinished_jobs),
            "bytes_per_s" => per_s(totals.completed_in_window.bytes),
            "requests_per_s" => per_s(totals.completed_in_window.requests),
            response if response.starts_with("response_ns_") => {
                return Responses::of(sources.iter().map(|it| &it.responses)).get(response);
            }
            _ => return Err(unknown(name, &format!("{KNOWN}, {}", responses::KNOWN))),
        })
    }
}

const KNOWN: &str = "jobs, misses, dropped, unfinished, bytes_per_s, requests_per_s, is_overloaded, schedule, \
                     NAME.bytes_per_s_over_time";
