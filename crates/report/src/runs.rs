// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The results of one policy for a workload, with the proof: the common part of the reports of
//! `tidegate sim` and `tidegate run`.

mod loads;
mod plot;
pub(crate) mod text;
mod tokens;
pub(crate) mod verdict;

use std::borrow::Cow;

use serde::Serialize;
use tidegate_analysis::{Answer, Assessment};
use tidegate_host::{Run, RunEnd, SourceMetrics, Totals};
use tidegate_model::{BestEffortOrder, Duration, Grade, PolicyName, Premises, Task, Workload};
use tidegate_stats::Distribution;

use crate::figures;
use crate::ns::Ns;
use crate::page::Page;
use crate::result::CurvesRecord;

use loads::LoadReport;
pub use plot::write_plots;

/// The median, in parts per million.
pub(crate) const P50: u32 = 500_000;
/// The 99 % quantile, in parts per million.
pub(crate) const P99: u32 = 990_000;
/// The 99.9 % quantile, in parts per million.
pub(crate) const P999: u32 = 999_000;

/// The results of one policy for the workload.
#[derive(Debug, Serialize)]
pub struct PolicyReport<'a> {
    policy: Cow<'static, str>,
    verdict: verdict::RunVerdict,
    answer: String,
    /// Whether the policy promises every deadline.
    is_promised: bool,
    end: &'static str,
    batch: Option<u32>,
    best_effort_fill: u32,
    batch_cost_ns: Option<Ns>,
    best_effort_fill_cost_ns: Option<Ns>,
    best_effort_depth: Option<u32>,
    best_effort_order: Option<&'static str>,
    tasks: Vec<TaskReport<'a>>,
    loads: Vec<LoadReport<'a>>,
    real_time: VolumeReport,
    best_effort: VolumeReport,
    requests: u64,
    events: u64,
    wall_ns: u64,
    grade: Option<Grade>,
    premises: Premises,
    /// The tokens that best effort received, in words.
    #[serde(skip)]
    tokens: Option<String>,
    #[serde(skip)]
    run_end: RunEnd,
    #[serde(skip)]
    requests_failed: u64,
    #[serde(skip)]
    is_kept: bool,
    /// Whether Tidegate broke a promise in this run.
    #[serde(skip)]
    is_blamed: bool,
    #[serde(skip)]
    assessment: Assessment,
    #[serde(skip)]
    workload: &'a Workload,
}

/// The results of one task.
#[derive(Debug, Serialize)]
pub(crate) struct TaskReport<'a> {
    pub(crate) name: &'a str,
    jobs: u64,
    jobs_failed: u64,
    misses: u64,
    jobs_dropped: u64,
    #[serde(flatten)]
    response: ResponseTimes,
    bound_ns: Option<Ns>,
    #[serde(skip)]
    task: &'a Task,
}

/// A requested policy that cannot run here.
#[derive(Debug, Clone, Serialize)]
pub struct NotApplicable {
    policy: &'static str,
    reason: String,
}

/// The result of a requested policy, if it ran before an interruption.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Requested<T> {
    Ran(Box<T>),
    NotRun { policy: &'static str, end: &'static str },
}

impl<T> Requested<T> {
    /// Returns the results, then the policies that an interruption left out.
    pub(crate) fn all(ran: impl Iterator<Item = T>, not_run: &[PolicyName]) -> Vec<Self> {
        let left_out =
            not_run.iter().map(|policy| Self::NotRun { policy: policy.name(), end: "not_run" });
        ran.map(|result| Self::Ran(Box::new(result))).chain(left_out).collect()
    }

    pub(crate) fn ran(&self) -> Option<&T> {
        match self {
            Self::Ran(ran) => Some(ran),
            Self::NotRun { .. } => None,
        }
    }
}

/// States which policies an interruption left out.
pub(crate) fn write_not_run(not_run: &[PolicyName], page: &mut Page) {
    for policy in not_run {
        page.labelled("Not run", format!("{policy}: the run was interrupted before it"));
    }
}

impl NotApplicable {
    /// States why a policy cannot run.
    pub fn new(policy: PolicyName, reason: impl Into<String>) -> Self {
        Self { policy: policy.name(), reason: reason.into() }
    }

    pub(crate) fn write(&self, page: &mut Page) {
        let Self { policy, reason } = self;
        page.labelled("Not run", format!("{policy} does not apply: {reason}"));
    }
}

/// Response times; null if no job completed.
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ResponseTimes {
    pub(crate) response_ns_min: Option<Ns>,
    pub(crate) response_ns_mean: Option<Ns>,
    pub(crate) response_ns_p50: Option<Ns>,
    pub(crate) response_ns_p99: Option<Ns>,
    pub(crate) response_ns_p999: Option<Ns>,
    pub(crate) response_ns_max: Option<Ns>,
}

/// The number of requests and their throughput, up to the last release.
#[derive(Debug, Serialize)]
struct VolumeReport {
    requests: u64,
    throughput_bytes_per_s: Option<u64>,
}

impl<'a> PolicyReport<'a> {
    /// Returns the curves behind the bounds.
    pub fn curves(&self) -> Vec<CurvesRecord> {
        CurvesRecord::all(self.workload, &self.assessment)
    }

    /// Reports a `run` of `workload` under the assessed policy.
    pub fn of(workload: &'a Workload, assessment: Assessment, run: &Run, wall_ns: u64) -> Self {
        let measured = workload.tasks.iter().zip(run.metrics.tasks()).zip(&assessment.tasks);
        let tasks = measured.map(|((task, metrics), assessed)| {
            TaskReport::of(task, metrics, assessed.response_max.map(|(bound, _)| bound))
        });
        let cost = assessment.batch_cost.as_ref();
        let result = Self {
            policy: assessment.policy.name().into(),
            verdict: verdict::RunVerdict::Kept,
            answer: String::new(),
            is_promised: assessment.answer == Answer::Proven && !workload.tasks.is_empty(),
            is_blamed: false,
            end: match run.end {
                RunEnd::Complete => "complete",
                RunEnd::Interrupted => "interrupted",
                RunEnd::Overloaded => "overloaded",
            },
            batch: figures::batch_max(&assessment),
            best_effort_fill: assessment.best_effort_fill,
            batch_cost_ns: cost.map(|cost| cost.cost_max.into()),
            best_effort_fill_cost_ns: cost.map(|cost| cost.best_effort_fill.into()),
            best_effort_depth: figures::best_effort_depth(&assessment),
            best_effort_order: figures::best_effort_order(workload, assessment.policy)
                .map(BestEffortOrder::name),
            tasks: tasks.collect(),
            loads: LoadReport::all(workload, run),
            real_time: VolumeReport::of(run.metrics.real_time()),
            best_effort: VolumeReport::of(run.metrics.best_effort()),
            requests: run.metrics.all().completed.requests,
            events: run.events,
            wall_ns,
            grade: assessment.grade(),
            premises: assessment.premises.clone(),
            tokens: tokens::sentence(workload, run.metrics.over_time()),
            run_end: run.end,
            requests_failed: run.metrics.all().failed_requests,
            is_kept: run.metrics.is_kept(),
            assessment,
            workload,
        };
        result.with_verdict()
    }

    /// Renames the results, for a policy that Tidegate does not know.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { policy: name.into(), ..self }
    }

    fn with_verdict(mut self) -> Self {
        self.verdict = self.verdict();
        self.answer = self.sentence();
        self
    }

    /// Marks the run as one in which Tidegate broke a promise.
    #[must_use]
    pub(crate) fn blamed(mut self) -> Self {
        self.is_blamed = true;
        self.with_verdict()
    }

    /// Returns the premises of the policy's verdict, which are shown below the results.
    pub(crate) fn premises(&self) -> &Premises {
        &self.premises
    }

    /// Returns whether the run was interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.run_end == RunEnd::Interrupted
    }

    pub(crate) fn policy(&self) -> PolicyName {
        self.assessment.policy
    }

    pub(crate) fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    pub(crate) fn workload(&self) -> &'a Workload {
        self.workload
    }

    pub(crate) fn requests_failed(&self) -> u64 {
        self.requests_failed
    }

    /// Returns the index, name and excess of each task whose longest response time exceeded its
    /// bound.
    pub(crate) fn excesses(&self) -> impl Iterator<Item = (usize, &str, Duration)> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter_map(|(index, task)| Some((index, task.name, task.excess()?)))
    }
}

impl<'a> TaskReport<'a> {
    fn of(task: &'a Task, metrics: &SourceMetrics, bound: Option<Duration>) -> Self {
        Self {
            name: &task.name,
            jobs: metrics.jobs(),
            jobs_failed: metrics.failed_jobs,
            misses: metrics.misses,
            jobs_dropped: metrics.dropped_jobs,
            response: ResponseTimes::of(&metrics.responses),
            bound_ns: Ns::of(bound),
            task,
        }
    }

    fn excess(&self) -> Option<Duration> {
        let (Ns(bound), Ns(response)) = (self.bound_ns?, self.response.response_ns_max?);
        response.checked_sub(bound).filter(|excess| !excess.is_zero())
    }
}

impl ResponseTimes {
    pub(crate) fn of(times: &Distribution) -> Self {
        Self {
            response_ns_min: Ns::of(times.min()),
            response_ns_mean: Ns::of(times.mean()),
            response_ns_p50: Ns::of(times.quantile(P50)),
            response_ns_p99: Ns::of(times.quantile(P99)),
            response_ns_p999: Ns::of(times.quantile(P999)),
            response_ns_max: Ns::of(times.max()),
        }
    }
}

impl VolumeReport {
    fn of(totals: Totals) -> Self {
        Self {
            requests: totals.completed.requests,
            throughput_bytes_per_s: totals.throughput_bytes_per_s(),
        }
    }
}

#[cfg(test)]
mod tests;
