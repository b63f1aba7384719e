// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes a measured table in one line.

use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{Duration, Op};

use crate::figures;
use crate::figures::thousands;

/// Describes the first and the last entry of a table, under its function's name.
pub(super) fn text(table: &MeasuredTable, function: &str) -> String {
    let time = |ns: u64| figures::ms_ceil(Duration::from_ns(ns));
    let samples = table.samples.map_or(String::new(), |it| {
        format!(", {} of each", figures::count(thousands(it), "sample"))
    });
    // Proofs use the running maximum, so the last entry is the maximum.
    let (Some(&first), Some(&last)) = (table.ns_max.first(), table.ns_max.iter().max()) else {
        return measured(table);
    };
    let count = table.ns_max.len();
    let measured = measured(table);
    let [first, last] = [first, last].map(time);
    format!("{measured}: {function}(1) = {first} to {function}({count}) = {last}{samples}")
}

/// Formats the kind of the requests, for example `read 128KiB`.
fn measured(table: &MeasuredTable) -> String {
    let op = table.op.map_or("any", Op::name);
    table.size.map_or_else(|| op.to_owned(), |size| format!("{op} {size}"))
}
