// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The live view of a watch: the report so far, redrawn every second.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Stylize as _;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use tidegate_report::watch::WatchReport;
use tidegate_report::{Look, Page, Report as _, printable};

use super::log::WatchLog;
use super::proof::Proof;
use super::{Watching, report};
use crate::failure::Failure;
use crate::live::View;
use crate::show;

/// The interval between two reports.
const REPORTED: Duration = Duration::from_secs(1);

/// The live view of a watch.
pub(super) struct Live<'a, 'b> {
    watching: &'a mut Watching<'b>,
    proof: Option<&'a Proof>,
    /// Whether the view shows the response times as bars instead of the tables.
    is_plotted: bool,
    text: String,
    next: Instant,
}

impl<'a, 'b> Live<'a, 'b> {
    pub(super) fn new(
        watching: &'a mut Watching<'b>,
        proof: Option<&'a Proof>,
        is_plotted: bool,
    ) -> Self {
        Self { watching, proof, is_plotted, text: String::new(), next: Instant::now() }
    }

    /// Returns whether the view shows the response times as bars.
    pub(super) const fn is_plotted(&self) -> bool {
        self.is_plotted
    }
}

/// Returns the view's text: the tables, or the answer with the response times as bars.
pub(super) fn text(report: &WatchReport<'_>, look: Look, is_plotted: bool) -> String {
    if !is_plotted {
        return report.to_text(look);
    }
    let mut page = Page::new(look);
    if let Some(answer) = report.answer() {
        page.answer(&answer);
    }
    report.write_plots(&mut page);
    page.into_text()
}

impl View for Live<'_, '_> {
    /// The interval is short enough that the kernel's buffer does not fill.
    const REFRESH: Duration = super::PAUSE;

    fn refresh(&mut self) -> Result<(), Failure> {
        self.watching.poll()?;
        if Instant::now() >= self.next {
            let look = Look { is_coloured: false, ..show::look() };
            let report = report(&self.watching.session, self.watching.device, self.proof);
            self.text = text(&report, look, self.is_plotted);
            self.next = Instant::now() + REPORTED;
        }
        Ok(())
    }

    fn press(&mut self, key: char) {
        if matches!(key, 'h' | 'H') {
            self.is_plotted = !self.is_plotted;
            self.next = Instant::now();
        }
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let rows = [Constraint::Min(1), Constraint::Length(1)];
        let [body, last] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(Paragraph::new(self.text.as_str()), body);
        let other = if self.is_plotted { "tables" } else { "histograms" };
        let fault = self.watching.log.as_ref().and_then(WatchLog::fault);
        let fault = fault.map_or(String::new(), |it| format!("no log: {}; ", printable(&it)));
        let keys = format!("{fault}h shows {other}; q quits, and prints this");
        frame.render_widget(Line::from(keys).dim(), last);
    }
}
