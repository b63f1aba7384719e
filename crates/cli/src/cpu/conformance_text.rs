// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the conformance suite found: tables for people, an object for programs.

use serde_json::{Value, json};
use tidegate_cpu_conformance::external::ExternalError;
use tidegate_cpu_conformance::{
    Family, FamilyReport, Invariant, RandomReport, Report, StreamResult, Verdict, Violation,
};

use super::arguments::ConformanceArguments;
use crate::show::{self, out, outln};

/// The word for a stream whose replenishments are others.
const DIFFERS: &str = "differs";

/// What each invariant says, in a few words.
const fn about(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::Budget => "I1 replenishments sum to the budget",
        Invariant::Window => "I2 windows hold no more than a periodic task",
        Invariant::Response => "I3 tasks below answer within their bounds",
        Invariant::Queue => "I4 replenishments in order, within their limit",
        Invariant::Merging => "I5 merging conserves the budget",
    }
}

/// Prints reports: one in full, several as a table.
pub(super) fn print(reports: &[(String, Report)], seed: u64) {
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
    out!("{}", show::table(&header, rows, 1));
    outln!();
    let (runs, events) = (reports[0].1.runs, reports.iter().map(|it| it.1.events).sum::<u64>());
    if runs > 0 {
        let seeds = format!("{runs} random processors, seeds from {seed} on, {events} events");
        show::labelled("Random", &seeds);
    }
    let differs = |(_, report): &(String, Report)| {
        report.families.iter().any(|family| family_word(family) == DIFFERS)
    };
    if reports.iter().any(differs) {
        let says = "the invariants hold, answers are not those of the corrected server";
        show::labelled(DIFFERS, says);
    }
    if let [(_, report)] = reports {
        print_differences(report);
        print_failures(report);
    }
}

/// An answer after which nothing more is asked.
pub(super) fn print_fault(name: &str, fault: &ExternalError, arguments: &ConformanceArguments) {
    if arguments.json {
        let of = json!({ "implementation": name, "conforms": false, "fault": fault.to_string() });
        outln!("{:#}", json!({ "seed": arguments.seed, "implementations": [of] }));
    } else {
        show::labelled("FAILS", &format!("{name}: {fault}"));
    }
}

/// The first stream of each family that differs, and the first call in it that does.
fn print_differences(report: &Report) {
    let line = |line: &Option<Box<_>>| {
        line.as_ref().map_or("no call".to_owned(), |line| json!(line).to_string())
    };
    for family in report.families.iter().filter(|family| family_word(family) == DIFFERS) {
        let first = family.streams.iter().find_map(|stream| match &stream.verdict {
            Verdict::Differs { call, expected, found } => Some((stream, call, expected, found)),
            _ => None,
        });
        let Some((stream, call, expected, found)) = first else { continue };
        outln!();
        outln!("{} differs from call {} on", stream.name, call + 1);
        outln!("  expected {}", line(expected));
        outln!("  got      {}", line(found));
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
    // What others suffer needs nothing but runs in which there are others.
    let is_told = !matches!(invariant, Invariant::Window | Invariant::Response);
    match (checks, failed_runs) {
        (0, _) if is_told && report.runs > 0 => "not told".to_owned(),
        (0, _) => "not looked at".to_owned(),
        (_, 0) => "holds".to_owned(),
        (_, runs) => format!("FAILS in {runs}"),
    }
}

/// The first stream of each family that fails, with what happened in it, and the first seeds.
fn print_failures(report: &Report) {
    for family in &report.families {
        let Some(StreamResult { name, story, verdict, diagram }) = family.failed() else {
            continue;
        };
        outln!();
        outln!("{name}: {story}");
        if let Verdict::Failed(violation) = verdict {
            outln!("  {violation}");
        }
        outln!();
        out!("{diagram}");
    }
    for (seed, violation) in report.invariants.iter().filter_map(|it| it.first.as_ref()) {
        outln!();
        outln!("seed {seed}: {violation}");
    }
}

/// The object of all reports.
pub(super) fn to_json(reports: &[(String, Report)], seed: u64) -> Value {
    let implementations = reports.iter().map(|(name, report)| {
        json!({
            "implementation": name,
            "conforms": report.conforms(),
            "families": report.families.iter().map(family_json).collect::<Vec<_>>(),
            "invariants": Invariant::ALL.map(|it| invariant_json(it, report)),
            "random_runs": report.runs,
            "random_events": report.events,
        })
    });
    json!({ "seed": seed, "implementations": implementations.collect::<Vec<_>>() })
}

fn family_json(report: &FamilyReport) -> Value {
    let streams = report.streams.iter().map(|stream| {
        let (verdict, violation) = match &stream.verdict {
            Verdict::AsExpected => ("as_expected", None),
            Verdict::Differs { .. } => ("differs", None),
            Verdict::Failed(violation) => ("failed", Some(violation)),
        };
        let differs = match &stream.verdict {
            Verdict::Differs { call, expected, found } => {
                json!({ "call": call, "expected": expected, "found": found })
            }
            _ => Value::Null,
        };
        json!({
            "stream": stream.name,
            "verdict": verdict,
            "invariant": violation.map(|it| it.invariant().name()),
            "violation": violation.map(Violation::to_string),
            "differs": differs,
        })
    });
    json!({
        "family": report.family.name(),
        "passes": report.failed().is_none(),
        "streams": streams.collect::<Vec<_>>(),
    })
}

fn invariant_json(invariant: Invariant, report: &Report) -> Value {
    let found = &report.invariants[invariant as usize];
    json!({
        "invariant": invariant.name(),
        "checks": found.checks,
        "failed_runs": found.failed_runs,
        "first_seed": found.first.as_ref().map(|(seed, _)| seed),
        "violation": found.first.as_ref().map(|(_, violation)| violation.to_string()),
    })
}
