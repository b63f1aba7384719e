// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A policy on a simulated drive: response times, misses and throughput.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use tidegate_commands::{Input, NotRun, Simulated, simulate};
use tidegate_host::{Length, Run, RunEnd, SourceMetrics};
use tidegate_model::{Class, Duration};
use tidegate_sim::SimParams;

use super::responses::{self, Responses};
use super::slices::Slices;
use super::{Failed, Measures, Surroundings, unknown};
use crate::axes::Point;
use crate::cell::Cell;
use crate::source::input::Bound;

/// The parameters.
#[derive(Debug, Deserialize)]
pub(super) struct Parameters {
    #[serde(flatten)]
    input: Bound,
    /// Jobs of each task; or `duration`.
    #[serde(default)]
    jobs: Option<u64>,
    #[serde(default)]
    duration: Option<Duration>,
    #[serde(default = "one")]
    seed: u64,
    /// Tasks that the policy treats as best effort.
    #[serde(default)]
    best_effort_tasks: Vec<String>,
    /// The length of a slice, for throughput over time.
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
        let Simulated { report, run, .. } = simulated.map_err(|reason| match reason {
            NotRun::NotApplicable(reason) => Failed::of(reason),
            NotRun::Unusable(faults) => Failed::of(faults),
        })?;
        if run.end == RunEnd::Interrupted {
            return Err(Failed::Cancelled);
        }
        if let Some(defect) = report.defects().into_iter().next() {
            return Err(Failed::Fault(defect));
        }
        Ok(Simulation { run, slices })
    }
}

/// Gives a task, or all tasks of an entry with `count`, the class best effort.
fn reclassify(input: &mut Input, name: &str) -> Result<(), Failed> {
    let mut tasks = input.workload.tasks.iter_mut().filter(|task| task.name == name);
    let task = tasks.next().ok_or_else(|| Failed::Fault(format!("there is no task `{name}`")))?;
    task.class = Class::BestEffort;
    Ok(())
}

impl Measures for Simulation {
    /// Measures are `NAME` of all tasks, or of all loads if there is no task, or `SOURCE.NAME`, where
    /// the source is `tasks`, `loads` or the name of one.
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let metrics = &self.run.metrics;
        let (source, measure) = name.split_once('.').unwrap_or(("", name));
        let all: Vec<&SourceMetrics> = metrics.tasks().iter().chain(metrics.loads()).collect();
        let (tasks, loads) = (metrics.tasks(), metrics.loads());
        let sources = match source {
            "" if tasks.is_empty() => loads,
            "" | "tasks" => tasks,
            "loads" => loads,
            one => {
                let index = all.iter().position(|it| it.name == one);
                let index = index.ok_or_else(|| format!("there is no task or load `{one}`"))?;
                if measure == "bytes_per_s_over_time" {
                    let slices =
                        self.slices.as_ref().ok_or("throughput over time needs `slice`")?;
                    return Ok(Some(slices.rates(index)));
                }
                std::slice::from_ref(all[index])
            }
        };
        let sum = |of: fn(&SourceMetrics) -> u64| Some(Cell::of(sources.iter().map(of).sum()));
        let per_s = |what: u64, window: Duration| {
            let seconds = tidegate_stats::float::of(window.ns()) / 1e9;
            (seconds > 0.0).then(|| Cell::Float(tidegate_stats::float::of(what) / seconds))
        };
        let totals = metrics.totals(sources);
        Ok(match measure {
            "jobs" => sum(SourceMetrics::jobs),
            "misses" => sum(|it| it.misses),
            "dropped" => sum(|it| it.dropped_jobs),
            "unfinished" => sum(|it| it.unfinished_jobs),
            "bytes_per_s" => per_s(totals.completed_in_window.bytes, totals.window),
            "requests_per_s" => per_s(totals.completed_in_window.requests, totals.window),
            "is_overloaded" => Some(Cell::Bool(self.run.end == RunEnd::Overloaded)),
            response if response.starts_with("response_ns_") => {
                return Responses::of(sources.iter().map(|it| &it.responses)).get(response);
            }
            _ => return Err(unknown(name, &format!("{KNOWN}, {}", responses::KNOWN))),
        })
    }
}

const KNOWN: &str = "jobs, misses, dropped, unfinished, bytes_per_s, requests_per_s, is_overloaded, \
                     SOURCE.bytes_per_s_over_time";
