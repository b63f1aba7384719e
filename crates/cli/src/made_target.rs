// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A target file that `--create` made. It is removed if nothing was measured on it, so that the
//! corrected command can create it again.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tidegate_device::Target;

use crate::show;

/// A file that this command created; removed when dropped, unless `keep` is called.
#[derive(Debug)]
pub(crate) struct MadeTarget {
    path: PathBuf,
    file: Option<File>,
}

impl MadeTarget {
    /// Takes responsibility for the target's file, which was just created at `path`.
    pub(crate) fn new(path: &Path, target: &Target) -> Self {
        let file = target.as_fd().try_clone_to_owned().ok().map(File::from);
        Self { path: path.to_owned(), file }
    }

    /// Keeps the file, because something was measured on it.
    pub(crate) fn keep(mut self) {
        self.file = None;
    }

    /// Returns whether the file at the path is still the one that this command created.
    fn is_in_place(&self) -> io::Result<bool> {
        let identity = |file: &Metadata| (file.dev(), file.ino());
        let Some(file) = &self.file else { return Ok(false) };
        Ok(identity(&file.metadata()?) == identity(&fs::symlink_metadata(&self.path)?))
    }
}

impl Drop for MadeTarget {
    fn drop(&mut self) {
        if !self.is_in_place().unwrap_or(false) {
            return;
        }
        let path = self.path.display();
        let (label, said) = match fs::remove_file(&self.path) {
            Ok(()) => ("Removed", "created by this command, and nothing was measured".to_owned()),
            Err(error) => ("Warning", format!("cannot be removed: {error}")),
        };
        show::say(label, format!("{path}: {said}"));
    }
}
