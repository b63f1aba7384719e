// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Facts as paragraphs: a label with lines of text beside it.

use crate::page::Page;

/// A label and its text.
pub(crate) type Fact = (&'static str, String);

/// Writes facts; consecutive facts with the same label share one label.
pub(crate) fn write(facts: &[Fact], page: &mut Page) {
    let mut last = "";
    for (label, text) in facts {
        page.labelled(if *label == last { "" } else { label }, text);
        last = label;
    }
}

/// Returns facts that share one label.
pub(crate) fn under(label: &'static str, lines: impl IntoIterator<Item = String>) -> Vec<Fact> {
    lines.into_iter().map(|line| (label, line)).collect()
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
    fn columns_stand_below_each_other() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(aligned(&[row(["a", "b"]), row(["ccc", ""])]), ["a    b", "ccc"]);
        assert_eq!(aligned(&[]), Vec::<String>::new());
    }
}
