// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a disk cannot be imported: the fault, its file, and the files to give.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_model::FileError;

use super::content::FileKind;

/// Why a disk cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A given or named file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file has a fault.
    #[error("{}: {}", .0.path.display(), .0.error)]
    Faulty(Box<Fault>),
    /// A named file does not exist.
    #[error(
        "{} names `{reference}`, {kind}: neither a given file nor a file in its folder has this name{}",
        named_by.display(), listed(candidates)
    )]
    NotFound {
        /// The name.
        reference: String,
        /// The kind of file expected.
        kind: FileKind,
        /// The file that names it.
        named_by: PathBuf,
        /// The files of that kind that could be meant, if there are several.
        candidates: Vec<PathBuf>,
    },
    /// No given file describes a disk.
    #[error("no given file describes a disk{}", listed(given))]
    NoDisk {
        /// The given files.
        given: Vec<PathBuf>,
    },
    /// More than one disk was given.
    #[error("the given files describe {} disks: {}", disks.len(), disks.join(", "))]
    SeveralDisks {
        /// Each disk with its file.
        disks: Vec<String>,
    },
    /// More files were given than any disk has.
    #[error("more than {max} files were given")]
    TooManyFiles {
        /// The largest number of files.
        max: usize,
    },
    /// The imported figures do not make a drive.
    #[error("{}: no drive can be made from this: {error}", path.display())]
    Impossible {
        /// The file of the disk.
        path: PathBuf,
        /// The fault.
        error: tidegate_model::mechanics::MechanicsError,
    },
}

/// A fault in a file, with the file's text for display.
#[derive(Debug)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// The file's text.
    pub text: String,
    /// The fault and its place.
    pub error: FileError,
}

impl ImportError {
    pub(crate) fn faulty(path: &Path, text: &str, error: FileError) -> Self {
        Self::Faulty(Box::new(Fault { path: path.to_owned(), text: text.to_owned(), error }))
    }

    /// Returns an instruction for the user that removes the error.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => "name files that exist and are readable".to_owned(),
            Self::Faulty(fault) => fault.error.help.clone().unwrap_or_default(),
            Self::NotFound { reference, candidates, .. } if candidates.is_empty() => {
                format!(
                    "give the path of `{reference}` too, or put it beside the file that names it"
                )
            }
            Self::NotFound { reference, .. } => {
                format!("give only one of these, or the path of `{reference}`")
            }
            Self::NoDisk { .. } => {
                "give a .diskspecs file (disksim_disk), or at least a .model file (dm_disk)"
                    .to_owned()
            }
            Self::SeveralDisks { .. } => {
                "give the files of one disk; its .diskspecs file alone is often enough".to_owned()
            }
            Self::TooManyFiles { .. } => "give the files of one disk".to_owned(),
            Self::Impossible { error, .. } => error.help.clone(),
        }
    }
}

/// Formats paths as `: a, b`, or as nothing.
fn listed(paths: &[PathBuf]) -> String {
    const SHOWN_MAX: usize = 6;
    let names = paths.iter().take(SHOWN_MAX).map(|path| path.display().to_string());
    let names: Vec<String> = names.collect();
    let more = if paths.len() > SHOWN_MAX { ", .." } else { "" };
    if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) }
}
