// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables of a study: the points of a grid with some measures, for people.

use std::fmt::Write as _;

use serde::Serialize;

use crate::cell::Cell;
use crate::expression::Results;
use crate::file::{ColumnFile, TableFile};
use crate::published::Unit;
use crate::row::Row;

/// A table of results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TableResult {
    /// The name of the table's files, without the extension.
    #[serde(skip)]
    pub(crate) file: String,
    /// The table's title.
    pub(crate) title: String,
    /// The headings, with units.
    pub(crate) header: Vec<String>,
    /// The lines, each with one cell per heading.
    pub(crate) rows: Vec<Vec<String>>,
    /// The number of columns that identify a line's point.
    pub(crate) axes: usize,
}

impl TableResult {
    /// Makes the table from the results.
    ///
    /// # Errors
    /// An unknown unit, which the check of the study excludes.
    pub(crate) fn of(file: &TableFile, results: &Results) -> Result<Self, String> {
        let rows = results.get(&file.grid).map_or(&[][..], Vec::as_slice);
        let units = file.columns.iter().map(|it| Unit::named(&it.unit));
        let units = units.collect::<Result<Vec<_>, _>>()?;
        let axes: Vec<&String> = rows.first().map_or(Vec::new(), |row| row.point.keys().collect());
        let headings = file.columns.iter().map(ColumnFile::heading);
        let values = |row: &Row| {
            let columns = file.columns.iter().zip(&units);
            columns.map(|(it, unit)| shown(it.of(row, results), *unit)).collect::<Vec<_>>()
        };
        let (header, rows) = match rows {
            // A grid with one point and no axes: the table has a line for each measure.
            [only] if axes.is_empty() => {
                let rows = headings.zip(values(only)).map(|(name, value)| vec![name, value]);
                (vec!["quantity".to_owned(), "value".to_owned()], rows.collect())
            }
            _ => {
                let header = axes.iter().map(|it| (*it).clone()).chain(headings).collect();
                let points = |row: &Row| row.point.values().map(ToString::to_string).collect();
                let line = |row: &Row| {
                    let mut line: Vec<String> = points(row);
                    line.extend(values(row));
                    line
                };
                (header, rows.iter().map(line).collect())
            }
        };
        let (file, title, axes) = (file.file.clone(), file.title.clone(), axes.len().max(1));
        Ok(Self { file, title, header, rows, axes })
    }

    /// Returns the table as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        let mut line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|it| it.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        line(&self.header);
        line(&vec!["---".to_owned(); self.header.len()]);
        for row in &self.rows {
            line(row);
        }
        text
    }
}

impl ColumnFile {
    fn heading(&self) -> String {
        let title = self.title.clone().unwrap_or_else(|| self.measure.replace('_', " "));
        if self.unit.is_empty() { title } else { format!("{title} ({})", self.unit) }
    }

    /// Returns the column's measure at the row's point, from this grid or from another.
    fn of<'a>(&self, row: &'a Row, results: &'a Results) -> Option<&'a Cell> {
        let Some(grid) = &self.grid else { return row.get(&self.measure) };
        let is_same = |other: &&Row| {
            other.point.iter().all(|(name, value)| row.point.get(name) == Some(value))
        };
        results.get(grid)?.iter().find(is_same)?.get(&self.measure)
    }
}

fn shown(cell: Option<&Cell>, unit: Unit) -> String {
    match cell {
        None => "-".to_owned(),
        Some(Cell::Bool(is)) => if *is { "yes" } else { "no" }.to_owned(),
        Some(cell) => cell.number().map_or_else(|| cell.to_string(), |it| unit.number(it)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &str) -> TableFile {
        toml::from_str(&format!("file = 'f'\ntitle = 't'\ngrid = 'main'\ncolumns = {columns}"))
            .unwrap()
    }

    fn row(point: &[(&str, i64)], measure: &str, cell: Option<Cell>) -> Row {
        Row {
            point: point.iter().map(|(name, z)| ((*name).to_owned(), Cell::Int(*z))).collect(),
            measures: [(measure.to_owned(), cell)].into(),
        }
    }

    #[test]
    fn a_table_joins_grids_at_their_common_axes() {
        let main = [(1, Some(Cell::Int(5_000_000))), (2, None)];
        let main = main.map(|(z, ns)| row(&[("z", z), ("seed", 1)], "ns", ns));
        let proof = vec![row(&[("z", 2)], "is_met", Some(Cell::Bool(true)))];
        let results: Results =
            [("main".to_owned(), main.to_vec()), ("proof".to_owned(), proof)].into();
        let file = table(
            "[{ measure = 'ns', unit = 'ms' }, { measure = 'is_met', grid = 'proof', title = 'a|b' }]",
        );
        let made = TableResult::of(&file, &results).unwrap();
        assert_eq!(made.header, ["seed", "z", "ns (ms)", "a|b"]);
        assert_eq!(made.rows, [["1", "1", "5", "-"], ["1", "2", "-", "yes"]]);
        assert!(made.markdown().contains("| seed | z | ns (ms) | a\\|b |\n| --- |"));
    }

    #[test]
    fn a_grid_without_axes_has_a_line_for_each_measure() {
        let results: Results =
            [("main".to_owned(), vec![row(&[], "rpm", Some(Cell::Int(10_000)))])].into();
        let made = TableResult::of(&table("[{ measure = 'rpm' }]"), &results).unwrap();
        assert_eq!(made.rows, [["rpm", "10000"]]);
    }
}
