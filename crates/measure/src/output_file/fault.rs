// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why a drive file cannot be written, and what to do about each.

use std::io;
use std::path::PathBuf;

use tidegate_model::FileError;
use tidegate_model::drive_file::OtherDevice;
use tidegate_platform::FileFault;
use tidegate_platform::text_file::ReadError;

use crate::origin::MixedOrigins;

/// The reason why a drive file cannot be written to its path. Each holds the path as the user gave
/// it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputFault {
    /// The file is the target of the measurement.
    #[error(
        "{} is the target of the measurement: writing the result there would destroy it",
        .0.display()
    )]
    Target(PathBuf),
    /// The file cannot be created.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The file describes another device. Holds the fact that differs.
    #[error("{} {}", .0.display(), .1)]
    Device(PathBuf, OtherDevice),
    /// The file has times of another origin. Holds the error.
    #[error("{} {}", .0.display(), .1)]
    Origin(PathBuf, MixedOrigins),
    /// There is no file to extend. Holds the system's error.
    #[error("cannot add to {}: {}", .0.display(), .1)]
    Missing(PathBuf, io::Error),
    /// The path is not a regular file.
    #[error("cannot add to {}: it is not a regular file", .0.display())]
    NoFile(PathBuf),
    /// The file cannot be read as text. Holds the error.
    #[error("cannot add to {}: {}", .0.display(), .1)]
    NotText(PathBuf, ReadError),
    /// The file is not a valid drive file.
    #[error("{}: {}", path.display(), error.message)]
    Faulty {
        /// The file's path, as given.
        path: PathBuf,
        /// The file's text.
        text: String,
        /// The error, with its position in the text.
        error: FileError,
    },
}

impl OutputFault {
    /// Returns an instruction for the user that removes the fault.
    pub fn help(&self) -> String {
        let help = match self {
            Self::Target(..) => "name another file for the result",
            Self::File(FileFault::Exists(..)) => {
                "name a new file; --add adds tables to an existing drive file"
            }
            Self::File(fault) => fault.help(),
            Self::Device(_, error) => {
                return format!(
                    "write to a new file; if it is the same device nevertheless, correct `{}` \
                     under [identity] in the file first",
                    error.fact
                );
            }
            Self::Origin(..) => "leave --add out and name a new file",
            Self::Missing(..) => "leave --add out to create a new file",
            Self::NoFile(..) | Self::NotText(..) => {
                "name a drive file, or leave --add out to create a new file"
            }
            Self::Faulty { error, .. } => return error.help.clone().unwrap_or_default(),
        };
        help.to_owned()
    }
}
