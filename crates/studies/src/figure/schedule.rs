// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws schedules: which thread executed, or where each request was, over time.

use std::collections::BTreeMap;

use tidegate_report::plot::{Area, Axis, Chart, Layer};

use super::scale::Scale;
use super::{labelled, titled};
use crate::cell::Cell;
use crate::file::FigureFile;
use crate::row::Row;

/// The gap on each side of a bar, in hundredths of a row.
const GAP: u64 = 12;

/// The height of a row in the chart's units.
const ROW: u64 = 100;

/// A bar: the row's name, the state and the time. Bars with the same name and number share a row.
struct Bar<'a> {
    name: &'a str,
    state: &'a str,
    time: (f64, f64),
    number: i64,
}

/// Returns a panel for each point and measure; all have the same horizontal axis.
pub(super) fn charts(file: &FigureFile, rows: &[Row]) -> Result<Vec<Chart>, String> {
    let scale = Scale::of(&file.x_unit)?;
    let mut all = Vec::new();
    for (label, cell) in labelled(file, rows) {
        let bars = bars(cell);
        let bars = bars.ok_or_else(|| format!("`{}` is no schedule", file.y.join("`, `")))?;
        all.push((label, bars));
    }
    let ends = all.iter().flat_map(|(_, bars)| bars).map(|bar| scale.scaled(bar.time.1));
    let x = Axis::ending_at(ends.max().unwrap_or(1), "time", scale.unit());
    let panel = |(label, bars): &(String, Vec<Bar<'_>>)| {
        chart(titled(file, label), bars, &scale, x.clone())
    };
    Ok(all.iter().map(panel).collect())
}

fn bars(cell: &Cell) -> Option<Vec<Bar<'_>>> {
    let Cell::List(bars) = cell else { return None };
    bars.iter().map(bar).collect()
}

fn bar(cell: &Cell) -> Option<Bar<'_>> {
    let Cell::List(parts) = cell else { return None };
    let [Cell::Text(name), Cell::Text(state), from, to, Cell::Int(number)] = &parts[..] else {
        return None;
    };
    let time = (from.number()?, to.number()?);
    Some(Bar { name, state, time, number: *number })
}

fn chart(title: String, bars: &[Bar<'_>], scale: &Scale, x: Axis) -> Chart {
    let rows = rows(bars);
    let count = rows.values().map(|row| row + 1).max().unwrap_or(1) as u64;
    let mut layers: Vec<Layer> = Vec::new();
    let mut ticks: BTreeMap<&str, u64> = BTreeMap::new();
    for bar in bars {
        // The first row is at the top.
        let bottom = (count - 1 - rows[&(bar.name, bar.number)] as u64) * ROW;
        let first = ticks.entry(bar.name).or_insert(bottom + ROW / 2);
        *first = (*first).max(bottom + ROW / 2);
        let index = layers.iter().position(|layer| layer.label == bar.state);
        let index = index.unwrap_or_else(|| {
            layers.push(Layer { label: bar.state.to_owned(), areas: Vec::new() });
            layers.len() - 1
        });
        let time = (scale.scaled(bar.time.0), scale.scaled(bar.time.1));
        layers[index].areas.push(Area::full(time, (bottom + GAP, bottom + ROW - GAP)));
    }
    let ticks = ticks.into_iter().map(|(name, middle)| (middle, name.to_owned())).collect();
    let y = Axis { label: String::new(), unit: "", size: 1, end: count * ROW, ticks };
    Chart { title, x, y, curves: Vec::new(), points: Vec::new(), layers }
}

/// Assigns a row to each name and number: names in the order of their first bar, and the fewest
/// rows for each name in which its bars do not overlap.
fn rows<'a>(bars: &[Bar<'a>]) -> BTreeMap<(&'a str, i64), usize> {
    let mut names: Vec<&str> = Vec::new();
    let mut extents: BTreeMap<(&str, i64), (f64, f64)> = BTreeMap::new();
    for bar in bars {
        if !names.contains(&bar.name) {
            names.push(bar.name);
        }
        let extent = extents.entry((bar.name, bar.number)).or_insert(bar.time);
        *extent = (extent.0.min(bar.time.0), extent.1.max(bar.time.1));
    }
    let mut rows = BTreeMap::new();
    let mut above = 0;
    for name in names {
        let mut of_name: Vec<_> = extents.iter().filter(|(key, _)| key.0 == name).collect();
        of_name.sort_by(|one, next| one.1.0.total_cmp(&next.1.0));
        let mut ends: Vec<f64> = Vec::new();
        for (key, (from, to)) in of_name {
            let free = ends.iter().position(|end| end <= from);
            let row = free.unwrap_or_else(|| {
                ends.push(0.0);
                ends.len() - 1
            });
            ends[row] = *to;
            rows.insert(*key, above + row);
        }
        above += ends.len();
    }
    rows
}
