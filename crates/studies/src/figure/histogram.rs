// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws histograms: the share of response times in each of many bars of equal width.

use std::collections::BTreeMap;

use tidegate_report::plot::{Axis, Chart, Curve};

use super::scale::Scale;
use super::{labelled, pairs, titled};
use crate::file::FigureFile;
use crate::row::Row;

/// The number of bars between two ticks. Recorded times have three digits, so with ten bars per
/// round number each recorded time falls into one bar.
const STRETCHES: u64 = 10;

/// Returns a panel for each point and measure; all have the same axes.
pub(super) fn charts(file: &FigureFile, rows: &[Row]) -> Result<Vec<Chart>, String> {
    let (across, up) = (Scale::of(&file.x_unit)?, Scale::of("%")?);
    let mut all = Vec::new();
    for (label, cell) in labelled(file, rows) {
        let steps = pairs(cell);
        let steps =
            steps.ok_or_else(|| format!("`{}` is no list of times", file.y.join("`, `")))?;
        all.push((label, steps));
    }
    let times = all.iter().flat_map(|(_, steps)| steps).map(|step| across.scaled(step.0));
    let x = Axis::reaching(times.max().unwrap_or(1), "", across.unit());
    let width = (x.ticks.get(1).map_or(x.end, |tick| tick.0) / STRETCHES).max(1);
    let shares = |steps: &[(f64, f64)]| {
        let jobs: f64 = steps.iter().map(|step| step.1).sum();
        let mut shares = BTreeMap::new();
        for &(time, count) in steps {
            let stretch = across.scaled(time).saturating_sub(1) / width;
            *shares.entry(stretch).or_insert(0.0) += count / jobs;
        }
        shares
    };
    let all: Vec<(String, BTreeMap<u64, f64>)> =
        all.into_iter().map(|(label, steps)| (label, shares(&steps))).collect();
    let highest = all.iter().flat_map(|(_, shares)| shares.values()).map(|it| up.scaled(*it));
    let y = Axis::reaching(highest.max().unwrap_or(1), "share", up.unit());
    let chart = |(label, shares): (String, BTreeMap<u64, f64>)| {
        let shares = shares.into_iter().map(|(stretch, share)| (stretch, up.scaled(share)));
        let points = outline(&shares.collect(), width);
        let curves = vec![Curve { label: String::new(), points }];
        let (x, y) = (x.clone(), y.clone());
        Chart { title: titled(file, &label), x, y, curves, points: Vec::new(), layers: Vec::new() }
    };
    Ok(all.into_iter().map(chart).collect())
}

/// Returns the outline of the bars, from the first to the last.
fn outline(shares: &BTreeMap<u64, u64>, width: u64) -> Vec<(u64, u64)> {
    let bars = shares.keys().next().into_iter().zip(shares.keys().next_back());
    let bars = bars.flat_map(|(first, last)| *first..=*last);
    bars.flat_map(|bar| {
        let share = shares.get(&bar).copied().unwrap_or(0);
        // Near `u64::MAX`, the last bar ends at `u64::MAX`.
        [(bar * width, share), (bar.saturating_add(1).saturating_mul(width), share)]
    })
    .collect()
}
