// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate cpu conformance`.

use tidegate_cpu_conformance::{
    Family, FamilyReport, Invariant, RandomReport, Report, StreamResult, Verdict,
};

use crate::page::Page;

/// The word for a stream with different replenishments.
const DIFFERS: &str = "differs";

/// Returns each invariant in a few words.
const fn about(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::Budget => "I1 replenishments sum to the budget",
        Invariant::Window => "I2 windows hold no more than a periodic task",
        Invariant::Response => "I3 tasks below meet their bounds",
        Invariant::Queue => "I4 replenishments in order, within their limit",
        Invariant::Merging => "I5 merging conserves the budget",
    }
}

/// Writes reports: one in full, several as a table.
pub(super) fn write(reports: &[(String, Report)], seed: u64, page: &mut Page) {
    let mut header = vec!["streams and invariants"];
    header.extend(reports.iter().map(|(name, _)| name.as_str()));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for family in Family::ALL {
        let cell =
            |report: &Report| of_family(report, family).map_or_else(String::new, family_word);
        rows.push(row(family.name(), reports, cell));
    }
    for invariant in Invariant::ALL {
        let cell = |report: &Report| invariant_word(invariant, report);
        rows.push(row(about(invariant), reports, cell));
    }
    page.table(&header, rows, 1);
    writeln!(page);
    let (runs, events) = (reports[0].1.runs, reports.iter().map(|it| it.1.events).sum::<u64>());
    if runs > 0 {
        let seeds = format!("{runs} random processors, seeds from {seed} on, {events} events");
        page.labelled("Random", seeds);
    }
    let differs = |(_, report): &(String, Report)| {
        report.families.iter().any(|family| family_word(family) == DIFFERS)
    };
    if reports.iter().any(differs) {
        let says = "the invariants hold, but replies differ from the corrected server's";
        page.labelled(DIFFERS, says);
    }
    if let [(_, report)] = reports {
        write_differences(report, page);
        write_failures(report, page);
    }
}

/// Writes the first stream of each family that differs, and the first call in which it differs.
fn write_differences(report: &Report, page: &mut Page) {
    let line = |line: &Option<Box<_>>| {
        line.as_ref().map_or("no call".to_owned(), |line| {
            serde_json::to_string(line).expect("a line is plain data")
        })
    };
    for family in report.families.iter().filter(|family| family_word(family) == DIFFERS) {
        let first = family.streams.iter().find_map(|stream| match &stream.verdict {
            Verdict::Differs { call, expected, found } => Some((stream, call, expected, found)),
            _ => None,
        });
        let Some((stream, call, expected, found)) = first else { continue };
        writeln!(page);
        writeln!(page, "{} differs from call {} on", stream.name, call + 1);
        writeln!(page, "  expected {}", line(expected));
        writeln!(page, "  got      {}", line(found));
    }
}

fn row(title: &str, reports: &[(String, Report)], cell: impl Fn(&Report) -> String) -> Vec<String> {
    let mut row = vec![title.to_owned()];
    row.extend(reports.iter().map(|(_, report)| cell(report)));
    row
}

fn of_family(report: &Report, family: Family) -> Option<&FamilyReport> {
    report.families.iter().find(|it| it.family == family)
}

fn family_word(report: &FamilyReport) -> String {
    let is_expected = |it: &StreamResult| it.verdict == Verdict::AsExpected;
    if report.failed().is_some() {
        "FAILS".to_owned()
    } else if report.streams.iter().all(is_expected) {
        "passes".to_owned()
    } else {
        DIFFERS.to_owned()
    }
}

fn invariant_word(invariant: Invariant, report: &Report) -> String {
    let RandomReport { checks, failed_runs, .. } = report.invariants[invariant as usize];
    // Invariants about other threads need only runs with other threads; the rest need the
    // implementation's own reports.
    let is_told = !matches!(invariant, Invariant::Window | Invariant::Response);
    match (checks, failed_runs) {
        (0, _) if is_told && report.runs > 0 => "not reported".to_owned(),
        (0, _) => "not tested".to_owned(),
        (_, 0) => "holds".to_owned(),
        (_, runs) => format!("FAILS in {runs}"),
    }
}

/// Writes the first stream of each family that fails, with its violations, and the first seeds.
fn write_failures(report: &Report, page: &mut Page) {
    for family in &report.families {
        let Some(StreamResult { name, story, verdict, diagram }) = family.failed() else {
            continue;
        };
        writeln!(page);
        writeln!(page, "{name}: {story}");
        if let Verdict::Failed(violation) = verdict {
            writeln!(page, "  {violation}");
        }
        writeln!(page);
        write!(page, "{diagram}");
    }
    for (seed, violation) in report.invariants.iter().filter_map(|it| it.first.as_ref()) {
        writeln!(page);
        writeln!(page, "seed {seed}: {violation}");
    }
}
