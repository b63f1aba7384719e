// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a table of a drive file from the samples of an experiment.

use tidegate_model::drive_file::{FamilyTimes, MeasuredTable, PlaceFamily};
use tidegate_model::{BatchTable, DriveFile, Duration};
use tidegate_stats::confidence;
use tidegate_stats::order_statistics::Summary;

use crate::held_up::Sample;
use crate::kind::Kind;

/// Returns the table of times by number of requests, where each number has `ways` cells; `None`
/// without a sample. The table ends before the first number with a cell that has no sample.
///
/// Each figure is the greatest of all cells of its number, so that it covers each of them.
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
        samples_effective: None,
        depth: None,
        families: Vec::new(),
        confidence: Some(confidence::statement(samples)),
    })
}

/// Raises a table to longer times, because these refute any shorter ones; its quantiles are
/// unchanged. Returns whether any time was longer.
pub(crate) fn raise(table: &mut MeasuredTable, longest_ns: impl IntoIterator<Item = u64>) -> bool {
    let before = table.ns_max.clone();
    for (known, longer) in table.ns_max.iter_mut().zip(longest_ns) {
        *known = longer.max(*known);
    }
    table.table = batch_table(&table.ns_max);
    table.ns_max != before
}

/// Adds the times by families of places to the table of this kind, and raises the table to them.
/// Without such a table, makes one from them. A table without families counts as measured at random
/// places.
pub(crate) fn add_families(tables: &mut Vec<MeasuredTable>, kind: Kind, new: Vec<FamilyTimes>) {
    let is_it =
        |table: &&mut MeasuredTable| (table.op, table.size) == (Some(kind.op), Some(kind.size));
    let longest = longest_of(&new);
    if longest.is_empty() {
        return;
    }
    match tables.iter_mut().find(is_it) {
        Some(known) => {
            known.families = join_families(&with_random(known), new);
            raise(known, longest);
        }
        None => tables.push(MeasuredTable {
            op: Some(kind.op),
            size: Some(kind.size),
            table: batch_table(&longest),
            ns_max: longest,
            quantiles_ns: std::array::from_fn(|_| Vec::new()),
            families: new,
            samples: None,
            samples_effective: None,
            depth: None,
            confidence: None,
        }),
    }
}

/// Returns the families of a table. If it has none, returns one family, random places, with the
/// table's own times.
pub(crate) fn with_random(table: &MeasuredTable) -> Vec<FamilyTimes> {
    if table.families.is_empty() {
        let ns_max = table.ns_max.clone();
        return vec![FamilyTimes::new(PlaceFamily::Random, table.samples, ns_max)];
    }
    table.families.clone()
}

/// Returns the families of a file's starvation time. If it has none, returns one family, random
/// places, with the file's longest starvation time.
pub(crate) fn starved_families(file: &DriveFile) -> Vec<FamilyTimes> {
    let random =
        |longest: Duration| FamilyTimes::new(PlaceFamily::Random, None, vec![longest.ns()]);
    if file.starvation_places.is_empty() {
        return file.starvation_max.map(random).into_iter().collect();
    }
    file.starvation_places.clone()
}

/// Returns the longest times of this kind at random places; empty if they were not measured.
pub(crate) fn random_ns_max(tables: &[MeasuredTable], kind: Kind) -> Vec<u64> {
    let is_it = |it: &&MeasuredTable| (it.op, it.size) == (Some(kind.op), Some(kind.size));
    tables.iter().find(is_it).map_or_else(Vec::new, |table| table.random_ns_max().to_vec())
}

/// Merges two measurements by families: keeps the longer times of each family, entry by entry.
pub(crate) fn join_families(known: &[FamilyTimes], new: Vec<FamilyTimes>) -> Vec<FamilyTimes> {
    let mut all = known.to_vec();
    for family in new {
        match all.iter_mut().find(|it| it.places == family.places) {
            Some(known) => *known = join_family(known, family),
            None => all.push(family),
        }
    }
    all.sort_by_key(|family| family.places);
    all
}

/// Returns the longer of the two times for each entry. Samples and quantiles come from the longer
/// list; if both are equally long, from the one that was not screened, or else from the one with
/// more samples.
fn join_family(known: &FamilyTimes, new: FamilyTimes) -> FamilyTimes {
    let weight = |it: &FamilyTimes| (it.ns_max.len(), !it.screened, it.samples);
    let (main, other) =
        if weight(&new) >= weight(known) { (new, known.clone()) } else { (known.clone(), new) };
    let mut ns_max = main.ns_max.clone();
    for (longer, &ns) in ns_max.iter_mut().zip(&other.ns_max) {
        *longer = ns.max(*longer);
    }
    FamilyTimes { ns_max, ..main }
}

/// Returns the longest time over all families, entry by entry; there are as many entries as in the
/// longest family.
pub(crate) fn longest_of(families: &[FamilyTimes]) -> Vec<u64> {
    let entries = families.iter().map(|it| it.ns_max.len()).max().unwrap_or(0);
    let longest = |at| families.iter().filter_map(|it| it.ns_max.get(at).copied()).max();
    (0..entries).filter_map(longest).collect()
}

/// Returns the table of these times, all of which must be above zero.
pub(crate) fn batch_table(ns_max: &[u64]) -> BatchTable {
    let times: Vec<_> = ns_max.iter().copied().map(Duration::from_ns).collect();
    BatchTable::new(&times).expect("tables have entries, all above zero")
}
