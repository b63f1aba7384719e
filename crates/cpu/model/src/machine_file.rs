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
    /// Returns the first error, with its position and what to write instead. A file without a
    /// processor part must have a disk part.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut document = Document::parse(text)?;
        let cpu = file::read(document.take_processor().read()?)?;
        let is_disk = cpu.is_none() || !document.is_empty();
        let disk = is_disk.then(|| WorkloadFile::of_document(document)).transpose()?;
        if let (Some(disk), Some(cpu)) = (&disk, &cpu) {
            check_interference(disk, cpu)?;
        }
        Ok(Self { disk, cpu })
    }
}

/// Refuses a profile for the host's threads if a task or server of the file is at least as urgent
/// as they are: it may not have run while the profile was measured.
fn check_interference(disk: &WorkloadFile, cpu: &CpuWorkload) -> Result<(), FileError> {
    let section = disk.host.as_ref();
    let Some(interference) = section.and_then(|section| section.interference.as_ref()) else {
        return Ok(());
    };
    let tasks = cpu.tasks.iter().map(|task| (&task.name, task.priority));
    let servers = cpu.servers.iter().map(|server| (&server.name, server.priority));
    let mut threads = tasks.chain(servers);
    let Some((name, _)) = threads.find(|(_, priority)| priority.0 >= interference.priority) else {
        return Ok(());
    };
    Err(FileError::new(
        interference.priority_span.clone(),
        format!(
            "`{name}` is as urgent as the host's threads, and a profile does not tell its time"
        ),
        "state the times in [host] without [host.interference]: the bounds of the [[cpu_task]] that \
         serves the disk; or give the host's threads a higher priority",
    ))
}
