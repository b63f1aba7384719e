// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes drives from the parameter files of DiskSim and DIXtrac, with the size limits of all input
//! files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tidegate_disksim::{Files, Import, ImportError};
use tidegate_platform::text_file::{self, ReadError};

use crate::fault::Faults;

/// Makes a drive from parameter files, or from all such files in the given folders. `name` replaces
/// the name in the files.
///
/// # Errors
/// The first fault found.
pub fn import(paths: &[PathBuf], name: Option<&str>) -> Result<Import, Faults> {
    let mut import = tidegate_disksim::import(paths, &DiskFiles).map_err(|error| match error {
        ImportError::Faulty(fault) => Faults::in_file(&fault.path, &fault.text, &fault.error),
        error => Faults::one(error.to_string(), error.help()),
    })?;
    if let Some(name) = name {
        name.clone_into(&mut import.drive.name);
    }
    Ok(import)
}

/// The number of leading bytes by which a file's kind is recognised; comments can come first.
const HEAD_BYTES: u64 = 16 << 10;

/// Reads parameter files from the file system.
struct DiskFiles;

impl Files for DiskFiles {
    fn text(&self, path: &Path) -> io::Result<String> {
        text_file::read(path).map_err(|error| match error {
            ReadError::Refused(error) => error,
            ReadError::TooLarge => io::Error::new(io::ErrorKind::FileTooLarge, error),
            ReadError::NotText { .. } => io::Error::new(io::ErrorKind::InvalidData, error),
            ReadError::NoFile { .. } => io::Error::other(error),
        })
    }

    fn head(&self, path: &Path) -> io::Result<String> {
        // Checked before opening, because opening a pipe waits for its other end.
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(HEAD_BYTES).read_to_end(&mut bytes)?;
        // The last character can be incomplete; it is then replaced.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn folder(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
        // A missing path is reported later, when it is read.
        if !path.is_dir() {
            return Ok(None);
        }
        let inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut inside = inside.collect::<io::Result<Vec<PathBuf>>>()?;
        inside.retain(|path| path.is_file());
        inside.sort();
        Ok(Some(inside))
    }
}
