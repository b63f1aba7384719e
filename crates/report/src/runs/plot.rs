// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The plots of a run in a terminal: how many jobs took at most a time, and the longest busy
//! interval.

use std::collections::BTreeMap;

use crate::figures;
use crate::page::Page;
use crate::plot::{Axis, Chart};
use crate::result::{BusyIntervalRecord, RunRecord, SourceRecord, Ways};
use tidegate_model::Duration;

/// The columns of a timeline, at least and at most, with the names of its rows.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=79;
/// The most rows of a timeline, and the most letters of a name.
const ROWS_MAX: usize = 24;
const LETTERS: usize = 16;
/// The columns for each batch, below which a timeline shows only the first batches.
const COLUMNS_PER_BATCH: usize = 5;

/// One percent, in the unit of the vertical axis.
const PERCENT: u64 = 1_000;

/// Writes the plots of every run.
pub fn write_plots(runs: &[RunRecord], page: &mut Page) {
    for run in runs {
        writeln!(page);
        if run.sources.iter().all(|it| it.is_best_effort || it.response_ns_steps.is_empty()) {
            page.legend(format!(
                "{}: no real-time job is complete, so nothing is drawn",
                run.policy
            ));
            continue;
        }
        page.chart(&distribution(run));
        if let Some(interval) = &run.longest_busy_interval {
            timeline(run, interval, page);
        }
    }
}

/// Returns the chart of the real-time jobs of all tasks together.
fn distribution(run: &RunRecord) -> Chart {
    let mut counts = BTreeMap::new();
    for source in run.sources.iter().filter(|source| !source.is_best_effort) {
        for &(ns, count) in &source.response_ns_steps {
            *counts.entry(ns).or_insert(0_u64) += count;
        }
    }
    let jobs: u64 = counts.values().sum();
    let (mut up_to, mut points) = (0, vec![(0, 0)]);
    for (&ns, count) in &counts {
        let share = |up_to: u64| {
            let share = u128::from(up_to) * u128::from(100 * PERCENT) / u128::from(jobs.max(1));
            u64::try_from(share).expect("at most all of them")
        };
        points.push((ns, share(up_to)));
        up_to += count;
        points.push((ns, share(up_to)));
    }
    let longest = counts.keys().next_back().copied().unwrap_or(0);
    Chart::of_curve(
        format!("{}: jobs whose response took at most a time", run.policy),
        Axis::ending_at(longest, "response time", ("ms", 1_000_000)),
        Axis::ending_at(100 * PERCENT, "jobs", ("%", PERCENT)),
        points,
    )
}

/// The stretch of time that fits into the columns.
struct Strip {
    begin: u64,
    end: u64,
    columns: usize,
    /// The batches that are dispatched in it.
    batches: usize,
}

impl Strip {
    fn of(ways: &Ways, columns: usize) -> Self {
        let batches = columns / COLUMNS_PER_BATCH;
        let end = ways.batches.values().nth(batches).copied().unwrap_or(ways.end);
        Self { begin: ways.begin, end: end.max(ways.begin + 1), columns, batches }
    }

    fn column(&self, at: u64) -> usize {
        let passed = u128::from(at.clamp(self.begin, self.end) - self.begin);
        let column = passed * (self.columns as u128 - 1) / u128::from(self.end - self.begin);
        usize::try_from(column).expect("not beyond the end")
    }

    /// Returns the row that shows when batches are dispatched.
    fn dispatches(&self, ways: &Ways) -> String {
        let mut row = vec![' '; self.columns];
        for &at in ways.batches.values().filter(|at| **at < self.end) {
            row[self.column(at)] = '|';
        }
        row.into_iter().collect()
    }

    /// Returns the row of a source: when its requests waited, and when they were on the drive,
    /// which hides those that wait.
    fn row(&self, ways: &Ways, source: u32) -> String {
        let mut row = vec![' '; self.columns];
        for way in ways.requests.values().filter(|way| way.source == source) {
            let left = way.left.unwrap_or(ways.end);
            let dispatched = way.dispatched.unwrap_or(left);
            if let Some(released) = way.released.filter(|at| *at < self.end) {
                let waits = &mut row[self.column(released)..=self.column(dispatched)];
                waits.iter_mut().filter(|cell| **cell == ' ').for_each(|cell| *cell = '-');
            }
            if way.dispatched.is_some_and(|at| at < self.end) {
                row[self.column(dispatched)..=self.column(left)].fill('#');
            }
        }
        row.into_iter().collect()
    }
}

/// Writes a row for each source of the longest busy interval.
fn timeline(run: &RunRecord, interval: &BusyIntervalRecord, page: &mut Page) {
    let ways = Ways::of(interval);
    let rows = ways.rows();
    let name =
        |source: u32| run.sources.get(source as usize).map_or("", |it: &SourceRecord| &it.name);
    let letters = rows.keys().map(|&source| name(source).chars().count()).max().unwrap_or(0);
    let letters = letters.min(LETTERS);
    let strip = Strip::of(&ways, page.columns_within(COLUMNS) - letters - 4);
    let ms = |ns| figures::ms_ceil(Duration::from_ns(ns));
    writeln!(page);
    page.legend(format!(
        "{}: the longest busy interval, {}; - waits, # is on the drive, | a batch is sent",
        run.policy,
        ms(interval.end_ns - interval.begin_ns)
    ));
    let mut line = |name: &str, cells: &str| {
        let name: String = name.chars().take(letters).collect();
        writeln!(page, "{}", format!("  {name:letters$} {cells}").trim_end());
    };
    line("", &strip.dispatches(&ways));
    for &source in rows.keys().take(ROWS_MAX) {
        line(name(source), &strip.row(&ways, source));
    }
    if rows.len() > ROWS_MAX {
        page.legend(format!("{} more rows are not shown", rows.len() - ROWS_MAX));
    }
    if ways.batches.len() > strip.batches {
        let shown = ms(strip.end - strip.begin);
        page.legend(format!("only the first {} batches are shown, {shown}", strip.batches));
    }
}
