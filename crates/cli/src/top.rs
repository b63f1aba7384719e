// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate top`: shows a service's activity every second until the user quits.

mod screen;

use std::time::Duration;

use ratatui::Frame;
use tidegate_commands::quoted;
use tidegate_engine::control::wire::Verb;

use crate::answer::Answer;
use crate::arguments::TopArguments;
use crate::ctl::Client;
use crate::failure::Failure;
use crate::live::{self, View};

use screen::Screen;

/// Runs the command.
pub(crate) fn top(arguments: &TopArguments) -> Result<Answer, Failure> {
    let mut client = Client::open(&arguments.target)?;
    let status = client.ask(Verb::Status)?;
    if !live::is_possible() {
        return Err(Failure::input(
            "the live view needs a terminal",
            format!(
                "in a script, write `tidegate ctl {} statistics --json`",
                quoted(&arguments.target.to_string_lossy())
            ),
        ));
    }
    live::show(&mut Service { client, screen: Screen::new(status) })?;
    Ok(Answer::Yes)
}

/// The live view of a service.
struct Service {
    client: Client,
    screen: Screen,
}

impl View for Service {
    const REFRESH: Duration = Duration::from_secs(1);

    fn refresh(&mut self) -> Result<(), Failure> {
        self.screen.update(self.client.ask(Verb::Statistics)?);
        Ok(())
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        self.screen.draw(frame);
    }
}
