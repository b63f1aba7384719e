// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fault of a file: what is wrong, where, and what to write instead.

use std::ops::Range;

use crate::did_you_mean;

/// A fault in a drive or workload file.
///
/// The command line adds the file's name and uses `span` to show the faulty line; other callers get
/// one sentence from `Display`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// The fault, with the faulty value.
    pub message: String,
    /// Byte range of the faulty text.
    pub span: Range<usize>,
    /// The advice: what to write instead.
    pub help: Option<String>,
}

impl FileError {
    /// Creates a fault at `span`, with its remedy.
    pub fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), span, help: Some(help.into()) }
    }

    /// Converts an error of the TOML reader.
    pub fn from_toml(error: &toml::de::Error) -> Self {
        let span = match error.span() {
            // An empty span means the whole file, so a fault at a position gets one character.
            Some(span) if span.is_empty() => span.start..span.start + 1,
            Some(span) => span,
            None => 0..0,
        };
        let message = error.message();
        if let Some((message, help)) = unknown_name(message) {
            return Self::new(span, message, help);
        }
        // This crate's own readers put the advice on a second line of their message; serde's own
        // messages name the expected value, which serves as the advice.
        if let Some((message, help)) = message.split_once('\n') {
            return Self::new(span, message, help);
        }
        if let Some((message, expected)) = message.split_once(", expected ") {
            return Self::new(span, message, format!("write {}", in_words(message, expected)));
        }
        if let Some(field) = message.strip_prefix("missing field ") {
            return Self::new(span, message, format!("add a line for {field}"));
        }
        if message.starts_with("duplicate key") {
            return Self::new(span, message, "keep one of the two");
        }
        Self { message: message.to_owned(), span, help: None }
    }

    /// Returns the name of the field that is missing, if that is the fault.
    pub fn missing_field(&self) -> Option<&str> {
        self.message.strip_prefix("missing field `")?.strip_suffix('`')
    }

    /// Returns the name of the field that must be added, if that is the remedy.
    pub(crate) fn wanted_field(&self) -> Option<&str> {
        let added = || self.help.as_deref()?.strip_prefix("add ")?.split_once(" =");
        self.missing_field().or_else(|| added().map(|(name, _)| name))
    }

    /// Returns the field name that an unknown one probably means, if the advice names one.
    pub(crate) fn meant_field(&self) -> Option<String> {
        let is_field = self.message.starts_with("unknown field");
        let help = self.help.as_deref().filter(|_| is_field)?;
        Some(help.strip_prefix("did you mean `")?.split('`').next()?.to_owned())
    }

    /// Returns the line and column, both from 1, at which the fault starts in `text`.
    pub fn line_and_column(&self, text: &str) -> (usize, usize) {
        let before = &text[..self.span.start.min(text.len())];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Returns serde's message about an unknown field or name without the list of expected names, and
/// the advice.
fn unknown_name(message: &str) -> Option<(&str, String)> {
    let (message, expected) = message.split_once(", expected ")?;
    let rest = message
        .strip_prefix("unknown field `")
        .or_else(|| message.strip_prefix("unknown variant `"))?;
    let name = rest.split('`').next()?;
    // The list of expected names quotes every known name.
    let known = expected.split('`').skip(1).step_by(2);
    Some((message, did_you_mean::advice(name, known)))
}

/// Translates serde's description of the expected value into plain words.
fn in_words<'a>(message: &str, expected: &'a str) -> &'a str {
    match expected {
        "u32" | "u64" | "i64" | "i128" | "u128" => "a whole number, not negative",
        "key" => "`KEY = VALUE` on each line: the file is TOML",
        "a sequence" if message.contains("map") => {
            "the table with two brackets, for example [[task]]"
        }
        _ if message.contains("type: sequence") && expected.starts_with("struct") => {
            "the table with one bracket, for example [policy]"
        }
        expected => expected.strip_prefix("struct Raw").map_or(expected, |_| "a table"),
    }
}
