// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate cpu sim`.

use tidegate_cpu_model::{CpuServer, CpuWorkload, Scheduling, ServerKind};
use tidegate_cpu_sim::{CpuRun, CpuRunEnd, JobMetrics, ServerMetrics, Timing};
use tidegate_model::Duration;
use tidegate_stats::Distribution;

use super::{CpuResult, CpuSimReport};
use crate::figures;
use crate::page::{Answer, Page, Report, Table};
use crate::runs::{P99, P999};

impl Report for CpuSimReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let said: Vec<String> = self.results.iter().map(CpuResult::sentence).collect();
        let said = said.join("; ");
        Some(match self.defects().len() {
            0 if self.is_kept() => Answer::good(format!("KEPT: {said}.")),
            0 if self.results.iter().all(|result| result.misses() == 0) => {
                Answer::doubtful(format!("INCOMPLETE: {said}."))
            }
            0 => Answer::bad(format!("MISSED: {said}.")),
            _ => Answer::bad(format!("BROKEN by a bug in Tidegate: {said}.")),
        })
    }

    fn write(&self, page: &mut Page) {
        let results = self.results;
        writeln!(page);
        let rows = results.iter().flat_map(|result| {
            let jobs = result.run.tasks.iter().chain(&result.run.work);
            jobs.map(|metrics| job_row(result.label(), metrics)).collect::<Vec<_>>()
        });
        page.paragraph("Response times, arrival to completion:");
        writeln!(page);
        let header = [
            "servers",
            "task or work",
            "jobs",
            "lost",
            "unfinished",
            "misses",
            "mean",
            "p99",
            "p99.9",
            "max",
            "deadline",
        ];
        let table = Table::new(&header, rows.collect(), 2);
        page.put(table.optional(&["p99.9", "lost", "unfinished", "servers"]));
        writeln!(page);
        let rows = results.iter().flat_map(|result| {
            let servers = result.workload.servers.iter().zip(&result.run.servers);
            servers.map(|(server, metrics)| server_row(server, metrics, result)).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            page.paragraph(
                "Servers, and the longest execution in any window as long as the server's period:",
            );
            writeln!(page);
            let header = [
                "server",
                "kind",
                "budget",
                "period",
                "in a window",
                "of the time",
                "charged",
                "preemptions",
                "exhausted",
            ];
            let table = Table::new(&header, rows, 2);
            page.put(table.optional(&["exhausted", "preemptions", "charged"]));
            writeln!(page);
        }
        self.write_head(page);
        for result in results {
            page.labelled("Totals", format!("{}: {}", result.label(), result.totals()));
        }
        if self.timing != Timing::Never && results.iter().any(CpuResult::has_no_sections) {
            page.labelled(
            "Note",
            "nothing blocked: a section delays every thread of higher priority than its owner, up \
             to its ceiling, and some of these have no `blocking`",
        );
        }
    }
}

impl CpuSimReport<'_> {
    fn write_head(&self, page: &mut Page) {
        let workload = &self.results[0].workload;
        let what = match workload.scheduling {
            Scheduling::FixedPriority => "highest priority first",
            Scheduling::Edf => "earliest deadline first",
        };
        let costs = format!(
            "a switch costs {}; budgets are enforced {} late",
            workload.switch, workload.timer_latency
        );
        page.labelled("Processor", format!("{what}; {costs}"));
        let seed = self.seed;
        page.labelled("Seed", format!("{seed}: the same command gives the same figures"));
        let when = match self.timing {
            Timing::Critical => "at critical instants, as much as allowed",
            Timing::Random => "at random",
            Timing::Never => "not simulated",
        };
        if is_blocking(workload) {
            page.labelled("Blocking", format!("sections of lower-priority threads, {when}"));
        }
        if !workload.interference.is_empty() {
            let files =
                workload.interference.iter().map(|it| format!("`{}` by `{}`", it.file, it.bound));
            let files = files.collect::<Vec<_>>().join(", ");
            page.labelled("Interference", format!("within {files}, {when}"));
        }
    }
}

fn job_row(label: &str, metrics: &JobMetrics) -> Vec<String> {
    let responses: &Distribution = &metrics.responses;
    vec![
        label.to_owned(),
        metrics.name.clone(),
        responses.count().to_string(),
        metrics.lost.to_string(),
        metrics.unfinished.to_string(),
        metrics.misses.to_string(),
        figures::bound(responses.mean()),
        figures::bound(responses.quantile(P99)),
        figures::bound(responses.quantile(P999)),
        figures::bound(responses.max()),
        metrics.deadline.map_or_else(|| "none".to_owned(), |deadline| deadline.to_string()),
    ]
}

fn server_row(server: &CpuServer, metrics: &ServerMetrics, result: &CpuResult) -> Vec<String> {
    let share = |time: Duration| {
        let ns = u128::from(time.ns()) * 1_000 / u128::from(result.run.duration.ns().max(1));
        format!("{}.{} %", ns / 10, ns % 10)
    };
    vec![
        metrics.name.clone(),
        server.params.kind.to_string(),
        server.params.budget.to_string(),
        server.params.period.to_string(),
        metrics.window.highest().to_string(),
        share(metrics.executed),
        share(metrics.charged),
        metrics.preemptions.to_string(),
        metrics.exhaustions.to_string(),
    ]
}

fn is_blocking(workload: &CpuWorkload) -> bool {
    let of_tasks = workload.tasks.iter().map(|task| task.blocking);
    let of_servers = workload.servers.iter().map(|server| server.blocking);
    of_tasks.chain(of_servers).any(|blocking| !blocking.is_zero())
}

impl CpuResult {
    fn label(&self) -> &'static str {
        self.kind.map_or("as written", ServerKind::name)
    }

    /// States what happened to the deadlines: `sporadic kept all 134 deadlines`.
    fn sentence(&self) -> String {
        let what = self.kind.map_or("the run", ServerKind::name);
        let ended = match self.run.end {
            CpuRunEnd::Complete => String::new(),
            CpuRunEnd::Overloaded => {
                format!(" until it was overloaded after {}", self.run.duration)
            }
            CpuRunEnd::Interrupted if self.run.duration.is_zero() => {
                return format!("{what} was interrupted before it began");
            }
            CpuRunEnd::Interrupted => {
                format!(" until it was interrupted after {}", self.run.duration)
            }
        };
        let (all, misses) = (figures::thousands(self.deadlines()), self.misses());
        if misses == 0 {
            return format!("{what} {}{ended}", figures::kept_all(&all));
        }
        let all = figures::count(all, "deadline");
        format!("{what} missed {} of {all}{ended}", figures::thousands(misses))
    }

    /// Returns the run's totals as a sentence.
    fn totals(&self) -> String {
        let CpuRun { switches, switching, events, end, .. } = &self.run;
        let utilisation = self.run.utilisation_ppm();
        let busy = format!("{}.{:01} %", utilisation / 10_000, utilisation / 1_000 % 10);
        let ended = match end {
            CpuRunEnd::Complete | CpuRunEnd::Interrupted => String::new(),
            CpuRunEnd::Overloaded => {
                format!(
                    "; a task's queue overflowed, and the run ended after {}",
                    self.run.duration
                )
            }
        };
        let switching: Duration = *switching;
        let disturbed = self.disturbed();
        format!(
            "busy {busy}, {} that took {switching}{disturbed}, {}{ended}",
            figures::count(switches, "switch"),
            figures::count(events, "event")
        )
    }

    /// Returns whether sections of lower-priority threads could have blocked tasks, but none did.
    fn has_no_sections(&self) -> bool {
        is_blocking(&self.workload) && self.run.sections == 0
    }

    /// Describes the blocking and the interference, if any.
    fn disturbed(&self) -> String {
        let CpuRun { sections, section_max, stolen, .. } = &self.run;
        let blocked = match (is_blocking(&self.workload), sections) {
            (false, _) => String::new(),
            (true, 0) => ", no blocking".to_owned(),
            (true, _) => {
                format!(", {} of up to {section_max}", figures::count(sections, "section"))
            }
        };
        let is_robbed = !self.workload.interference.is_empty();
        let robbed = if is_robbed { format!(", {stolen} stolen") } else { String::new() };
        blocked + &robbed
    }
}
