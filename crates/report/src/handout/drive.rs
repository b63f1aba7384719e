// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive behind a result: its name, the date of its measurement, and its figures.

use std::time::Duration;

use tidegate_model::Bytes;

use super::chart;
use super::sheet::Sheet;
use crate::drive::{requests, seek_chart, times};
use crate::figures;
use crate::result::{DriveTables, TableRecord};

/// The largest number of tables of each kind that are drawn.
const TABLES_MAX: usize = 6;

/// Writes the section about the drive.
pub(super) fn section(sheet: &mut impl Sheet, drive: &DriveTables, made: Option<&str>) {
    sheet.heading(3, "The drive");
    let mut rows = vec![("Name", drive.name.clone())];
    let when = drive.when.as_ref().map(|when| match age(when, made) {
        Some(age) => format!("{when}, {age}"),
        None => when.clone(),
    });
    let known = [("Measured", when), ("Where", drive.place.clone()), ("How", drive.how.clone())];
    rows.extend(known.into_iter().filter_map(|(label, value)| Some((label, value?))));
    if drive.when.is_none() {
        rows.push(("Measured", "the drive file does not say when".to_owned()));
    }
    sheet.facts(&rows);
    drains(sheet, &drive.drain);
    let mut figures = tables(&drive.batch, "Longest time of a batch");
    figures.extend(tables(&drive.drain, "Longest time to drain"));
    if !drive.seek_ns.is_empty() {
        figures.push(chart::plot(&seek_chart(drive.seek_ns.clone())));
    }
    sheet.charts(&figures);
}

/// Returns the time from the drive's measurement to the result, as text; `None` if either date is
/// unknown.
fn age(when: &str, made: Option<&str>) -> Option<String> {
    const DAY: u64 = 24 * 60 * 60;
    let [when, made] = [when, made?].map(|text| humantime::parse_rfc3339_weak(text).ok());
    let age: Duration = made?.duration_since(when?).ok()?;
    Some(match age.as_secs() / DAY {
        0 => "less than a day before this result".to_owned(),
        1 => "1 day before this result".to_owned(),
        days => format!("{} days before this result", figures::thousands(days)),
    })
}

/// Writes the drain times as a table.
fn drains(sheet: &mut impl Sheet, tables: &[TableRecord]) {
    if tables.is_empty() {
        return;
    }
    sheet.paragraph(
        "Longest time until q requests in flight are complete, if nothing more is sent:",
    );
    let rows = tables.iter().map(|table| {
        let time = |requests: usize| {
            table.ns_max.get(requests - 1).map_or_else(String::new, |&ns| super::ms(Some(ns)))
        };
        let largest = format!("{} (q = {})", time(table.ns_max.len().max(1)), table.ns_max.len());
        vec![name(table), time(1), time(2), time(4), time(8), time(16), largest]
    });
    sheet.table(&["requests", "q = 1", "2", "4", "8", "16", "largest"], rows.collect());
}

fn name(table: &TableRecord) -> String {
    let size = table.size_bytes.map(|size| Bytes::new(size).to_string());
    let op = table.op.clone().unwrap_or_else(|| "any".to_owned());
    size.map_or(op.clone(), |size| format!("{op}s of {size}"))
}

/// Draws up to [`TABLES_MAX`] tables.
fn tables(tables: &[TableRecord], title: &str) -> Vec<String> {
    let chart = |table: &TableRecord| {
        let requests = requests(table.op.as_deref(), table.size_bytes.map(Bytes::new));
        chart::plot(&times(format!("{title}{requests}"), &table.ns_max))
    };
    tables.iter().take(TABLES_MAX).map(chart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_whole_days() {
        let made = Some("2026-03-01T12:00:00Z");
        let ages = ["2026-03-01T11:00:00Z", "2026-02-28T11:59:59Z", "2025-03-01T00:00:00Z"];
        let expected = ["less than a day", "1 day", "365 days"];
        for (when, expected) in ages.into_iter().zip(expected) {
            let found = age(when, made).unwrap();
            assert_eq!(found, format!("{expected} before this result"), "{when}");
        }
        assert_eq!(age("in spring", made), None);
        assert_eq!(age("2026-03-02T00:00:00Z", made), None, "measured later");
        assert_eq!(age("2026-02-28T11:59:59Z", None), None);
    }
}
