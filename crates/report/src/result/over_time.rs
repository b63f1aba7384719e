// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput, misses, notices and tokens over time: the part of them that a result keeps, and
//! their charts.

use serde::{Deserialize, Serialize};
use tidegate_host::{EntryOverTime, RunMetrics, SourceMetrics};
use tidegate_model::parameters::TokenUnit;

use crate::figures;
use crate::plot::{Axis, Chart, Unit};

/// The unit of the horizontal axes.
const SECONDS: Unit = ("s", 1_000_000_000);

/// The largest number of entries with a chart of their throughput.
const ENTRIES_MAX: usize = 6;

/// A run over time, in equal slices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverTimeRecord {
    /// The length of a slice; the last slice can be cut short.
    pub slice_ns: u64,
    /// Tasks in the order of the workload file, then best effort. Numbered sources share one entry.
    pub entries: Vec<EntryRecord>,
    /// The tokens per second that best effort received at the end of each slice; `None` in a slice
    /// without a limit. The list is empty if nothing limited best effort in the whole run.
    pub tokens_per_s: Vec<Option<u64>>,
    /// The meaning of one token; `None` without tokens.
    pub token_unit: Option<TokenUnitRecord>,
}

/// The counts of an entry of the workload file in each slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// The entry's name.
    pub name: String,
    /// Whether the entry is best effort.
    pub is_best_effort: bool,
    /// The number of bytes of completed requests.
    pub bytes: Vec<u64>,
    /// The number of jobs that completed after their deadlines; empty for best effort.
    pub misses: Vec<u64>,
    /// The number of misses that were reported to the policy; empty for best effort.
    pub notices: Vec<u64>,
}

/// The meaning of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenUnitRecord {
    /// A token allows one request.
    Request,
    /// A token allows one byte.
    Byte,
    /// A token allows one nanosecond of the drive's time.
    DeviceNs,
}

impl OverTimeRecord {
    /// Returns the data over time that a result keeps of a run.
    pub(super) fn of(metrics: &RunMetrics) -> Self {
        let over_time = metrics.over_time();
        let sources: Vec<&SourceMetrics> = metrics.tasks().iter().chain(metrics.loads()).collect();
        let slices = over_time.slices();
        let entries = over_time.entries().iter();
        let entries = entries.map(|entry| EntryRecord::of(entry, &sources, slices));
        let rates = over_time.token_rate();
        let unit = rates.iter().flatten().next().map(|rate| TokenUnitRecord::of(rate.unit));
        let tokens = rates.iter().map(|rate| rate.map(|rate| rate.per_s));
        Self {
            slice_ns: over_time.slice().ns(),
            entries: entries.collect(),
            tokens_per_s: if unit.is_some() { tokens.collect() } else { Vec::new() },
            token_unit: unit,
        }
    }

    /// Checks the properties that every written record has, and on which charts rely.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let slices = self.entries.first().map_or(0, |entry| entry.bytes.len());
        let is_whole = |counts: &[u64]| counts.is_empty() || counts.len() == slices;
        let are_whole = |entry: &EntryRecord| {
            entry.bytes.len() == slices && is_whole(&entry.misses) && is_whole(&entry.notices)
        };
        let is_time = self.slice_ns.checked_mul(slices as u64).is_some_and(|all| all > 0);
        let tokens = self.tokens_per_s.len();
        let are_tokens_whole = tokens == 0 || tokens == slices;
        if self.entries.iter().all(are_whole) && are_tokens_whole && (is_time || slices == 0) {
            Ok(())
        } else {
            Err("over_time must have a count for each slice")
        }
    }

    /// Returns the number of entries without a chart of their throughput.
    pub(crate) fn entries_left_out(&self) -> usize {
        self.entries.len().saturating_sub(ENTRIES_MAX)
    }

    /// Returns the charts of a run: the throughput of each entry, all on one scale; misses and the
    /// notices about them; and tokens. The throughput charts leave out entries beyond
    /// [`ENTRIES_MAX`], and the last slice, which can be cut short.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let slices = self.entries.first().map_or(0, |entry| entry.bytes.len());
        if slices < 3 {
            return Vec::new();
        }
        let rate = |bytes: u64| {
            let per_s = u128::from(bytes) * 1_000_000_000 / u128::from(self.slice_ns);
            u64::try_from(per_s).unwrap_or(u64::MAX)
        };
        let shown = &self.entries[..self.entries.len().min(ENTRIES_MAX)];
        let rates: Vec<Vec<u64>> = shown
            .iter()
            .map(|it| it.bytes[..slices - 1].iter().map(|&it| rate(it)).collect())
            .collect();
        let highest = rates.iter().flatten().copied().max().unwrap_or(0);
        let mb_per_s = Axis::reaching(highest, "throughput", ("MB/s", 1_000_000));
        let mut charts: Vec<Chart> = shown
            .iter()
            .zip(rates)
            .map(|(entry, rates)| {
                self.chart(format!("throughput of {}", entry.name), mb_per_s.clone(), rates)
            })
            .collect();
        for entry in self.entries.iter().filter(|entry| entry.misses.iter().any(|&it| it > 0)) {
            let most = entry.misses.iter().copied().max().unwrap_or(0);
            let each = Axis::reaching(most, "misses", ("per slice", 1));
            let notices = entry.notices.iter().copied().fold(0, u64::saturating_add);
            let reported =
                if notices == 0 { String::new() } else { format!(", {notices} reported") };
            let title = format!("misses of {}{reported}", entry.name);
            charts.push(self.chart(title, each, entry.misses.clone()));
        }
        charts.extend(self.tokens(slices));
        charts
    }

    /// Returns the chart of the tokens; slices without a limit are left out.
    fn tokens(&self, slices: usize) -> Option<Chart> {
        let unit = match self.token_unit? {
            TokenUnitRecord::Request => ("requests/s", 1),
            TokenUnitRecord::Byte => ("MB/s", 1_000_000),
            TokenUnitRecord::DeviceNs => ("ms/s", 1_000_000),
        };
        let highest = self.tokens_per_s.iter().flatten().copied().max()?;
        let y = Axis::reaching(highest, "tokens", unit);
        let limited = (0..).zip(&self.tokens_per_s).filter_map(|(slice, it)| Some((slice, (*it)?)));
        let points = limited.map(|(slice, per_s)| (self.middle(slice), per_s)).collect();
        let title = "tokens of best effort".to_owned();
        Some(Chart::of_curve(title, self.seconds(slices), y, points))
    }

    fn chart(&self, title: String, y: Axis, values: Vec<u64>) -> Chart {
        let x = self.seconds(values.len());
        let points = (0..).map(|slice| self.middle(slice)).zip(values).collect();
        Chart::of_curve(title, x, y, points)
    }

    fn seconds(&self, slices: usize) -> Axis {
        Axis::ending_at(self.slice_ns * slices as u64, "time", SECONDS)
    }

    fn middle(&self, slice: u64) -> u64 {
        self.slice_ns * slice + self.slice_ns / 2
    }
}

impl EntryRecord {
    fn of(entry: &EntryOverTime, sources: &[&SourceMetrics], slices: usize) -> Self {
        let first = sources[entry.first.index()];
        let last = sources[entry.first.index() + entry.count as usize - 1];
        let name = match entry.count {
            1 => first.name.clone(),
            _ => figures::numbered(&first.name, &last.name),
        };
        let used = |counts: &[u64]| counts[..slices.min(counts.len())].to_vec();
        Self {
            name,
            is_best_effort: first.deadline.is_none(),
            bytes: used(&entry.bytes),
            misses: used(&entry.misses),
            notices: used(&entry.notices),
        }
    }
}

impl TokenUnitRecord {
    const fn of(unit: TokenUnit) -> Self {
        match unit {
            TokenUnit::Request => Self::Request,
            TokenUnit::Byte => Self::Byte,
            TokenUnit::DeviceTime => Self::DeviceNs,
        }
    }
}
