// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate cpu conformance`.

use tidegate_cpu_conformance::{
    DefectKind, Failure, FamilyReport, Invariant, RandomFailure, RandomReport, Report,
    StreamResult, Supports, TraceLine, Verdict,
};

use crate::page::{Answer, Page, Table};

/// The characters before the cells of a diagram's rows.
const DIAGRAM_HEAD: usize = 14;

/// The word that marks a stream with different replenishments.
const DIFFERS: &str = "differs";

/// Describes an invariant in a few words.
const fn about(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::Budget => "I1 replenishments sum to the budget",
        Invariant::Window => "I2 windows hold no more than a periodic task",
        Invariant::Response => "I3 tasks below meet their bounds",
        Invariant::Queue => "I4 replenishments in order, within their limit",
        Invariant::Merging => "I5 merging conserves the budget",
        Invariant::Liveness => "I6 a server with work gets its budget",
    }
}

/// Writes reports: one in full, several as a table.
pub(super) fn write(reports: &[(String, Report)], seed: u64, page: &mut Page) {
    writeln!(page);
    let mut header = vec!["streams and invariants"];
    header.extend(reports.iter().map(|(name, _)| name.as_str()));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for family in DefectKind::ALL {
        let cell =
            |report: &Report| of_family(report, family).map_or_else(String::new, family_word);
        rows.push(row(family.name(), reports, cell));
    }
    for invariant in Invariant::ALL {
        let cell = |report: &Report| invariant_word(invariant, report);
        rows.push(row(about(invariant), reports, cell));
    }
    page.put(Table::new(&header, rows, 1));
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

/// States whether the implementations conform, and to which part.
pub(super) fn answer(reports: &[(String, Report)]) -> Answer {
    let [(name, report)] = reports else {
        let names = |conforms: bool| {
            let names = reports.iter().filter(|(_, report)| report.conforms() == conforms);
            names.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        };
        return match (names(true), names(false)) {
            (all, none) if none.is_empty() => Answer::good(format!("CONFORM: {all}.")),
            (none, all) if none.is_empty() => Answer::bad(format!("FAIL: {all}.")),
            (some, others) => Answer::doubtful(format!("CONFORM: {some}; FAIL: {others}.")),
        };
    };
    let supports = &report.supports;
    let subset = if supports.is_all() {
        String::new()
    } else {
        format!(" to the declared subset: {}", subset(supports))
    };
    if report.conforms() {
        return Answer::good(format!("CONFORMS: {name} conforms{subset}."));
    }
    let families = report.families.iter().filter(|family| family.failed().is_some());
    let families = families.map(|family| family.family.name().to_owned());
    let invariants =
        Invariant::ALL.into_iter().filter(|it| report.invariants[*it as usize].failed_runs > 0);
    let failed: Vec<String> = families.chain(invariants.map(|it| about(it).to_owned())).collect();
    Answer::bad(format!("FAILS: {name} does not conform{subset}; it fails {}.", failed.join(", ")))
}

fn subset(supports: &Supports) -> String {
    let charge = if supports.preemption_charge { "with" } else { "no" };
    let (min, max) = (supports.replenishments_min, supports.replenishments_max);
    let most = match max {
        Supports::REPLENISHMENTS_ALL => "or more".to_owned(),
        max => format!("to {max}"),
    };
    let granularity = supports.granularity;
    format!("{charge} preemption charge, {min} {most} replenishments, times in {granularity}")
}

/// Writes the first differing stream of each family, and the first call in which it differs.
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
        page.paragraph(format!("{} differs from call {} on", stream.name, call + 1));
        page.lines(&format!("  expected {}\n  got      {}", line(expected), line(found)));
    }
}

fn row(title: &str, reports: &[(String, Report)], cell: impl Fn(&Report) -> String) -> Vec<String> {
    let mut row = vec![title.to_owned()];
    row.extend(reports.iter().map(|(_, report)| cell(report)));
    row
}

fn of_family(report: &Report, family: DefectKind) -> Option<&FamilyReport> {
    report.families.iter().find(|it| it.family == family)
}

fn family_word(report: &FamilyReport) -> String {
    let is_expected =
        |it: &StreamResult| matches!(it.verdict, Verdict::AsExpected | Verdict::NotSupported);
    if report.failed().is_some() {
        "FAILS".to_owned()
    } else if report.streams.iter().all(|it| it.verdict == Verdict::NotSupported) {
        "not tested".to_owned()
    } else if report.streams.iter().all(is_expected) {
        "passes".to_owned()
    } else {
        DIFFERS.to_owned()
    }
}

fn invariant_word(invariant: Invariant, report: &Report) -> String {
    let RandomReport { checks, failed_runs, .. } = report.invariants[invariant as usize];
    // Invariants about other threads need only runs with other threads; all other invariants need
    // the implementation's own reports.
    let is_told =
        !matches!(invariant, Invariant::Window | Invariant::Response | Invariant::Liveness);
    match (checks, failed_runs) {
        (0, _) if is_told && report.runs > 0 => "not reported".to_owned(),
        (0, _) => "not tested".to_owned(),
        (_, 0) => "holds".to_owned(),
        (_, runs) => format!("FAILS in {runs}"),
    }
}

/// Writes the first failing stream of each family with its violations, and the first failing seeds.
fn write_failures(report: &Report, page: &mut Page) {
    for family in &report.families {
        let Some(StreamResult { name, story, verdict, diagram }) = family.failed() else {
            continue;
        };
        writeln!(page);
        page.paragraph(format!("{name}: {story}"));
        if let Verdict::Failed(failure) = verdict {
            page.legend(&failure.violation);
            writeln!(page);
            let (rows, legend) = diagram.trim_end().rsplit_once('\n').unwrap_or((diagram, ""));
            page.strips(rows, DIAGRAM_HEAD);
            page.legend(legend.trim_start());
            write_calls(failure, page);
        }
    }
    for RandomFailure { seed, failure } in
        report.invariants.iter().filter_map(|it| it.first.as_ref())
    {
        writeln!(page);
        page.paragraph(format!("seed {seed}: {}", failure.violation));
        write_calls(failure, page);
    }
}

/// Writes the last calls before a violation: events, and the implementation's answers.
fn write_calls(failure: &Failure, page: &mut Page) {
    writeln!(page);
    page.legend("last calls until then (ns):");
    for call in &failure.calls {
        page.lines(&format!("  {}", call_line(call)));
    }
}

fn call_line(call: &TraceLine) -> String {
    let event = if call.preempts {
        "dispatch (preempts)".to_owned()
    } else {
        format!("{:?}", call.event).to_lowercase()
    };
    let alarm = call.alarm_ns.map_or(String::new(), |alarm| format!(", alarm {alarm}"));
    format!(
        "{:>10} {event:<20} executed {} -> budget {}{alarm}",
        call.now_ns, call.executed_ns, call.budget_ns
    )
}
