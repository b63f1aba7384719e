// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The partial result of a long measurement: in a file beside the result, until that is written.

use std::io;
use std::path::Path;

use tidegate_cpu_model::CpuProfile;
use tidegate_platform::{FileFault, NewFile};

/// The ending of the file's name, after the name of the result.
const EXTENSION: &str = ".partial";

/// The file of a partial result; none if the result is not written to a file, or the partial one
/// could not be written.
#[derive(Debug)]
pub struct PartialFile {
    file: Option<NewFile>,
    is_written: bool,
}

/// A partial result that could not be written or removed.
#[derive(Debug, thiserror::Error)]
pub enum PartialFault {
    /// It could not be written, and is no longer kept. Holds its name.
    #[error("{0} is not kept: {1}")]
    NotKept(String, io::Error),
    /// It could not be removed. Holds its name.
    #[error("{0} is left: {1}")]
    Left(String, io::Error),
}

impl PartialFile {
    /// Checks that a partial result can be written beside `output`.
    ///
    /// # Errors
    /// If not, for example because a killed measurement left one.
    pub fn beside(output: Option<&Path>) -> Result<Self, FileFault> {
        let beside = output.map(|output| {
            let mut name = output.as_os_str().to_owned();
            name.push(EXTENSION);
            NewFile::prepare(Path::new(&name))
        });
        Ok(Self { file: beside.transpose()?, is_written: false })
    }

    /// Returns the file.
    pub fn file(&self) -> Option<&NewFile> {
        self.file.as_ref()
    }

    /// Writes the result so far.
    ///
    /// # Errors
    /// If it cannot be written; later results are then not written either.
    pub fn keep(&mut self, profile: &CpuProfile) -> Result<(), PartialFault> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Err(error) = file.rewrite(&profile.to_toml()) {
            let fault = PartialFault::NotKept(file.name(), error);
            self.file = None;
            return Err(fault);
        }
        self.is_written = true;
        Ok(())
    }

    /// Removes the partial result, because the result is written.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self) -> Result<(), PartialFault> {
        let Some(file) = self.file.as_ref().filter(|_| self.is_written) else { return Ok(()) };
        file.remove().map_err(|error| PartialFault::Left(file.name(), error))
    }
}
