// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws the live view: a row for each export, with the drive below.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize as _};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};
use tidegate_engine::control::wire::{ExportFigures, Statistics, Status};
use tidegate_report::figures;

use crate::ctl::{drive, elapsed, text, time, tokens};

/// The columns, in order. A column with a higher number is left out first if the screen is narrow.
const COLUMNS: [(&str, u8); 11] = [
    ("export", 0),
    ("req/s", 6),
    ("data/s", 8),
    ("waiting", 7),
    ("tokens", 9),
    ("misses", 2),
    ("beyond", 10),
    ("p50", 5),
    ("p99", 4),
    ("max", 3),
    ("bound", 1),
];

/// The longest name that is shown in full.
const NAME_COLUMNS: usize = 16;

/// The state of the live view.
#[derive(Debug)]
pub(super) struct Screen {
    status: Status,
    seen: Statistics,
    /// The previous statistics, for rates per second.
    before: Statistics,
}

impl Screen {
    /// Creates the view of a service with that status.
    pub(super) fn new(status: Status) -> Self {
        Self { status, seen: Statistics::default(), before: Statistics::default() }
    }

    /// Stores new statistics.
    pub(super) fn update(&mut self, seen: Statistics) {
        self.before = std::mem::replace(&mut self.seen, seen);
    }

    /// Draws the view.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let lines = |text: usize| {
            u16::try_from(text.div_ceil(usize::from(area.width.max(1)))).unwrap_or(1).min(4)
        };
        let title = self.title();
        let rows = [
            Constraint::Length(lines(title.width()) + 1),
            Constraint::Min(2),
            // Wrapping leaves part of a line empty if the next word does not fit.
            Constraint::Length(lines(drive(&self.seen.drive).chars().count() * 5 / 4)),
            Constraint::Length(1),
        ];
        let [head, middle, foot, last] = Layout::vertical(rows).areas(area);
        frame.render_widget(Paragraph::new(title).wrap(Wrap { trim: true }), head);
        frame.render_widget(self.table(middle.width.into()), middle);
        let about_drive = Paragraph::new(drive(&self.seen.drive)).wrap(Wrap { trim: true });
        frame.render_widget(about_drive, foot);
        frame.render_widget(Line::from("q quits").dim(), last);
    }

    fn title(&self) -> Line<'static> {
        let is_degraded = self.seen.is_degraded;
        let named = format!(
            "tidegate {}, running for {}: ",
            text(&self.status.policy),
            elapsed(self.seen.uptime_ns)
        );
        // Exports can be added and removed, so the status at the start is not sufficient.
        let exports = &self.seen.exports;
        let guarantee = if !exports.iter().any(|export| export.bound_ns.is_some()) {
            "best effort only".into()
        } else if is_degraded {
            "guarantee DEGRADED".red().bold()
        } else if self.seen.degradations > 0 {
            let count = self.seen.degradations;
            format!("guarantee stands (degradations so far: {count})").yellow()
        } else {
            "guarantee stands".green()
        };
        Line::from(vec![named.bold(), guarantee])
    }

    /// Returns the table with the columns that fit; no number is truncated.
    fn table(&self, width: usize) -> Table<'static> {
        let rows: Vec<_> = self.seen.exports.iter().map(|export| self.cells(export)).collect();
        let mut widths = COLUMNS.map(|(title, _)| title.len());
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths[0] = widths[0].min(NAME_COLUMNS);
        let mut shown: Vec<usize> = (0..COLUMNS.len()).collect();
        let taken = |shown: &[usize]| shown.iter().map(|&index| widths[index] + 1).sum::<usize>();
        while taken(&shown) > width + 1 && shown.len() > 1 {
            let least = shown.iter().copied().max_by_key(|&index| COLUMNS[index].1);
            shown.retain(|&index| Some(index) != least);
        }
        let line = |cells: &[String]| {
            Row::new(shown.iter().map(|&index| cell(index, &cells[index])).collect::<Vec<_>>())
        };
        let rows = rows
            .iter()
            .zip(&self.seen.exports)
            .map(|(cells, export)| if export.misses > 0 { line(cells).red() } else { line(cells) });
        let titles = COLUMNS.map(|(title, _)| title.to_owned());
        let widths = shown.iter().map(|&index| widths[index]);
        let widths =
            widths.map(|width| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
        let widths: Vec<_> = widths.collect();
        Table::new(rows.collect::<Vec<_>>(), widths)
            .header(line(&titles).style(Style::new().bold()))
    }

    fn cells(&self, export: &ExportFigures) -> [String; 11] {
        let before = self.before.exports.iter().find(|before| before.name == export.name);
        let rate = |of: fn(&ExportFigures) -> u64| self.per_second(of(export), of(before?));
        [
            text(&export.name),
            rate(|it| it.requests).map_or_else(|| "-".to_owned(), |rate| rate.to_string()),
            rate(|it| it.transferred_bytes).map_or_else(|| "-".to_owned(), figures::throughput),
            export.outstanding.to_string(),
            tokens(export),
            export.misses.to_string(),
            export.beyond.to_string(),
            time(export.response_ns_p50),
            time(export.response_ns_p99),
            time(export.response_ns_max),
            time(export.bound_ns),
        ]
    }

    /// Returns the growth per second since the previous statistics; `None` if there are none.
    fn per_second(&self, now: u64, before: u64) -> Option<u64> {
        let grown = now.checked_sub(before)?;
        let time_ns = self.seen.uptime_ns.checked_sub(self.before.uptime_ns);
        let per_second =
            u128::from(grown) * 1_000_000_000 / u128::from(time_ns.filter(|&ns| ns > 0)?);
        u64::try_from(per_second).ok()
    }
}

/// Aligns names to the left and numbers to the right.
fn cell(index: usize, text: &str) -> Cell<'static> {
    let line = Line::from(text.to_owned());
    Cell::from(if index == 0 { line.left_aligned() } else { line.right_aligned() })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Cell as Place;
    use tidegate_engine::control::wire::DriveFigures;

    use super::*;

    fn seen(second: u64, requests: u64, is_degraded: bool) -> Statistics {
        let export = ExportFigures {
            name: "camera-1\u{1b}[2J".to_owned(),
            requests,
            transferred_bytes: requests * 100_000,
            outstanding: 3,
            tokens: 1,
            tokens_max: 4,
            beyond: 7,
            response_ns_p50: Some(1_500_000),
            response_ns_p99: Some(2_000_000),
            response_ns_max: Some(9_000_001),
            bound_ns: Some(12_000_000),
            ..ExportFigures::default()
        };
        let drive = DriveFigures {
            in_flight: 2,
            batches: 40,
            batch_ns_max: Some(5_000_000),
            overruns: u64::from(is_degraded),
            overrun_ns_max: 1_000_000,
            ..DriveFigures::default()
        };
        Statistics {
            uptime_ns: second * 1_000_000_000,
            is_degraded,
            degradations: u64::from(is_degraded),
            exports: vec![export],
            drive,
        }
    }

    fn drawn(screen: &Screen, width: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, 9)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let symbols: Vec<&str> = buffer.content().iter().map(Place::symbol).collect();
        symbols.chunks(usize::from(width)).map(|row| row.concat().trim_end().to_owned()).collect()
    }

    fn screen() -> Screen {
        Screen::new(Status { policy: "dqf".to_owned(), ..Status::default() })
    }

    /// `tests/screens/main.rs` describes how to accept a change.
    #[test]
    fn live_view() {
        let mut screen = screen();
        let looks = [
            ("before the first look", None),
            ("after one look", Some(seen(100, 1000, false))),
            ("after two", Some(seen(102, 1500, false))),
            ("a bound was exceeded", Some(seen(103, 1501, true))),
            ("it stands again", Some(Statistics { is_degraded: false, ..seen(104, 1501, true) })),
        ];
        let mut text = String::new();
        for (state, seen) in looks {
            if let Some(seen) = seen {
                screen.update(seen);
            }
            for width in [40, 80, 120] {
                let lines = drawn(&screen, width).join("\n");
                let _ = writeln!(text, "# {state}, {width} columns\n{lines}\n");
            }
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../tests/snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("live_view", text));
    }

    /// Goal: no number is truncated, at any width. Method: every figure on the screen is complete.
    #[test]
    fn numbers_are_never_cut() {
        let mut screen = screen();
        let mut figures = seen(100, 1000, false);
        figures.exports[0].response_ns_max = Some(184_879_000);
        figures.exports[0].response_ns_p99 = Some(21_202_000);
        screen.update(figures);
        for width in 30..140 {
            for word in drawn(&screen, width)[3].split_whitespace().filter(|it| it.ends_with("ms"))
            {
                let whole = ["1.500ms", "21.202ms", "184.879ms", "12.000ms"];
                assert!(whole.contains(&word), "{width}: {word}");
            }
        }
    }

    #[test]
    fn what_is_not_there_yet_and_small_terminals_are_drawn_too() {
        for width in [1, 20, 300] {
            drawn(&screen(), width);
            drawn(&Screen::new(Status::default()), width);
        }
    }
}
