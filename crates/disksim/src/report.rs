// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of an import: what was used, ignored and not found.

use std::path::PathBuf;

use super::content::FileKind;

/// The report of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The files used, in the order of their use.
    pub used: Vec<UsedFile>,
    /// Parameters with a meaning that the drive does not represent.
    pub ignored: Vec<IgnoredParameter>,
    /// Missing parameters for which neutral values are used, one sentence each.
    pub missing: Vec<String>,
    /// Other notes for people, one sentence each.
    pub notes: Vec<String>,
}

/// A file that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedFile {
    /// The file.
    pub path: PathBuf,
    /// The kind of data that was read from the file.
    pub kind: FileKind,
    /// How the file was found, if it was not given.
    pub how: Option<String>,
}

/// A parameter with a meaning that the drive does not represent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredParameter {
    /// The block that contains the parameter, such as `disksim_disk`.
    pub block: String,
    /// The parameter's name.
    pub name: String,
    /// The parameter's value, shortened.
    pub value: String,
}

impl Report {
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Records a used file; of several uses the first counts.
    pub(crate) fn uses(&mut self, path: PathBuf, kind: FileKind, how: Option<String>) {
        if !self.used.iter().any(|used| used.path == path) {
            self.used.push(UsedFile { path, kind, how });
        }
    }
}
