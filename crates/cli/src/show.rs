// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How figures and tables look.

use comfy_table::{CellAlignment, Table};

use model::Duration;

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
    println!("{label:<12} {text}");
}
