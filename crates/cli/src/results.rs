// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Results of a run, simulated or real, as people and programs read them.

use serde_json::{Value, json};
use tidegate_analysis::Assessment;
use tidegate_host::{Run, RunEnd, SourceMetrics, Totals};
use tidegate_model::{DispatchMode, Duration, PolicyName, Task, Workload};
use tidegate_stats::Distribution;

use crate::Answer;
use crate::show::{self, out, outln};

/// What one policy did to the workload, beside what was proved of it.
pub(crate) struct PolicyResult<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) assessment: Assessment,
    pub(crate) run: Run,
    pub(crate) wall_ns: u64,
}

/// What one task got.
#[derive(Clone, Copy)]
pub(crate) struct TaskResult<'a> {
    pub(crate) task: &'a Task,
    pub(crate) metrics: &'a SourceMetrics,
    /// What was proved for it.
    bound: Option<Duration>,
}

impl TaskResult<'_> {
    /// By how much the longest response exceeded what was proved.
    pub(crate) fn excess(&self) -> Option<Duration> {
        let (bound, response) = (self.bound?, self.metrics.responses.max()?);
        response.checked_sub(bound).filter(|excess| !excess.is_zero())
    }

    fn to_json(self) -> Value {
        let responses = &self.metrics.responses;
        let ns = |time: Option<Duration>| time.map(Duration::ns);
        json!({
            "name": self.task.name,
            "jobs": self.metrics.jobs(),
            "jobs_failed": self.metrics.failed_jobs,
            "misses": self.metrics.misses,
            "jobs_dropped": self.metrics.dropped_jobs,
            "response_ns_min": ns(responses.min()),
            "response_ns_mean": ns(responses.mean()),
            "response_ns_p50": ns(responses.quantile(P50)),
            "response_ns_p99": ns(responses.quantile(P99)),
            "response_ns_p999": ns(responses.quantile(P999)),
            "response_ns_max": ns(responses.max()),
            "bound_ns": ns(self.bound),
        })
    }
}

/// Shares in parts per million.
pub(crate) const P50: u32 = 500_000;
pub(crate) const P99: u32 = 990_000;
pub(crate) const P999: u32 = 999_000;

impl PolicyResult<'_> {
    pub(crate) fn policy(&self) -> PolicyName {
        self.assessment.policy
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskResult<'_>> {
        let measured = self.workload.tasks.iter().zip(self.run.metrics.tasks());
        measured.zip(&self.assessment.tasks).map(|((task, metrics), assessed)| TaskResult {
            task,
            metrics,
            bound: assessed.response_max.map(|(response, _)| response),
        })
    }

    /// Yes where every deadline was kept and nothing failed.
    pub(crate) fn answer(&self) -> Answer {
        if self.run.metrics.is_kept() { Answer::Yes } else { Answer::No }
    }

    /// How the run ended, in the word of the JSON output.
    fn end(&self) -> &'static str {
        match self.run.end {
            RunEnd::Complete => "complete",
            RunEnd::Interrupted => "interrupted",
            RunEnd::Overloaded => "overloaded",
        }
    }

    /// What the tables do not say of this policy's run.
    fn remarks(&self) -> Vec<(&'static str, String)> {
        let mut remarks = Vec::new();
        match self.run.end {
            RunEnd::Complete => {}
            RunEnd::Interrupted => {
                remarks
                    .push(("Interrupted", "the results are those of the part before".to_owned()));
            }
            RunEnd::Overloaded => remarks.push((
                "Overload",
                "more requests waited than there is room for; the run ended early".to_owned(),
            )),
        }
        let is_starved = match self.policy().facts().dispatch {
            DispatchMode::Batches => self.assessment.best_effort_fill == 0,
            DispatchMode::BestEffortDepth => self.assessment.best_effort_depth == 0,
            DispatchMode::UpToDepth | DispatchMode::OneAtATime => false,
        };
        if is_starved && !self.workload.best_effort.is_empty() {
            remarks.push(("Best effort", show::best_effort(&self.assessment)));
        }
        let failed = self.run.metrics.all().failed_requests;
        if failed > 0 {
            remarks.push(("Failed", format!("the device failed {failed} requests")));
        }
        remarks
    }

    /// The object that `--json` prints: names end in their unit.
    pub(crate) fn to_json(&self) -> Value {
        let metrics = &self.run.metrics;
        json!({
            "policy": self.policy().name(),
            "end": self.end(),
            "batch": show::batch_max(&self.assessment),
            "best_effort_fill": self.assessment.best_effort_fill,
            "batch_cost_ns": self.assessment.batch_cost.as_ref().map(|cost| cost.cost_max.ns()),
            "best_effort_fill_cost_ns":
                self.assessment.batch_cost.as_ref().map(|cost| cost.best_effort_fill.ns()),
            "best_effort_depth": show::best_effort_depth(&self.assessment),
            "tasks": self.tasks().map(TaskResult::to_json).collect::<Vec<_>>(),
            "real_time": totals_json(metrics.real_time()),
            "best_effort": totals_json(metrics.best_effort()),
            "requests": metrics.all().completed.requests,
            "events": self.run.events,
            "wall_ns": self.wall_ns,
        })
    }
}

fn totals_json(totals: Totals) -> Value {
    json!({
        "requests": totals.completed.requests,
        "throughput_bytes_per_s": totals.throughput_bytes_per_s(),
    })
}

/// Prints all policies side by side: a table of tasks, then one of throughput.
pub(crate) fn print(results: &[&PolicyResult<'_>]) {
    let is_any = |count: fn(&SourceMetrics) -> u64| {
        results.iter().flat_map(|it| it.tasks()).any(|it| count(it.metrics) > 0)
    };
    let shown = Shown {
        failed: is_any(|metrics| metrics.failed_jobs),
        dropped: is_any(|metrics| metrics.dropped_jobs),
    };
    let mut header = vec![
        "policy", "task", "jobs", "misses", "mean", "p99", "p99.9", "max", "bound", "deadline",
    ];
    shown.insert(&mut header, "dropped", "failed");
    let rows = results.iter().flat_map(|result| task_rows(result, shown));
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        outln!("Response times, release to completion:");
        outln!();
        out!("{}", show::table(&header, rows, 2));
        outln!();
    }
    outln!("Throughput up to the last release:");
    outln!();
    let header = ["policy", "batches", "real_time", "best_effort", "together", "requests"];
    let rows = results.iter().map(|result| throughput_row(result)).collect();
    out!("{}", show::table(&header, rows, 2));
    for result in results {
        for (label, remark) in result.remarks() {
            show::labelled(label, &format!("{}: {remark}", result.policy()));
        }
    }
}

/// Where failed jobs stand, if there are any, and behind them dropped ones: before the misses.
const FAILED_COLUMN: usize = 3;

/// Which columns there are beside those that there always are.
#[derive(Debug, Clone, Copy)]
struct Shown {
    failed: bool,
    dropped: bool,
}

impl Shown {
    /// Puts these two where they belong in a row, if they are shown.
    fn insert<T>(self, row: &mut Vec<T>, dropped: T, failed: T) {
        if self.dropped {
            row.insert(FAILED_COLUMN, dropped);
        }
        if self.failed {
            row.insert(FAILED_COLUMN, failed);
        }
    }
}

/// Tasks of one entry are one row: jobs and misses together, the worst of everything else.
fn task_rows(result: &PolicyResult<'_>, shown: Shown) -> Vec<Vec<String>> {
    let tasks: Vec<TaskResult<'_>> = result.tasks().collect();
    let same_entry = tasks.chunk_by(|a, b| a.task.entry == b.task.entry);
    same_entry.map(|same| entry_row(result.policy(), same, shown)).collect()
}

fn entry_row(policy: PolicyName, same: &[TaskResult<'_>], shown: Shown) -> Vec<String> {
    let (first, last) = (same[0].task, same[same.len() - 1].task);
    let number = last.name.rsplit('-').next().unwrap_or_default();
    let name = match same.len() {
        1 => first.name.clone(),
        _ => format!("{} to {number}", first.name),
    };
    let sum = |pick: fn(&SourceMetrics) -> u64| {
        same.iter().map(|task| pick(task.metrics)).sum::<u64>().to_string()
    };
    let worst = |pick: fn(&Distribution) -> Option<Duration>| {
        show::bound(same.iter().filter_map(|task| pick(&task.metrics.responses)).max())
    };
    let excess = same.iter().any(|task| task.excess().is_some());
    let bound = same.iter().filter_map(|task| task.bound).max();
    let mut row = vec![
        policy.to_string(),
        name,
        sum(SourceMetrics::jobs),
        sum(|metrics| metrics.misses),
        worst(Distribution::mean),
        worst(|responses| responses.quantile(P99)),
        worst(|responses| responses.quantile(P999)),
        worst(Distribution::max),
        format!("{}{}", show::bound(bound), if excess { " EXCEEDED" } else { "" }),
        first.deadline.to_string(),
    ];
    let [dropped, failed] =
        [sum(|metrics| metrics.dropped_jobs), sum(|metrics| metrics.failed_jobs)];
    shown.insert(&mut row, dropped, failed);
    row
}

fn throughput_row(result: &PolicyResult<'_>) -> Vec<String> {
    let rate = |totals: Totals| totals.throughput_bytes_per_s().unwrap_or_default();
    let metrics = &result.run.metrics;
    let (real_time, best_effort) = (rate(metrics.real_time()), rate(metrics.best_effort()));
    let best_effort_fill = result.assessment.best_effort_fill;
    let batch_max = result.assessment.batch_max;
    let batches = match result.policy().facts().dispatch {
        DispatchMode::UpToDepth => "none: up to the drive's depth".to_owned(),
        DispatchMode::BestEffortDepth => {
            format!("none: best effort up to {}", result.assessment.best_effort_depth)
        }
        DispatchMode::OneAtATime => "one at a time".to_owned(),
        DispatchMode::Batches if result.assessment.batch_cost.is_some() => {
            let by_cost = show::batch_cost(&result.assessment).unwrap_or_default();
            format!("at most {batch_max}, {by_cost}")
        }
        DispatchMode::Batches if batch_max == 1 => "one at a time".to_owned(),
        DispatchMode::Batches if best_effort_fill > 0 => {
            format!("at most {batch_max}, filled up to {best_effort_fill}")
        }
        DispatchMode::Batches => format!("at most {batch_max}"),
    };
    vec![
        result.policy().to_string(),
        batches,
        show::throughput(real_time),
        show::throughput(best_effort),
        show::throughput(real_time + best_effort),
        metrics.all().completed.requests.to_string(),
    ]
}

/// The worst answer of several policies.
pub(crate) fn worst_answer(results: &[&PolicyResult<'_>]) -> Answer {
    let is_kept = results.iter().all(|result| result.answer() == Answer::Yes);
    if is_kept { Answer::Yes } else { Answer::No }
}

#[cfg(test)]
mod tests {
    use tidegate_drive::{Completion, Drive, PseudoDisk};
    use tidegate_host::Length;
    use tidegate_model::workload_file::{DriveReference, WorkloadFile};
    use tidegate_model::{Outcome, Request, Time};
    use tidegate_sim::{SimParams, simulate};

    use super::*;

    /// Keeps its table and fails every request.
    struct Failing(PseudoDisk);

    impl Drive for Failing {
        fn submit(&mut self, now: Time, batch: &[Request]) {
            self.0.submit(now, batch);
        }
        fn flush(&mut self, now: Time, id: tidegate_model::RequestId) {
            self.0.flush(now, id);
        }
        fn next_event(&self) -> Option<Time> {
            self.0.next_event()
        }
        fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
            self.0.advance(now, out);
            for completion in out {
                completion.outcome = Outcome::Failed;
            }
        }
    }

    /// Goal: jobs that failed missed no deadline, and yet the answer is no, and they show.
    #[test]
    fn failed_jobs_make_the_answer_no_and_are_shown() {
        let text = "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [1_000_000]\n\
                    [[task]]\nname = \"camera\"\nperiod = \"20ms\"\nsize = \"4KiB\"\n";
        let file = WorkloadFile::parse(text).unwrap();
        let DriveReference::Inline(drive) = &file.drive else { unreachable!("it is inline") };
        let workload = file.bind(drive).unwrap();
        let assessment = tidegate_analysis::assess(&workload, PolicyName::Dqf);
        let policy =
            tidegate_policy::build(PolicyName::Dqf, &assessment.plan(&workload), None).unwrap();
        let disk = Failing(PseudoDisk::new(workload.depth, workload.table.clone(), 1));
        let params = SimParams::new(&workload, Length::Jobs(3));
        let run = simulate(&params, policy, disk, &mut ());
        let result = PolicyResult { workload: &workload, assessment, run, wall_ns: 0 };
        assert_eq!(result.run.metrics.tasks()[0].misses, 0);
        assert_eq!(worst_answer(&[&result]), Answer::No);
        assert_eq!(result.to_json()["tasks"][0]["jobs_failed"], 3);
        let shown = Shown { failed: true, dropped: false };
        assert_eq!(task_rows(&result, shown)[0][FAILED_COLUMN], "3");
    }
}
