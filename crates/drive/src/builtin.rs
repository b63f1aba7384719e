// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive files that come with Tidegate, by name: those of the folder `drives/`.
//!
//! Names are fixed because workload files use them. A name that is promised and has no
//! file yet is refused as such, never replaced by another drive.

use model::{DriveFile, FileError};

/// Names with their files.
const FILES: [(&str, &str); 1] =
    [("maxtor-atlas-10k-v", include_str!("../../../drives/maxtor-atlas-10k-v.drive.toml"))];

/// Names that are reserved and have no file yet.
const RESERVED: [&str; 8] = [
    "fujitsu-max3036rc",
    "ibm-40k1044",
    "ibm-36z15",
    "seagate-36es2",
    "seagate-st340810a",
    "nearline-7200",
    "sata-ssd",
    "nvme-ssd",
];

/// Why there is no built-in drive of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltinError {
    /// The name is reserved; its file is still to come.
    #[error("drive `{name}` is not in this version; available: {}", available())]
    NotInThisVersion {
        /// The name asked for.
        name: &'static str,
    },
    /// Nobody promised such a drive.
    #[error("there is no built-in drive `{name}`; available: {}", available())]
    Unknown {
        /// The name asked for.
        name: String,
    },
}

/// The names of the built-in drives.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Whether this is the name of a built-in drive, present or promised, and not a path.
pub fn is_name(name: &str) -> bool {
    names().any(|known| known == name) || RESERVED.contains(&name)
}

/// The text of the drive file of that name.
///
/// # Errors
/// [`BuiltinError`] with the names that there are.
pub fn text(name: &str) -> Result<&'static str, BuiltinError> {
    if let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) {
        return Ok(text);
    }
    match RESERVED.iter().find(|reserved| **reserved == name) {
        Some(&name) => Err(BuiltinError::NotInThisVersion { name }),
        None => Err(BuiltinError::Unknown { name: name.to_owned() }),
    }
}

/// The drive file of that name.
///
/// # Errors
/// [`BuiltinError`] with the names that there are.
///
/// # Panics
/// When a file in `drives/` is faulty, which a test excludes.
pub fn load(name: &str) -> Result<DriveFile, BuiltinError> {
    let text = text(name)?;
    let faulty = |error: FileError| -> DriveFile { panic!("built-in drive `{name}`: {error}") };
    Ok(DriveFile::parse(text).unwrap_or_else(faulty))
}

fn available() -> String {
    names().collect::<Vec<_>>().join(", ")
}
