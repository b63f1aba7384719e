// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A table that fits its page: optional columns are left out first, and if the others are still too
//! wide, each row becomes a block of lines. No cell is truncated.

use comfy_table::CellAlignment;

use super::{Tone, wrapped};

/// A table: titles, rows, and the columns that can be left out.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The index of the first column with numbers, which are aligned to the right.
    first_number: usize,
    /// The number of columns that name a row.
    named: usize,
    /// The titles of the columns that can be left out, in the order in which they are.
    optional: Vec<String>,
    tones: Vec<Option<Tone>>,
}

impl Table {
    /// Creates a table; columns from `first_number` on are aligned to the right.
    pub fn new(header: &[&str], rows: Vec<Vec<String>>, first_number: usize) -> Self {
        Self {
            header: header.iter().map(|title| title.replace('_', " ")).collect(),
            tones: vec![None; rows.len()],
            rows,
            first_number,
            named: first_number,
            optional: Vec::new(),
        }
    }

    /// Creates a table from columns; each column has a title and one cell per row.
    pub fn of_columns(columns: &[(&str, Vec<String>)], first_number: usize) -> Self {
        let header: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
        let count = columns.first().map_or(0, |(_, cells)| cells.len());
        let row = |index: usize| columns.iter().map(|(_, cells)| cells[index].clone()).collect();
        Self::new(&header, (0..count).map(row).collect(), first_number)
    }

    /// Names the columns that a narrow page leaves out, the least important first.
    #[must_use]
    pub fn optional(mut self, titles: &[&str]) -> Self {
        self.optional = titles.iter().map(|title| title.replace('_', " ")).collect();
        self
    }

    /// Sets the number of columns that name a row, if it is smaller than the number of columns
    /// aligned to the left.
    #[must_use]
    pub fn named(mut self, columns: usize) -> Self {
        self.named = columns;
        self
    }

    /// Sets the colours of the rows, in order.
    #[must_use]
    pub fn toned(mut self, tones: Vec<Option<Tone>>) -> Self {
        self.tones = tones;
        self
    }

    /// Returns the lines, each with its tone.
    pub(super) fn lines(mut self, columns: usize) -> Vec<(String, Option<Tone>)> {
        loop {
            let lines = self.table();
            if lines.iter().all(|line| line.chars().count() <= columns) {
                let tones = [None].into_iter().chain(self.tones);
                return lines.into_iter().zip(tones).collect();
            }
            if self.optional.is_empty() {
                return self.blocks(columns);
            }
            let title = self.optional.remove(0);
            self.leave_out(&title);
        }
    }

    fn leave_out(&mut self, title: &str) {
        let Some(index) = self.header.iter().position(|it| it == title) else { return };
        self.header.remove(index);
        for row in &mut self.rows {
            row.remove(index);
        }
        self.first_number -= usize::from(index < self.first_number);
        self.named -= usize::from(index < self.named);
    }

    fn table(&self) -> Vec<String> {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header(&self.header);
        for row in &self.rows {
            table.add_row(row);
        }
        for index in 0..self.header.len() {
            let column = table.column_mut(index).expect("a column of the header");
            column.set_padding((if index == 0 { 2 } else { 1 }, 1));
            if index >= self.first_number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string().lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Returns a block for each row: the row's names, then one line per other cell. A row without
    /// other cells becomes a heading.
    fn blocks(&self, columns: usize) -> Vec<(String, Option<Tone>)> {
        let count = self.named.max(1).min(self.header.len());
        let titles = &self.header[count..];
        let width = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
        let indent = " ".repeat(width + 2);
        let mut lines = Vec::new();
        for (row, tone) in self.rows.iter().zip(&self.tones) {
            let (named, cells) = row.split_at(count);
            let named: Vec<&str> =
                named.iter().map(|it| it.trim()).filter(|it| !it.is_empty()).collect();
            // If a number names the row, the block needs the column's title too.
            let title = if self.first_number == 0 { &*self.header[0] } else { "" };
            let named = format!("{title} {}", named.join(", "));
            for line in wrapped(named.trim_start(), columns.saturating_sub(2), "  ") {
                lines.push((format!("  {line}"), *tone));
            }
            let said = titles.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
            for (title, cell) in said {
                let text = format!("{title:<width$}  {cell}");
                for line in wrapped(&text, columns.saturating_sub(4), &indent) {
                    lines.push((format!("    {line}"), *tone));
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows = vec![
            row(["dqf", "", "", ""]),
            row(["camera-1 to 16", "100.123ms", "21.202ms", "120.001ms"]),
        ];
        Table::new(&["task", "mean", "bound", "dead_line"], rows, 1).optional(&["mean"])
    }

    fn lines(columns: usize) -> Vec<String> {
        table().lines(columns).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn no_number_is_ever_cut() {
        for columns in 1..100 {
            let text = lines(columns).join("\n");
            assert!(text.contains("21.202ms") && text.contains("120.001ms"), "{columns}: {text}");
        }
    }

    #[test]
    fn columns_are_left_out_before_rows_become_blocks() {
        assert!(lines(80)[0].contains("mean"));
        let narrow = lines(42);
        assert!(narrow[0].contains("dead line") && !narrow[0].contains("mean"), "{narrow:?}");
        let block =
            ["  dqf", "  camera-1 to 16", "    bound      21.202ms", "    dead line  120.001ms"];
        assert_eq!(lines(30), block);
    }

    #[test]
    fn tones_stay_with_their_rows() {
        let tones = |columns| {
            let table = table().toned(vec![None, Some(Tone::Bad)]);
            table.lines(columns).into_iter().map(|(_, tone)| tone).collect::<Vec<_>>()
        };
        assert_eq!(tones(80), [None, None, Some(Tone::Bad)]);
        assert_eq!(tones(30), [None, Some(Tone::Bad), Some(Tone::Bad), Some(Tone::Bad)]);
    }
}
