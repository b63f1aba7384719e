// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a drive file cannot go where it was named, and what to do.

use std::io;
use std::path::PathBuf;

use tidegate_model::FileError;
use tidegate_platform::text_file::ReadError;

use crate::merge::OtherDevice;
use crate::new_file::FileFault;
use crate::origin::MixedOrigins;

/// Why a drive file cannot go where it was named.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputFault {
    /// It is what will be measured.
    #[error("{} is what is to be measured: writing there destroys it", path.display())]
    Target {
        /// The file as it was named.
        path: PathBuf,
    },
    /// It cannot be made.
    #[error(transparent)]
    File(#[from] FileFault),
    /// It is about another device.
    #[error("{} {error}", path.display())]
    Device {
        /// The file as it was named.
        path: PathBuf,
        /// What differs.
        error: OtherDevice,
    },
    /// It has times of another origin.
    #[error("{} {error}", path.display())]
    Origin {
        /// The file as it was named.
        path: PathBuf,
        /// Which of both.
        error: MixedOrigins,
    },
    /// There is nothing to add to.
    #[error("there is no drive file {} to add to: {error}", path.display())]
    Missing {
        /// The file as it was named.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is something else than a file.
    #[error("cannot add to {}: it is not a regular file", path.display())]
    NoFile {
        /// The file as it was named.
        path: PathBuf,
    },
    /// What stands there cannot be read.
    #[error("cannot add to {}: {error}", path.display())]
    NotText {
        /// The file as it was named.
        path: PathBuf,
        /// Why.
        error: ReadError,
    },
    /// What stands there is not a sound drive file.
    #[error("{}: {}", path.display(), error.message)]
    Faulty {
        /// The file as it was named.
        path: PathBuf,
        /// Its text.
        text: String,
        /// The fault, with its place in the text.
        error: FileError,
    },
}

impl OutputFault {
    /// Returns what to do.
    pub fn help(&self) -> String {
        let help = match self {
            Self::Target { .. } => "name another file for the result",
            Self::File(FileFault::Exists { .. }) => {
                "name a new file; a table is added to a drive file with --add"
            }
            Self::File(fault) => fault.help(),
            Self::Device { error, .. } => {
                return format!(
                    "write to a new file; if it is the same device all the same, correct `{}` \
                     under [identity] in the file first",
                    error.fact
                );
            }
            Self::Origin { .. } => "leave --add out and name a new file",
            Self::Missing { .. } => "leave --add out to make a new one",
            Self::NoFile { .. } | Self::NotText { .. } => {
                "name a drive file, or leave --add out to make a new one"
            }
            Self::Faulty { error, .. } => return error.help.clone().unwrap_or_default(),
        };
        help.to_owned()
    }
}
