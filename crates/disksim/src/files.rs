// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface through which the caller reads files.
//!
//! The command line refuses endless and oversized files; tests keep their files in memory.

use std::io;
use std::path::{Path, PathBuf};

/// A source of files.
pub trait Files {
    /// Returns the text of a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such file, [`io::ErrorKind::InvalidData`] or
    /// [`io::ErrorKind::FileTooLarge`] if it cannot be a parameter file, and any other reason why
    /// it cannot be read.
    fn text(&self, path: &Path) -> io::Result<String>;

    /// Returns the beginning of a file, enough to recognise its kind; by default the whole text.
    ///
    /// # Errors
    /// As [`Files::text`].
    fn head(&self, path: &Path) -> io::Result<String> {
        self.text(path)
    }

    /// Returns the files of a folder, sorted by name; `None` if `path` is not a folder.
    ///
    /// # Errors
    /// The reason why the folder cannot be read.
    fn folder(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>>;
}

/// Returns whether a file is unreadable because it is not a text of reasonable size.
pub(crate) fn is_no_text(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge)
}
