// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive compare`: two profiles of one device, or of two, and what moved.

use serde_json::{Value, json};
use tidegate_measure::compare::{Comparison, Pair, Row, Unit};

use super::arguments::CompareArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::input;
use crate::show::{self, out, outln};

/// Runs the command.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<Answer, Failure> {
    let first = input::drive_named(&arguments.first)?;
    let second = input::drive_named(&arguments.second)?;
    let comparison = Comparison::of(&first, &second);
    let tolerance_ppm = arguments.tolerance;
    let has_moved = comparison.has_moved(tolerance_ppm);
    if arguments.json {
        outln!("{:#}", to_json(&comparison, tolerance_ppm));
    } else {
        print(&comparison, (&first.name, &second.name), tolerance_ppm);
    }
    Ok(if has_moved { Answer::No } else { Answer::Yes })
}

fn print(comparison: &Comparison, (first, second): (&str, &str), tolerance_ppm: u32) {
    show::labelled("First", first);
    show::labelled("Second", second);
    for (what, a, b) in &comparison.facts {
        outln!();
        outln!("  {what}");
        outln!("    first   {}", if a.is_empty() { "-" } else { a });
        outln!("    second  {}", if b.is_empty() { "-" } else { b });
    }
    outln!();
    let header = ["what", "entries", "median", "99 %, slowest", "above the first", ""];
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
    out!("{}", show::table(&header, comparison.rows.iter().map(row).collect(), 1));
    outln!();
    for (label, names) in
        [("Only first", &comparison.only_first), ("Only second", &comparison.only_second)]
    {
        if !names.is_empty() {
            show::labelled(label, &names.join(", "));
        }
    }
    conclude(comparison, tolerance_ppm);
}

fn conclude(comparison: &Comparison, tolerance_ppm: u32) {
    let count = |of: &dyn Fn(&Row) -> bool| comparison.rows.iter().filter(|row| of(row)).count();
    let moved = count(&|row| row.has_moved(tolerance_ppm));
    let refuted = count(&|row| row.exceeded.is_some());
    let tolerance = percent(i64::from(tolerance_ppm), false);
    let all = show::count(comparison.rows.len(), "table");
    show::labelled(
        "Moved",
        &format!(
            "{moved} of {all} by more than {tolerance}; {refuted} hold times above those of the \
             first, which does not bound the second"
        ),
    );
    let unsure = count(&|row| row.is_unsure(tolerance_ppm));
    if unsure > 0 {
        let text = format!(
            "{unsure} changed by more than {tolerance} as chance may have it: few samples, or \
             costs, which follow the longest times"
        );
        show::labelled("Unsure", &text);
    }
}

/// `7: 43.060ms to 45.213ms, +5.0 %`.
fn cell(row: &Row, pair: Option<Pair>) -> String {
    let Some(pair) = pair else { return "-".to_owned() };
    let figure = |value| match row.unit {
        Unit::Time => show::ms_ceil(tidegate_model::Duration::from_ns(value)),
        Unit::Rate => show::throughput(value),
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

/// `+5.0 %`.
fn percent(ppm: i64, is_signed: bool) -> String {
    let tenths = ppm.unsigned_abs().div_ceil(1000);
    let sign = match (ppm < 0, is_signed) {
        (true, _) => "-",
        (false, true) => "+",
        (false, false) => "",
    };
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

fn to_json(comparison: &Comparison, tolerance_ppm: u32) -> Value {
    let pair = |pair: Option<Pair>| {
        pair.map(|pair| {
            json!({
                "entry": pair.entry,
                "first": pair.first,
                "second": pair.second,
                "change_ppm": pair.change_ppm(),
                "by_chance": pair.is_chance,
            })
        })
    };
    let row = |row: &Row| {
        json!({
            "name": row.name,
            "unit": row.unit.name(),
            "entries": row.entries,
            "median": pair(row.median),
            "tail": pair(row.tail),
            "above_first": pair(row.exceeded),
            "moved": row.has_moved(tolerance_ppm),
            "unsure": row.is_unsure(tolerance_ppm),
        })
    };
    let fact = |(what, first, second): &(String, String, String)| json!({ "what": what, "first": first, "second": second });
    json!({
        "tolerance_ppm": tolerance_ppm,
        "moved": comparison.has_moved(tolerance_ppm),
        "facts": comparison.facts.iter().map(fact).collect::<Vec<_>>(),
        "tables": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "only_first": comparison.only_first,
        "only_second": comparison.only_second,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_where_they_are_changes() {
        assert_eq!(percent(50_000, true), "+5.0 %");
        assert_eq!(percent(-1, true), "-0.1 %", "nothing that moved is told as 0.0 %");
        assert_eq!(percent(50_000, false), "5.0 %");
    }
}
