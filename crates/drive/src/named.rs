// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the drive file for a name: a built-in drive file, or a file at a path.
//!
//! The caller supplies the function that reads the file, so the caller decides which files may be
//! read.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use tidegate_model::{DriveFile, FileError, did_you_mean};

use crate::builtin;

/// Why no drive file was found for a name.
#[derive(Debug)]
pub enum NamedError<E> {
    /// No built-in drive has this name, and the file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: E,
    },
    /// The file is faulty.
    Faulty {
        /// The file.
        path: PathBuf,
        /// The file's text.
        text: String,
        /// The fault.
        error: FileError,
    },
}

/// Returns the error message and the advice for a name that is not a built-in drive and for which
/// no file can be read at `path`.
pub fn unreadable(name: &str, path: &Path, source: &impl Display) -> (String, String) {
    let message = format!(
        "`{name}` is neither a built-in drive nor a drive file that can be read ({}: {source})",
        path.display()
    );
    let meant = did_you_mean::advice(name, builtin::names());
    (message, format!("{meant}, or the path of a file that `tidegate profile -o` wrote"))
}

/// Returns the built-in drive with this name, or else the drive file at this path relative to
/// `folder`. `read` returns the file's text.
///
/// # Errors
/// [`NamedError`] if there is neither, or the file is faulty.
pub fn named<E>(
    name: &str,
    folder: &Path,
    read: impl FnOnce(&Path) -> Result<String, E>,
) -> Result<DriveFile, NamedError<E>> {
    if let Ok(file) = builtin::load(name) {
        return Ok(file);
    }
    let path = folder.join(name);
    match read(&path) {
        Ok(text) => {
            DriveFile::parse(&text).map_err(|error| NamedError::Faulty { path, text, error })
        }
        Err(source) => Err(NamedError::Unreadable { path, source }),
    }
}
