// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Faults in a user's input: what is wrong, where, and what to do.

use std::error::Error;
use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use tidegate_model::{FileError, FileKind};

use crate::suggestion::quoted;

/// A fault: its text for people, and its place.
#[derive(Debug)]
pub struct Fault {
    /// The description of the fault; if the fault is at a place in a file, the text begins with
    /// that place.
    pub message: String,
    /// The advice.
    pub help: Option<String>,
    /// The place in a file, if the fault is at one.
    pub place: Option<Place>,
    /// The file's text and the span of the fault in it; only if `place` is given.
    pub excerpt: Option<(String, Range<usize>)>,
}

/// A place in a file. Lines and columns count from 1.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// The path of the file as the user gave it.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// The faults that stopped a command. There are several only if they are all in one file.
#[derive(Debug)]
pub struct Faults(pub Vec<Fault>);

impl Fault {
    /// Returns a fault without a place in a file.
    pub fn new(message: impl Into<String>, help: Option<String>) -> Self {
        Self { message: message.into(), help, place: None, excerpt: None }
    }

    /// Returns the fault for an `error` in the file at `path`, whose content is `text`.
    pub fn in_file(path: &Path, text: &str, error: &FileError) -> Self {
        let file = path.display().to_string();
        let (message, help) = (format!("{file}: {}", error.message), error.help.clone());
        if error.span == (0..0) {
            // The error concerns the whole file.
            return Self::new(message, help);
        }
        let (line, column) = error.line_and_column(text);
        let message = format!("{file}, line {line}, column {column}: {}", error.message);
        // A position between two characters is shown on the first of them.
        let start = error.span.start.min(text.len().saturating_sub(1));
        let span = start..error.span.end.min(text.len()).max(start + 1);
        let excerpt = Some((text.to_owned(), span));
        Self { message, help, place: Some(Place { file, line, column }), excerpt }
    }
}

impl Faults {
    /// Returns a single fault without a place in a file, with advice.
    pub fn one(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self(vec![Fault::new(message, Some(help.into()))])
    }

    /// Returns the fault for a named object that cannot be used, with the causes.
    pub fn unusable(error: &(dyn Error + 'static)) -> Self {
        Self(vec![Fault::new(with_causes(error), None)])
    }

    /// Returns a single error in a file.
    pub fn in_file(path: &Path, text: &str, error: &FileError) -> Self {
        Self(vec![Fault::in_file(path, text, error)])
    }

    /// Returns all errors of a file, in the order of the file. `read` is the parser that found the
    /// error `first`. If the file is not of the `wanted` kind, that is the only error.
    pub fn of_reading<T>(
        path: &Path,
        text: &str,
        wanted: FileKind,
        first: FileError,
        read: impl Fn(&str) -> Result<T, FileError>,
    ) -> Self {
        if let Some(kind) = FileKind::of(text).filter(|kind| *kind != wanted) {
            let path = path.to_string_lossy();
            return Self::one(
                format!("{path} is {}, not {}", kind.name(), wanted.name()),
                format!("{}, or name {}", kind.advice(&quoted(&path)), wanted.name()),
            );
        }
        let faults = tidegate_model::all_faults(text, first, read);
        Self(faults.iter().map(|error| Fault::in_file(path, text, error)).collect())
    }

    /// Completes the commands in the texts of the faults.
    #[must_use]
    pub fn completed(mut self, complete: impl Fn(&str) -> String) -> Self {
        for fault in &mut self.0 {
            fault.message = complete(&fault.message);
            fault.help = fault.help.as_deref().map(&complete);
        }
        self
    }
}

/// Formats the messages on one line, for a log.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.0.iter().map(|fault| fault.message.as_str()).collect();
        f.write_str(&messages.join("; "))
    }
}

impl Error for Faults {}

/// Formats an error and its causes on one line.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
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
