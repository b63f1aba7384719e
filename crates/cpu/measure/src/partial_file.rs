// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The partial result of a long measurement, in a file next to the result until that is written.

use std::io;
use std::path::Path;

use tidegate_cpu_model::CpuProfile;
use tidegate_platform::{FileFault, NewFile};

/// The ending of the file's name, after the name of the result.
const EXTENSION: &str = ".partial";

/// The file of a partial result. There is no file if the result is not written to one, or if the
/// partial result could not be written.
#[derive(Debug)]
pub struct PartialFile {
    file: Option<NewFile>,
    is_written: bool,
}

/// A partial result that could not be written or removed.
#[derive(Debug, thiserror::Error)]
pub enum PartialFault {
    /// The file of this name could not be written, and is no longer kept.
    #[error("{0} is not kept: {1}")]
    NotKept(String, io::Error),
    /// The file of this name could not be removed.
    #[error("{0} is left: {1}")]
    Left(String, io::Error),
}

impl PartialFile {
    /// Checks that a partial result can be written next to `output`.
    ///
    /// # Errors
    /// If it cannot, for example because an earlier measurement that was killed left its partial
    /// result.
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

    /// Removes the partial result, after the result has been written.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self) -> Result<(), PartialFault> {
        let Some(file) = self.file.as_ref().filter(|_| self.is_written) else { return Ok(()) };
        file.remove().map_err(|error| PartialFault::Left(file.name(), error))
    }
}
