// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive files built into Tidegate, by name: the files of the folder `drives/`.
//!
//! Names are fixed because workload files use them. An unknown name is refused, never replaced by
//! another drive.

use tidegate_model::{DriveFile, FileError};

/// Each name with the text of its drive file.
const FILES: [(&str, &str); 9] = [
    ("maxtor-atlas-10k-v", include_str!("../../../drives/maxtor-atlas-10k-v.drive.toml")),
    ("fujitsu-max3036rc", include_str!("../../../drives/fujitsu-max3036rc.drive.toml")),
    ("ibm-40k1044", include_str!("../../../drives/ibm-40k1044.drive.toml")),
    ("ibm-36z15", include_str!("../../../drives/ibm-36z15.drive.toml")),
    ("seagate-36es2", include_str!("../../../drives/seagate-36es2.drive.toml")),
    ("seagate-st340810a", include_str!("../../../drives/seagate-st340810a.drive.toml")),
    ("nearline-7200", include_str!("../../../drives/nearline-7200.drive.toml")),
    ("sata-ssd", include_str!("../../../drives/sata-ssd.drive.toml")),
    ("nvme-ssd", include_str!("../../../drives/nvme-ssd.drive.toml")),
];

/// The error for a name that has no built-in drive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltinError {
    /// No built-in drive has this name.
    #[error("there is no built-in drive `{name}`; available: {}", available())]
    Unknown {
        /// The requested name.
        name: String,
    },
}

/// Returns the names of the built-in drives.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    FILES.iter().map(|(name, _)| *name)
}

/// Returns whether `name` is a built-in drive's name, so that it is not taken for a path.
pub fn is_name(name: &str) -> bool {
    names().any(|known| known == name)
}

/// Returns the text of the drive file with this name.
///
/// # Errors
/// [`BuiltinError`] with the available names.
pub fn text(name: &str) -> Result<&'static str, BuiltinError> {
    let found = FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    found.ok_or_else(|| BuiltinError::Unknown { name: name.to_owned() })
}

/// Returns the drive file with this name.
///
/// # Errors
/// [`BuiltinError`] with the available names.
///
/// # Panics
/// If a file in `drives/` is faulty, which a test excludes.
pub fn load(name: &str) -> Result<DriveFile, BuiltinError> {
    let text = text(name)?;
    let faulty = |error: FileError| -> DriveFile { panic!("built-in drive `{name}`: {error}") };
    Ok(DriveFile::parse(text).unwrap_or_else(faulty))
}

fn available() -> String {
    names().collect::<Vec<_>>().join(", ")
}
