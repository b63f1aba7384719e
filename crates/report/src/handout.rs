// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The handout of `tidegate report`: results as one HTML page without any network access, for a
//! screen and for paper, or as Markdown.
//!
//! ```text
//!   the answer             each result's own first line
//!   what was asked         command, drive, seed
//!   figures                tables, and a curve for each task against its bound
//!   curves                 what the proof counts as requested and served
//!   over time              throughput, misses and tokens
//!   longest busy interval  when requests waited and were served
//!   the drive              when it was measured, its tables
//!   what it rests on       premises, files with their hashes, versions, a place to sign
//! ```

mod chart;
mod curves;
mod drive;
mod facts;
mod frame;
mod html;
mod markdown;
mod seen;
mod sheet;
mod timeline;

use tidegate_model::Duration;

use crate::figures;
use crate::origin::FileOrigin;
use crate::result::{ResultFile, RunRecord, SourceRecord, UnreadableResult};
use facts::{Facts, PolicyFacts};
use html::Markup;
use markdown::Markdown;
use seen::Seen;
use sheet::Sheet;

/// A result, with the file from which it was read.
#[derive(Debug)]
pub struct NamedResult {
    file: FileOrigin,
    result: ResultFile,
    facts: Facts,
    /// The observations of a watch or a service; `None` for other results.
    seen: Option<Seen>,
}

impl NamedResult {
    /// Pairs a result with the file from which it was read.
    ///
    /// # Errors
    /// [`UnreadableResult::Damaged`] if the report lacks a key that every report of its command
    /// has.
    pub fn of(file: FileOrigin, result: ResultFile) -> Result<Self, UnreadableResult> {
        let facts = Facts::of(&result.report).map_err(UnreadableResult::Damaged)?;
        let seen = Seen::of(result.command, &result.report).map_err(UnreadableResult::Damaged)?;
        Ok(Self { file, result, facts, seen })
    }
}

/// Returns the HTML page of these results.
pub fn page(results: &[NamedResult]) -> String {
    let mut page = Markup::page();
    write(&mut page, results);
    page.into_page()
}

/// Returns these results as Markdown, without charts.
pub fn markdown(results: &[NamedResult]) -> String {
    let mut text = Markdown::default();
    write(&mut text, results);
    text.into_text()
}

fn write(sheet: &mut impl Sheet, results: &[NamedResult]) {
    sheet.heading(1, "Tidegate report");
    for result in results {
        section(sheet, result);
    }
}

fn section(sheet: &mut impl Sheet, named: &NamedResult) {
    let NamedResult { file, result, facts, seen } = named;
    sheet.heading(2, &file.name);
    sheet.answer(&facts.answer);
    asked(sheet, result, facts);
    if !facts.tasks.is_empty() {
        proof(sheet, facts);
    }
    curves::section(sheet, &result.curves);
    for (index, policy) in facts.policies.iter().filter(|policy| policy.is_run()).enumerate() {
        observed(sheet, policy, result.runs.get(index));
    }
    if let Some(seen) = seen {
        seen.write(sheet, result);
    }
    changes(sheet, facts);
    if let Some(drive) = &result.drive {
        drive::section(sheet, drive, result.made.as_deref());
    }
    evidence(sheet, named);
}

/// Writes the conditions of the result.
fn asked(sheet: &mut impl Sheet, result: &ResultFile, facts: &Facts) {
    sheet.heading(3, "What was asked");
    let mut rows = vec![("Command", format!("tidegate {}", result.command.name()))];
    let named = [
        ("Drive", &facts.drive),
        ("Device", &facts.device),
        ("Model", &facts.model),
        ("Policy", &facts.policy),
    ];
    rows.extend(named.into_iter().filter_map(|(label, value)| Some((label, value.clone()?))));
    rows.extend(facts.batch.map(|batch| ("Largest batch", batch.to_string())));
    rows.extend(facts.seed.map(|seed| ("Seed", seed.to_string())));
    sheet.facts(&rows);
}

/// Writes the bounds of `check`.
fn proof(sheet: &mut impl Sheet, facts: &Facts) {
    sheet.heading(3, "Bounds");
    let header = ["task", "period", "deadline", "bound", "bound used", "met"];
    let rows = facts.tasks.iter().map(|task| {
        vec![
            task.name.clone(),
            ms(task.period_ns),
            ms(task.deadline_ns),
            ms(task.response_ns_max),
            task.bound_used.clone().unwrap_or_default(),
            match task.meets_deadline {
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
                None => String::new(),
            },
        ]
    });
    sheet.table(&header, rows.collect());
}

/// Writes one policy's run.
fn observed(sheet: &mut impl Sheet, policy: &PolicyFacts, run: Option<&RunRecord>) {
    sheet.heading(3, &format!("Observed under {}", policy.policy));
    if let Some(answer) = &policy.answer {
        sheet.paragraph(answer);
    }
    responses(sheet, policy);
    let volume = |label, volume: Option<&facts::VolumeFacts>| {
        let rate = volume?.throughput_bytes_per_s?;
        Some((label, figures::throughput(rate)))
    };
    let rates = [
        volume("Real time", policy.real_time.as_ref()),
        volume("Best effort", policy.best_effort.as_ref()),
    ];
    sheet.facts(&rates.into_iter().flatten().collect::<Vec<_>>());
    let Some(run) = run else { return };
    let tasks = policy.tasks.iter().zip(&run.sources);
    sheet.charts(&tasks.map(|(task, source)| of_task(task, source)).collect::<Vec<_>>());
    curves::section(sheet, &run.curves);
    if let Some(over_time) = &run.over_time {
        sheet.charts(&over_time.charts().iter().map(chart::plot).collect::<Vec<_>>());
        let left_out = over_time.entries_left_out();
        if left_out > 0 {
            sheet.note(&format!("The throughput of {left_out} further entries is not drawn."));
        }
    }
    if let Some(interval) = &run.longest_busy_interval {
        sheet.wide_chart(&timeline::timeline(interval, &run.sources));
        if interval.events_left_out > 0 {
            sheet.note(&format!("{} later events are not drawn.", interval.events_left_out));
        }
    }
}

/// Draws the response times of a task.
fn of_task(task: &facts::TaskFacts, source: &SourceRecord) -> String {
    chart::distribution(&task.name, (task.response_ns_max, task.bound_ns), source)
}

/// Writes the response times of a run as a table.
fn responses(sheet: &mut impl Sheet, policy: &PolicyFacts) {
    let header = ["task", "jobs", "misses", "median", "99 %", "99.9 %", "longest", "bound"];
    let rows = policy.tasks.iter().map(|task| {
        let count = |value: Option<u64>| value.map(|it| it.to_string()).unwrap_or_default();
        let times = [
            task.response_ns_p50,
            task.response_ns_p99,
            task.response_ns_p999,
            task.response_ns_max,
        ];
        let mut row = vec![task.name.clone(), count(task.jobs), count(task.misses)];
        row.extend(times.map(ms));
        row.push(ms(task.bound_ns));
        row
    });
    sheet.table(&header, rows.collect());
}

/// Writes the limit of the result, and the changes that would improve it.
fn changes(sheet: &mut impl Sheet, facts: &Facts) {
    let sentences = facts.limited_by.iter().chain(&facts.would_fit).chain(&facts.to_do);
    let sentences: Vec<String> = sentences.cloned().collect();
    if !sentences.is_empty() {
        sheet.heading(3, "What limits it, and what to change");
        sheet.list(&sentences);
    }
}

/// Writes the premises of the result, and the place to sign.
fn evidence(sheet: &mut impl Sheet, named: &NamedResult) {
    let NamedResult { file, result, facts, .. } = named;
    sheet.heading(3, "What it rests on");
    sheet.list(&facts.premises());
    sheet.list(&facts.warnings.iter().map(|warning| warning.text.clone()).collect::<Vec<_>>());
    let mut rows = Vec::new();
    if let Some(origin) = &facts.origin {
        rows.push(("Tidegate", format!("{} ({})", origin.version, origin.commit)));
        rows.push(("Workload file", origin.workload.line()));
        rows.extend(origin.drive.iter().map(|drive| ("Drive file", drive.line())));
    }
    let made = result.made.as_ref().map(|made| format!(", made {made}")).unwrap_or_default();
    rows.push(("Result file", format!("{}{made}, SHA-256 {}", file.name, file.sha256)));
    sheet.facts(&rows);
    sheet.signature();
}

/// Formats a time as screens do: in milliseconds, rounded up, or as a dash if there is none.
fn ms(ns: Option<u64>) -> String {
    figures::bound(ns.map(Duration::from_ns))
}

#[cfg(test)]
mod tests;
