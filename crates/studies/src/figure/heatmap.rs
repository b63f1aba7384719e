// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws heat maps: a measure over two axes, darker where it is higher.

use std::collections::BTreeMap;

use tidegate_report::plot::{Area, Axis, Chart, Layer};

use super::{label, titled};
use crate::cell::Cell;
use crate::file::FigureFile;
use crate::published::Unit;
use crate::row::Row;

/// The tone of the lowest value.
const LIGHTEST: f64 = 60.0;
/// The tone of the highest value.
const DARKEST: f64 = 900.0;

/// The largest number of columns whose cells have room for text.
const COLUMNS_MAX: usize = 20;

/// Returns a panel for each measure and each combination of the other axes; all use the same tones.
pub(super) fn charts(file: &FigureFile, rows: &[Row]) -> Result<Vec<Chart>, String> {
    let unit = Unit::named(&file.y_unit)?;
    let (x, down) =
        file.x.as_ref().zip(file.rows.as_ref()).ok_or("a heat map needs `x` and `rows`")?;
    let of_axis = |name: &String| {
        let mut values: Vec<&Cell> = Vec::new();
        for cell in rows.iter().filter_map(|row| row.point.get(name)) {
            if !values.contains(&cell) {
                values.push(cell);
            }
        }
        values
    };
    let (columns, lines) = (of_axis(x), of_axis(down));
    let mut panels: BTreeMap<String, Vec<(usize, usize, f64)>> = BTreeMap::new();
    for row in rows {
        let place = |name: &String, values: &[&Cell]| {
            values.iter().position(|value| Some(*value) == row.point.get(name))
        };
        let (column, line) =
            place(x, &columns).zip(place(down, &lines)).ok_or("an axis is missing")?;
        for measure in &file.y {
            // A point without this measure leaves a gap.
            if let Some(value) = row.get(measure).and_then(Cell::number) {
                panels.entry(label(file, row, measure)).or_default().push((column, line, value));
            }
        }
    }
    let values = || panels.values().flatten().map(|cell| cell.2);
    let (low, high) =
        (values().reduce(f64::min).unwrap_or(0.0), values().reduce(f64::max).unwrap_or(0.0));
    let area = |&(column, line, value): &(usize, usize, f64)| {
        let share = if high > low { (value - low) / (high - low) } else { 0.0 };
        let tone = tidegate_stats::float::ceil((LIGHTEST + (DARKEST - LIGHTEST) * share).round());
        let text = if columns.len() > COLUMNS_MAX { String::new() } else { unit.number(value) };
        // The first line is at the top.
        let [column, line] = [column, lines.len() - 1 - line].map(|it| 2 * it as u64);
        Area { tone, text, ..Area::full((column, column + 2), (line, line + 2)) }
    };
    let named = |values: &[&Cell]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (across, mut beside) = (named(&columns), named(&lines));
    beside.reverse();
    let axis = |names: &[String], label: &str| {
        Axis::of_names(&names.iter().map(String::as_str).collect::<Vec<_>>(), label)
    };
    let range = format!("{} (light) to {} (dark)", unit.show(low), unit.show(high));
    let chart = |(label, cells): (&String, &Vec<(usize, usize, f64)>)| Chart {
        title: format!("{}, {range}", titled(file, label)),
        x: axis(&across, x),
        y: axis(&beside, down),
        curves: Vec::new(),
        points: Vec::new(),
        layers: vec![Layer { label: String::new(), areas: cells.iter().map(area).collect() }],
    };
    Ok(panels.iter().map(chart).collect())
}
