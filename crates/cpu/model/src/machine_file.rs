// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload file as a whole: its disk part, its processor part, or both.

use tidegate_model::{Document, FileError, WorkloadFile};

use crate::{CpuWorkload, file};

/// The contents of a workload file.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineFile {
    /// The tasks that share the disk.
    pub disk: Option<WorkloadFile>,
    /// The tasks and servers that share the processor.
    pub cpu: Option<CpuWorkload>,
}

impl MachineFile {
    /// Reads the text of a workload file.
    ///
    /// # Errors
    /// The first fault, with its place and what to write instead; a file without a processor part
    /// must have a disk part.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut document = Document::parse(text)?;
        let cpu = file::read(document.take_processor().read()?)?;
        let is_disk = cpu.is_none() || !document.is_empty();
        let disk = is_disk.then(|| WorkloadFile::of_document(document)).transpose()?;
        Ok(Self { disk, cpu })
    }
}
