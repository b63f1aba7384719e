// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The live view as it is drawn: a row for each export, the drive below.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize as _};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row, Table};
use serde_json::Value;

use crate::ctl::{drive, elapsed, number, text, time, tokens};
use crate::show;

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

/// What is shown.
#[derive(Debug)]
pub(super) struct Screen {
    status: Value,
    seen: Value,
    /// The look before, for what happens each second.
    before: Value,
}

impl Screen {
    /// Of a service of that status.
    pub(super) fn new(status: Value) -> Self {
        Self { status, seen: Value::Null, before: Value::Null }
    }

    /// Another look.
    pub(super) fn update(&mut self, seen: Value) {
        self.before = std::mem::replace(&mut self.seen, seen);
    }

    /// Draws all of it.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let rows = [Constraint::Length(2), Constraint::Min(2), Constraint::Length(2)];
        let [head, middle, foot] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(self.title(), head);
        frame.render_widget(self.table(), middle);
        let lines = vec![Line::from(drive(&self.seen["drive"])), Line::from("q quits").dim()];
        frame.render_widget(ratatui::text::Text::from(lines), foot);
    }

    fn title(&self) -> Line<'static> {
        let is_degraded = self.seen["is_degraded"] == true;
        let named = format!(
            "tidegate {}, running for {}: ",
            text(&self.status["policy"]),
            elapsed(number(&self.seen["uptime_ns"]))
        );
        // Exports come and go: not those of the beginning.
        let exports = self.seen["exports"].as_array().map_or(&[][..], Vec::as_slice);
        let guarantee = if !exports.iter().any(|export| export["bound_ns"].is_u64()) {
            "best effort only".into()
        } else if is_degraded {
            "guarantee DEGRADED until the next start".red().bold()
        } else {
            "guarantee stands".green()
        };
        Line::from(vec![named.bold(), guarantee])
    }

    fn table(&self) -> Table<'static> {
        let exports = self.seen["exports"].as_array().map_or(&[][..], Vec::as_slice);
        let rows = exports.iter().map(|export| self.row(export));
        let titles = COLUMNS.iter().enumerate().map(|(index, (title, _))| cell(index, title));
        let widths = COLUMNS.map(|(_, width)| Constraint::Length(width));
        Table::new(rows, widths).header(Row::new(titles).style(Style::new().bold()))
    }

    fn row(&self, export: &Value) -> Row<'static> {
        let before = self.before["exports"].as_array().map_or(&[][..], Vec::as_slice);
        let before = before.iter().find(|before| before["name"] == export["name"]);
        let before = before.unwrap_or(&Value::Null);
        let rate = |field: &str| self.per_second(&export[field], &before[field]);
        let cells = [
            text(&export["name"]),
            rate("requests").map_or_else(|| "-".to_owned(), |rate| rate.to_string()),
            rate("transferred_bytes").map_or_else(|| "-".to_owned(), show::throughput),
            number(&export["outstanding"]).to_string(),
            tokens(export),
            number(&export["misses"]).to_string(),
            number(&export["beyond"]).to_string(),
            time(&export["response_ns_p50"]),
            time(&export["response_ns_p99"]),
            time(&export["response_ns_max"]),
            time(&export["bound_ns"]),
        ];
        let is_late = number(&export["misses"]) > 0;
        let row = Row::new(cells.iter().enumerate().map(|(index, text)| cell(index, text)));
        if is_late { row.red() } else { row }
    }

    /// By how much it grew since the look before, each second; none at the first.
    fn per_second(&self, now: &Value, before: &Value) -> Option<u64> {
        let grown = now.as_u64()?.checked_sub(before.as_u64()?)?;
        let time_ns =
            number(&self.seen["uptime_ns"]).checked_sub(number(&self.before["uptime_ns"]));
        let per_second =
            u128::from(grown) * 1_000_000_000 / u128::from(time_ns.filter(|&ns| ns > 0)?);
        u64::try_from(per_second).ok()
    }
}

/// Names to the left, figures to the right.
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
    use serde_json::json;

    use super::*;

    fn seen(second: u64, requests: u64, is_degraded: bool) -> Value {
        json!({
            "ok": true, "uptime_ns": second * 1_000_000_000, "is_degraded": is_degraded,
            "exports": [{
                "name": "camera-1\u{1b}[2J", "requests": requests, "transferred_bytes": requests * 100_000,
                "outstanding": 3, "tokens": 1, "tokens_max": 4, "misses": 0, "beyond": 7,
                "response_ns_p50": 1_500_000, "response_ns_p99": 2_000_000,
                "response_ns_max": 9_000_001, "bound_ns": 12_000_000,
            }],
            "drive": { "in_flight": 2, "batches": 40, "batch_ns_max": 5_000_000,
                       "overruns": u64::from(is_degraded), "overrun_ns_max": 1_000_000 },
        })
    }

    fn drawn(screen: &Screen, width: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, 7)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let symbols: Vec<&str> = buffer.content().iter().map(Place::symbol).collect();
        symbols.chunks(usize::from(width)).map(|row| row.concat().trim_end().to_owned()).collect()
    }

    fn screen() -> Screen {
        Screen::new(json!({ "policy": "dqf", "exports": [{ "bound_ns": 12_000_000 }] }))
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
            drawn(&Screen::new(Value::Null), width);
        }
    }
}
