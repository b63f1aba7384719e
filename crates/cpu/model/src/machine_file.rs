// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload file as a whole: its disk part, its processor part, or both.

use tidegate_model::{Document, FileError, WorkloadFile};

use crate::{CpuWorkload, file};

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
        let mut document = Document::parse(text)?;
        let cpu = file::read(document.take_processor().read()?)?;
        let is_disk = cpu.is_none() || !document.is_empty();
        let disk = is_disk.then(|| WorkloadFile::of_document(document)).transpose()?;
        Ok(Self { disk, cpu })
    }
}
