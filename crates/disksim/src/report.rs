// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an import used, what it left out and what it did not find.

use std::path::PathBuf;

use super::content::FileKind;

/// What an import used, what it left out and what it did not find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were used, in the order of their use.
    pub used: Vec<UsedFile>,
    /// Parameters that say something which the drive does not represent.
    pub ignored: Vec<IgnoredParameter>,
    /// What stands nowhere and was taken to be neutral, a sentence each.
    pub missing: Vec<String>,
    /// Whatever else a person should know, a sentence each.
    pub notes: Vec<String>,
}

/// A file that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedFile {
    /// The file.
    pub path: PathBuf,
    /// For what.
    pub kind: FileKind,
    /// How it was found, if it was not given.
    pub how: Option<String>,
}

/// A parameter that says something which the drive does not represent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredParameter {
    /// The block that it stands in, as `disksim_disk`.
    pub block: String,
    /// The parameter.
    pub name: String,
    /// Its value, shortened.
    pub value: String,
}

impl Report {
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Notes a used file; of several uses of one kind the first counts.
    pub(crate) fn uses(&mut self, path: PathBuf, kind: FileKind, how: Option<String>) {
        if !self.used.iter().any(|used| used.path == path) {
            self.used.push(UsedFile { path, kind, how });
        }
    }
}
