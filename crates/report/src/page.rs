// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of a screen, built from top to bottom, and the two forms of every report.

use std::fmt::{self, Display, Write as _};

use comfy_table::{CellAlignment, Table};
use serde::Serialize;

/// A result that people read as text and programs as JSON.
///
/// Both forms are made from the same value, so that the JSON contains every figure of the text.
pub trait Report: Serialize {
    /// Writes the text for people.
    fn write(&self, page: &mut Page);

    /// Returns the text for people.
    fn to_text(&self) -> String {
        let mut page = Page::default();
        self.write(&mut page);
        page.into_text()
    }

    /// Returns the JSON object, indented, without a line end. Names end in their unit.
    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data")
    }
}

/// The text of a screen. `write!` and `writeln!` append to it and cannot fail.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
}

impl Page {
    /// Appends text: `write!` and `writeln!` call it.
    ///
    /// # Panics
    /// If the `Display` of a value fails.
    pub fn write_fmt(&mut self, text: fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all text");
    }

    /// Appends a paragraph with its label in a column of its own.
    pub fn labelled(&mut self, label: &str, text: impl Display) {
        writeln!(self, "{label:<12} {text}");
    }

    /// Appends a table.
    pub fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>, first_number: usize) {
        self.text.push_str(&table(header, rows, first_number));
    }

    /// Appends a table of columns; each column has a title and a cell for each row.
    pub fn columns(&mut self, columns: &[(&str, Vec<String>)], first_number: usize) {
        let header: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
        let count = columns.first().map_or(0, |(_, cells)| cells.len());
        let row = |index: usize| columns.iter().map(|(_, cells)| cells[index].clone()).collect();
        self.table(&header, (0..count).map(row).collect(), first_number);
    }

    /// Returns the whole text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Formats a table with a header; columns from `first_number` on are aligned to the right.
fn table(header: &[&str], rows: Vec<Vec<String>>, first_number: usize) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(header.iter().map(|title| title.replace('_', " ")));
    for row in rows {
        table.add_row(row);
    }
    for index in 0..header.len() {
        let column = table.column_mut(index).expect("a column of the header");
        column.set_padding((if index == 0 { 2 } else { 1 }, 1));
        if index >= first_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = table.to_string();
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}
