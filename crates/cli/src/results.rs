// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Results of a run, simulated or real, as people and programs read them.

use model::{Duration, PolicyName};
use serde_json::{Value, json};

use crate::Answer;
use crate::show;

/// What one policy did to the workload.
#[derive(Debug, Clone)]
pub(crate) struct PolicyResult {
    pub(crate) policy: PolicyName,
    /// z, none where the policy makes no batches.
    pub(crate) batch_max: Option<u32>,
    /// beta.
    pub(crate) best_effort_fill: u32,
    pub(crate) tasks: Vec<TaskResult>,
    pub(crate) real_time: ClassResult,
    pub(crate) best_effort: ClassResult,
    /// Requests that completed in the whole run.
    pub(crate) requests: u64,
    pub(crate) events: u64,
    pub(crate) wall_ns: u64,
}

/// What one task got.
#[derive(Debug, Clone)]
pub(crate) struct TaskResult {
    pub(crate) name: String,
    /// The entry of the workload file that it came from.
    pub(crate) entry: u32,
    pub(crate) deadline: Duration,
    pub(crate) jobs: u64,
    pub(crate) misses: u64,
    pub(crate) response: Option<Responses>,
    /// What was proved for it.
    pub(crate) bound: Option<Duration>,
}

/// A distribution of response times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Responses {
    pub(crate) min: Duration,
    pub(crate) mean: Duration,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) p999: Duration,
    pub(crate) max: Duration,
}

/// What all sources of a kind got.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassResult {
    pub(crate) requests: u64,
    /// None where everything was released at once.
    pub(crate) throughput_bytes_per_s: Option<u64>,
}

impl TaskResult {
    /// By how much the longest response exceeded what was proved.
    pub(crate) fn excess(&self) -> Option<Duration> {
        let (bound, response) = (self.bound?, self.response?);
        response.max.checked_sub(bound).filter(|excess| !excess.is_zero())
    }
}

impl PolicyResult {
    pub(crate) fn misses(&self) -> u64 {
        self.tasks.iter().map(|task| task.misses).sum()
    }

    /// Yes where every deadline was kept.
    pub(crate) fn answer(&self) -> Answer {
        if self.misses() == 0 { Answer::Yes } else { Answer::No }
    }

    /// The object of design section 5.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "policy": self.policy.name(),
            "batch": self.batch_max,
            "best_effort_fill": self.best_effort_fill,
            "tasks": self.tasks.iter().map(task_json).collect::<Vec<_>>(),
            "real_time": class_json(self.real_time),
            "best_effort": class_json(self.best_effort),
            "requests": self.requests,
            "events": self.events,
            "wall_ns": self.wall_ns,
        })
    }
}

fn task_json(task: &TaskResult) -> Value {
    let ns = |pick: fn(&Responses) -> Duration| task.response.as_ref().map(pick).map(Duration::ns);
    json!({
        "name": task.name,
        "jobs": task.jobs,
        "misses": task.misses,
        "response_ns_min": ns(|r| r.min),
        "response_ns_mean": ns(|r| r.mean),
        "response_ns_p50": ns(|r| r.p50),
        "response_ns_p99": ns(|r| r.p99),
        "response_ns_p999": ns(|r| r.p999),
        "response_ns_max": ns(|r| r.max),
        "bound_ns": task.bound.map(Duration::ns),
    })
}

fn class_json(class: ClassResult) -> Value {
    json!({
        "requests": class.requests,
        "throughput_bytes_per_s": class.throughput_bytes_per_s,
    })
}

/// Prints all policies side by side: a table of tasks, then one of throughput.
pub(crate) fn print(results: &[PolicyResult]) {
    let header =
        ["policy", "task", "jobs", "misses", "mean", "p99", "p99.9", "max", "bound", "deadline"];
    let rows: Vec<Vec<String>> = results.iter().flat_map(task_rows).collect();
    if !rows.is_empty() {
        println!("Response times, release to completion:");
        println!();
        print!("{}", show::table(&header, rows, 2));
        println!();
    }
    println!("Throughput up to the last release:");
    println!();
    let header = ["policy", "batches", "real_time", "best_effort", "together", "requests"];
    print!("{}", show::table(&header, results.iter().map(throughput_row).collect(), 2));
}

/// Tasks of one entry are one row: jobs and misses together, the worst of everything else.
fn task_rows(result: &PolicyResult) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for same in result.tasks.chunk_by(|a, b| a.entry == b.entry) {
        let (first, last) = (&same[0], &same[same.len() - 1]);
        let number = last.name.rsplit('-').next().unwrap_or_default();
        let name = match same.len() {
            1 => first.name.clone(),
            _ => format!("{} to {number}", first.name),
        };
        let worst = |pick: fn(&Responses) -> Duration| {
            show::bound(same.iter().filter_map(|task| task.response.as_ref().map(pick)).max())
        };
        let excess = same.iter().any(|task| task.excess().is_some());
        let bound = same.iter().filter_map(|task| task.bound).max();
        rows.push(vec![
            result.policy.to_string(),
            name,
            same.iter().map(|task| task.jobs).sum::<u64>().to_string(),
            same.iter().map(|task| task.misses).sum::<u64>().to_string(),
            worst(|r| r.mean),
            worst(|r| r.p99),
            worst(|r| r.p999),
            worst(|r| r.max),
            format!("{}{}", show::bound(bound), if excess { " EXCEEDED" } else { "" }),
            first.deadline.to_string(),
        ]);
    }
    rows
}

fn throughput_row(result: &PolicyResult) -> Vec<String> {
    let rate = |class: ClassResult| class.throughput_bytes_per_s.unwrap_or_default();
    let batches = match (result.policy, result.batch_max) {
        (PolicyName::Noop, _) | (_, None) => "none: up to the drive's depth".to_owned(),
        (_, Some(1)) => "one at a time".to_owned(),
        (_, Some(batch_max)) if result.best_effort_fill > 0 => {
            format!("at most {batch_max}, filled up to {}", result.best_effort_fill)
        }
        (_, Some(batch_max)) => format!("at most {batch_max}"),
    };
    vec![
        result.policy.to_string(),
        batches,
        show::throughput(rate(result.real_time)),
        show::throughput(rate(result.best_effort)),
        show::throughput(rate(result.real_time) + rate(result.best_effort)),
        result.requests.to_string(),
    ]
}

/// The worst answer of several policies.
pub(crate) fn worst_answer(results: &[PolicyResult]) -> Answer {
    let is_kept = results.iter().all(|result| result.answer() == Answer::Yes);
    if is_kept { Answer::Yes } else { Answer::No }
}
