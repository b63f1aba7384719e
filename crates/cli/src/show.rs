// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How figures and tables look.

use std::io::Write as _;

use comfy_table::{CellAlignment, Table};
use tidegate_analysis::{Answer, Assessment};
use tidegate_model::{DispatchMode, DriveContract, Duration, PolicyName};

/// Writes to standard output. Whoever closed it has seen enough: the process ends quietly
/// with what the shell gives a program that SIGPIPE ends. Any other fault ends it too,
/// with a message: results that cannot be written must not look like success.
pub(crate) fn write_out(text: std::fmt::Arguments<'_>) {
    let Err(error) = std::io::stdout().lock().write_fmt(text) else { return };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(141);
    }
    eprintln!("tidegate: cannot write to standard output: {error}");
    std::process::exit(3);
}

/// `print!` through [`write_out`].
macro_rules! out {
    ($($text:tt)*) => { $crate::show::write_out(format_args!($($text)*)) };
}

/// `println!` through [`write_out`].
macro_rules! outln {
    () => { $crate::show::write_out(format_args!("\n")) };
    ($($text:tt)*) => {{
        $crate::show::write_out(format_args!($($text)*));
        $crate::show::write_out(format_args!("\n"));
    }};
}

pub(crate) use {out, outln};

/// A table of columns, each a title and a cell for each row.
pub(crate) fn columns(columns: &[(&str, Vec<String>)], first_number: usize) -> String {
    let header: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    let count = columns.first().map_or(0, |(_, cells)| cells.len());
    let row = |index: usize| columns.iter().map(|(_, cells)| cells[index].clone()).collect();
    table(&header, (0..count).map(row).collect(), first_number)
}

/// `camera-1 to 16` of the first and the last of several numbered tasks.
pub(crate) fn numbered(first: &str, last: &str) -> String {
    format!("{first} to {}", last.rsplit('-').next().unwrap_or(last))
}

/// How best effort is served.
pub(crate) fn best_effort(assessment: &Assessment) -> String {
    let is_unproved = matches!(assessment.answer, Answer::NotApplicable { .. });
    let never = if is_unproved {
        "never served: the tasks may take every place on the drive"
    } else {
        "never served: the proof leaves no room for it beside the tasks"
    };
    let never = never.to_owned();
    let facts = assessment.policy.facts();
    if facts.has_common_queue {
        return format!("{} keeps it in the same queue as the tasks", assessment.policy);
    }
    match facts.dispatch {
        DispatchMode::Batches if assessment.best_effort_fill == 0 => never,
        DispatchMode::Batches => {
            if let Some(cost) = &assessment.batch_cost {
                return format!(
                    "fills every batch behind which no task waits, up to a cost of {} in all",
                    ms_floor(cost.best_effort_fill)
                );
            }
            let fill = count(assessment.best_effort_fill as usize, "request");
            let why = if is_unproved { ", as there is no proof that it could cost" } else { "" };
            format!("fills every batch up to {fill}{why}")
        }
        DispatchMode::BestEffortDepth if assessment.best_effort_depth == 0 => never,
        DispatchMode::BestEffortDepth => {
            let depth = count(assessment.best_effort_depth as usize, "request");
            format!("at most {depth} of it on the drive at once")
        }
        DispatchMode::UpToDepth | DispatchMode::OneAtATime => {
            "takes what real-time requests leave".to_owned()
        }
    }
}

/// z, none where the policy makes no batches.
pub(crate) fn batch_max(assessment: &Assessment) -> Option<u32> {
    assessment.policy.facts().dispatch.awaits_idle_drive().then_some(assessment.batch_max)
}

/// What of the drive's a proof rests on, in a sentence that says that the drive keeps it.
pub(crate) fn kept(assessment: &Assessment) -> &'static str {
    if assessment.rests_on_costs() { "cost model" } else { watched(assessment.policy).what() }
}

/// The contract of the drive that a run under the policy is held against: where no bound rests on
/// any, the batch table.
pub(crate) fn watched(policy: PolicyName) -> DriveContract {
    policy.facts().contract.unwrap_or(DriveContract::Batches)
}

/// How batches are limited by cost, none where they are not.
pub(crate) fn batch_cost(assessment: &Assessment) -> Option<String> {
    let cost = assessment.batch_cost.as_ref()?;
    Some(format!("which cost at most {} together (batch_cost)", cost.cost_max))
}

/// How much best effort may be on the drive at once, none where the policy does not say.
pub(crate) fn best_effort_depth(assessment: &Assessment) -> Option<u32> {
    let is_limited = assessment.policy.facts().dispatch.limits_best_effort();
    is_limited.then_some(assessment.best_effort_depth)
}

/// A table with a header, numbers to the right from column `first_number` on.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, first_number: usize) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(header.iter().map(|title| title.replace('_', " ")));
    for row in rows {
        table.add_row(row);
    }
    for index in 0..header.len() {
        let column = table.column_mut(index).expect("a column of the header");
        column.set_padding((if index == 0 { 2 } else { 1 }, 1));
        if index >= first_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = table.to_string();
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// A bound or an observed maximum in milliseconds, rounded up to the microsecond.
pub(crate) fn ms_ceil(duration: Duration) -> String {
    let us = duration.ns().div_ceil(1_000);
    format!("{}.{:03}ms", us / 1_000, us % 1_000)
}

/// A margin in milliseconds, rounded down to the microsecond.
pub(crate) fn ms_floor(duration: Duration) -> String {
    let us = duration.ns() / 1_000;
    format!("{}.{:03}ms", us / 1_000, us % 1_000)
}

/// An optional bound, `-` where there is none.
pub(crate) fn bound(bound: Option<Duration>) -> String {
    bound.map_or_else(|| "-".to_owned(), ms_ceil)
}

/// Megabytes per second with one decimal.
pub(crate) fn throughput(bytes_per_s: u64) -> String {
    format!("{}.{}MB/s", bytes_per_s / 1_000_000, bytes_per_s / 100_000 % 10)
}

/// `1 task`, `2 tasks`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A paragraph with its label in a column of its own.
pub(crate) fn labelled(label: &str, text: &str) {
    outln!("{label:<12} {text}");
}
