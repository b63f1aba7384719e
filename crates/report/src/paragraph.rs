// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Facts as paragraphs: a label with lines of text beside it, wrapped to fit a terminal.

use crate::page::Page;

/// A label and its text.
pub(crate) type Fact = (&'static str, String);

/// The columns beside the labels, on a terminal with 80 columns.
const COLUMNS: usize = 66;

/// Writes facts; consecutive facts with the same label share it.
pub(crate) fn write(facts: &[Fact], page: &mut Page) {
    let mut last = "";
    for (label, text) in facts {
        let mut shown = if *label == last { "" } else { label };
        for line in broken(text) {
            page.labelled(shown, &line);
            shown = "";
        }
        last = label;
    }
}

/// Returns facts that share a label.
pub(crate) fn under(label: &'static str, lines: impl IntoIterator<Item = String>) -> Vec<Fact> {
    lines.into_iter().map(|line| (label, line)).collect()
}

/// Wraps the text between words.
fn broken(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        let is_full = !last.is_empty() && last.chars().count() + 1 + word.chars().count() > COLUMNS;
        if is_full {
            lines.push(word.to_owned());
        } else {
            let gap = if last.is_empty() { "" } else { " " };
            last.push_str(gap);
            last.push_str(word);
        }
    }
    lines
}

/// Formats rows as lines with aligned columns.
pub(crate) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<String>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words_and_lose_nothing() {
        let text = "word ".repeat(40) + &"x".repeat(100) + " end";
        let lines = broken(&text);
        assert_eq!(lines.join(" "), text);
        let fits = |line: &&String| line.chars().count() <= COLUMNS;
        assert_eq!(lines.iter().filter(|line| !fits(line)).count(), 1, "the long word alone");
        assert_eq!(broken("short"), ["short"]);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(aligned(&[row(["a", "b"]), row(["ccc", ""])]), ["a    b", "ccc"]);
        assert_eq!(aligned(&[]), Vec::<String>::new());
    }
}
