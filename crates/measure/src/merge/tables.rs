// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Merges two measurements of the same table.
//!
//! ```text
//!   longest times ..... the longer of both, entry by entry; as many entries as the longer table
//!   quantiles ......... entry by entry those with more samples
//!   samples ........... those of the entry with the fewest
//! ```
//!
//! So a table does not get shorter if it is measured again with fewer samples, or if a measurement
//! is interrupted.

use crate::start::{Start, StartTimes};
use crate::table::{batch_table, join_families, raise, with_random};
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{DriveFile, Op, count};

/// Writes the depths that the file only implies into it, before the drive's depth changes and would
/// imply others.
pub(super) fn keep_depths(file: &mut DriveFile, new_depth: u32) {
    let depth = file.depth;
    for table in &mut file.priority {
        table.depth.get_or_insert(depth);
    }
    if file.starvation_max.is_some() && new_depth > depth {
        file.starvation_depth.get_or_insert(depth);
    }
}

/// Merges two measurements of one table.
pub(super) fn merged(known: &MeasuredTable, new: &MeasuredTable) -> MeasuredTable {
    let entries = known.ns_max.len().max(new.ns_max.len());
    let longest = |at| longest_of(known, at).max(longest_of(new, at));
    let ns_max: Vec<u64> = (0..entries).filter_map(longest).collect();
    let (most, other) = if new.samples >= known.samples { (new, known) } else { (known, new) };
    let quantile = |level: usize, at: usize| {
        let of = |table: &MeasuredTable| table.quantiles_ns[level].get(at).copied();
        of(most).or_else(|| of(other))
    };
    let quantiles = |level| (0..entries).map(|at| quantile(level, at)).collect::<Option<Vec<_>>>();
    // If the other table is longer, its additional entries have only its own samples.
    let main = if other.ns_max.len() > most.ns_max.len() { other } else { most };
    let families = match (known.families.is_empty(), new.families.is_empty()) {
        (true, true) => Vec::new(),
        _ => join_families(&with_random(known), with_random(new)),
    };
    MeasuredTable {
        table: batch_table(&ns_max),
        families,
        ns_max,
        quantiles_ns: std::array::from_fn(|level| quantiles(level).unwrap_or_default()),
        samples: main.samples,
        samples_effective: [known, new].iter().filter_map(|it| it.samples_effective).min(),
        confidence: main.confidence.clone(),
        depth: depth_of_both(known, new),
        ..new.clone()
    }
}

/// Returns the greater depth if every entry was measured at that depth, otherwise the smaller.
fn depth_of_both(known: &MeasuredTable, new: &MeasuredTable) -> Option<u32> {
    let (known_depth, new_depth) = known.depth.zip(new.depth)?;
    let (deeper, other) = if new_depth >= known_depth { (new, known) } else { (known, new) };
    let is_whole = deeper.ns_max.len() >= other.ns_max.len();
    Some(if is_whole { known_depth.max(new_depth) } else { known_depth.min(new_depth) })
}

fn longest_of(table: &MeasuredTable, at: usize) -> Option<u64> {
    table.ns_max.get(at).copied()
}

/// Describes how many entries keep the time of `known`, because it is longer or the only one;
/// `None` if there are no such entries.
pub(super) fn kept_of(known: &MeasuredTable, new: &MeasuredTable) -> Option<String> {
    let entries = known.ns_max.len().max(new.ns_max.len());
    let is_kept = |at: &usize| longest_of(known, *at) > longest_of(new, *at);
    let kept = (0..entries).filter(is_kept).count();
    (kept > 0).then(|| {
        format!(
            "{kept} of {entries} entries keep the earlier measurement, where it was longer or \
             there is no new one"
        )
    })
}

/// Raises the tables to the adversarial drains in `starts`. Returns a remark for each kind that is
/// raised, and an error for each kind without a table to raise.
pub(super) fn raise_drains(
    tables: &mut [MeasuredTable],
    starts: &[StartTimes],
) -> Vec<Result<String, String>> {
    let mut said = Vec::new();
    for found in starts.iter().filter(|it| Start::ADVERSARIES.contains(&it.start)) {
        let kind = found.kind;
        // The table whose figures are used for requests of this kind.
        let covers = |it: &&mut MeasuredTable| it.op == Some(kind.op) && it.size >= Some(kind.size);
        let covering = tables.iter_mut().filter(covers).min_by_key(|table| table.size);
        let of_kind = match covering {
            Some(table) => raise(table, found.longest.iter().map(|it| it.ns())).then(|| {
                Ok(format!("drains of {} raised by drains after requests far apart", name(table)))
            }),
            None => Some(Err(format!(
                "the file has no [[drain]] of {kind} for drains after requests far apart to raise: \
                 measure `drain`, then these again"
            ))),
        };
        said.extend(of_kind.filter(|it| !said.contains(it)));
    }
    said
}

/// Returns a section's new tables, or the old ones if there are no new ones. If only families of
/// places were measured for a table, the result is the old table with the new families.
pub(super) fn replaced(new: Vec<MeasuredTable>, old: Vec<MeasuredTable>) -> Vec<MeasuredTable> {
    if new.is_empty() {
        return old;
    }
    let with_old = |table: MeasuredTable| {
        let known = old.iter().find(|known| is_same_kind(known, &table));
        match known.filter(|_| !table.is_of_random_places()) {
            Some(known) => merged(known, &table),
            None => table,
        }
    };
    new.into_iter().map(with_old).collect()
}

/// Names a table, for example `writes of 128KiB`.
pub(super) fn name(table: &MeasuredTable) -> String {
    let op = table.op.map_or("request", Op::name);
    format!("{op}s of {}", table.size.unwrap_or_default())
}

/// Formats the number of samples, for example ` (20 samples of each)`. The options state only the
/// number that was requested.
pub(super) fn samples(table: &MeasuredTable) -> String {
    table.samples.map_or_else(String::new, |it| format!(" ({} of each)", count(it, "sample")))
}

pub(super) fn is_same_kind(a: &MeasuredTable, b: &MeasuredTable) -> bool {
    (a.op, a.size) == (b.op, b.size)
}

#[cfg(test)]
mod tests {
    use crate::kind::Kind;
    use tidegate_model::{Bytes, Duration};

    use super::*;

    fn table(ns_max: &str, more: &str) -> MeasuredTable {
        let text = format!(
            "name = \"d\"\nkind = \"recorded\"\ndepth = 9\n[[batch]]\nop = \"read\"\n\
             size = \"4KiB\"\nns_max = [{ns_max}]\n{more}\n"
        );
        DriveFile::parse(&text).unwrap().batch.remove(0)
    }

    /// Goal: an interrupted measurement does not shorten a complete one, and the file states this.
    /// Method: tables written by hand, merged in both orders.
    #[test]
    fn the_longest_times_stay_with_the_quantiles_of_more_samples() {
        let whole = table("10, 20, 30", "samples = 1000\nns_p50 = [5, 6, 7]\nconfidence = \"c\"");
        let cut = table("8, 25", "samples = 3\nns_p50 = [1, 1]\nconfidence = \"few\"");
        for (known, new) in [(&whole, &cut), (&cut, &whole)] {
            let both = merged(known, new);
            assert_eq!(both.ns_max, [10, 25, 30]);
            assert_eq!(both.table.time_max(2).ns(), 25);
            assert_eq!(both.quantiles_ns[2], [5, 6, 7]);
            assert_eq!((both.samples, both.confidence.as_deref()), (Some(1000), Some("c")));
        }
        assert!(kept_of(&whole, &cut).unwrap().starts_with("2 of 3 entries"));
        assert!(kept_of(&cut, &whole).unwrap().starts_with("1 of 3 entries"));
        assert_eq!(kept_of(&whole, &whole), None);
    }

    /// Goal: the stated number of samples holds for every entry. Method: the longer table has fewer
    /// samples.
    #[test]
    fn samples_are_those_of_the_entries_that_have_fewest() {
        let long = table("10, 20, 30", "samples = 3\nns_p50 = [1, 2, 3]");
        let short = table("11", "samples = 1000\nns_p50 = [9]");
        let both = merged(&short, &long);
        assert_eq!((both.samples, &both.ns_max[..]), (Some(3), &[11, 20, 30][..]));
        assert_eq!(both.quantiles_ns[2], [9, 2, 3]);
        let by_hand = merged(&table("10, 20, 30", ""), &short);
        assert_eq!((by_hand.samples, by_hand.quantiles_ns[2].len()), (None, 0));
    }

    #[test]
    fn a_table_of_priority_is_as_deep_as_all_of_its_entries() {
        let depth = |known: &str, new: &str| merged(&table(known, ""), &table(new, "")).depth;
        assert_eq!(depth("1, 2", "1, 2"), None);
        let at = |entries: &str, depth: u32| table(entries, &format!("depth = {depth}"));
        assert_eq!(merged(&at("1, 2", 2), &at("1, 2, 3", 9)).depth, Some(9));
        assert_eq!(merged(&at("1, 2", 2), &at("1", 9)).depth, Some(2), "2 was seen at 2 only");
    }

    fn adversary(kib: u64, ns: &[u64]) -> StartTimes {
        StartTimes {
            kind: Kind { op: Op::Read, size: Bytes::from_kib(kib) },
            start: Start::ADVERSARIES[0],
            longest: ns.iter().copied().map(Duration::from_ns).collect(),
        }
    }

    #[test]
    fn a_drain_that_was_longer_raises_the_table_that_speaks_of_it() {
        let mut tables = [table("10, 20", "")];
        let said = raise_drains(&mut tables, &[adversary(4, &[11, 19, 99])]);
        assert_eq!((&tables[0].ns_max[..], tables[0].table.time_max(1).ns()), (&[11, 20][..], 11));
        assert!(said[0].as_ref().unwrap().starts_with("drains of reads of 4KiB raised"));
        raise_drains(&mut tables, &[adversary(1, &[12])]);
        assert_eq!(tables[0].ns_max, [12, 20], "a smaller size is taken from this table");
        assert_eq!(raise_drains(&mut tables, &[adversary(4, &[1])]), []);
        let said = raise_drains(&mut tables, &[adversary(8, &[13])]);
        assert!(said[0].as_ref().unwrap_err().contains("no [[drain]] of reads of 8KiB"));
    }
}
