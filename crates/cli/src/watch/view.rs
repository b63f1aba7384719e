// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The live view of a watch: the report so far, drawn again every second.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Stylize as _;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use tidegate_report::{Look, Report as _};
use tidegate_watch::Session;

use super::proof::Proof;
use super::{report, tracefs_failure};
use crate::failure::Failure;
use crate::live::View;
use crate::show;

/// The interval between two reports.
const REPORTED: Duration = Duration::from_secs(1);

/// The view of a session.
pub(super) struct Live<'a> {
    session: &'a mut Session,
    device: &'a str,
    proof: Option<&'a Proof>,
    text: String,
    next: Instant,
}

impl<'a> Live<'a> {
    pub(super) fn new(session: &'a mut Session, device: &'a str, proof: Option<&'a Proof>) -> Self {
        Self { session, device, proof, text: String::new(), next: Instant::now() }
    }
}

impl View for Live<'_> {
    /// Often enough that the kernel's buffer does not fill.
    const REFRESH: Duration = super::PAUSE;

    fn refresh(&mut self) -> Result<(), Failure> {
        self.session.poll().map_err(tracefs_failure)?;
        if Instant::now() >= self.next {
            let look = Look { is_coloured: false, ..show::look() };
            self.text = report(self.session, self.device, self.proof).to_text(look);
            self.next = Instant::now() + REPORTED;
        }
        Ok(())
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let rows = [Constraint::Min(1), Constraint::Length(1)];
        let [body, last] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(Paragraph::new(self.text.as_str()), body);
        frame.render_widget(Line::from("q quits, and prints this").dim(), last);
    }
}
