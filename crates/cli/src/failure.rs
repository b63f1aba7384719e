// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The error that the user sees when a command cannot run.
//!
//! Only this module uses `miette`, which shows the faulty line of a file with a caret.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
    ThemeStyles,
};
use serde::Serialize;
use tidegate_commands::{Fault, Faults, Place, with_causes};
use tidegate_measure::OutputFault;
use tidegate_model::{FileError, is_hidden, printable};
use tidegate_platform::FileFault;
use tidegate_report::{Look, wrapped};

use crate::show;

/// The reason why a command did not run.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    /// The faults; there are several only if they are in one file.
    faults: Vec<Fault>,
}

/// The party that must act on a failure; this determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No one is at fault, for example if a measurement was stopped: exit code 1.
    Incomplete = 1,
    /// The user: exit code 2.
    Input = 2,
    /// The administrator, who must repair the environment: exit code 3.
    Environment = 3,
}

/// A fault in its JSON form.
#[derive(Serialize)]
struct FaultReport<'a> {
    message: String,
    help: Option<String>,
    #[serde(flatten)]
    place: Option<&'a Place>,
}

impl Failure {
    /// Returns the faults on one line, for a log.
    pub(crate) fn message(&self) -> String {
        let messages = self.faults.iter().map(|fault| fault.message.as_str());
        messages.collect::<Vec<_>>().join("; ")
    }

    fn of(kind: Kind, message: String, help: Option<String>) -> Self {
        Self { kind, faults: vec![Fault::new(message, help)] }
    }

    /// Reports an error in a file and shows its line.
    pub(crate) fn in_file(path: &Path, text: &str, error: &FileError) -> Self {
        Faults::in_file(path, text, error).into()
    }

    /// Reports a measurement that ended before it had a result. This is an answer, not a fault.
    pub(crate) fn incomplete(message: impl Into<String>) -> Self {
        Self::of(Kind::Incomplete, message.into(), None)
    }

    /// Reports input that the user can correct.
    pub(crate) fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of(Kind::Input, message.into(), Some(help.into()))
    }

    /// Reports a file or another named object that cannot be used, with the causes.
    pub(crate) fn unusable(error: &(dyn Error + 'static)) -> Self {
        Faults::unusable(error).into()
    }

    /// Reports a failure of the environment.
    pub(crate) fn environment(error: &(dyn Error + 'static)) -> Self {
        Self::of(Kind::Environment, with_causes(error), None)
    }

    /// Reports an error in a file that a measurement writes.
    pub(crate) fn of_file(fault: &FileFault) -> Self {
        Self::input(fault.to_string(), fault.help())
    }

    /// Reports an error in the drive file that a measurement creates or extends.
    pub(crate) fn of_output(fault: OutputFault) -> Self {
        match fault {
            OutputFault::Faulty { path, text, error } => Self::in_file(&path, &text, &error),
            fault => Self::input(fault.to_string(), fault.help()),
        }
    }

    /// Adds that the result could not be written to its file and was printed instead.
    pub(crate) fn after_measuring(mut self) -> Self {
        for fault in &mut self.faults {
            fault.message = format!(
                "the measurement is complete but could not be written; it was printed to standard \
                 output instead: {}",
                fault.message
            );
        }
        Self { kind: Kind::Environment, ..self }
    }

    /// Prints the failure to standard error, as text or as one JSON object, and returns its exit
    /// code.
    pub(crate) fn report(&self, is_json: bool) -> ExitCode {
        if is_json {
            print_json(self.kind as u8, self.faults.iter().map(to_json));
        } else {
            let look = show::look_of_messages();
            let texts: Vec<String> = self.faults.iter().map(|it| to_text(it, look)).collect();
            eprintln!("{}", texts.join("\n\n"));
        }
        ExitCode::from(self.kind as u8)
    }
}

/// Prints faults that the command-line parser found, in the form of [`Failure::report`].
pub(crate) fn report_usage(said: &str, is_json: bool) -> ExitCode {
    if is_json {
        let said = said.trim_start_matches("error: ");
        // The remaining text tells users how to get help.
        let said = said.split("\n\nFor more information").next().unwrap_or(said).trim_end();
        let (message, help) = said.split_once("\n\n").unwrap_or((said, ""));
        let paragraphs = help.split("\n\n").map(|text| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            text.strip_prefix("tip: ").map_or(text.clone(), str::to_owned)
        });
        let help = paragraphs.collect::<Vec<_>>().join("; ");
        let help = (!help.is_empty()).then_some(help);
        let fault = FaultReport { message: message.to_owned(), help, place: None };
        print_json(Kind::Input as u8, [fault].into_iter());
    } else {
        show::say_lines(said);
    }
    ExitCode::from(Kind::Input as u8)
}

fn print_json<'a>(exit_code: u8, faults: impl Iterator<Item = FaultReport<'a>>) {
    let errors: Vec<FaultReport<'_>> = faults.collect();
    let object = serde_json::json!({ "errors": errors, "exit_code": exit_code });
    eprintln!("{object:#}");
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self { kind: Kind::Input, faults: faults.0 }
    }
}

fn to_json(fault: &Fault) -> FaultReport<'_> {
    let (message, help) = (fault.message.clone(), fault.help.clone());
    FaultReport { message, help, place: fault.place.as_ref() }
}

fn to_text(fault: &Fault, look: Look) -> String {
    let mut theme = GraphicalTheme::ascii();
    "error:".clone_into(&mut theme.characters.error);
    if !look.is_coloured {
        theme.styles = ThemeStyles::none();
    }
    // Long lines continue below the first word of the message.
    let room = look.columns.saturating_sub("  error: ".len());
    let lines = |text: &str| {
        let text = text.lines().map(printable).collect::<Vec<_>>().join("\n");
        wrapped(&text, room, "").join("\n")
    };
    let mut diagnostic = MietteDiagnostic::new(lines(&fault.message));
    diagnostic.help = fault.help.as_deref().map(lines);
    let mut report = Report::new(match &fault.excerpt {
        Some((_, span)) => diagnostic.with_label(LabeledSpan::new_with_span(None, span.clone())),
        None => diagnostic,
    });
    if let (Some((text, _)), Some(place)) = (&fault.excerpt, &fault.place) {
        report = report.with_source_code(NamedSource::new(&place.file, text.clone()));
    }
    let mut text = String::new();
    let rendered = GraphicalReportHandler::new_themed(theme)
        .with_wrap_lines(false)
        .with_links(false)
        .render_report(&mut text, report.as_ref());
    if rendered.is_err() {
        text = report.to_string();
    }
    // The lines of a message begin in the same column, so that a command in it can be pasted.
    let indent = " ".repeat("  error: ".len());
    let lines = text.trim_end().lines();
    let indented = lines.map(|line| match line.strip_prefix("  | ") {
        Some(rest) => format!("{indent}{rest}"),
        None => line.to_owned(),
    });
    // The excerpt of the file has not been escaped yet, and an escape character begins a colour.
    let is_shown = |letter: &char| !is_hidden(*letter) || matches!(letter, '\n' | '\u{1b}');
    let text = indented.collect::<Vec<_>>().join("\n");
    text.chars().map(|letter| if is_shown(&letter) { letter } else { '?' }).collect()
}
