// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares two drive files, figure by figure.
//!
//! A figure has changed if it differs by more than the tolerance and by more than its sampling
//! error explains (`sampling`). If the sampling error is unknown, the tolerance alone decides. The
//! longest times of tables grow with the number of samples, so they never count as changed. But a
//! time in the second profile above the first profile's table shows that this table does not hold
//! for the second profile's device.

mod figures;
mod sampling;
mod structure;

use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;

use figures::Figures;
pub use figures::Unit;
use sampling::{ErrorLimit, Figure, Sampling};

/// A change in parts per million of the first value.
pub type ChangePpm = i64;

/// One figure of a table, in both profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The entry that the figure belongs to: a number of requests or of cylinders; 1 if the table
    /// has a single figure.
    pub entry: u32,
    /// The figure in the first profile.
    pub first: u64,
    /// The figure in the second profile.
    pub second: u64,
    /// Whether sampling error alone explains the difference.
    pub is_chance: bool,
}

impl Pair {
    /// Returns by how much the second figure is larger, relative to the first.
    pub fn change_ppm(&self) -> ChangePpm {
        let difference = i128::from(self.second) - i128::from(self.first);
        let ppm = difference * 1_000_000 / i128::from(self.first.max(1));
        i64::try_from(ppm).unwrap_or(if ppm < 0 { i64::MIN } else { i64::MAX })
    }

    fn is_beyond(&self, tolerance_ppm: u32) -> bool {
        self.change_ppm().unsigned_abs() > u64::from(tolerance_ppm)
    }
}

/// The figures of one table in both profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The table's name, for example `batch of reads of 128KiB`.
    pub name: String,
    /// The unit of its figures.
    pub unit: Unit,
    /// The number of entries that both profiles have.
    pub entries: usize,
    /// The median that changed most. A change that chance does not explain takes precedence.
    pub median: Option<Pair>,
    /// The 99 % quantile that changed most, chosen as for `median`. For rates it is the slowest
    /// stretch, and for starvation and flushes the longest time.
    pub tail: Option<Pair>,
    /// The entry in which the second profile's longest time exceeds the first one's by the largest
    /// ratio.
    pub exceeded: Option<Pair>,
}

impl Row {
    /// Returns whether a median or a tail changed by more than `tolerance_ppm` and by more than
    /// chance explains.
    pub fn has_moved(&self, tolerance_ppm: u32) -> bool {
        self.decisive().any(|pair| !pair.is_chance && pair.is_beyond(tolerance_ppm))
    }

    /// Returns whether a median or a tail changed by more than `tolerance_ppm`, and chance explains
    /// every change of that size.
    pub fn is_unsure(&self, tolerance_ppm: u32) -> bool {
        let is_beyond = self.decisive().any(|pair| pair.is_beyond(tolerance_ppm));
        is_beyond && !self.has_moved(tolerance_ppm)
    }

    fn decisive(&self) -> impl Iterator<Item = Pair> {
        [self.median, self.tail].into_iter().flatten()
    }
}

/// The comparison of two profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The facts about the devices that differ: name, value in the first profile, value in the
    /// second.
    pub facts: Vec<(String, String, String)>,
    /// The tables and the structural figures that both profiles have.
    pub rows: Vec<Row>,
    /// The names of the tables that only the first profile has.
    pub only_first: Vec<String>,
    /// The names of the tables that only the second profile has.
    pub only_second: Vec<String>,
}

impl Comparison {
    /// Compares everything that both files have.
    pub fn of(first: &DriveFile, second: &DriveFile) -> Self {
        let [a, b] = all_figures(first, second);
        let is_in = |list: &[Figures], name: &str| list.iter().any(|it| it.name == name);
        let names = |of: &[Figures], other: &[Figures]| {
            let missing = of.iter().filter(|it| !is_in(other, &it.name));
            missing.map(|it| it.name.clone()).collect()
        };
        let beside = |name: &str| b.iter().find(|it| it.name == name);
        let both: Vec<(&Figures, &Figures)> =
            a.iter().filter_map(|one| Some((one, beside(&one.name)?))).collect();
        let chance = ErrorLimit::among(both.iter().map(|(a, b)| a.sampled_beside(b)).sum());
        Self {
            facts: facts(first, second),
            rows: both.iter().map(|(a, b)| a.beside(b, chance)).collect(),
            only_first: names(&a, &b),
            only_second: names(&b, &a),
        }
    }

    /// Returns whether any median or tail changed by more than `tolerance_ppm` and by more than
    /// chance explains.
    pub fn has_moved(&self, tolerance_ppm: u32) -> bool {
        self.rows.iter().any(|row| row.has_moved(tolerance_ppm))
    }
}

fn all_figures(first: &DriveFile, second: &DriveFile) -> [Vec<Figures>; 2] {
    let [a, b] = structure::figures(first, second);
    let [mut all_a, mut all_b] = [first, second].map(figures::of_tables);
    all_a.extend(a);
    all_b.extend(b);
    [all_a, all_b]
}

impl Figures {
    /// Returns the number of medians and tails that both tables drew from samples.
    fn sampled_beside(&self, other: &Self) -> usize {
        let is_common = |&&entry: &&u32| other.index(entry).is_some();
        let is_sampled = !self.sampling.is_empty() && !other.sampling.is_empty();
        2 * if is_sampled { self.entries.iter().filter(is_common).count() } else { 0 }
    }

    fn beside(&self, other: &Self, chance: ErrorLimit) -> Row {
        let common = self.entries.iter().filter(|&&entry| other.index(entry).is_some());
        let most = |pairs: Vec<Pair>| {
            pairs.into_iter().max_by_key(|it| (!it.is_chance, it.change_ppm().unsigned_abs()))
        };
        let longest = self.pairs(other, |it| &it.longest, |_, _| false).into_iter();
        let above = longest.filter(|pair| pair.second > pair.first);
        let decided = |figure, of: fn(&Self) -> &Vec<u64>| {
            most(self.pairs(other, of, |a, b| chance.explains(figure, a, b)))
        };
        Row {
            name: self.name.clone(),
            unit: self.unit,
            entries: common.count(),
            median: decided(Figure::Median, |it| &it.median),
            tail: decided(Figure::Tail, |it| &it.tail),
            exceeded: above.max_by_key(Pair::change_ppm),
        }
    }

    /// Returns the values of one figure for each entry that both tables have.
    fn pairs(
        &self,
        other: &Self,
        of: fn(&Self) -> &Vec<u64>,
        explains: impl Fn(Sampling, Sampling) -> bool,
    ) -> Vec<Pair> {
        let pair = |(index, &entry): (usize, &u32)| {
            let place = other.index(entry)?;
            let sampling = (self.sampling.get(index), other.sampling.get(place));
            let is_chance = match sampling {
                (Some(&a), Some(&b)) => explains(a, b),
                _ => false,
            };
            let (first, second) = (*of(self).get(index)?, *of(other).get(place)?);
            Some(Pair { entry, first, second, is_chance })
        };
        self.entries.iter().enumerate().filter_map(pair).collect()
    }
}

/// Returns the facts that differ in the two files' descriptions of their devices.
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
mod tests;
