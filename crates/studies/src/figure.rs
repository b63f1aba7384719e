// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws the figures of a study.

mod curves;
mod heatmap;
mod histogram;
mod scale;
mod schedule;

use tidegate_report::plot;

use crate::cell::Cell;
use crate::expression::Results;
use crate::file::{FigureFile, Form};
use crate::row::Row;

/// Returns the figure as SVG.
///
/// # Errors
/// The description of a missing measure, axis or unit.
pub(crate) fn draw(heading: &str, file: &FigureFile, results: &Results) -> Result<String, String> {
    let rows =
        results.get(&file.grid).ok_or_else(|| format!("there is no grid `{}`", file.grid))?;
    let charts = match file.form {
        Form::Lines | Form::Cdf | Form::Series => vec![curves::chart(file, rows)?],
        Form::Histogram => histogram::charts(file, rows)?,
        Form::Heatmap => heatmap::charts(file, rows)?,
        Form::Schedule => schedule::charts(file, rows)?,
    };
    Ok(plot::svg(heading, &charts))
}

/// Returns the measures of all rows that have them, each with the name that distinguishes it from
/// the others.
fn labelled<'a>(file: &FigureFile, rows: &'a [Row]) -> Vec<(String, &'a Cell)> {
    let of_row = |row: &'a Row| {
        let cells = file.y.iter().filter_map(|measure| Some((measure, row.get(measure)?)));
        cells.map(|(measure, cell)| (label(file, row, measure), cell)).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}

/// Returns a curve's name: the measure and the values that distinguish it from the other curves.
fn label(file: &FigureFile, row: &Row, measure: &str) -> String {
    let is_drawn =
        |name: &String| Some(name) == file.x.as_ref() || Some(name) == file.rows.as_ref();
    let others = row.point.iter().filter(|(name, _)| !is_drawn(name));
    let mut parts: Vec<String> = others
        .map(|(name, cell)| match cell {
            Cell::Text(text) => text.clone(),
            _ => format!("{name} {cell}"),
        })
        .collect();
    if file.y.len() > 1 {
        parts.push(measure.trim_end_matches("_over_time").replace('_', " "));
    }
    parts.join(", ")
}

/// Returns the title of one of several panels.
fn titled(file: &FigureFile, label: &str) -> String {
    if label.is_empty() { file.title.clone() } else { format!("{}: {label}", file.title) }
}

/// Returns a list of pairs of numbers, such as times and counts.
fn pairs(cell: &Cell) -> Option<Vec<(f64, f64)>> {
    let Cell::List(steps) = cell else { return None };
    let pair = |step: &Cell| match step {
        Cell::List(pair) => Some((pair.first()?.number()?, pair.get(1)?.number()?)),
        _ => None,
    };
    steps.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::Point;

    pub(super) fn results(measure: &str, cells: Vec<Cell>) -> Results {
        let row = |(x, cell): (i64, Cell)| Row {
            point: Point::from([
                ("x".to_owned(), Cell::Int(x)),
                ("name".to_owned(), Cell::Text("n".to_owned())),
            ]),
            measures: [(measure.to_owned(), Some(cell))].into(),
        };
        [("main".to_owned(), (1..).zip(cells).map(row).collect())].into()
    }

    fn drawn(text: &str, measure: &str, cells: Vec<Cell>) -> Result<String, String> {
        let file = format!("file = \"f\"\ntitle = \"t\"\ngrid = \"main\"\n{text}");
        draw("h", &toml::from_str(&file).unwrap(), &results(measure, cells))
    }

    fn pair(ns: i64, count: i64) -> Cell {
        Cell::List(vec![Cell::Int(ns), Cell::Int(count)])
    }

    #[test]
    fn lines_and_series_have_their_curves() {
        let lines = "x = \"x\"\ny = [\"ns\"]\ny_unit = \"ms\"";
        let svg = drawn(lines, "ns", vec![Cell::Int(1_000_000), Cell::Int(5_000_000)]);
        assert!(svg.unwrap().contains("class=\"curve\""));
        let over_time = "form = \"series\"\nx = \"1s\"\ny = [\"r\"]\ny_unit = \"MB/s\"";
        let svg = drawn(over_time, "r", vec![Cell::List(vec![Cell::Int(8_000_000)])]);
        assert!(svg.unwrap().contains("MB/s"));
    }

    #[test]
    fn a_measure_that_is_no_list_is_named() {
        for form in ["series", "cdf", "histogram", "schedule"] {
            let text = format!("form = \"{form}\"\nx = \"1s\"\ny = [\"r\"]");
            assert!(drawn(&text, "r", vec![Cell::Int(1)]).unwrap_err().contains("`r`"), "{form}");
        }
    }

    /// Goal: a bar contains the times above its start and up to its end. Method: four times, of
    /// which three are in one bar.
    #[test]
    fn a_histogram_has_a_panel_for_each_point() {
        let steps = Cell::List(vec![pair(900_000, 1), pair(1_000_000, 2), pair(10_000_000, 1)]);
        let text = "form = \"histogram\"\nx_unit = \"ms\"\ny = [\"r\"]";
        let svg = drawn(text, "r", vec![steps.clone(), steps]).unwrap();
        assert!(svg.contains(">t: n, x 1<") && svg.contains(">t: n, x 2<"), "{svg}");
        assert!(svg.contains(">80<") && !svg.contains(">100<"), "{svg}");
    }

    /// Goal: no time is too long for a bar. Method: the longest representable time.
    #[test]
    fn a_histogram_ends_at_the_last_time() {
        let ever = Cell::List(vec![Cell::Float(1.9e19), Cell::Int(1)]);
        let text = "form = \"histogram\"\nx_unit = \"ms\"\ny = [\"r\"]";
        let svg = drawn(text, "r", vec![Cell::List(vec![pair(1, 1), ever])]).unwrap();
        assert!(svg.contains(">t: n, x 1<"), "{svg}");
    }

    #[test]
    fn a_heat_map_shows_each_value() {
        let text = "form = \"heatmap\"\nx = \"x\"\nrows = \"name\"\ny = [\"r\"]\ny_unit = \"ms\"";
        let svg = drawn(text, "r", vec![Cell::Int(12_000_000), Cell::Int(7_500_000)]).unwrap();
        assert!(svg.contains(">12<") && svg.contains(">7.5<") && svg.contains(">n<"), "{svg}");
        assert_eq!(svg.matches("class=\"cell\"").count(), 2);
        assert!(!svg.contains("class=\"grid\""), "{svg}");
    }

    #[test]
    fn a_schedule_has_a_row_for_each_request_at_once() {
        let bar = |state: &str, from, to, id| {
            let text = |text: &str| Cell::Text(text.to_owned());
            Cell::List(vec![
                text("load"),
                text(state),
                Cell::Int(from),
                Cell::Int(to),
                Cell::Int(id),
            ])
        };
        let bars = vec![
            bar("waits", 0, 5, 1),
            bar("runs", 5, 9, 1),
            bar("runs", 7, 8, 2),
            bar("runs", 9, 12, 3),
        ];
        let text = "form = \"schedule\"\ny = [\"r\"]";
        let svg = drawn(text, "r", vec![Cell::List(bars)]).unwrap();
        assert_eq!(svg.matches("class=\"cell\"").count(), 4);
        assert_eq!(svg.matches(">load<").count(), 1, "{svg}");
        assert!(svg.contains(">waits<") && svg.contains(">runs<"));
    }
}
