// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a table of a drive file from the samples of an experiment.

use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{BatchTable, Duration};
use tidegate_stats::confidence;
use tidegate_stats::order_statistics::Summary;

use crate::held_up::Sample;
use crate::kind::Kind;

/// Returns the table of times by number of requests, each number measured in `ways` ways; `None`
/// without a sample. The table ends before the first number that lacks a sample of some way.
///
/// Each figure is the greatest of all ways, so that it holds for each of them.
pub(crate) fn of(kind: Kind, ways: usize, cells: &[Vec<Sample>]) -> Option<MeasuredTable> {
    let mut all: Vec<_> = cells.iter().map_while(|cell| Sample::summary(cell)).collect();
    all.truncate(all.len() / ways * ways);
    let entries: Vec<&[Summary]> = all.chunks(ways).collect();
    let samples = all.iter().map(|summary| summary.count).min()?;
    let greatest = |figure: &dyn Fn(&Summary) -> Duration| -> Vec<Duration> {
        let of_entry = |entry: &&[Summary]| entry.iter().map(figure).max();
        entries.iter().filter_map(of_entry).collect()
    };
    let ns = |list: Vec<Duration>| list.into_iter().map(Duration::ns).collect();
    let highest = greatest(&|summary| summary.highest);
    Some(MeasuredTable {
        op: Some(kind.op),
        size: Some(kind.size),
        table: BatchTable::new(&highest).expect("every batch has a time above zero"),
        ns_max: ns(highest),
        quantiles_ns: std::array::from_fn(|index| {
            ns(greatest(&|summary| summary.quantiles[index]))
        }),
        samples: Some(u64::from(samples)),
        depth: None,
        families: Vec::new(),
        confidence: Some(confidence::statement(samples)),
    })
}

/// Raises a table to longer times, which refute any lower one; its quantiles stay. Returns whether
/// any time was longer.
pub(crate) fn raise(table: &mut MeasuredTable, longest_ns: impl IntoIterator<Item = u64>) -> bool {
    let before = table.ns_max.clone();
    for (known, longer) in table.ns_max.iter_mut().zip(longest_ns) {
        *known = longer.max(*known);
    }
    table.table = batch_table(&table.ns_max);
    table.ns_max != before
}

/// Returns the table of these times, of which none is zero.
pub(crate) fn batch_table(ns_max: &[u64]) -> BatchTable {
    let times: Vec<_> = ns_max.iter().copied().map(Duration::from_ns).collect();
    BatchTable::new(&times).expect("tables have entries, all above zero")
}
