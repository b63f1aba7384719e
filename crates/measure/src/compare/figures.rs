// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures of one profile, table by table, for comparison with those of another.

use tidegate_model::drive_file::{FlowPlace, MeasuredTable, SingleTimes, Throughput};
use tidegate_model::{Bytes, DriveFile, Duration, Op};

use super::sampling::Sampling;

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Rate,
    /// A number of zones or sectors.
    Count,
}

impl Unit {
    /// Returns the name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Rate => "bytes_per_s",
            Self::Count => "count",
        }
    }
}

/// The figures of one table; each list is empty or as long as `entries`.
pub(super) struct Figures {
    pub(super) name: String,
    pub(super) unit: Unit,
    /// The numbers that identify the entries, such as batch sizes.
    pub(super) entries: Vec<u32>,
    pub(super) median: Vec<u64>,
    pub(super) tail: Vec<u64>,
    /// The longest times; empty for rates.
    pub(super) longest: Vec<u64>,
    /// The samples behind each entry; empty if unknown.
    pub(super) sampling: Vec<Sampling>,
}

impl Figures {
    /// Returns a table of exact figures, without samples. Each figure comes with the number of its
    /// entry.
    pub(super) fn exact(
        name: &str,
        unit: Unit,
        figures: impl IntoIterator<Item = (u32, u64)>,
    ) -> Self {
        let (entries, median) = figures.into_iter().unzip();
        let [tail, longest] = [Vec::new(), Vec::new()];
        Self { name: name.to_owned(), unit, entries, median, tail, longest, sampling: Vec::new() }
    }

    fn of_table(section: &str, table: &MeasuredTable) -> Self {
        let name = format!("{section} of {}", kind(table.op, table.size));
        let random = table.random_ns_max();
        let times = Self::of_times(name, &table.quantiles_ns, random, table.samples);
        // The values that proofs use: each is raised to the longest time of the smaller batches.
        let longest = (1..=table.table.batch_max()).map(|n| table.table.time_max(n).ns());
        Self { longest: longest.collect(), ..times }
    }

    fn of_single(single: &SingleTimes) -> Self {
        let name = format!("single of {}", kind(Some(single.op), Some(single.size)));
        let quantiles_ns = single.ns_quantiles.map(|ns| vec![ns]);
        Self::of_times(name, &quantiles_ns, &[single.ns_max], Some(single.samples))
    }

    /// Returns the figures of a table of times: the quantiles and the longest time of each entry.
    fn of_times(
        name: String,
        quantiles_ns: &[Vec<u64>; 6],
        ns_max: &[u64],
        samples: Option<u64>,
    ) -> Self {
        let [_, _, p50, _, p99, _] = quantiles_ns;
        let lists = quantiles_ns.each_ref();
        let drawn = |(index, &longest): (usize, &u64)| {
            let [min, p10, p50, p90, p99, p999] = lists.map(|list| list.get(index).copied());
            let ns = [min?, p10?, p50?, p90?, p99?, p999?, longest];
            Some(Sampling::Times(ns, samples?))
        };
        let sampling: Option<Vec<_>> = ns_max.iter().enumerate().map(drawn).collect();
        Self {
            name,
            unit: Unit::Time,
            entries: (1..).take(ns_max.len()).collect(),
            median: p50.clone(),
            tail: p99.clone(),
            longest: ns_max.to_vec(),
            sampling: sampling.unwrap_or_default(),
        }
    }

    fn of_flow(flow: &Throughput) -> Self {
        let place = match flow.place {
            FlowPlace::Random => "random",
            FlowPlace::SequentialFirst => "sequential (first tenth)",
            FlowPlace::SequentialLast => "sequential (last tenth)",
        };
        let order = flow.elevator.map(|all| format!(" in the elevator's order of {all}"));
        let order = order.unwrap_or_default();
        let drawn = flow.bytes_per_s.iter().zip(&flow.bytes_per_s_min);
        Self {
            name: format!("throughput of {place} {}{order}", kind(Some(flow.op), Some(flow.size))),
            unit: Unit::Rate,
            entries: flow.depth.clone(),
            median: flow.bytes_per_s.clone(),
            tail: flow.bytes_per_s_min.clone(),
            longest: Vec::new(),
            sampling: drawn
                .map(|(&median, &slowest)| Sampling::Rates([median, slowest], flow.samples))
                .collect(),
        }
    }

    /// Returns the figures of a single longest time.
    fn of_limit(name: &str, time: Option<Duration>) -> Option<Self> {
        let longest = vec![time?.ns()];
        let exact = Self::exact(name, Unit::Time, []);
        Some(Self { entries: vec![1], tail: longest.clone(), longest, ..exact })
    }

    /// Returns the index of the entry with this number.
    pub(super) fn index(&self, entry: u32) -> Option<usize> {
        self.entries.iter().position(|&other| other == entry)
    }
}

/// Returns the figures of all tables of a profile.
pub(super) fn of_tables(file: &DriveFile) -> Vec<Figures> {
    let of = |section, tables: &[MeasuredTable]| -> Vec<Figures> {
        tables.iter().map(|table| Figures::of_table(section, table)).collect()
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
