// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The page of `tidegate report`: results as one HTML file without any network access, for a screen
//! and for paper.
//!
//! ```text
//!   the answer             each result's own first line
//!   what was asked         command, drive, seed
//!   figures                a table, and a curve for each task against its bound
//!   longest busy interval  when requests waited and were served
//!   what it rests on       premises, files with their hashes, versions, a place to sign
//! ```

mod chart;
mod facts;
mod markup;

use tidegate_model::Duration;

use crate::figures;
use crate::origin::FileOrigin;
use crate::result::{ResultFile, RunRecord, UnreadableResult};
use facts::{Facts, PolicyFacts};
use markup::Markup;

const STYLE: &str = include_str!("html/page.css");

/// A result, and the file that it was read from.
#[derive(Debug)]
pub struct NamedResult {
    file: FileOrigin,
    result: ResultFile,
    facts: Facts,
}

impl NamedResult {
    /// Names the file of a result.
    ///
    /// # Errors
    /// [`UnreadableResult::Damaged`] if the report lacks a key that every report of its command has.
    pub fn of(file: FileOrigin, result: ResultFile) -> Result<Self, UnreadableResult> {
        let facts = Facts::of(&result.report).map_err(UnreadableResult::Damaged)?;
        Ok(Self { file, result, facts })
    }
}

/// Returns the page of these results.
pub fn page(results: &[NamedResult]) -> String {
    let mut page = Markup::default();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<title>Tidegate report</title>\n<style>\n");
    page.raw(STYLE);
    page.raw("</style>\n</head>\n<body>\n<main>\n");
    page.element("h1", "Tidegate report");
    for result in results {
        section(&mut page, result);
    }
    page.raw("</main>\n</body>\n</html>\n");
    page.into_text()
}

fn section(page: &mut Markup, named: &NamedResult) {
    let NamedResult { file, result, facts } = named;
    page.raw("<section>\n");
    page.element("h2", &file.name);
    page.class("p", "answer", &facts.answer);
    asked(page, result, facts);
    if !facts.tasks.is_empty() {
        proof(page, facts);
    }
    for (index, policy) in facts.policies.iter().filter(|policy| policy.is_run()).enumerate() {
        observed(page, policy, result.runs.get(index));
    }
    changes(page, facts);
    evidence(page, file, facts);
    page.raw("</section>\n");
}

/// Writes the conditions of the result.
fn asked(page: &mut Markup, result: &ResultFile, facts: &Facts) {
    page.element("h3", "What was asked");
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
    page.facts(&rows);
}

/// Writes the bounds of `check`.
fn proof(page: &mut Markup, facts: &Facts) {
    page.element("h3", "Bounds");
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
    page.table(&header, rows);
}

/// Writes one policy's run.
fn observed(page: &mut Markup, policy: &PolicyFacts, run: Option<&RunRecord>) {
    page.element("h3", &format!("Observed under {}", policy.policy));
    if let Some(answer) = &policy.answer {
        page.element("p", answer);
    }
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
    page.table(&header, rows);
    let volume = |label, volume: Option<&facts::VolumeFacts>| {
        let rate = volume?.throughput_bytes_per_s?;
        Some((label, figures::throughput(rate)))
    };
    let rates = [
        volume("Real time", policy.real_time.as_ref()),
        volume("Best effort", policy.best_effort.as_ref()),
    ];
    page.facts(&rates.into_iter().flatten().collect::<Vec<_>>());
    let Some(run) = run else { return };
    page.raw("<div class=\"charts\">\n");
    for (task, source) in policy.tasks.iter().zip(&run.sources) {
        page.raw(&chart::distribution(task, source));
    }
    page.raw("</div>\n");
    if let Some(interval) = &run.longest_busy_interval {
        page.element("h4", "Longest busy interval");
        page.raw(&chart::timeline(interval, &run.sources));
        let length = ms(Some(interval.end_ns - interval.begin_ns));
        let text = format!(
            "{length} with real-time work. Thin: released and waiting. Thick: on the drive. Each \
             vertical line is the dispatch of a batch. Later events that are not drawn: {}.",
            interval.events_left_out
        );
        page.class("p", "note", &text);
    }
}

/// Writes what limits the result, and what to change.
fn changes(page: &mut Markup, facts: &Facts) {
    if facts.limited_by.is_none() && facts.would_fit.is_empty() && facts.to_do.is_none() {
        return;
    }
    page.element("h3", "What limits it, and what to change");
    let sentences = facts.limited_by.iter().chain(&facts.would_fit).chain(&facts.to_do);
    page.list(sentences.map(String::as_str));
}

/// Writes what the result rests on, and the place to sign.
fn evidence(page: &mut Markup, file: &FileOrigin, facts: &Facts) {
    page.element("h3", "What it rests on");
    page.list(facts.premises().iter().map(String::as_str));
    let origin = &facts.origin;
    let mut rows = vec![
        ("Tidegate", format!("{} ({})", origin.version, origin.commit)),
        ("Workload file", origin.workload.line()),
    ];
    rows.extend(origin.drive.iter().map(|drive| ("Drive file", drive.line())));
    rows.push(("Result file", format!("{}, SHA-256 {}", file.name, file.sha256)));
    page.facts(&rows);
    page.raw("<dl class=\"sign\"><dt>Name</dt><dd></dd><dt>Date</dt><dd></dd></dl>\n");
}

/// Formats a time as screens do: in milliseconds, rounded up, or a dash.
fn ms(ns: Option<u64>) -> String {
    figures::bound(ns.map(Duration::from_ns))
}

#[cfg(test)]
mod tests;
