// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a disk cannot be imported: what is wrong, in which file, and what to give.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_model::FileError;

use super::content::FileKind;

/// Why a disk cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file or folder that was given or named cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has a fault.
    #[error("{}: {}", .0.path.display(), .0.error)]
    Faulty(Box<Fault>),
    /// A file is named that is nowhere.
    #[error(
        "{} names `{reference}`, {kind}: there is no such file among those given nor beside it{}",
        named_by.display(), listed(candidates)
    )]
    NotFound {
        /// The name.
        reference: String,
        /// What should stand in it.
        kind: FileKind,
        /// The file that names it.
        named_by: PathBuf,
        /// Files of that kind that could be meant, if there are several.
        candidates: Vec<PathBuf>,
    },
    /// Nothing that was given describes a disk.
    #[error("none of the files given describes a disk{}", listed(given))]
    NoDisk {
        /// What was given.
        given: Vec<PathBuf>,
    },
    /// More than one disk was given.
    #[error("the files given describe {} disks: {}", disks.len(), disks.join(", "))]
    SeveralDisks {
        /// Each with its file.
        disks: Vec<String>,
    },
    /// More files than any disk has.
    #[error("more than {max} files were given")]
    TooManyFiles {
        /// How many may be.
        max: usize,
    },
    /// What was read makes no drive.
    #[error("{}: this makes no drive: {error}", path.display())]
    Impossible {
        /// The file of the disk.
        path: PathBuf,
        /// What is wrong.
        error: tidegate_model::mechanics::MechanicsError,
    },
}

/// A fault in a file, with the text to show it in.
#[derive(Debug)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
    /// What is wrong, and where.
    pub error: FileError,
}

impl ImportError {
    pub(crate) fn faulty(path: &Path, text: &str, error: FileError) -> Self {
        Self::Faulty(Box::new(Fault { path: path.to_owned(), text: text.to_owned(), error }))
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => "name files that exist and may be read".to_owned(),
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

/// `: a, b` or nothing.
fn listed(paths: &[PathBuf]) -> String {
    const SHOWN_MAX: usize = 6;
    let names = paths.iter().take(SHOWN_MAX).map(|path| path.display().to_string());
    let names: Vec<String> = names.collect();
    let more = if paths.len() > SHOWN_MAX { ", .." } else { "" };
    if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) }
}
