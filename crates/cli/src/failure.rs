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
use serde::Serialize;
use tidegate_measure::{FileFault, OutputFault};
use tidegate_model::FileError;

/// The reason why a command did not run.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    /// The faults; several only if they are in one file.
    faults: Vec<Fault>,
}

/// The one who can correct a failure; it sets the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The user: exit code 2.
    Input = 2,
    /// The machine must be repaired: exit code 3.
    Environment = 3,
}

/// One fault, as people read it, and its place.
#[derive(Debug)]
struct Fault {
    report: Report,
    place: Option<Place>,
}

/// The place of a fault in a file.
#[derive(Debug, Clone, Serialize)]
struct Place {
    file: String,
    line: usize,
    column: usize,
}

/// A fault in JSON.
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
        let messages = self.faults.iter().map(|fault| with_causes(fault.report.as_ref()));
        messages.collect::<Vec<_>>().join("; ")
    }

    fn of(kind: Kind, report: Report) -> Self {
        Self { kind, faults: vec![Fault { report, place: None }] }
    }

    /// Reports an error in a file and shows its line.
    #[expect(clippy::needless_pass_by_value, reason = "callers are done with the text")]
    pub(crate) fn in_file(path: &Path, text: String, error: &FileError) -> Self {
        Self { kind: Kind::Input, faults: vec![Fault::in_file(path, &text, error)] }
    }

    /// Reports all errors of a file, in its order; `read` is the reading that found the `first`.
    pub(crate) fn of_reading<T>(
        path: &Path,
        text: &str,
        first: FileError,
        read: impl Fn(&str) -> Result<T, FileError>,
    ) -> Self {
        let faults = tidegate_model::all_faults(text, first, read);
        let faults = faults.iter().map(|error| Fault::in_file(path, text, error));
        Self { kind: Kind::Input, faults: faults.collect() }
    }

    /// Reports input that the user can correct.
    pub(crate) fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of(Kind::Input, Report::new(MietteDiagnostic::new(message).with_help(help)))
    }

    /// Reports a named object that cannot be used, with the causes.
    pub(crate) fn unusable(error: &(dyn Error + 'static)) -> Self {
        Self::of(Kind::Input, Report::new(MietteDiagnostic::new(with_causes(error))))
    }

    /// Reports a failure of the machine.
    pub(crate) fn environment(error: &(dyn Error + 'static)) -> Self {
        Self::of(Kind::Environment, Report::new(MietteDiagnostic::new(with_causes(error))))
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
        let wrapped = |Fault { report, place }| Fault {
            report: report.wrap_err(
                "the measurement is complete but could not be written; it was printed to standard \
                 output instead",
            ),
            place,
        };
        let faults = self.faults.into_iter().map(wrapped).collect();
        Self { kind: Kind::Environment, faults }
    }

    /// Prints the failure to standard error, as text or as one JSON object, and returns its exit
    /// code.
    pub(crate) fn report(&self, is_json: bool) -> ExitCode {
        if is_json {
            print_json(self.kind as u8, self.faults.iter().map(Fault::to_json));
        } else {
            let texts: Vec<String> = self.faults.iter().map(Fault::to_text).collect();
            eprintln!("{}", texts.join("\n\n"));
        }
        ExitCode::from(self.kind as u8)
    }
}

/// Prints faults that the command line parser found, in the form of [`Failure::report`].
pub(crate) fn report_usage(message: &str) -> ExitCode {
    let message = message.trim_start_matches("error: ");
    // The rest tells people how to get help.
    let message = message.split("\n\nFor more information").next().unwrap_or(message);
    let message = message.trim_end().to_owned();
    print_json(Kind::Input as u8, [FaultReport { message, help: None, place: None }].into_iter());
    ExitCode::from(Kind::Input as u8)
}

fn print_json<'a>(exit_code: u8, faults: impl Iterator<Item = FaultReport<'a>>) {
    let errors: Vec<FaultReport<'_>> = faults.collect();
    let object = serde_json::json!({ "errors": errors, "exit_code": exit_code });
    eprintln!("{object:#}");
}

impl Fault {
    fn in_file(path: &Path, text: &str, error: &FileError) -> Self {
        let name = path.display().to_string();
        let mut diagnostic = MietteDiagnostic::new(format!("{name}: {}", error.message));
        diagnostic.help.clone_from(&error.help);
        if error.span == (0..0) {
            // The error concerns the whole file.
            return Self { report: Report::new(diagnostic), place: None };
        }
        let (line, column) = error.line_and_column(text);
        diagnostic.message = format!("{name}, line {line}, column {column}: {}", error.message);
        // A position between two characters is shown on the first of them.
        let start = error.span.start.min(text.len().saturating_sub(1));
        let span = start..error.span.end.min(text.len()).max(start + 1);
        diagnostic = diagnostic.with_label(LabeledSpan::new_with_span(None, span));
        let source = NamedSource::new(name.clone(), text.to_owned());
        let report = Report::new(diagnostic).with_source_code(source);
        Self { report, place: Some(Place { file: name, line, column }) }
    }

    fn to_json(&self) -> FaultReport<'_> {
        let message = with_causes(self.report.as_ref());
        let help = self.report.help().map(|help| help.to_string());
        FaultReport { message, help, place: self.place.as_ref() }
    }

    fn to_text(&self) -> String {
        let mut theme = GraphicalTheme::ascii();
        "error:".clone_into(&mut theme.characters.error);
        if !std::io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
            theme.styles = ThemeStyles::none();
        }
        let mut text = String::new();
        let rendered = GraphicalReportHandler::new_themed(theme)
            .with_wrap_lines(false)
            .with_links(false)
            .render_report(&mut text, self.report.as_ref());
        if rendered.is_err() {
            text = self.report.to_string();
        }
        text.trim_end().to_owned()
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
