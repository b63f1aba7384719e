// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of a screen, built from top to bottom, and the two forms of every report.
//!
//! ```text
//!   the answer                    its first line, which `--quiet` prints alone
//!   table                         as wide as the terminal at most, else a block for each row
//!   label        paragraph        wrapped between words
//! ```

mod answer;
mod note;
mod table;
mod wrap;

use std::fmt::{self, Display, Write as _};
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

use crate::plot::{Chart, text};

pub use answer::{Answer, Look, Tone};
pub use note::Note;
pub use table::Table;
pub use tidegate_model::printable;
pub use wrap::wrapped;
use wrap::wrapped_command;

/// A result that people read as text and programs as JSON.
///
/// Both forms are made from the same value, so that the JSON contains every figure of the text.
pub trait Report: Serialize {
    /// Returns the screen's first line; `None` for a report that only lists facts.
    fn answer(&self) -> Option<Answer> {
        None
    }

    /// Writes the text for people, below the answer.
    fn write(&self, page: &mut Page);

    /// Returns the text for people: the answer, then everything else.
    fn to_text(&self, look: Look) -> String {
        let mut page = Page::new(look);
        if let Some(answer) = self.answer() {
            page.answer(&answer);
        }
        self.write(&mut page);
        page.into_text()
    }

    /// Returns the JSON object, indented, without a final line end. Names of keys end in their
    /// unit. The answer, if there is one, is the first key.
    fn to_json(&self) -> String {
        let mut value = serde_json::to_value(self).expect("a report is plain data");
        if let (Some(answer), Value::Object(object)) = (self.answer(), &mut value) {
            object.shift_insert(0, "answer".to_owned(), answer.text().into());
        }
        serde_json::to_string_pretty(&value).expect("a report is plain data")
    }
}

/// The width of labels, including the gap after them.
const LABEL_COLUMNS: usize = 13;

/// The width below which labels have no separate column.
const NARROW: usize = 60;

/// The text of a screen. `write!` and `writeln!` append text unchanged and cannot fail.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    look: Look,
}

impl Page {
    /// Creates an empty page for a terminal with this look.
    pub fn new(look: Look) -> Self {
        Self { text: String::new(), look }
    }

    /// Appends text; `write!` and `writeln!` call this.
    ///
    /// # Panics
    /// If the `Display` of a value fails.
    pub fn write_fmt(&mut self, text: fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all text");
    }

    /// Appends an answer, in the colour of its tone.
    pub fn answer(&mut self, answer: &Answer) {
        for line in wrapped(answer.text(), self.look.columns, "") {
            self.line(&line, Some(answer.tone()));
        }
    }

    /// Appends a paragraph without a label.
    pub fn paragraph(&mut self, text: impl Display) {
        for line in wrapped(&text.to_string(), self.look.columns, "") {
            self.line(&line, None);
        }
    }

    /// Appends an indented paragraph that explains the table above it.
    pub fn legend(&mut self, text: impl Display) {
        for line in wrapped(&text.to_string(), self.look.columns.saturating_sub(2), "") {
            self.line(&format!("  {line}"), None);
        }
    }

    /// Appends a paragraph with its label in a separate column. An empty label continues the
    /// paragraph above.
    pub fn labelled(&mut self, label: &str, text: impl Display) {
        self.labelled_as(label, text, None);
    }

    /// Appends a paragraph with its label, in the colour of a tone.
    pub fn labelled_as(&mut self, label: &str, text: impl Display, tone: Option<Tone>) {
        let text = text.to_string();
        let lines = if self.look.columns < NARROW {
            let text = if label.is_empty() { text } else { format!("{label}: {text}") };
            let indent = if label.is_empty() { "  " } else { "" };
            wrapped(&text, self.look.columns, indent)
        } else {
            let room = self.look.columns.saturating_sub(LABEL_COLUMNS);
            let lines = wrapped(&text, room, "").into_iter().enumerate();
            let shown = |index| if index == 0 { label } else { "" };
            lines.map(|(index, line)| format!("{:<12} {line}", shown(index))).collect()
        };
        for line in lines {
            self.line(&line, tone);
        }
    }

    /// Appends a command that can be pasted; each line except the last ends in a backslash.
    pub fn command(&mut self, label: &str, command: &str) {
        let is_narrow = self.look.columns < NARROW;
        let column = if is_narrow { 2 } else { LABEL_COLUMNS };
        let lines = wrapped_command(command, self.look.columns.saturating_sub(column), "  ");
        if is_narrow && !label.is_empty() {
            writeln!(self, "{label}:");
        }
        for (index, line) in lines.iter().enumerate() {
            let shown = if index == 0 && !is_narrow { label } else { "" };
            writeln!(self, "{shown:<column$}{line}");
        }
    }

    /// Returns the terminal's width in columns, clamped to these limits.
    pub(crate) fn columns_within(&self, limits: RangeInclusive<usize>) -> usize {
        self.look.columns.clamp(*limits.start(), *limits.end())
    }

    /// Appends a chart.
    pub(crate) fn chart(&mut self, chart: &Chart) {
        let text = text::draw(chart, self.look.columns);
        self.text.push_str(&text);
    }

    /// Appends rows that share one axis, in strips that fit the page; the first `head` characters
    /// of each row are its name. A strip's width is a multiple of 10 characters, so that no label
    /// of the axis is cut.
    pub(crate) fn strips(&mut self, rows: &str, head: usize) {
        const STEP: usize = 10;
        let rows: Vec<Vec<char>> = rows.lines().map(|row| row.chars().collect()).collect();
        let length = rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(head);
        let room = (self.look.columns.saturating_sub(head) / STEP * STEP).max(STEP);
        for start in (0..length).step_by(room) {
            if start > 0 {
                writeln!(self);
            }
            for row in &rows {
                let (name, cells) = row.split_at(head.min(row.len()));
                let line = name.iter().chain(cells.iter().skip(start).take(room));
                self.line(&line.collect::<String>(), None);
            }
        }
    }

    /// Appends a text of several lines; each is wrapped and keeps its indentation.
    pub fn lines(&mut self, text: &str) {
        for line in text.lines() {
            let indent = &line[..line.len() - line.trim_start().len()];
            let room = self.look.columns.saturating_sub(indent.len());
            for line in wrapped(line.trim_start(), room, "  ") {
                self.line(&format!("{indent}{line}"), None);
            }
        }
    }

    /// Appends a table.
    pub fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>, first_number: usize) {
        self.put(Table::new(header, rows, first_number));
    }

    /// Appends a table with its optional columns and tones.
    pub fn put(&mut self, table: Table) {
        for (line, tone) in table.lines(self.look.columns) {
            self.line(&line, tone);
        }
    }

    /// Appends a table given by columns; each column has a title and one cell per row.
    pub fn columns(&mut self, columns: &[(&str, Vec<String>)], first_number: usize) {
        self.put(Table::of_columns(columns, first_number));
    }

    /// Returns the whole text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Appends a line that fits, in the colour of a tone.
    pub(crate) fn toned(&mut self, line: &str, tone: Option<Tone>) {
        self.line(line, tone);
    }

    fn line(&mut self, line: &str, tone: Option<Tone>) {
        let line = printable(line.trim_end());
        match tone.filter(|_| self.look.is_coloured && !line.is_empty()) {
            Some(tone) => writeln!(self, "{}{line}{}", tone.start(), Tone::END),
            None => writeln!(self, "{line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(columns: usize, is_coloured: bool) -> Page {
        Page::new(Look { columns, is_coloured })
    }

    #[test]
    fn labels_stand_beside_their_text_or_before_it_if_there_is_no_room() {
        let write = |columns| {
            let mut page = page(columns, false);
            page.labelled(
                "Drive",
                "a drive with many words to tell about itself, and some more of them",
            );
            page.labelled("", "and a second one");
            page.command(
                "To do",
                "tidegate profile a-very-long-name-of-a-drive --only batch -o b.drive.toml",
            );
            page.into_text()
        };
        assert_eq!(
            write(60),
            "Drive        a drive with many words to tell about itself,\n             \
             and some more of them\n             and a second one\n\
             To do        tidegate profile a-very-long-name-of-a-drive \\\n               \
             --only batch -o b.drive.toml\n"
        );
        assert_eq!(
            write(40),
            "Drive: a drive with many words to tell\nabout itself, and some more of them\n\
             and a second one\nTo do:\n  tidegate profile \\\n    a-very-long-name-of-a-drive --only \\\n    \
             batch -o b.drive.toml\n"
        );
    }

    #[test]
    fn only_a_coloured_page_has_colours() {
        for (is_coloured, text) in [(false, "NO: a\n"), (true, "\u{1b}[31mNO: a\u{1b}[0m\n")] {
            let mut page = page(80, is_coloured);
            page.answer(&Answer::bad("NO: a"));
            assert_eq!(page.into_text(), text);
        }
    }
}
