// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a person sees when a command cannot do its work.
//!
//! The only place that knows `miette`: a wrong line of a file deserves the line and a caret.

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

/// Why a command did not run.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user can mend it: exit code 2.
    Input(Report),
    /// The machine has to be mended: exit code 3.
    Environment(Report),
}

impl Failure {
    /// A fault in a file, shown with its line.
    pub(crate) fn in_file(path: &Path, text: String, error: &FileError) -> Self {
        let name = path.display().to_string();
        let mut diagnostic = MietteDiagnostic::new(format!("{name}: {}", error.message));
        diagnostic.help.clone_from(&error.help);
        if error.span == (0..0) {
            // About the file as a whole.
            return Self::Input(Report::new(diagnostic));
        }
        let (line, column) = error.line_and_column(&text);
        diagnostic.message = format!("{name}, line {line}, column {column}: {}", error.message);
        // A place between two characters is shown on the one before it.
        let start = error.span.start.min(text.len().saturating_sub(1));
        let span = start..error.span.end.max(start + 1);
        diagnostic = diagnostic.with_label(LabeledSpan::new_with_span(None, span));
        Self::Input(Report::new(diagnostic).with_source_code(NamedSource::new(name, text)))
    }

    /// Something that the user wrote and can mend.
    pub(crate) fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input(Report::new(MietteDiagnostic::new(message).with_help(help)))
    }

    /// Something that the user named and that cannot be used, with its causes.
    pub(crate) fn unusable(error: &(dyn Error + 'static)) -> Self {
        Self::Input(Report::new(MietteDiagnostic::new(with_causes(error))))
    }

    /// Something that the machine refused.
    pub(crate) fn environment(error: &(dyn Error + 'static)) -> Self {
        Self::Environment(Report::new(MietteDiagnostic::new(with_causes(error))))
    }

    /// A fault of the file that a measurement makes.
    pub(crate) fn of_file(fault: &FileFault) -> Self {
        Self::input(fault.to_string(), fault.help())
    }

    /// A fault of the drive file that a measurement makes or adds to.
    pub(crate) fn of_output(fault: OutputFault) -> Self {
        match fault {
            OutputFault::Faulty { path, text, error } => Self::in_file(&path, text, &error),
            fault => Self::input(fault.to_string(), fault.help()),
        }
    }

    /// The same of a result that could not be put where it was to go and was printed instead.
    pub(crate) fn after_measuring(self) -> Self {
        let (Self::Input(report) | Self::Environment(report)) = self;
        Self::Environment(report.wrap_err(
            "the measurement is complete but could not be written; it was printed to standard \
             output instead",
        ))
    }

    /// Prints the failure to standard error and gives its exit code.
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

/// An error and what caused it, on one line.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Many messages name their cause themselves.
        let reason = error.to_string();
        if !text.contains(&reason) {
            let _ = write!(text, ": {reason}");
        }
        cause = error.source();
    }
    text
}
