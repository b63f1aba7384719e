// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observations of a watch or a service: response times against bounds, overruns, broken
//! assumptions, and all doubts about these.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tidegate_model::Duration;

use super::sheet::Sheet;
use super::{chart, ms};
use crate::figures;
use crate::page::Note;
use crate::result::{ResultCommand, ResultFile, RunRecord, SourceRecord};

/// The largest number of programs whose response times are drawn.
const PROGRAMS_MAX: usize = 24;

/// The facts of a report of `watch` or of a service's statistics.
#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    /// The length of a watch in nanoseconds.
    duration_ns: Option<u64>,
    /// The time since a service started, in nanoseconds.
    uptime_ns: Option<u64>,
    version: Option<String>,
    grade: Option<String>,
    verdict: Option<String>,
    /// The notes that the screen shows below its tables.
    notes: Vec<Note>,
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
}

/// How often the drive took longer than its table states.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
struct Overruns {
    observed: u64,
    overruns: u64,
    overruns_tolerated: u64,
    overrun_ns_max: u64,
}

/// The response times of one export, entry or program.
#[derive(Debug, Deserialize)]
struct Responses {
    name: String,
    unit: Option<String>,
    class: Option<String>,
    /// The process's id, if the program has only one process.
    pid: Option<u32>,
    requests: Option<u64>,
    misses: Option<u64>,
    exceeded: Option<u64>,
    unexplained: Option<u64>,
    beyond: Option<u64>,
    failed: Option<u64>,
    response_ns_p50: Option<u64>,
    response_ns_p99: Option<u64>,
    response_ns_p999: Option<u64>,
    response_ns_max: Option<u64>,
    /// The longest time that an incomplete request has waited.
    waiting_ns_max: Option<u64>,
    bound_ns: Option<u64>,
}

impl Seen {
    /// Reads the facts; `None` for a command that observes no programs.
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

    /// Writes the sections with these observations.
    pub(super) fn write(&self, sheet: &mut impl Sheet, result: &ResultFile) {
        sheet.heading(3, "What was seen");
        let notes = self.notes.iter().map(|note| (note.label.as_str(), note.text.clone()));
        sheet.facts(&self.facts().into_iter().chain(notes).collect::<Vec<_>>());
        if !self.broken.is_empty() {
            sheet.paragraph("These assumptions of the proof did not hold:");
            sheet.list(&self.broken);
        }
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
        let mut rows = vec![
            ("Watched for", time(self.duration_ns)),
            ("Running for", time(self.uptime_ns)),
            ("Version", self.version.clone()),
            ("Verdict", self.verdict.as_ref().map(|verdict| verdict.replace('_', " "))),
            ("Grade", self.grade.clone()),
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

/// A column: its title, and the function that returns its cell in a row.
type Column = (&'static str, fn(&Responses) -> Option<String>);

/// The columns after the name and the requests; a column without any cell is left out.
const COLUMNS: [Column; 13] = [
    ("class", |row| row.class.clone()),
    ("process", |row| row.pid.map(|pid| pid.to_string())),
    ("late", |row| count(row.misses)),
    ("above bound", |row| count(row.exceeded)),
    ("unexplained", |row| count(row.unexplained)),
    ("beyond contract", |row| count(row.beyond)),
    ("failed", |row| count(row.failed)),
    ("median", |row| row.response_ns_p50.map(|_| ms(row.response_ns_p50))),
    ("99 %", |row| row.response_ns_p99.map(|_| ms(row.response_ns_p99))),
    ("99.9 %", |row| row.response_ns_p999.map(|_| ms(row.response_ns_p999))),
    ("longest", |row| row.longest().map(|longest| ms(Some(longest)))),
    ("still waiting", |row| row.waiting_ns_max.map(|_| ms(row.waiting_ns_max))),
    ("bound", |row| row.bound_ns.map(|_| ms(row.bound_ns))),
];

fn count(count: Option<u64>) -> Option<String> {
    count.map(figures::thousands)
}

/// Writes response times as a table and as charts.
fn responses(sheet: &mut impl Sheet, rows: &[Responses], sources: &[SourceRecord]) {
    let jobs = |source: &SourceRecord| source.response_ns_steps.iter().map(|step| step.1).sum();
    let columns: Vec<_> = COLUMNS
        .into_iter()
        .filter(|(_, cell)| rows.iter().any(|row| cell(row).is_some()))
        .collect();
    let header: Vec<_> =
        ["name", "requests"].into_iter().chain(columns.iter().map(|column| column.0)).collect();
    let cells = rows.iter().enumerate().map(|(index, row)| {
        let requests = row.requests.or_else(|| sources.get(index).map(jobs));
        let first = [row.title(), count(requests).unwrap_or_default()];
        let others = columns.iter().map(|(_, cell)| cell(row).unwrap_or_else(|| "-".to_owned()));
        first.into_iter().chain(others).collect()
    });
    sheet.table(&header, cells.collect());
    let has_any = |(_, source): &(&Responses, &SourceRecord)| !source.response_ns_steps.is_empty();
    let drawn: Vec<_> = rows.iter().zip(sources).filter(has_any).collect();
    let charts = drawn.iter().take(PROGRAMS_MAX).map(|(row, source)| {
        chart::distribution(&row.title(), (row.longest(), row.bound_ns), source)
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

    /// Returns the longest response time, or the longest time that a request has waited if that is
    /// longer.
    fn longest(&self) -> Option<u64> {
        self.response_ns_max.max(self.waiting_ns_max)
    }
}
