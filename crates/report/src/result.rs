// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The result file: a report, with the data that pages and studies draw, which can be read again
//! later.
//!
//! `docs/reference/result.md` describes the keys. A version is never changed in place: a reader
//! either knows the version of a file, or refuses it and names the versions that it reads.

mod curves;
mod drive;
mod over_time;
mod ways;

use std::ops::RangeInclusive;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_host::{BusyEvent, BusyInterval, BusyStep, RunMetrics};
use tidegate_model::{DriveFile, PolicyName, Premises, Time};
use tidegate_stats::Distribution;

use crate::origin::Origin;
use crate::page::Report;

pub use curves::{CurvesRecord, DrawnRecord, Shows};
pub use drive::{DriveTables, TableRecord};
pub use over_time::{EntryRecord, OverTimeRecord, TokenUnitRecord};
pub use ways::Span;
pub(crate) use ways::Ways;

/// The word that marks a result file.
const FORMAT: &str = "tidegate-result";

/// The version of the format in which results are written.
const VERSION: u32 = 4;

/// The versions that can be read. Version 1 lacks `made` and `drive`; version 2 lacks `over_time`;
/// version 3 lacks `curves`, and has no results of `watch` and `ctl`.
const VERSIONS: RangeInclusive<u32> = 1..=VERSION;

/// The command that produced a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultCommand {
    /// `tidegate check`.
    Check,
    /// `tidegate sim`.
    Sim,
    /// `tidegate run`.
    Run,
    /// `tidegate profile`; from version 2 on.
    Profile,
    /// `tidegate watch`; from version 4 on.
    Watch,
    /// `tidegate ctl .. statistics`; from version 4 on.
    Statistics,
}

impl ResultCommand {
    /// Returns the command's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Sim => "sim",
            Self::Run => "run",
            Self::Profile => "profile",
            Self::Watch => "watch",
            Self::Statistics => "ctl statistics",
        }
    }
}

/// A report with its distributions and busy intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultFile {
    format: String,
    version: u32,
    /// The command that produced the result.
    pub command: ResultCommand,
    /// The object that the command prints with `--json`.
    pub report: Value,
    /// The time at which the result was written, in UTC; `None` in version 1.
    #[serde(default)]
    pub made: Option<String>,
    /// The measurements of the drive; `None` without a disk, and in version 1.
    #[serde(default)]
    pub drive: Option<DriveTables>,
    /// The curves behind the bounds of `check`; empty for other commands, and before version 4.
    #[serde(default)]
    pub curves: Vec<CurvesRecord>,
    /// The data of each policy that ran, in the order of the report.
    pub runs: Vec<RunRecord>,
}

/// The data of one policy's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The policy.
    pub policy: String,
    /// The curves behind the bounds of the policy's tasks; empty without bounds, and before version
    /// 4.
    #[serde(default)]
    pub curves: Vec<CurvesRecord>,
    /// The tasks in the report's order, then best-effort loads.
    pub sources: Vec<SourceRecord>,
    /// The longest interval that always had real-time work; `None` without such work.
    pub longest_busy_interval: Option<BusyIntervalRecord>,
    /// Throughput, misses and notices over time; `None` before version 3.
    #[serde(default)]
    pub over_time: Option<OverTimeRecord>,
}

/// The response times of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// The source's name in the workload.
    pub name: String,
    /// Whether the source is best effort, in which case every request counts as a job.
    pub is_best_effort: bool,
    /// The response times of the source's completed jobs.
    ///
    /// # Shape
    /// Pairs of a time t and a number n, in rising order: n response times are at most t and above
    /// the previous pair's time. Times are rounded up to three digits; the last time is the exact
    /// longest response time.
    pub response_ns_steps: Vec<(u64, u64)>,
}

/// The longest busy interval of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BusyIntervalRecord {
    /// The start of the interval, from the start of the run.
    pub begin_ns: u64,
    /// The completion of the interval's last real-time request, from the start of the run.
    pub end_ns: u64,
    /// The interval's events in order of time, after the dispatches of requests that were in flight
    /// when it began.
    pub events: Vec<EventRecord>,
    /// The number of later events that are not in the file.
    pub events_left_out: u64,
}

/// One event of a busy interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The time of the event, from the start of the run.
    pub at_ns: u64,
    /// The step that the request took.
    pub step: StepRecord,
    /// The request's number; numbers rise in the order of release.
    pub request: u64,
    /// The index of the request's source in `sources`.
    pub source: u32,
    /// The number of the batch in which the request is dispatched, counted from 1; `None` for other
    /// steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
}

/// The step that a request took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRecord {
    /// The request was released.
    Released,
    /// The request was dispatched.
    Dispatched,
    /// The request completed.
    Completed,
    /// The request was dropped.
    Dropped,
}

/// The reason why a text is not a result that this version can read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableResult {
    /// The text is not a result file.
    #[error("it is not a result file")]
    Foreign,
    /// The file has another version of the format.
    #[error(
        "it has version {found} of the result format, and this tidegate reads versions {} to {}",
        VERSIONS.start(),
        VERSIONS.end()
    )]
    Version {
        /// The version of the file.
        found: u64,
    },
    /// The file is damaged.
    #[error("it is a damaged result file: {0}")]
    Damaged(#[source] serde_json::Error),
}

impl UnreadableResult {
    /// Returns advice for the user.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Foreign => "name a file that a command wrote with --result FILE",
            Self::Version { .. } => {
                "make the result again, or read it with the tidegate that wrote it"
            }
            Self::Damaged(_) => "make the result again",
        }
    }
}

/// The keys that every version has.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

impl ResultFile {
    /// Makes the result of a command from its report and the data of each policy that ran.
    ///
    /// # Panics
    /// Never: a report is plain data.
    pub fn of(command: ResultCommand, report: &impl Report, runs: Vec<RunRecord>) -> Self {
        let report = serde_json::from_str(&report.to_json()).expect("a report is plain data");
        let (format, version) = (FORMAT.to_owned(), VERSION);
        Self { format, version, command, report, made: None, drive: None, curves: Vec::new(), runs }
    }

    /// Sets the first line of a report that has none.
    #[must_use]
    pub fn answered(mut self, text: &str) -> Self {
        if let Value::Object(object) = &mut self.report {
            object.shift_insert(0, "answer".to_owned(), text.into());
        }
        self
    }

    /// Adds the premises of a report that has none, and the files behind it.
    ///
    /// # Panics
    /// Never: both values are plain data.
    #[must_use]
    pub fn with_premises(mut self, premises: &Premises, origin: Option<&Origin>) -> Self {
        if let Value::Object(object) = &mut self.report {
            let value = serde_json::to_value(premises).expect("premises are plain data");
            object.entry("premises").or_insert(value);
            let origin =
                origin.map(|it| serde_json::to_value(it).expect("an origin is plain data"));
            object.extend(origin.map(|value| ("origin".to_owned(), value)));
        }
        self
    }

    /// Adds the drive's measurements.
    #[must_use]
    pub fn with_drive(self, file: Option<&DriveFile>) -> Self {
        Self { drive: file.map(DriveTables::of), ..self }
    }

    /// Adds the curves behind the bounds of `check`.
    #[must_use]
    pub fn with_curves(self, curves: Vec<CurvesRecord>) -> Self {
        Self { curves, ..self }
    }

    /// Adds the time of writing, in UTC.
    #[must_use]
    pub fn made_at(self, when: String) -> Self {
        Self { made: Some(when), ..self }
    }

    /// Reads a result file's text.
    ///
    /// # Errors
    /// [`UnreadableResult`].
    pub fn read(text: &str) -> Result<Self, UnreadableResult> {
        let header: Header = serde_json::from_str(text).map_err(|_| UnreadableResult::Foreign)?;
        if header.format != FORMAT {
            return Err(UnreadableResult::Foreign);
        }
        if !u32::try_from(header.version).is_ok_and(|version| VERSIONS.contains(&version)) {
            return Err(UnreadableResult::Version { found: header.version });
        }
        let file: Self = serde_json::from_str(text).map_err(UnreadableResult::Damaged)?;
        file.check()
            .map_err(|fault| UnreadableResult::Damaged(serde_json::Error::custom(fault)))?;
        Ok(file)
    }

    /// Checks the properties that every file written by `--result` has, and on which charts rely.
    fn check(&self) -> Result<(), &'static str> {
        let of_runs = self.runs.iter().flat_map(|run| &run.curves);
        self.curves.iter().chain(of_runs).try_for_each(CurvesRecord::check)?;
        for run in &self.runs {
            for source in &run.sources {
                let steps = &source.response_ns_steps;
                let jobs = steps.iter().try_fold(0_u64, |jobs, step| jobs.checked_add(step.1));
                if !steps.is_sorted_by(|a, b| a.0 < b.0) || jobs.is_none() {
                    return Err("response_ns_steps must rise, and their counts have a sum");
                }
            }
            if run.longest_busy_interval.as_ref().is_some_and(|it| it.end_ns < it.begin_ns) {
                return Err("longest_busy_interval ends before it begins");
            }
            run.over_time.as_ref().map_or(Ok(()), OverTimeRecord::check)?;
        }
        Ok(())
    }

    /// Returns the file's text: JSON on one line.
    ///
    /// # Panics
    /// Never: a result is plain data.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a result is plain data") + "\n"
    }
}

impl RunRecord {
    /// Returns the data of a run under one policy.
    pub fn of(policy: PolicyName, metrics: &RunMetrics, longest: Option<&BusyInterval>) -> Self {
        let record = |source: &tidegate_host::SourceMetrics| SourceRecord {
            name: source.name.clone(),
            is_best_effort: source.deadline.is_none(),
            response_ns_steps: steps(&source.responses),
        };
        Self {
            policy: policy.name().to_owned(),
            curves: Vec::new(),
            sources: metrics.tasks().iter().chain(metrics.loads()).map(record).collect(),
            longest_busy_interval: longest.map(BusyIntervalRecord::of),
            over_time: Some(OverTimeRecord::of(metrics)),
        }
    }
}

impl SourceRecord {
    /// Makes the record of a source's response times.
    pub fn new(name: String, is_best_effort: bool, responses: &Distribution) -> Self {
        Self { name, is_best_effort, response_ns_steps: steps(responses) }
    }
}

impl RunRecord {
    /// Returns the data of observed programs, without batches.
    pub fn of_sources(policy: String, sources: Vec<SourceRecord>) -> Self {
        let (curves, longest_busy_interval, over_time) = (Vec::new(), None, None);
        Self { policy, curves, sources, longest_busy_interval, over_time }
    }
}

fn steps(times: &Distribution) -> Vec<(u64, u64)> {
    times.steps().into_iter().map(|(time, count)| (time.ns(), count)).collect()
}

impl BusyIntervalRecord {
    fn of(interval: &BusyInterval) -> Self {
        Self {
            begin_ns: ns(interval.begin),
            end_ns: ns(interval.end),
            events: interval.events.iter().map(EventRecord::of).collect(),
            events_left_out: interval.events_left_out,
        }
    }
}

impl EventRecord {
    fn of(event: &BusyEvent) -> Self {
        let (step, batch) = match event.step {
            BusyStep::Released => (StepRecord::Released, None),
            BusyStep::Dispatched(batch) => (StepRecord::Dispatched, Some(batch)),
            BusyStep::Completed => (StepRecord::Completed, None),
            BusyStep::Dropped => (StepRecord::Dropped, None),
        };
        let (request, source) = (event.request.0, event.source.0);
        Self { at_ns: ns(event.at), step, request, source, batch }
    }
}

fn ns(time: Time) -> u64 {
    time.since(Time::ZERO).ns()
}

#[cfg(test)]
mod tests;
