// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive compare`: the changes between two profiles, of one drive or of
//! two.

use serde::Serialize;
use tidegate_measure::compare::{Comparison, Pair, Row, Unit};

use crate::figures;
use crate::page::{Answer, Page, Report, Table};

/// Two profiles and their differences.
#[derive(Serialize)]
pub struct CompareReport<'a> {
    tolerance_ppm: u32,
    moved: bool,
    facts: Vec<Fact<'a>>,
    tables: Vec<TableReport<'a>>,
    only_first: &'a [String],
    only_second: &'a [String],
    #[serde(skip)]
    comparison: &'a Comparison,
    #[serde(skip)]
    names: [&'a str; 2],
}

/// A fact about the devices in which the profiles differ.
#[derive(Serialize)]
struct Fact<'a> {
    what: &'a str,
    first: &'a str,
    second: &'a str,
}

#[derive(Serialize)]
struct TableReport<'a> {
    name: &'a str,
    unit: &'static str,
    entries: usize,
    median: Option<PairReport>,
    tail: Option<PairReport>,
    above_first: Option<PairReport>,
    moved: bool,
    unsure: bool,
}

#[derive(Serialize)]
struct PairReport {
    entry: u32,
    first: u64,
    second: u64,
    change_ppm: i64,
    by_chance: bool,
}

impl<'a> CompareReport<'a> {
    /// Reports the changes above the tolerance between two profiles with these names.
    pub fn of(comparison: &'a Comparison, names: [&'a str; 2], tolerance_ppm: u32) -> Self {
        let facts = comparison.facts.iter();
        let tables = comparison.rows.iter().map(|row| TableReport::of(row, tolerance_ppm));
        Self {
            tolerance_ppm,
            moved: comparison.has_moved(tolerance_ppm),
            facts: facts.map(|(what, first, second)| Fact { what, first, second }).collect(),
            tables: tables.collect(),
            only_first: &comparison.only_first,
            only_second: &comparison.only_second,
            comparison,
            names,
        }
    }

    /// Returns whether anything changed.
    pub fn has_moved(&self) -> bool {
        self.moved
    }
}

impl<'a> TableReport<'a> {
    fn of(row: &'a Row, tolerance_ppm: u32) -> Self {
        Self {
            name: &row.name,
            unit: row.unit.name(),
            entries: row.entries,
            median: row.median.map(PairReport::of),
            tail: row.tail.map(PairReport::of),
            above_first: row.exceeded.map(PairReport::of),
            moved: row.has_moved(tolerance_ppm),
            unsure: row.is_unsure(tolerance_ppm),
        }
    }
}

impl PairReport {
    fn of(pair: Pair) -> Self {
        Self {
            entry: pair.entry,
            first: pair.first,
            second: pair.second,
            change_ppm: pair.change_ppm(),
            by_chance: pair.is_chance,
        }
    }
}

impl Report for CompareReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let count = |of: &dyn Fn(&TableReport<'_>) -> bool| {
            self.tables.iter().filter(|table| of(table)).count()
        };
        let tolerance = percent(i64::from(self.tolerance_ppm), false);
        let moved = match count(&|table| table.moved) {
            0 => "none".to_owned(),
            moved => moved.to_string(),
        };
        let all = figures::count(self.tables.len(), "table");
        let (unsure, above) = (count(&|it| it.unsure), count(&|it| it.above_first.is_some()));
        let parts = [
            Some(format!("{moved} of {all} moved by more than {tolerance}")),
            (unsure > 0).then(|| format!("{unsure} changed by that, perhaps by chance")),
            (above > 0).then(|| {
                format!("{above} contain times above the first's, which does not bound the second")
            }),
        ];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let is_doubtful = unsure > 0 || above > 0 || self.tables.is_empty();
        Some(match (self.moved, is_doubtful) {
            (true, _) => Answer::bad(format!("MOVED: {text}.")),
            (false, true) => Answer::doubtful(format!("SAME, with doubts: {text}.")),
            (false, false) => Answer::good(format!("SAME: {text}.")),
        })
    }

    fn write(&self, page: &mut Page) {
        let Self { comparison, tolerance_ppm, names: [first, second], .. } = self;
        let tolerance_ppm = *tolerance_ppm;
        writeln!(page);
        page.labelled("First", first);
        page.labelled("Second", second);
        for (what, a, b) in &comparison.facts {
            let [a, b] = [a, b].map(|it| if it.is_empty() { "-" } else { it.as_str() });
            page.lines(&format!("\n  {what}\n    first   {a}\n    second  {b}"));
        }
        writeln!(page);
        let header = ["what", "entries", "median", "99 %, slowest", "above the first", "change"];
        let row = |row: &Row| {
            vec![
                row.name.clone(),
                row.entries.to_string(),
                cell(row, row.median),
                cell(row, row.tail),
                cell(row, row.exceeded),
                verdict(row, tolerance_ppm),
            ]
        };
        let table = Table::new(&header, comparison.rows.iter().map(row).collect(), 1);
        page.put(table.optional(&["entries", "above the first"]));
        writeln!(page);
        for (label, names) in
            [("Only first", &comparison.only_first), ("Only second", &comparison.only_second)]
        {
            if !names.is_empty() {
                page.labelled(label, names.join(", "));
            }
        }
        if comparison.rows.iter().any(|row| row.is_unsure(tolerance_ppm)) {
            page.labelled(
                "Unsure",
                "a change can be chance if there are few samples, and of costs, which depend on the \
                 longest times",
            );
        }
    }
}

/// Formats a change, for example `7: 43.060ms to 45.213ms, +5.0 %`.
fn cell(row: &Row, pair: Option<Pair>) -> String {
    let Some(pair) = pair else { return "-".to_owned() };
    let figure = |value| match row.unit {
        Unit::Time => figures::ms_ceil(tidegate_model::Duration::from_ns(value)),
        Unit::Rate => figures::throughput(value),
        Unit::Count => value.to_string(),
    };
    let entry = if row.entries > 1 { format!("{}: ", pair.entry) } else { String::new() };
    let change = percent(pair.change_ppm(), true);
    format!("{entry}{} to {}, {change}", figure(pair.first), figure(pair.second))
}

fn verdict(row: &Row, tolerance_ppm: u32) -> String {
    let word = match (row.has_moved(tolerance_ppm), row.is_unsure(tolerance_ppm)) {
        (true, _) => "moved",
        (false, true) => "unsure",
        (false, false) => "same",
    };
    let above = if row.exceeded.is_some() { ", above" } else { "" };
    format!("{word}{above}")
}

/// Formats a percentage, for example `+5.0 %`.
fn percent(ppm: i64, is_signed: bool) -> String {
    let tenths = ppm.unsigned_abs().div_ceil(1000);
    let sign = match (ppm < 0, is_signed) {
        (true, _) => "-",
        (false, true) => "+",
        (false, false) => "",
    };
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_where_they_are_changes() {
        assert_eq!(percent(50_000, true), "+5.0 %");
        assert_eq!(percent(-1, true), "-0.1 %", "a change is never shown as 0.0 %");
        assert_eq!(percent(50_000, false), "5.0 %");
    }
}
