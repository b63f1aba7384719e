// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where files come from: whoever imports says how they are read.
//!
//! The command line refuses what never ends and what is too large; tests have their files
//! in memory.

use std::io;
use std::path::{Path, PathBuf};

/// A place with files.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where there is none, [`io::ErrorKind::InvalidData`] or
    /// [`io::ErrorKind::FileTooLarge`] for what cannot be a parameter file, and whatever
    /// else keeps it from being read.
    fn text(&self, path: &Path) -> io::Result<String>;

    /// The beginning of a file, enough to tell what it is; `text` where that costs the same.
    ///
    /// # Errors
    /// As [`Files::text`].
    fn head(&self, path: &Path) -> io::Result<String> {
        self.text(path)
    }

    /// The files of a folder in order of their names; none if `path` is not a folder.
    ///
    /// # Errors
    /// What keeps the folder from being read.
    fn folder(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>>;
}

/// Whether a file that cannot be read is simply no text that we could read.
pub(crate) fn is_no_text(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge)
}
