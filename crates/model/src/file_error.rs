// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is wrong with a file, where, and what to write instead.

use std::ops::Range;

/// A fault in a drive or workload file.
///
/// Whoever knows the file's name and shows the line (the command line does) needs the
/// place; whoever only needs a sentence has it in `Display`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// What is wrong, with the value.
    pub message: String,
    /// Bytes of the text that are meant.
    pub span: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

impl FileError {
    /// A fault at `span`, with what to do about it.
    pub fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), span, help: Some(help.into()) }
    }

    /// The fault that the TOML reader found.
    pub(crate) fn from_toml(error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        // Our own readers put the advice on a second line of their message.
        match error.message().split_once('\n') {
            Some((message, help)) => Self::new(span, message, help),
            None => Self { message: error.message().to_owned(), span, help: None },
        }
    }

    /// The line and column, both from 1, at which the fault starts in `text`.
    pub fn line_and_column(&self, text: &str) -> (usize, usize) {
        let before = &text[..self.span.start.min(text.len())];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
