// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws the live view: a row for each export, the drive below.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize as _};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row, Table};
use tidegate_engine::control::wire::{ExportFigures, Statistics, Status};
use tidegate_report::figures;

use crate::ctl::{drive, elapsed, text, time, tokens};

/// Titles and widths of the columns.
const COLUMNS: [(&str, u16); 11] = [
    ("export", 16),
    ("req/s", 8),
    ("data/s", 10),
    ("waiting", 7),
    ("tokens", 8),
    ("misses", 7),
    ("beyond", 7),
    ("p50", 11),
    ("p99", 11),
    ("max", 11),
    ("bound", 11),
];

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

    /// Takes new statistics.
    pub(super) fn update(&mut self, seen: Statistics) {
        self.before = std::mem::replace(&mut self.seen, seen);
    }

    /// Draws the view.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let rows = [Constraint::Length(2), Constraint::Min(2), Constraint::Length(2)];
        let [head, middle, foot] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(self.title(), head);
        frame.render_widget(self.table(), middle);
        let lines = vec![Line::from(drive(&self.seen.drive)), Line::from("q quits").dim()];
        frame.render_widget(ratatui::text::Text::from(lines), foot);
    }

    fn title(&self) -> Line<'static> {
        let is_degraded = self.seen.is_degraded;
        let named = format!(
            "tidegate {}, running for {}: ",
            text(&self.status.policy),
            elapsed(self.seen.uptime_ns)
        );
        // Exports can be added and removed, so the status of the start is not enough.
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

    fn table(&self) -> Table<'static> {
        let rows = self.seen.exports.iter().map(|export| self.row(export));
        let titles = COLUMNS.iter().enumerate().map(|(index, (title, _))| cell(index, title));
        let widths = COLUMNS.map(|(_, width)| Constraint::Length(width));
        Table::new(rows, widths).header(Row::new(titles).style(Style::new().bold()))
    }

    fn row(&self, export: &ExportFigures) -> Row<'static> {
        let before = self.before.exports.iter().find(|before| before.name == export.name);
        let rate = |of: fn(&ExportFigures) -> u64| self.per_second(of(export), of(before?));
        let cells = [
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
        ];
        let is_late = export.misses > 0;
        let row = Row::new(cells.iter().enumerate().map(|(index, text)| cell(index, text)));
        if is_late { row.red() } else { row }
    }

    /// Returns the growth per second since the previous statistics; `None` at the first.
    fn per_second(&self, now: u64, before: u64) -> Option<u64> {
        let grown = now.checked_sub(before)?;
        let time_ns = self.seen.uptime_ns.checked_sub(self.before.uptime_ns);
        let per_second =
            u128::from(grown) * 1_000_000_000 / u128::from(time_ns.filter(|&ns| ns > 0)?);
        u64::try_from(per_second).ok()
    }
}

/// Aligns names to the left, numbers to the right.
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
        let mut terminal = Terminal::new(TestBackend::new(width, 7)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let symbols: Vec<&str> = buffer.content().iter().map(Place::symbol).collect();
        symbols.chunks(usize::from(width)).map(|row| row.concat().trim_end().to_owned()).collect()
    }

    fn screen() -> Screen {
        Screen::new(Status { policy: "dqf".to_owned(), ..Status::default() })
    }

    /// `tests/screens/main.rs` says how to accept a change.
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
            for width in [80, 120] {
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

    #[test]
    fn what_is_not_there_yet_and_small_terminals_are_drawn_too() {
        for width in [1, 20, 300] {
            drawn(&screen(), width);
            drawn(&Screen::new(Status::default()), width);
        }
    }
}
