// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a simulated processor did: tables for people, an object for programs.

use serde_json::{Value, json};
use tidegate_cpu_model::{CpuServer, CpuWorkload, ServerKind};
use tidegate_cpu_sim::{CpuRun, JobMetrics, ServerMetrics};
use tidegate_model::Duration;
use tidegate_stats::Distribution;

use crate::show::{self, out, outln};

const P50: u32 = 500_000;
const P99: u32 = 990_000;
const P999: u32 = 999_000;

/// One run.
pub(super) struct CpuResult {
    /// The kind that all servers were made, if the command line named one.
    pub(super) kind: Option<ServerKind>,
    pub(super) workload: CpuWorkload,
    /// Sections and thieves were simulated.
    pub(super) is_disturbed: bool,
    pub(super) run: CpuRun,
    pub(super) wall_ns: u64,
}

impl CpuResult {
    fn label(&self) -> &'static str {
        self.kind.map_or("as written", ServerKind::name)
    }

    /// The object of one run.
    pub(super) fn to_json(&self) -> Value {
        let run = &self.run;
        let servers = self.workload.servers.iter().zip(&run.servers);
        json!({
            "server": self.kind.map(ServerKind::name),
            "tasks": run.tasks.iter().map(jobs_json).collect::<Vec<_>>(),
            "servers": servers.map(|(server, it)| server_json(server, it)).collect::<Vec<_>>(),
            "work": run.work.iter().map(jobs_json).collect::<Vec<_>>(),
            "duration_ns": run.duration.ns(),
            "end": if run.is_overloaded { "overloaded" } else { "complete" },
            "utilisation_ppm": run.utilisation_ppm(),
            "switching_ns": run.switching.ns(),
            "switches": run.switches,
            "events": run.events,
            "sections": run.sections,
            "section_ns_max": run.section_max.ns(),
            "stolen_ns": run.stolen.ns(),
            "wall_ns": self.wall_ns,
        })
    }
}

fn jobs_json(metrics: &JobMetrics) -> Value {
    let responses = &metrics.responses;
    let ns = |time: Option<Duration>| time.map(Duration::ns);
    json!({
        "name": metrics.name,
        "jobs": responses.count(),
        "misses": metrics.misses,
        "lost": metrics.lost,
        "unfinished": metrics.unfinished,
        "deadline_ns": ns(metrics.deadline),
        "response_ns_min": ns(responses.min()),
        "response_ns_mean": ns(responses.mean()),
        "response_ns_p50": ns(responses.quantile(P50)),
        "response_ns_p99": ns(responses.quantile(P99)),
        "response_ns_p999": ns(responses.quantile(P999)),
        "response_ns_max": ns(responses.max()),
    })
}

fn server_json(server: &CpuServer, metrics: &ServerMetrics) -> Value {
    json!({
        "name": metrics.name,
        "kind": server.params.kind.name(),
        "budget_ns": server.params.budget.ns(),
        "period_ns": server.params.period.ns(),
        "executed_ns": metrics.executed.ns(),
        "background_ns": metrics.background.ns(),
        "charged_ns": metrics.charged.ns(),
        "preemptions": metrics.preemptions,
        "exhaustions": metrics.exhaustions,
        "executed_in_period_ns_max": metrics.window.highest().ns(),
    })
}

/// Prints all runs side by side.
pub(super) fn print(results: &[CpuResult]) {
    let rows = results.iter().flat_map(|result| {
        let jobs = result.run.tasks.iter().chain(&result.run.work);
        jobs.map(|metrics| job_row(result.label(), metrics)).collect::<Vec<_>>()
    });
    outln!("Response times, arrival to completion:");
    outln!();
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
    out!("{}", show::table(&header, rows.collect(), 2));
    outln!();
    let rows = results.iter().flat_map(|result| {
        let servers = result.workload.servers.iter().zip(&result.run.servers);
        servers.map(|(server, metrics)| server_row(server, metrics, result)).collect::<Vec<_>>()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        outln!("Servers, and the most that one executed in any window as long as its period:");
        outln!();
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
        out!("{}", show::table(&header, rows, 2));
        outln!();
    }
    for result in results {
        show::labelled("Totals", &format!("{}: {}", result.label(), result.totals()));
    }
    if results.iter().any(CpuResult::is_blocking_missing) {
        show::labelled(
            "Note",
            "nothing blocked: a section keeps waiting all that is more urgent than its owner, up to \
             its ceiling, and some of that has no `blocking`",
        );
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
        show::bound(responses.mean()),
        show::bound(responses.quantile(P99)),
        show::bound(responses.quantile(P999)),
        show::bound(responses.max()),
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
