// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws charts for the terminal: at most 79 columns of Braille characters, with eight dots each.

use super::Chart;
use crate::page::wrapped;

/// The smallest and the largest number of columns of the whole picture.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=79;
/// The number of rows of the curve.
const ROWS: usize = 14;

/// The dots of a character, in two columns and four rows, as bits of Unicode's Braille patterns.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
/// The first of Unicode's Braille patterns, which has no dots.
const BRAILLE: u32 = 0x2800;

/// The dots of a chart's curves.
struct Canvas {
    columns: usize,
    letters: Vec<u32>,
}

impl Canvas {
    fn new(columns: usize) -> Self {
        Self { columns, letters: vec![0; columns * ROWS] }
    }

    /// Sets a dot; (0, 0) is at the bottom left.
    fn set(&mut self, x: u64, y: u64) {
        let [x, y] = [x, y].map(|at| usize::try_from(at).expect("on the canvas"));
        let down = 4 * ROWS - 1 - y;
        self.letters[down / 4 * self.columns + x / 2] |= DOTS[x % 2][down % 4];
    }

    /// Draws a line between two dots.
    fn join(&mut self, from: (u64, u64), to: (u64, u64)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        for step in 0..=steps {
            let between = |from: u64, to: u64| (from * (steps - step) + to * step) / steps;
            self.set(between(from.0, to.0), between(from.1, to.1));
        }
    }

    fn row(&self, row: usize) -> String {
        let letters = &self.letters[row * self.columns..(row + 1) * self.columns];
        let letter = |&dots: &u32| match dots {
            0 => ' ',
            dots => char::from_u32(BRAILLE + dots).expect("a pattern of eight dots"),
        };
        letters.iter().map(letter).collect()
    }
}

/// Draws the chart as lines of text for a terminal that is `columns` wide.
pub(crate) fn draw(chart: &Chart, columns: usize) -> String {
    let whole = columns.saturating_sub(1).clamp(*COLUMNS.start(), *COLUMNS.end());
    let label_width = chart.y.ticks.iter().map(|tick| tick.1.len()).max().unwrap_or(0);
    let label_width = label_width.max(chart.y.unit.len());
    // The margin has two spaces before the labels, then a space and the axis.
    let margin = label_width + 4;
    let columns = whole - margin;
    let canvas = curve(chart, columns);
    let title = wrapped(&chart.title, whole - 2, "");
    let mut lines: Vec<String> = title.iter().map(|line| format!("  {line}")).collect();
    lines.push(format!("  {:>label_width$}", chart.y.unit));
    let labels = row_labels(chart);
    for (row, label) in labels.iter().enumerate() {
        let axis = if label.is_empty() { '\u{2502}' } else { '\u{2524}' };
        lines.push(format!("  {label:>label_width$} {axis}{}", canvas.row(row)));
    }
    let (axis, labels) = bottom(chart, columns);
    lines.push(format!("  {:label_width$} \u{2514}{axis}", ""));
    lines.push(format!("  {:label_width$}  {labels}", ""));
    lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

fn curve(chart: &Chart, columns: usize) -> Canvas {
    let mut canvas = Canvas::new(columns);
    let place = |&(x, y): &(u64, u64)| {
        let across = chart.x.place(x, 2 * columns as u64 - 1);
        (across, chart.y.place(y, 4 * ROWS as u64 - 1))
    };
    for curve in &chart.curves {
        let dots: Vec<(u64, u64)> = curve.points.iter().map(place).collect();
        if let [only] = dots[..] {
            canvas.join(only, only);
        }
        for pair in dots.windows(2) {
            canvas.join(pair[0], pair[1]);
        }
    }
    for (x, y) in chart.points.iter().map(place) {
        canvas.set(x, y);
    }
    canvas
}

/// Returns the label of each row.
fn row_labels(chart: &Chart) -> Vec<&str> {
    let mut labels = vec![""; ROWS];
    for (value, label) in &chart.y.ticks {
        let up = chart.y.place(*value, ROWS as u64 - 1);
        labels[ROWS - 1 - usize::try_from(up).expect("a row")] = label;
    }
    labels
}

/// Returns the horizontal axis and its labels; labels without room are left out.
fn bottom(chart: &Chart, columns: usize) -> (String, String) {
    let mut axis = vec!['\u{2500}'; columns];
    let mut labels = String::new();
    let unit = format!(" {}", chart.x.unit);
    let room = columns - unit.len().min(columns);
    for (value, label) in &chart.x.ticks {
        let at = chart.x.place(*value, columns as u64 - 1);
        let at = usize::try_from(at).expect("a column");
        axis[at] = '\u{252c}';
        let begin = at.saturating_sub(label.len() / 2);
        let is_free = labels.is_empty() || begin > labels.len();
        if is_free && begin + label.len() <= room {
            labels = format!("{labels:<begin$}{label}");
        }
    }
    (axis.into_iter().collect(), format!("{labels:<room$}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::super::axis::Axis;
    use super::*;

    fn line(curve: Vec<(u64, u64)>) -> Chart {
        let x = Axis::ending_at(1000, "distance", ("cylinders", 1));
        let y = Axis::reaching(10_000_000, "time", ("ms", 1_000_000));
        Chart { points: vec![(1000, 0)], ..Chart::of_curve("A line".to_owned(), x, y, curve) }
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let text = draw(&line(vec![(0, 0), (1000, 10_000_000)]), 80);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "  A line");
        assert!(rows[2].starts_with("  10 \u{2524}") && rows[2].ends_with('\u{280a}'), "{text}");
        assert!(rows[15].starts_with("   0 \u{2524}\u{28c0}"), "{text}");
        assert!(rows[15].ends_with('\u{2880}'), "{text}");
        assert!(rows[17].trim_start().starts_with("0 "), "{text}");
        assert!(rows[17].ends_with(" cylinders"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for curve in [vec![], vec![(500, 5_000_000)], vec![(0, 0), (1000, 10_000_000)]] {
            for columns in [40, 80, 120] {
                let text = draw(&line(curve.clone()), columns);
                assert!(text.lines().all(|line| line.chars().count() < columns), "{text}");
            }
        }
    }
}
