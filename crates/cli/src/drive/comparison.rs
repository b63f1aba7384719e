// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What differs between two profiles, figure by figure.
//!
//! Medians and 99 % quantiles say whether a device moved. Maxima say less, for they grow with
//! the number of samples; but one thing they say for sure: where the second profile holds a
//! time above the first one's table, that table is refuted for the device of the second.

use model::drive_file::{FlowPlace, Identity, MeasuredTable, SingleTimes, Throughput};
use model::{Bytes, DriveFile, Duration, Op};

/// A change in parts per million of what was.
pub(super) type ChangePpm = i64;

/// One figure of a table, in both profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    /// Of how many requests; 1 where there is only one figure.
    pub(super) entry: u32,
    pub(super) first: u64,
    pub(super) second: u64,
}

impl Pair {
    /// By how much the second is larger.
    pub(super) fn change_ppm(&self) -> ChangePpm {
        let difference = i128::from(self.second) - i128::from(self.first);
        let ppm = difference * 1_000_000 / i128::from(self.first.max(1));
        i64::try_from(ppm).unwrap_or(if ppm < 0 { i64::MIN } else { i64::MAX })
    }
}

/// What one table says in both profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// `batch of reads of 128KiB`.
    pub(super) name: String,
    /// Whether its figures are times; rates otherwise.
    pub(super) is_time: bool,
    /// How many figures both have.
    pub(super) entries: usize,
    /// The median that changed most.
    pub(super) median: Option<Pair>,
    /// The 99 % quantile that changed most; of rates the slowest stretch.
    pub(super) tail: Option<Pair>,
    /// The longest time that lies furthest above the first table.
    pub(super) exceeded: Option<Pair>,
}

impl Row {
    /// Whether a median, a tail, or what lies above the first table changed by more than
    /// `tolerance_ppm`: a little above lies the maximum of any other sample.
    pub(super) fn has_moved(&self, tolerance_ppm: u32) -> bool {
        let changes = [self.median, self.tail, self.exceeded].into_iter().flatten();
        changes
            .map(|pair| pair.change_ppm().unsigned_abs())
            .any(|ppm| ppm > u64::from(tolerance_ppm))
    }
}

/// Two profiles beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    /// What, first, second: facts about the devices that are not the same.
    pub(super) facts: Vec<(String, String, String)>,
    /// What both measured.
    pub(super) rows: Vec<Row>,
    /// What only the first has.
    pub(super) only_first: Vec<String>,
    /// What only the second has.
    pub(super) only_second: Vec<String>,
}

impl Comparison {
    /// Of all that both files have.
    pub(super) fn of(first: &DriveFile, second: &DriveFile) -> Self {
        let (a, b) = (figures(first), figures(second));
        let is_in = |list: &[Figures], name: &str| list.iter().any(|it| it.name == name);
        let names = |of: &[Figures], other: &[Figures]| {
            let missing = of.iter().filter(|it| !is_in(other, &it.name));
            missing.map(|it| it.name.clone()).collect()
        };
        let row = |one: &Figures| Some(one.beside(b.iter().find(|it| it.name == one.name)?));
        Self {
            facts: facts(first, second),
            rows: a.iter().filter_map(row).collect(),
            only_first: names(&a, &b),
            only_second: names(&b, &a),
        }
    }

    /// Whether anything measured moved.
    pub(super) fn has_moved(&self, tolerance_ppm: u32) -> bool {
        self.rows.iter().any(|row| row.has_moved(tolerance_ppm))
    }
}

/// The figures of one table.
struct Figures {
    name: String,
    is_time: bool,
    /// What each entry is about.
    entries: Vec<u32>,
    median: Vec<u64>,
    tail: Vec<u64>,
    /// Empty for rates.
    longest: Vec<u64>,
}

impl Figures {
    fn of_table(section: &str, table: &MeasuredTable) -> Self {
        let [_, _, p50, _, p99, _] = &table.quantiles_ns;
        Self {
            name: format!("{section} of {}", kind(table.op, table.size)),
            is_time: true,
            entries: (1..).take(table.ns_max.len()).collect(),
            median: p50.clone(),
            tail: p99.clone(),
            longest: table.ns_max.clone(),
        }
    }

    fn of_single(single: &SingleTimes) -> Self {
        let [_, _, p50, _, p99, _] = single.ns_quantiles;
        Self {
            name: format!("single of {}", kind(Some(single.op), Some(single.size))),
            is_time: true,
            entries: vec![1],
            median: vec![p50],
            tail: vec![p99],
            longest: vec![single.ns_max],
        }
    }

    fn of_flow(flow: &Throughput) -> Self {
        let place = match flow.place {
            FlowPlace::Random => "random",
            FlowPlace::SequentialFirst => "sequential (first tenth)",
            FlowPlace::SequentialLast => "sequential (last tenth)",
        };
        Self {
            name: format!("throughput of {place} {}", kind(Some(flow.op), Some(flow.size))),
            is_time: false,
            entries: flow.depth.clone(),
            median: flow.bytes_per_s.clone(),
            tail: flow.bytes_per_s_min.clone(),
            longest: Vec::new(),
        }
    }

    fn of_limit(name: &str, time: Option<Duration>) -> Option<Self> {
        let longest = vec![time?.ns()];
        let (median, tail) = (Vec::new(), Vec::new());
        Some(Self { name: name.to_owned(), is_time: true, entries: vec![1], median, tail, longest })
    }

    fn beside(&self, other: &Self) -> Row {
        let common = self.entries.iter().filter(|entry| other.entries.contains(entry));
        let pairs = |of: fn(&Self) -> &Vec<u64>| -> Vec<Pair> {
            let at = |it: &Self, entry| {
                let index = it.entries.iter().position(|&other| other == entry)?;
                of(it).get(index).copied()
            };
            let pair =
                |&entry| Some(Pair { entry, first: at(self, entry)?, second: at(other, entry)? });
            self.entries.iter().filter_map(pair).collect()
        };
        let most =
            |pairs: Vec<Pair>| pairs.into_iter().max_by_key(|it| it.change_ppm().unsigned_abs());
        let above = pairs(|it| &it.longest).into_iter().filter(|pair| pair.second > pair.first);
        Row {
            name: self.name.clone(),
            is_time: self.is_time,
            entries: common.count(),
            median: most(pairs(|it| &it.median)),
            tail: most(pairs(|it| &it.tail)),
            exceeded: above.max_by_key(Pair::change_ppm),
        }
    }
}

/// All figures of a profile. The longest times of a table are those that may be relied on.
fn figures(file: &DriveFile) -> Vec<Figures> {
    let relied_on = |table: &MeasuredTable| MeasuredTable {
        ns_max: (1..=table.table.batch_max()).map(|n| table.table.time_max(n).ns()).collect(),
        ..table.clone()
    };
    let of = |section, tables: &[MeasuredTable]| -> Vec<Figures> {
        tables.iter().map(|table| Figures::of_table(section, &relied_on(table))).collect()
    };
    let tables = [
        of("batch", &file.batch),
        of("drain", &file.drain),
        of("priority", &file.priority),
        file.single.iter().map(Figures::of_single).collect(),
        file.throughput.iter().map(Figures::of_flow).collect(),
        Figures::of_limit("starvation", file.starvation_max).into_iter().collect(),
        Figures::of_limit("flush", file.flush_max).into_iter().collect(),
    ];
    tables.into_iter().flatten().collect()
}

fn kind(op: Option<Op>, size: Option<Bytes>) -> String {
    let op = op.map_or("request", Op::name);
    size.map_or_else(|| format!("{op}s"), |size| format!("{op}s of {size}"))
}

/// What the files say of their devices that is not the same.
fn facts(first: &DriveFile, second: &DriveFile) -> Vec<(String, String, String)> {
    let text = |of: fn(&Identity) -> &Option<String>| {
        [first, second]
            .map(|file| of(&file.identity).clone().unwrap_or_else(|| "unknown".to_owned()))
    };
    let capacity = |file: &DriveFile| file.capacity().map_or_else(String::new, |it| it.to_string());
    let host = |file: &DriveFile, other: &DriveFile| -> String {
        let new = file.identity.host.iter().filter(|line| !other.identity.host.contains(line));
        new.cloned().collect::<Vec<_>>().join("; ")
    };
    let all = [
        ("model", text(|it| &it.model)),
        ("firmware", text(|it| &it.firmware)),
        ("serial", text(|it| &it.serial_hash)),
        ("where", text(|it| &it.place)),
        ("when", text(|it| &it.when)),
        ("depth", [first.depth.to_string(), second.depth.to_string()]),
        ("capacity", [capacity(first), capacity(second)]),
        ("host", [host(first, second), host(second, first)]),
    ];
    let differing = all.into_iter().filter(|(_, [a, b])| a != b);
    differing.map(|(what, [a, b])| (what.to_owned(), a, b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: u64, second: u64) -> Pair {
        Pair { entry: 1, first, second }
    }

    #[test]
    fn change_is_relative_to_what_was() {
        assert_eq!(pair(200, 210).change_ppm(), 50_000);
        assert_eq!(pair(200, 100).change_ppm(), -500_000);
        assert_eq!(pair(0, u64::MAX).change_ppm(), i64::MAX);
    }

    fn file(ns_max: &str, ns_p50: &str) -> DriveFile {
        let text = format!(
            "name = \"t\"\nkind = \"recorded\"\ndepth = 4\n[[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [{ns_max}]\nns_p50 = [{ns_p50}]\n"
        );
        DriveFile::parse(&text).unwrap()
    }

    #[test]
    fn a_profile_is_like_itself() {
        let one = file("10, 20, 30", "5, 6, 7");
        let comparison = Comparison::of(&one, &one);
        assert!(!comparison.has_moved(0) && comparison.facts.is_empty());
        assert_eq!(comparison.rows[0].entries, 3);
    }

    #[test]
    fn the_worst_entry_is_told_and_a_refuted_table() {
        let comparison =
            Comparison::of(&file("10, 20, 30", "5, 6, 7"), &file("9, 21, 39", "5, 9, 8"));
        let [row] = &comparison.rows[..] else { panic!("one table") };
        assert_eq!(row.median, Some(Pair { entry: 2, first: 6, second: 9 }));
        assert_eq!(row.exceeded, Some(Pair { entry: 3, first: 30, second: 39 }));
        assert!(row.has_moved(499_999) && !row.has_moved(500_000));
    }

    #[test]
    fn a_dip_in_a_measured_table_is_not_exceeded_by_what_its_running_maximum_covers() {
        let comparison =
            Comparison::of(&file("10, 9, 30", "5, 5, 5"), &file("10, 10, 30", "5, 5, 5"));
        assert_eq!(comparison.rows[0].exceeded, None);
    }
}
