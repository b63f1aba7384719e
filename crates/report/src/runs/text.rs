// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text for runs of several policies side by side.

use tidegate_host::RunEnd;
use tidegate_model::DispatchMode;

use super::loads::write_loads;
use super::{PolicyReport, TaskReport};
use crate::figures;
use crate::ns::Ns;
use crate::page::{Page, Table, Tone};

/// Writes all policies side by side: their verdicts, a table of tasks, then a table of throughput.
pub(crate) fn write(results: &[&PolicyReport<'_>], page: &mut Page) {
    for result in results {
        page.labelled_as(&result.policy, &result.answer, Some(result.verdict.tone()));
    }
    writeln!(page);
    if results.iter().any(|result| !result.tasks.is_empty()) {
        write_tasks(results, page);
    }
    page.paragraph("Throughput up to the last release:");
    writeln!(page);
    let header = ["policy", "real_time", "best_effort", "together", "requests"];
    let rows = results.iter().map(|result| throughput_row(result)).collect();
    page.table(&header, rows, 1);
    writeln!(page);
    write_loads(results, page);
    for result in results {
        page.labelled("Batches", format!("{}: {}", result.policy, batches(result)));
        for (label, remark) in result.remarks() {
            page.labelled(label, format!("{}: {remark}", result.policy));
        }
    }
    write_order(results, page);
}

/// Writes a row for each policy and, below it, one for each entry of tasks.
fn write_tasks(results: &[&PolicyReport<'_>], page: &mut Page) {
    let is_any = |count: fn(&TaskReport<'_>) -> u64| {
        results.iter().flat_map(|it| &it.tasks).any(|task| count(task) > 0)
    };
    let shown = Shown {
        failed: is_any(|task| task.jobs_failed),
        dropped: is_any(|task| task.jobs_dropped),
    };
    let mut header =
        vec!["task", "jobs", "misses", "mean", "p99", "p99.9", "max", "of", "bound", "deadline"];
    shown.insert(&mut header, "dropped", "failed");
    let (mut rows, mut tones) = (Vec::new(), Vec::new());
    for result in results {
        let mut heading = vec![String::new(); header.len()];
        heading[0] = result.policy.to_string();
        rows.push(heading);
        tones.push(None);
        for entry in result.entries() {
            rows.push(entry_row(entry, shown));
            tones.push(entry_tone(entry));
        }
    }
    page.paragraph("Response times, release to completion:");
    writeln!(page);
    page.put(Table::new(&header, rows, 1).toned(tones).optional(&["p99.9", "mean", "p99"]));
    writeln!(page);
    let has_groups = results.iter().any(|result| result.entries().any(|entry| entry.len() > 1));
    if has_groups {
        page.legend(
            "A row of several tasks sums their jobs and misses; its times are those of one task, \
             named under `of`: the task with the longest response.",
        );
        writeln!(page);
    }
}

/// Writes the order in which best effort is served, which is the same for all policies that have
/// one.
fn write_order(results: &[&PolicyReport<'_>], page: &mut Page) {
    let order_of = |result: &&&PolicyReport<'_>| {
        figures::best_effort_order(result.workload, result.assessment.policy)
            .and_then(figures::order)
    };
    let ordered: Vec<_> = results.iter().filter(|result| order_of(result).is_some()).collect();
    if let Some(order) = ordered.first().and_then(order_of) {
        let policies: Vec<&str> = ordered.iter().map(|result| &*result.policy).collect();
        page.labelled("Order", format!("{order} ({})", policies.join(", ")));
    }
}

/// The index of the column of failed jobs, if it is shown; the columns of dropped jobs and of
/// misses follow.
pub(super) const FAILED_COLUMN: usize = 2;

/// Which optional columns are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    pub(super) failed: bool,
    pub(super) dropped: bool,
}

impl Shown {
    /// Inserts the two optional columns into a row, if they are shown.
    fn insert<T>(self, row: &mut Vec<T>, dropped: T, failed: T) {
        if self.dropped {
            row.insert(FAILED_COLUMN, dropped);
        }
        if self.failed {
            row.insert(FAILED_COLUMN, failed);
        }
    }
}

impl<'a> PolicyReport<'a> {
    /// Returns the tasks of each entry.
    pub(super) fn entries(&self) -> impl Iterator<Item = &[TaskReport<'a>]> {
        self.tasks.chunk_by(|a, b| a.task.entry == b.task.entry)
    }
}

/// Returns the tone of a row: bad if a deadline was missed or a job failed, doubtful if a bound was
/// exceeded.
fn entry_tone(same: &[TaskReport<'_>]) -> Option<Tone> {
    if same.iter().any(|task| task.misses + task.jobs_failed + task.jobs_dropped > 0) {
        Some(Tone::Bad)
    } else if same.iter().any(|task| task.excess().is_some()) {
        Some(Tone::Doubtful)
    } else {
        None
    }
}

/// Returns the row of an entry: jobs and misses are summed, and the times are those of the task
/// with the longest response.
pub(super) fn entry_row(same: &[TaskReport<'_>], shown: Shown) -> Vec<String> {
    let (first, last) = (&same[0], &same[same.len() - 1]);
    let worst =
        |task: &&TaskReport<'_>| (task.response.response_ns_max, task.response.response_ns_p99);
    // If several tasks have equally long responses, the first one is used.
    let slowest = same.iter().rev().max_by_key(worst).unwrap_or(first);
    let (name, of) = match same.len() {
        1 => (first.name.to_owned(), String::new()),
        _ => (figures::numbered(first.name, last.name), slowest.name.to_owned()),
    };
    let sum = |pick: fn(&TaskReport<'_>) -> u64| same.iter().map(pick).sum::<u64>().to_string();
    let time = |time: Option<Ns>| figures::bound(time.map(|it| it.0));
    let times = &slowest.response;
    let mut row = vec![
        format!("  {name}"),
        sum(|task| task.jobs),
        sum(|task| task.misses),
        time(times.response_ns_mean),
        time(times.response_ns_p99),
        time(times.response_ns_p999),
        time(times.response_ns_max),
        of,
        time(slowest.bound_ns),
        figures::range(first.task.deadline, last.task.deadline),
    ];
    let [dropped, failed] = [sum(|task| task.jobs_dropped), sum(|task| task.jobs_failed)];
    shown.insert(&mut row, dropped, failed);
    row
}

fn throughput_row(result: &PolicyReport<'_>) -> Vec<String> {
    let [real_time, best_effort] = [&result.real_time, &result.best_effort]
        .map(|volume| volume.throughput_bytes_per_s.unwrap_or_default());
    vec![
        result.policy.to_string(),
        figures::throughput(real_time),
        figures::throughput(best_effort),
        figures::throughput(real_time + best_effort),
        result.requests.to_string(),
    ]
}

/// Describes the policy's batch sizes.
fn batches(result: &PolicyReport<'_>) -> String {
    let assessment = &result.assessment;
    let (best_effort_fill, batch_max) = (assessment.best_effort_fill, assessment.batch_max);
    match assessment.policy.facts().dispatch {
        DispatchMode::UpToDepth => "no batches, but up to the drive's depth at once".to_owned(),
        DispatchMode::BestEffortDepth => {
            format!("no batches; best effort up to {} at once", assessment.best_effort_depth)
        }
        DispatchMode::OneAtATime => "one at a time".to_owned(),
        DispatchMode::Batches if assessment.batch_cost.is_some() => {
            let by_cost = figures::batch_cost(assessment).unwrap_or_default();
            format!("at most {batch_max}, {by_cost}")
        }
        DispatchMode::Batches if batch_max == 1 => "one at a time".to_owned(),
        DispatchMode::Batches if best_effort_fill > 0 => {
            format!("at most {batch_max}, filled up to {best_effort_fill}")
        }
        DispatchMode::Batches => format!("at most {batch_max}"),
    }
}

impl PolicyReport<'_> {
    /// Returns remarks about facts that the tables do not show.
    fn remarks(&self) -> Vec<(&'static str, String)> {
        let mut remarks = Vec::new();
        match self.run_end {
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
        let has_room = figures::serves_best_effort(&self.assessment);
        if !has_room && !self.workload.best_effort.is_empty() {
            let text = figures::best_effort(self.workload, &self.assessment);
            remarks.push(("Best effort", text));
        }
        remarks.extend(self.tokens.clone().map(|tokens| ("Tokens", tokens)));
        let failed = self.requests_failed;
        if failed > 0 {
            remarks.push((
                "Failed",
                format!("the device failed {}", figures::count(failed, "request")),
            ));
        }
        remarks
    }
}
