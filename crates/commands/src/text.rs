// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the text of files that a user names.

use std::path::Path;

use tidegate_cpu_model::MachineFile;
use tidegate_model::{FileError, FileKind};
use tidegate_platform::text_file;

use crate::fault::Faults;

/// Reads the text of a file that the user named as a `what`.
///
/// # Errors
/// If the file cannot be read.
pub fn read_text(path: &Path, what: &str) -> Result<String, Faults> {
    text_file::read(path).map_err(|error| {
        Faults::one(
            format!("cannot read the {what} {}: {error}", path.display()),
            "name an existing, readable file",
        )
    })
}

/// Why a workload file cannot be used.
pub(crate) enum WorkloadFault {
    /// The file is at fault.
    InFile(FileError),
    /// An argument or another file is at fault.
    Elsewhere(Faults),
}

impl From<FileError> for WorkloadFault {
    fn from(error: FileError) -> Self {
        Self::InFile(error)
    }
}

impl From<Faults> for WorkloadFault {
    fn from(faults: Faults) -> Self {
        Self::Elsewhere(faults)
    }
}

/// Makes something of both parts of a workload file's text, or reports all faults that `make` finds.
pub(crate) fn parse_workload<T>(
    path: &Path,
    text: &str,
    make: impl Fn(MachineFile, &str) -> Result<T, WorkloadFault>,
) -> Result<T, Faults> {
    let read = |text: &str| make(MachineFile::parse(text)?, text);
    read(text).map_err(|fault| match fault {
        WorkloadFault::InFile(first) => {
            let faulty = |text: &str| match read(text) {
                Err(WorkloadFault::InFile(error)) => Err(error),
                Ok(_) | Err(WorkloadFault::Elsewhere(_)) => Ok(()),
            };
            Faults::of_reading(path, text, FileKind::Workload, first, faulty)
        }
        WorkloadFault::Elsewhere(faults) => faults,
    })
}
