// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The error that a person sees when a command cannot run.
//!
//! This is the only module that uses `miette`, which shows the faulty line of a file with a caret.

use std::error::Error;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
    ThemeStyles,
};
use tidegate_measure::{FileFault, OutputFault};
use tidegate_model::FileError;

/// The reason why a command did not run.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user can correct it: exit code 2.
    Input(Report),
    /// The machine must be repaired: exit code 3.
    Environment(Report),
}

impl Failure {
    /// Reports an error in a file and shows its line.
    pub(crate) fn in_file(path: &Path, text: String, error: &FileError) -> Self {
        let name = path.display().to_string();
        let mut diagnostic = MietteDiagnostic::new(format!("{name}: {}", error.message));
        diagnostic.help.clone_from(&error.help);
        if error.span == (0..0) {
            // The error concerns the whole file.
            return Self::Input(Report::new(diagnostic));
        }
        let (line, column) = error.line_and_column(&text);
        diagnostic.message = format!("{name}, line {line}, column {column}: {}", error.message);
        // A position between two characters is shown on the first of them.
        let start = error.span.start.min(text.len().saturating_sub(1));
        let span = start..error.span.end.max(start + 1);
        diagnostic = diagnostic.with_label(LabeledSpan::new_with_span(None, span));
        Self::Input(Report::new(diagnostic).with_source_code(NamedSource::new(name, text)))
    }

    /// Reports input that the user can correct.
    pub(crate) fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input(Report::new(MietteDiagnostic::new(message).with_help(help)))
    }

    /// Reports a named object that cannot be used, with the causes.
    pub(crate) fn unusable(error: &(dyn Error + 'static)) -> Self {
        Self::Input(Report::new(MietteDiagnostic::new(with_causes(error))))
    }

    /// Reports a failure of the machine.
    pub(crate) fn environment(error: &(dyn Error + 'static)) -> Self {
        Self::Environment(Report::new(MietteDiagnostic::new(with_causes(error))))
    }

    /// Reports an error in a file that a measurement writes.
    pub(crate) fn of_file(fault: &FileFault) -> Self {
        Self::input(fault.to_string(), fault.help())
    }

    /// Reports an error in the drive file that a measurement creates or extends.
    pub(crate) fn of_output(fault: OutputFault) -> Self {
        match fault {
            OutputFault::Faulty { path, text, error } => Self::in_file(&path, text, &error),
            fault => Self::input(fault.to_string(), fault.help()),
        }
    }

    /// Adds that the result could not be written to its file and was printed instead.
    pub(crate) fn after_measuring(self) -> Self {
        let (Self::Input(report) | Self::Environment(report)) = self;
        Self::Environment(report.wrap_err(
            "the measurement is complete but could not be written; it was printed to standard \
             output instead",
        ))
    }

    /// Prints the failure to standard error and returns its exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (report, code) = match self {
            Self::Input(report) => (report, 2),
            Self::Environment(report) => (report, 3),
        };
        let mut theme = GraphicalTheme::ascii();
        "error:".clone_into(&mut theme.characters.error);
        if !std::io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
            theme.styles = ThemeStyles::none();
        }
        let mut text = String::new();
        let rendered = GraphicalReportHandler::new_themed(theme)
            .with_wrap_lines(false)
            .with_links(false)
            .render_report(&mut text, report.as_ref());
        if rendered.is_err() {
            text = report.to_string();
        }
        eprintln!("{}", text.trim_end());
        ExitCode::from(code)
    }
}

/// Formats an error and its causes on one line.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Many messages already include their cause.
        let reason = error.to_string();
        if !text.contains(&reason) {
            let _ = write!(text, ": {reason}");
        }
        cause = error.source();
    }
    text
}
