// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload file as a whole: its disk part, its processor part, or both.

use super::WorkloadFile;
use super::raw::RawWorkload;
use crate::cpu::{self, CpuWorkload};
use crate::file_error::FileError;

/// Everything a workload file says of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineFile {
    /// Who shares the disk.
    pub disk: Option<WorkloadFile>,
    /// Who shares the processor.
    pub cpu: Option<CpuWorkload>,
}

impl MachineFile {
    /// Reads the text of a workload file.
    ///
    /// # Errors
    /// The first fault, with its place and what to write instead; where the file says nothing
    /// of a processor, it must say something of a disk.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut raw: RawWorkload =
            toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        let cpu = cpu::read(raw.take_cpu())?;
        let is_disk = cpu.is_none() || !raw.is_without_disk();
        let disk = is_disk.then(|| WorkloadFile::read(raw)).transpose()?;
        Ok(Self { disk, cpu })
    }
}
