// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads text files that the command line names.

use std::path::Path;

use tidegate_cpu_model::MachineFile;
use tidegate_model::{FileError, FileKind};
use tidegate_platform::text_file;

use crate::failure::Failure;

/// Reads the text of a file that the user named.
pub(crate) fn read_named(path: &Path, what: &str) -> Result<String, Failure> {
    text_file::read(path).map_err(|error| {
        Failure::input(
            format!("cannot read the {what} {}: {error}", path.display()),
            "name an existing, readable file",
        )
    })
}

/// Why a workload file cannot be used.
pub(crate) enum WorkloadFault {
    /// The file is at fault.
    InFile(FileError),
    /// The command line or another file is at fault.
    Elsewhere(Failure),
}

impl From<FileError> for WorkloadFault {
    fn from(error: FileError) -> Self {
        Self::InFile(error)
    }
}

impl From<Failure> for WorkloadFault {
    fn from(failure: Failure) -> Self {
        Self::Elsewhere(failure)
    }
}

/// Makes something of both parts of a workload file, or reports all faults that `make` finds.
pub(crate) fn read_workload<T>(
    path: &Path,
    make: impl Fn(MachineFile, &str) -> Result<T, WorkloadFault>,
) -> Result<T, Failure> {
    let text = read_named(path, "workload file")?;
    let read = |text: &str| make(MachineFile::parse(text)?, text);
    read(&text).map_err(|fault| match fault {
        WorkloadFault::InFile(first) => {
            let faulty = |text: &str| match read(text) {
                Err(WorkloadFault::InFile(error)) => Err(error),
                Ok(_) | Err(WorkloadFault::Elsewhere(_)) => Ok(()),
            };
            Failure::of_reading(path, &text, FileKind::Workload, first, faulty)
        }
        WorkloadFault::Elsewhere(failure) => failure,
    })
}

/// Returns the fault of a text that should hold one JSON object, with its place.
pub(crate) fn json_fault(
    text: &str,
    error: &serde_json::Error,
    wanted: &str,
    help: &str,
) -> FileError {
    let start: usize = text.split_inclusive('\n').take(error.line().max(1) - 1).map(str::len).sum();
    let at = (start + error.column().max(1) - 1).min(text.len());
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    let said = if error.is_eof() { "the file ends too early" } else { said };
    FileError::new(at..at + 1, format!("this is not a {wanted}: {said}"), help)
}
