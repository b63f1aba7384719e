// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The plots of a run in a terminal: the distribution of response times; throughput, misses and
//! tokens over time; and the longest busy interval.

use std::collections::BTreeMap;

use crate::figures;
use crate::page::Page;
use crate::plot::{Axis, Chart, bar};
use crate::result::{BusyIntervalRecord, OverTimeRecord, RunRecord, SourceRecord, Ways};
use tidegate_model::Duration;

/// The smallest and the largest number of columns of a timeline, including the names of its rows.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=79;
/// The largest number of rows of a timeline.
const ROWS_MAX: usize = 24;
/// The largest number of characters in a name.
const LETTERS: usize = 16;
/// The smallest number of columns per batch. A timeline without room for all batches shows only the
/// first ones.
const COLUMNS_PER_BATCH: usize = 5;

/// One percent, in the unit of the vertical axis.
const PERCENT: u64 = 1_000;

/// Writes the plots of every run.
pub fn write_plots(runs: &[RunRecord], page: &mut Page) {
    for run in runs {
        writeln!(page);
        if run.sources.iter().all(|it| it.is_best_effort || it.response_ns_steps.is_empty()) {
            page.legend(format!("{}: no real-time job is complete", run.policy));
        } else {
            page.chart(&distribution(run));
        }
        if let Some(charts) = run.over_time.as_ref().map(OverTimeRecord::charts) {
            over_time(run, &charts, page);
        }
        if let Some(interval) = &run.longest_busy_interval {
            timeline(run, interval, page);
        }
    }
}

/// The largest number of characters in a row's title.
const TITLE: usize = 30;

/// Writes a row for each chart over time.
fn over_time(run: &RunRecord, charts: &[Chart], page: &mut Page) {
    let points = |chart: &Chart| chart.curves.iter().map(|it| it.points.len()).sum::<usize>();
    let Some(longest) = charts.iter().map(points).max() else { return };
    let titles = charts.iter().map(|chart| chart.title.chars().count());
    let letters = titles.max().unwrap_or(0).min(TITLE);
    let highest: Vec<String> = charts.iter().map(highest).collect();
    let beside = letters + 4 + highest.iter().map(String::len).max().unwrap_or(0);
    let cells = page.columns_within(COLUMNS).saturating_sub(beside).clamp(4, longest.max(4));
    let seconds = charts[0].x.end / 1_000_000_000;
    writeln!(page);
    page.legend(format!(
        "{}: over time, {seconds} s; each row up to its highest value",
        run.policy
    ));
    for (chart, highest) in charts.iter().zip(highest) {
        let title: String = chart.title.chars().take(letters).collect();
        writeln!(page, "  {title:letters$} {} {highest}", row_of(chart, cells));
    }
}

/// Returns a row of bars: the mean of a chart's values in each cell.
fn row_of(chart: &Chart, cells: usize) -> String {
    let mut sums = vec![(0_u128, 0_u128); cells];
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let highest = u128::from(points().map(|point| point.1).max().unwrap_or(0).max(1));
    for &(x, y) in points() {
        let cell = usize::try_from(chart.x.place(x, cells as u64)).expect("a cell");
        let (sum, count) = &mut sums[cell.min(cells - 1)];
        (*sum, *count) = (*sum + u128::from(y), *count + 1);
    }
    sums.iter().map(|&(sum, count)| bar(sum, (highest * count).max(1))).collect()
}

/// Formats the highest value of a chart.
fn highest(chart: &Chart) -> String {
    let values = chart.curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
    let (highest, size) = (values.max().unwrap_or(0), chart.y.size);
    if size == 1 {
        return format!("{highest} {}", chart.y.unit);
    }
    format!("{}.{} {}", highest / size, highest % size * 10 / size, chart.y.unit)
}

/// Returns the chart of the response times of all tasks together.
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

/// The part of the interval that fits into the columns.
struct Strip {
    begin: u64,
    end: u64,
    columns: usize,
    /// The largest number of batches that are dispatched in this part.
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

    /// Returns the row of a source, which shows when its requests waited and when they were on the
    /// drive. A request on the drive hides waiting ones.
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
