// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the drives that a user names.

use std::path::Path;

use tidegate_drive::NamedError;
use tidegate_model::{DriveFile, FileKind};
use tidegate_platform::text_file;
use tidegate_report::FileOrigin;

use crate::fault::Faults;
use crate::origin;
use crate::text::near_file;

/// A drive and its origin.
#[derive(Debug, Clone)]
pub struct NamedDrive {
    /// The drive.
    pub file: DriveFile,
    /// The built-in drive's name or the file's path, and the hash of its text.
    pub origin: FileOrigin,
    /// The text of the drive file.
    pub text: String,
}

impl NamedDrive {
    /// Returns the drive with this name: a built-in one, or a file.
    ///
    /// # Errors
    /// If there is no such drive, or its file is faulty.
    pub fn new(name: &str) -> Result<Self, Faults> {
        Self::beside(name, Path::new("")).map_err(|reason| match reason {
            NotFound::Missing { message, help } => Faults::one(message, help),
            NotFound::Faulty(faults) => faults,
        })
    }

    /// Returns the drive of that name: a built-in one, or a file relative to `folder`.
    pub(crate) fn beside(name: &str, folder: &Path) -> Result<Self, NotFound> {
        let built_in = tidegate_drive::builtin::text(name);
        let mut found =
            built_in.map(|text| (origin::of_built_in(name, text), text.to_owned())).ok();
        let read = |path: &Path| {
            let text = text_file::read(path)?;
            found = Some((origin::of_file(path, &text), text.clone()));
            Ok::<_, text_file::ReadError>(text)
        };
        let file = tidegate_drive::named(name, folder, read).map_err(|error| match error {
            NamedError::Unreadable { path, source } => {
                let (message, help) = tidegate_drive::unreadable(name, &path, &source);
                let near = near_file(&path);
                let help = match near.as_deref().and_then(Path::file_name) {
                    Some(meant) => {
                        let meant = Path::new(name).with_file_name(meant);
                        format!(
                            "did you mean the file `{}`? Otherwise name a drive that `tidegate drive \
                             list` shows, or a drive file",
                            meant.display()
                        )
                    }
                    None => help,
                };
                NotFound::Missing { message, help }
            }
            NamedError::Faulty { path, text, error } => NotFound::Faulty(Faults::of_reading(
                &path,
                &text,
                FileKind::Drive,
                error,
                DriveFile::parse,
            )),
        })?;
        let (origin, text) = found.expect("it is built in, or was read");
        Ok(Self { file, origin, text })
    }
}

/// The reason why no drive was found.
pub(crate) enum NotFound {
    /// No drive has this name. The fault is reported at the place where the name is given.
    Missing { message: String, help: String },
    /// The drive file is faulty.
    Faulty(Faults),
}
