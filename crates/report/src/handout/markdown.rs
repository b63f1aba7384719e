// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The handout as Markdown, for an issue, a wiki or a mail, without charts.

use std::fmt::Write as _;

use tidegate_model::is_hidden;

use super::sheet::Sheet;

/// The text of a handout.
#[derive(Debug, Default)]
pub(super) struct Markdown(String);

impl Markdown {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn block(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn row(&mut self, cells: &[impl AsRef<str>]) {
        let cells: Vec<String> = cells.iter().map(|cell| plain(cell.as_ref())).collect();
        let _ = writeln!(self.0, "| {} |", cells.join(" | "));
    }
}

/// Returns a text that Markdown shows unchanged. A line end becomes a space, and every other hidden
/// character becomes `?`.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => shown.push(' '),
            // A backslash is not sufficient: hosts search the rendered page for names to notify.
            '@' => shown.push_str("@&#8203;"),
            letter if is_hidden(letter) => shown.push('?'),
            letter => {
                if "\\`*_{}[]<>#|&~$".contains(letter) {
                    shown.push('\\');
                }
                shown.push(letter);
            }
        }
    }
    shown
}

impl Sheet for Markdown {
    fn heading(&mut self, level: u8, text: &str) {
        self.block(&format!("{} {}", "#".repeat(level.into()), plain(text)));
    }

    fn answer(&mut self, text: &str) {
        self.block(&format!("**{}**", plain(text)));
    }

    fn paragraph(&mut self, text: &str) {
        self.block(&plain(text));
    }

    /// The note is left out, because it explains a chart.
    fn note(&mut self, _text: &str) {}

    fn facts(&mut self, rows: &[(&str, String)]) {
        let line =
            |(label, value): &(&str, String)| format!("- {}: {}", plain(label), plain(value));
        let lines: Vec<String> = rows.iter().map(line).collect();
        if !lines.is_empty() {
            self.block(&lines.join("\n"));
        }
    }

    fn list(&mut self, items: &[String]) {
        let lines: Vec<String> = items.iter().map(|item| format!("- {}", plain(item))).collect();
        if !lines.is_empty() {
            self.block(&lines.join("\n"));
        }
    }

    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) {
        self.0.push('\n');
        self.row(header);
        // The first column contains names, the others contain numbers.
        let others = " ---: |".repeat(header.len().saturating_sub(1));
        let _ = writeln!(self.0, "| --- |{others}");
        for row in rows {
            self.row(&row);
        }
    }

    fn charts(&mut self, _figures: &[String]) {}

    fn wide_chart(&mut self, _figure: &str) {}

    fn signature(&mut self) {}
}
