// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws curves: measures over an axis, distributions, and lists over time.

use std::collections::BTreeMap;

use tidegate_model::Duration;
use tidegate_model::quantity::Quantity as _;
use tidegate_report::plot::{self, Chart, Curve};

use super::scale::Scale;
use super::{label, pairs};
use crate::cell::Cell;
use crate::file::{FigureFile, Form};
use crate::row::Row;

/// A curve before it is scaled.
type Points = Vec<(f64, f64)>;

/// The curves of a figure before they are scaled, and its axes.
struct Content<'a> {
    curves: BTreeMap<String, Points>,
    label: &'a str,
    x_unit: &'a str,
    y_unit: &'a str,
}

/// Makes the chart of the figure's curves.
pub(super) fn chart(file: &FigureFile, rows: &[Row]) -> Result<Chart, String> {
    let Content { curves, label, x_unit, y_unit } = Content::of(file, rows)?;
    let (x, y) = (Scale::of(x_unit)?, Scale::of(y_unit)?);
    let scaled =
        |points: Points| points.into_iter().map(|(a, b)| (x.scaled(a), y.scaled(b))).collect();
    let curves = curves.into_iter().map(|(label, points)| Curve { label, points: scaled(points) });
    let curves: Vec<Curve> = curves.collect();
    let points = || curves.iter().flat_map(|it| &it.points);
    let widest = points().map(|point| point.0).max().unwrap_or(1);
    let highest = points().map(|point| point.1).max().unwrap_or(1);
    let limit = file.y_max.as_ref().map_or(highest, |limit| y.scaled(limit.value()));
    Ok(Chart {
        title: file.title.clone(),
        x: plot::Axis::reaching(widest, label, x.unit()),
        y: plot::Axis::reaching(highest.min(limit), "", y.unit()),
        curves,
        points: Vec::new(),
        layers: Vec::new(),
    })
}

impl<'a> Content<'a> {
    fn of(file: &'a FigureFile, rows: &[Row]) -> Result<Self, String> {
        let (x_unit, y_unit) = (file.x_unit.as_str(), file.y_unit.as_str());
        Ok(match file.form {
            Form::Lines => {
                let label = file.x.as_deref().unwrap_or_default();
                Self { curves: lines(file, rows)?, label, x_unit, y_unit }
            }
            Form::Cdf => {
                Self { curves: apart(file, rows, cdf)?, label: "at most", x_unit, y_unit: "%" }
            }
            Form::Histogram | Form::Heatmap | Form::Schedule => {
                return Err("this form has no curves".to_owned());
            }
            Form::Series => {
                let slice =
                    file.x.as_deref().ok_or("a series needs the length of its slices in `x`")?;
                let slice = Duration::parse(slice).map_err(|error| error.to_string())?;
                let slice = tidegate_stats::float::of(slice.ns());
                let curves = apart(file, rows, |cell| series(cell, slice))?;
                Self { curves, label: "time", x_unit: "s", y_unit }
            }
        })
    }
}

/// Returns a curve for each measure and each combination of the other axes.
fn lines(file: &FigureFile, rows: &[Row]) -> Result<BTreeMap<String, Points>, String> {
    let axis = file.x.as_deref().ok_or("lines need an axis in `x`")?;
    let mut curves: BTreeMap<String, Points> = BTreeMap::new();
    for row in rows {
        let number = |name: &str| row.get(name).and_then(Cell::number);
        let x = number(axis).ok_or_else(|| format!("there is no number `{axis}`"))?;
        for measure in &file.y {
            // A point without this measure leaves a gap.
            if let Some(y) = number(measure) {
                curves.entry(label(file, row, measure)).or_default().push((x, y));
            }
        }
    }
    for points in curves.values_mut() {
        points.sort_by(|one, next| one.0.total_cmp(&next.0));
    }
    Ok(curves)
}

/// Returns a curve for each measure of each row.
fn apart(
    file: &FigureFile,
    rows: &[Row],
    points: impl Fn(&Cell) -> Option<Points>,
) -> Result<BTreeMap<String, Points>, String> {
    let mut curves = BTreeMap::new();
    for row in rows {
        for measure in &file.y {
            let cell = row.get(measure).and_then(&points);
            let points = cell.ok_or_else(|| format!("`{measure}` is no list of numbers"))?;
            curves.insert(label(file, row, measure), points);
        }
    }
    Ok(curves)
}

/// Returns the cumulative distribution of a list of pairs, each a time and a count.
fn cdf(cell: &Cell) -> Option<Points> {
    let steps = pairs(cell)?;
    let all: f64 = steps.iter().map(|step| step.1).sum();
    let mut below = 0.0;
    let mut points = Vec::new();
    for (at, count) in steps {
        points.push((at, below / all));
        below += count;
        points.push((at, below / all));
    }
    Some(points)
}

/// Returns the values of a list over time, each at the end of its time slice.
fn series(cell: &Cell, slice: f64) -> Option<Points> {
    let Cell::List(values) = cell else { return None };
    let values = values.iter().enumerate();
    values
        .map(|(index, cell)| {
            Some((tidegate_stats::float::of_length(index + 1) * slice, cell.number()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_rise_at_their_times() {
        let pair = |ns, count| Cell::List(vec![Cell::Int(ns), Cell::Int(count)]);
        let steps = Cell::List(vec![pair(1, 1), pair(3, 3)]);
        assert_eq!(cdf(&steps), Some(vec![(1.0, 0.0), (1.0, 0.25), (3.0, 0.25), (3.0, 1.0)]));
    }
}
