// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a watch or a service saw: response times against bounds, overruns, and broken assumptions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tidegate_model::Duration;

use super::sheet::Sheet;
use super::{chart, ms};
use crate::figures;
use crate::result::{ResultCommand, ResultFile, RunRecord, SourceRecord};

/// The most programs whose response times are drawn.
const PROGRAMS_MAX: usize = 24;

/// The facts of a report of `watch` or of a service's statistics.
#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    /// The length of a watch.
    duration_ns: Option<u64>,
    /// The age of a service.
    uptime_ns: Option<u64>,
    version: Option<String>,
    grade: Option<String>,
    degradations: Option<u64>,
    lost_events: Option<u64>,
    verdict: Option<String>,
    on_device: Option<OnDevice>,
    #[serde(default)]
    contracts: Option<BTreeMap<String, Overruns>>,
    #[serde(default)]
    broken: Vec<String>,
    /// The exports of a service.
    #[serde(default)]
    exports: Vec<Responses>,
    /// The entries of a watch's workload.
    #[serde(default)]
    entries: Vec<Responses>,
    /// The programs of a watch.
    #[serde(default)]
    sources: Vec<Responses>,
    /// The drive of a service.
    drive: Option<Overruns>,
}

/// The most requests at once on a watched disk.
#[derive(Debug, Deserialize)]
struct OnDevice {
    in_flight_max: u64,
    in_flight_allowed: Option<u64>,
}

/// How often the drive took longer than its table says.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
struct Overruns {
    #[serde(alias = "batches")]
    observed: u64,
    overruns: u64,
    overruns_tolerated: u64,
    overrun_ns_max: u64,
}

/// One export, entry or program.
#[derive(Debug, Deserialize)]
struct Responses {
    name: String,
    unit: Option<String>,
    requests: Option<u64>,
    misses: Option<u64>,
    exceeded: Option<u64>,
    failed: Option<u64>,
    response_ns_p50: Option<u64>,
    response_ns_p99: Option<u64>,
    response_ns_p999: Option<u64>,
    response_ns_max: Option<u64>,
    bound_ns: Option<u64>,
}

impl Seen {
    /// Reads the facts; `None` for a command that saw no programs.
    pub(super) fn of(
        command: ResultCommand,
        report: &Value,
    ) -> Result<Option<Self>, serde_json::Error> {
        match command {
            ResultCommand::Watch | ResultCommand::Statistics => Self::deserialize(report).map(Some),
            ResultCommand::Check
            | ResultCommand::Sim
            | ResultCommand::Run
            | ResultCommand::Profile => Ok(None),
        }
    }

    /// Writes the sections.
    pub(super) fn write(&self, sheet: &mut impl Sheet, result: &ResultFile) {
        sheet.heading(3, "What was seen");
        sheet.facts(&self.facts());
        sheet.list(&self.broken);
        let sources = result.runs.first().map_or(&[][..], |run: &RunRecord| &run.sources);
        let declared = self.exports.len() + self.entries.len();
        let (of_declared, of_programs) = sources.split_at(declared.min(sources.len()));
        for (title, rows, sources) in [
            ("Exports", &self.exports, of_declared),
            ("Entries of the workload", &self.entries, of_declared),
            ("Programs", &self.sources, of_programs),
        ] {
            if !rows.is_empty() {
                sheet.heading(3, title);
                responses(sheet, rows, sources);
            }
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let time = |ns: Option<u64>| ns.map(|ns| Duration::from_ns(ns).to_string());
        let some = |count: Option<u64>| count.filter(|&it| it > 0).map(|it| it.to_string());
        let at_once = self.on_device.as_ref().map(|it| match it.in_flight_allowed {
            Some(allowed) => format!("{} requests; the proof allows {allowed}", it.in_flight_max),
            None => format!("{} requests", it.in_flight_max),
        });
        let mut rows = vec![
            ("Watched for", time(self.duration_ns)),
            ("Running for", time(self.uptime_ns)),
            ("Version", self.version.clone()),
            ("Verdict", self.verdict.as_ref().map(|verdict| verdict.replace('_', " "))),
            ("Grade", self.grade.clone()),
            ("Degraded", some(self.degradations).map(|times| format!("{times} times"))),
            ("Most at once", at_once),
            ("Events lost", some(self.lost_events)),
            ("Drive", self.drive.as_ref().map(Overruns::sentence)),
        ];
        for (contract, overruns) in self.contracts.iter().flatten() {
            rows.push(("Drive", Some(format!("{contract}: {}", overruns.sentence()))));
        }
        rows.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
    }
}

impl Overruns {
    fn sentence(&self) -> String {
        let observed = figures::thousands(self.observed);
        match self.overruns {
            0 => format!("none of {observed} times longer than its table says"),
            overruns => format!(
                "{overruns} of {observed} times longer than its table says, by up to {}; the verdict \
                 tolerates {}",
                ms(Some(self.overrun_ns_max)),
                self.overruns_tolerated
            ),
        }
    }
}

/// Writes response times as a table and as charts.
fn responses(sheet: &mut impl Sheet, rows: &[Responses], sources: &[SourceRecord]) {
    let header = [
        "name",
        "requests",
        "late",
        "above bound",
        "failed",
        "median",
        "99 %",
        "99.9 %",
        "longest",
        "bound",
    ];
    let jobs = |source: &SourceRecord| source.response_ns_steps.iter().map(|step| step.1).sum();
    let cells = rows.iter().enumerate().map(|(index, row)| {
        let count = |value: Option<u64>| value.map(|it| it.to_string()).unwrap_or_default();
        let requests = row.requests.or_else(|| sources.get(index).map(jobs));
        let mut cells = vec![row.title()];
        cells.extend([requests, row.misses, row.exceeded, row.failed].map(count));
        let times =
            [row.response_ns_p50, row.response_ns_p99, row.response_ns_p999, row.response_ns_max];
        cells.extend(times.map(ms));
        cells.push(ms(row.bound_ns));
        cells
    });
    sheet.table(&header, cells.collect());
    let has_any = |(_, source): &(&Responses, &SourceRecord)| !source.response_ns_steps.is_empty();
    let drawn: Vec<_> = rows.iter().zip(sources).filter(has_any).collect();
    let charts = drawn.iter().take(PROGRAMS_MAX).map(|(row, source)| {
        chart::distribution(&row.title(), (row.response_ns_max, row.bound_ns), source)
    });
    sheet.charts(&charts.collect::<Vec<_>>());
    if drawn.len() > PROGRAMS_MAX {
        sheet.note(&format!("{} more are not drawn.", drawn.len() - PROGRAMS_MAX));
    }
}

impl Responses {
    fn title(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} ({unit})", self.name),
            None => self.name.clone(),
        }
    }
}
